//! `strata ask`: asks the configured model. Prints the answer to standard output as it arrives, and its cost to
//! standard error. Ctrl-C stops the answer and records the part received so far.

use std::process::ExitCode;
use std::thread;

use strata_app::commands::send::SendParams;
use strata_app::commands::session::{Fork, ForkParams, ListSessions};
use strata_app::commands::{NoArguments, SendEnd, ToolAccess};
use strata_app::runtime::headless::{Access, Cancel, Continuation, HeadlessWorkspace, SessionSource};

use crate::answer::{Audience, without_provider};
use crate::arguments::{AskArguments, ConversationArguments};
use crate::failure::Failure;
use crate::output;
use crate::sessions::{EDITOR, LATEST, SHOWN, in_editor};
use crate::when::moment;
use crate::{answer, input, repository, selecting};

/// Argument of `--session` that stands for a new session.
const NEW: &str = "new";
/// Exit code that shells use for a program stopped with Ctrl-C.
const INTERRUPTED: u8 = 130;

/// How to continue the named session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Opening {
    /// Continue the session itself.
    Session,
    /// Continue in a copy, which works even while another process is writing to the session.
    Copy,
}

pub(crate) fn run(arguments: &AskArguments) -> Result<ExitCode, Failure> {
    let (text, piped) = (input::question(&arguments.text)?, input::piped(&arguments.text)?);
    let mut headless = repository::open_stored(&arguments.repository)?;
    // Check this first, so that a missing provider is reported before the slow work.
    headless.provider().map_err(|error| without_provider(&error))?;
    let opening = if arguments.fork { Opening::Copy } else { Opening::Session };
    open_conversation(&mut headless, &arguments.conversation, opening)?;
    repository::list(&mut headless)?;
    selecting::apply(&mut headless, &arguments.selecting)?;
    selecting::add_piped(&mut headless, piped)?;
    let images = selecting::attach(&mut headless, &arguments.selecting)?;
    repository::index(&mut headless)?;
    let question = SendParams {
        prompt: text,
        images,
        model: arguments.model.clone(),
        policy: arguments.policy,
        tools: if arguments.tools { ToolAccess::Read } else { ToolAccess::None },
        auto_budget: arguments.auto,
        ..SendParams::default()
    };
    let cancel = Cancel::new();
    raise_on_interrupt(&cancel);
    let audience = if arguments.json { Audience::Program } else { Audience::Person };
    let answer = answer::ask(&mut headless, question, &cancel, audience)?;
    if arguments.json {
        output::json(&answer)?;
    }
    answer::close(&answer);
    if let Some(error) = &answer.error {
        return Err(Failure::said(format!("incomplete answer: {error}")));
    }
    Ok(if answer.end == SendEnd::Cancelled { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// Opens the conversation that the arguments name, or else the most recently used one, if it is not old or of another
/// branch. Says which one it is if the arguments do not name it.
pub(crate) fn open_conversation(
    headless: &mut HeadlessWorkspace,
    arguments: &ConversationArguments,
    opening: Opening,
) -> Result<(), Failure> {
    let ConversationArguments { session, new, continue_latest } = arguments;
    let named = match session {
        Some(session) => session,
        None if *new => NEW,
        None if *continue_latest => LATEST,
        None => unnamed(headless)?,
    };
    open_session(headless, named, opening)?;
    if named == LATEST { tell_continued(headless) } else { Ok(()) }
}

/// Returns the conversation for a question that names none.
fn unnamed(headless: &HeadlessWorkspace) -> Result<&'static str, Failure> {
    let declined = match headless.continuation()? {
        Continuation::Nothing => return Ok(NEW),
        Continuation::Session(_) => return Ok(LATEST),
        Continuation::TooOld(ms) => format!("the last one is of {} UTC", moment(ms)),
        Continuation::OtherBranch(branch) => format!("the last one was on branch {branch}"),
    };
    output::tell(&format!("starting a new conversation, because {declined}; -c continues it"));
    Ok(NEW)
}

/// Says which conversation is continued, since the user did not name it.
fn tell_continued(headless: &mut HeadlessWorkspace) -> Result<(), Failure> {
    let list = headless.call::<ListSessions>(NoArguments {})?;
    let id = headless.session_id();
    let Some(session) = list.sessions.iter().find(|session| session.id == id) else { return Ok(()) };
    let about = output::clipped(session.about(), SHOWN);
    let when = session.updated_ms.map(|ms| format!(" of {} UTC", moment(ms))).unwrap_or_default();
    output::tell(&format!("continuing the conversation{when}, \"{about}\"; -n starts a new one"));
    Ok(())
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
        EDITOR => Some(in_editor(headless)?),
        named => Some(headless.session_named(named)?),
    };
    let Some(id) = id else { return Ok(headless.open_session(SessionSource::New)?) };
    if opening == Opening::Copy {
        headless.open_session(SessionSource::StoredWithCache(&id, Access::Read))?;
        headless.call::<Fork>(ForkParams::default())?;
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
