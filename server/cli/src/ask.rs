//! `strata ask`: asks the configured model. Prints the answer to standard output as it arrives, and its cost to
//! standard error. Ctrl-C stops the answer and records the part received so far.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::thread;

use serde::Deserialize;
use serde_json::json;
use strata_app::format;
use strata_app::headless::{Access, Cancel, HeadlessWorkspace, SessionSource};
use strata_app::send::Delta;

use crate::arguments::AskArguments;
use crate::failure::Failure;
use crate::output::{self, count};
use crate::sessions::{List, SHOWN};
use crate::when::moment;
use crate::{input, repository, selecting};

/// Argument of `--session` that stands for the most recently used session.
pub(crate) const LATEST: &str = "latest";
/// Argument of `--session` that stands for a new session.
const NEW: &str = "new";
/// Exit code that shells use for a program stopped with Ctrl-C.
const INTERRUPTED: u8 = 130;
/// Maximum characters of a tool's arguments to show.
const SHOWN_INPUT: usize = 120;

/// How to continue the named session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Opening {
    /// Continue the session itself.
    Session,
    /// Continue in a copy, which works even while another process is writing to the session.
    Copy,
}

/// The fields used from the reply to `strata.prompt.send`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    session: String,
    model: String,
    end: String,
    error: Option<String>,
    usage: Usage,
    cost: Cost,
    shed: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    input: usize,
    output: usize,
    cache_read: usize,
    cache_write: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    paid: f64,
    read_share: f64,
    dollars: Option<f64>,
}

pub(crate) fn run(arguments: &AskArguments) -> Result<ExitCode, Failure> {
    let (text, piped) = (input::question(&arguments.text)?, input::piped(&arguments.text)?);
    let mut headless = repository::open_stored(&arguments.repository)?;
    // Check this first, so that a missing provider is reported before the slow work.
    headless.provider().map_err(|error| without_provider(&error.to_string()))?;
    let opening = if arguments.fork { Opening::Copy } else { Opening::Session };
    let session = if arguments.new { NEW } else { &arguments.session };
    open_session(&mut headless, session, opening)?;
    if session == LATEST {
        tell_continued(&mut headless)?;
    }
    repository::list(&mut headless)?;
    selecting::apply(&mut headless, &arguments.selecting)?;
    selecting::add_piped(&mut headless, piped)?;
    repository::index(&mut headless)?;
    let question = json!({
        "prompt": text,
        "model": arguments.model,
        "policy": arguments.policy,
        "tools": if arguments.tools { "read" } else { "none" },
        "autoBudget": arguments.auto,
    });
    let cancel = Cancel::new();
    raise_on_interrupt(&cancel);
    let mut screen = Screen::new(!arguments.json);
    let reply = headless.send(question, &cancel, &mut |delta| screen.show(&delta));
    screen.end();
    let reply = reply.map_err(|error| match error.to_string() {
        message if message.contains("no usable key") => without_provider(&message),
        message => Failure::Said(message),
    })?;
    if arguments.json {
        output::json(&reply)?;
    }
    let answer: Answer = output::understood(reply)?;
    for warning in &answer.warnings {
        output::tell(&format!("warning: {warning}"));
    }
    output::tell(&answer.closing_line());
    if let Some(error) = answer.error {
        return Err(Failure::said(format!("incomplete answer: {error}")));
    }
    Ok(if answer.end == "cancelled" { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// Says which conversation is continued, since the user did not name it.
fn tell_continued(headless: &mut HeadlessWorkspace) -> Result<(), Failure> {
    let List { sessions } = output::understood(headless.run("strata.session.list", json!({}))?)?;
    let id = headless.session_id();
    let Some(session) = sessions.into_iter().find(|session| session.id == id) else { return Ok(()) };
    let about = output::clipped(session.about(), SHOWN);
    let when = session.updated_ms.map(|ms| format!(" of {} UTC", moment(ms))).unwrap_or_default();
    output::tell(&format!("continuing the conversation{when}, \"{about}\"; -n starts a new one"));
    Ok(())
}

fn without_provider(message: &str) -> Failure {
    Failure::said(format!("{message}. To send the request yourself, run `strata prompt`"))
}

/// Opens the named session, or begins a new one.
pub(crate) fn open_session(
    headless: &mut HeadlessWorkspace,
    named: &str,
    opening: Opening,
) -> Result<(), Failure> {
    let id = match named {
        NEW => None,
        LATEST => headless.newest_session()?,
        named => Some(headless.session_named(named)?),
    };
    let Some(id) = id else { return Ok(headless.open_session(SessionSource::New)?) };
    if opening == Opening::Copy {
        headless.open_session(SessionSource::StoredWithCache(&id, Access::Read))?;
        headless.run("strata.session.fork", json!({}))?;
        return Ok(());
    }
    match headless.open_session(SessionSource::StoredWithCache(&id, Access::Write)) {
        Err(error) if error.is_in_use() => Err(Failure::said(format!(
            "session {id} is open in an editor or another program; use --fork to continue in a copy, or --session new to start \
             another one"
        ))),
        opened => Ok(opened?),
    }
}

impl Answer {
    /// Returns a line about the answer's cost, and about anything that is missing from it.
    fn closing_line(&self) -> String {
        let Usage { input, output, cache_read, cache_write } = self.usage;
        let Cost { paid, read_share, dollars } = self.cost;
        let mut line = match input + cache_read + cache_write {
            0 => "the provider did not report usage".to_owned(),
            all => format!(
                "{}: {} tokens in ({:.0} % cached, priced as {}), {} out",
                dollars.map_or_else(|| format!("unknown price of {}", self.model), format::dollars),
                count(all),
                read_share * 100.0,
                count(paid.round() as usize),
                count(output),
            ),
        };
        if !self.shed.is_empty() {
            line.push_str(&format!("; left out: {}", self.shed.join(", ")));
        }
        match self.end.as_str() {
            "cancelled" => line.push_str("; stopped, and the partial answer was recorded"),
            "output_limit" => line.push_str("; truncated at the output limit"),
            "tool_rounds" => line.push_str("; stopped after too many rounds of tool calls"),
            _ => {}
        }
        format!("{line} (session {})", self.session)
    }
}

/// The part of the terminal output that shows an answer.
struct Screen {
    is_shown: bool,
    is_terminal: bool,
    ends_line: bool,
}

impl Screen {
    fn new(is_shown: bool) -> Self {
        Self { is_shown, is_terminal: io::stdout().is_terminal(), ends_line: true }
    }

    fn show(&mut self, delta: &Delta) {
        if let Some(text) = delta.text.as_ref().filter(|_| self.is_shown) {
            self.write(text.for_terminal());
        }
        if let Some(call) = &delta.tool_call {
            self.end_line();
            let input = output::clipped(&call.input.to_string(), SHOWN_INPUT);
            output::tell(&format!("{} {input}", call.name));
        }
        if let Some(notice) = &delta.notice {
            self.end_line();
            output::tell(notice);
        }
    }

    fn write(&mut self, text: &str) {
        self.ends_line = text.ends_with('\n');
        let shown = if self.is_terminal { output::printable(text).to_string() } else { text.to_owned() };
        let mut out = io::stdout().lock();
        // A failed write means that the reader has closed the output. The answer is recorded anyway.
        let _ = out.write_all(shown.as_bytes()).and_then(|()| out.flush());
    }

    fn end_line(&mut self) {
        if !self.ends_line {
            self.write("\n");
        }
    }

    fn end(&mut self) {
        self.end_line();
    }
}

/// Raises `cancel` at the first Ctrl-C. A second Ctrl-C ends the program.
fn raise_on_interrupt(cancel: &Cancel) {
    let cancel = cancel.clone();
    let listening = thread::Builder::new().name("strata-interrupt".to_owned()).spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let interrupted = runtime.block_on(async {
            tokio::signal::ctrl_c().await?;
            cancel.cancel();
            tokio::signal::ctrl_c().await
        });
        if interrupted.is_ok() {
            std::process::exit(i32::from(INTERRUPTED));
        }
        interrupted
    });
    if let Err(error) = listening {
        output::tell(&format!(
            "warning: if you press Ctrl-C, the partial answer will not be recorded: {error}"
        ));
    }
}
