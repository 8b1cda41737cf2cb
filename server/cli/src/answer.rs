//! The answer to a question: shown on the terminal as it arrives, and summarized in a closing line.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Deserialize;
use serde_json::Value;
use strata_app::format;
use strata_app::jobs::send::Delta;
use strata_app::runtime::headless::{Cancel, HeadlessWorkspace};

use crate::failure::Failure;
use crate::output::{self, count};
use crate::usage::Usage;

/// Maximum characters of a tool's arguments to show.
const SHOWN_INPUT: usize = 120;

/// The fields used from the reply to `strata.prompt.send`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    session: String,
    model: String,
    pub(crate) end: String,
    pub(crate) error: Option<String>,
    usage: Usage,
    cost: Cost,
    shed: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    paid: f64,
    read_share: f64,
    dollars: Option<f64>,
}

/// Asks a question in the session, and shows the answer as it arrives to a person. Returns the reply.
pub(crate) fn ask(
    headless: &mut HeadlessWorkspace,
    question: Value,
    cancel: &Cancel,
    audience: Audience,
) -> Result<Value, Failure> {
    let mut screen = Screen::new(audience == Audience::Person);
    let reply = headless.send(question, cancel, &mut |delta| screen.show(&delta));
    screen.end();
    reply.map_err(|error| match error.to_string() {
        message if message.contains("no usable key") => without_provider(&message),
        message => Failure::Said(message),
    })
}

/// Who reads an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Audience {
    /// Someone at a terminal, as it arrives.
    Person,
    /// A program, when it is complete.
    Program,
}

/// Names the other way to ask, for a provider that cannot be used.
pub(crate) fn without_provider(message: &str) -> Failure {
    Failure::said(format!("{message}. To send the request yourself, run `strata prompt`"))
}

impl Answer {
    /// Shows the warnings, and a line about the cost of the answer.
    pub(crate) fn close(&self) {
        for warning in &self.warnings {
            output::tell(&format!("warning: {warning}"));
        }
        output::tell(&self.closing_line());
    }

    /// Returns a line about the answer's cost, and about anything that is missing from it.
    fn closing_line(&self) -> String {
        let Cost { paid, read_share, dollars } = self.cost;
        let mut line = match self.usage.input_tokens() {
            0 => "the provider did not report usage".to_owned(),
            all => format!(
                "{}: {} tokens in ({:.0} % cached, priced as {}), {} out",
                dollars.map_or_else(|| format!("unknown price of {}", self.model), format::dollars),
                count(all),
                read_share * 100.0,
                count(paid.round() as usize),
                count(self.usage.output),
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
