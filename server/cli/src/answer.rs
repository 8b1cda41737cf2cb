//! The answer to a question: shown on the terminal as it arrives, and summarized in a closing line.

use std::io::{self, IsTerminal as _, Write as _};

use strata_app::commands::send::SendParams;
use strata_app::commands::{CommandError, Reply, SendCost, SendEnd, SendReply};
use strata_app::format;
use strata_app::jobs::send::Delta;
use strata_app::runtime::headless::{Cancel, HeadlessWorkspace};

use crate::failure::Failure;
use crate::output::{self, count};
use crate::usage::format_count;

/// Maximum characters of a tool's arguments to show.
const MAX_INPUT_CHARS: usize = 120;

/// Asks a question in the session, and shows the answer as it arrives to a person. Returns the reply.
pub(crate) fn ask(
    headless: &mut HeadlessWorkspace,
    question: SendParams,
    cancel: &Cancel,
    audience: Audience,
) -> Result<Reply<SendReply>, Failure> {
    let mut screen = AnswerOutput::new(audience == Audience::Person);
    let reply = headless.send(question, cancel, &mut |delta| screen.show(&delta));
    screen.end();
    reply.map_err(|error| if error.is_missing_key() { provider_failure(&error) } else { error.into() })
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
pub(crate) fn provider_failure(error: &CommandError) -> Failure {
    Failure::new(format!("{error}. To send the request yourself, run `strata prompt`"))
}

/// Shows the warnings, and a line about the cost of the answer.
pub(crate) fn print_warnings_and_cost(answer: &SendReply) {
    for warning in &answer.warnings {
        output::print_message(&format!("warning: {warning}"));
    }
    output::print_message(&cost_line(answer));
}

/// Returns a line about the answer's cost, and about anything that is missing from it.
fn cost_line(answer: &SendReply) -> String {
    let SendCost { paid, read_share, dollars, .. } = answer.cost;
    let mut line = match answer.usage.input_tokens() {
        0 => "the provider did not report usage".to_owned(),
        all => format!(
            "{}: {} tokens in ({:.0} % cached, priced as {}), {} out",
            dollars.map_or_else(|| format!("unknown price of {}", answer.model), format::dollars),
            count(all),
            read_share * 100.0,
            count(paid.round() as usize),
            format_count(answer.usage.output),
        ),
    };
    if !answer.shed.is_empty() {
        line.push_str(&format!("; left out: {}", answer.shed.join(", ")));
    }
    match answer.end {
        SendEnd::Cancelled => line.push_str("; stopped, and the partial answer was recorded"),
        SendEnd::OutputLimit => line.push_str("; truncated at the output limit"),
        SendEnd::ToolRounds => line.push_str("; stopped after too many rounds of tool calls"),
        SendEnd::Complete | SendEnd::ToolCalls | SendEnd::Cut | SendEnd::Failed => {}
    }
    format!("{line} (session {})", answer.session)
}

/// The part of the terminal output that shows an answer.
struct AnswerOutput {
    is_shown: bool,
    is_terminal: bool,
    ends_line: bool,
}

impl AnswerOutput {
    fn new(is_shown: bool) -> Self {
        Self { is_shown, is_terminal: io::stdout().is_terminal(), ends_line: true }
    }

    fn show(&mut self, delta: &Delta) {
        if let Some(text) = delta.text.as_ref().filter(|_| self.is_shown) {
            self.write(text.terminal_text());
        }
        if let Some(call) = &delta.tool_call {
            self.end_line();
            let input = output::shorten(&call.input.to_string(), MAX_INPUT_CHARS);
            output::print_message(&format!("{} {input}", call.name));
        }
        if let Some(notice) = &delta.notice {
            self.end_line();
            output::print_message(notice);
        }
    }

    fn write(&mut self, text: &str) {
        self.ends_line = text.ends_with('\n');
        let shown =
            if self.is_terminal { output::printable_lines(text).to_string() } else { text.to_owned() };
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
