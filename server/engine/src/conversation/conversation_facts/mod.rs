//! What a conversation did, read from its messages: what was asked, which files were read and edited, what
//! failed and was not mended, which to-dos are open, what was decided. It guesses by fixed rules, judges
//! nothing and writes no summary (`extractive` does). Same messages, same facts; linear in their size; no
//! message makes it fail.

mod call;
mod clip;
mod cues;
mod earlier;
mod errors;
mod files;
mod gather;
pub(crate) mod labels;
mod notation;
mod requests;
mod sentences;
mod steps;
mod todos;
mod tools;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conversation::history::{Message, MessageId, Role};

pub use clip::one_line;
pub use files::{FileState, FileTrace};
pub use notation::{bundle, unbundle};
pub use steps::{Step, files_read, steps};
pub use todos::{Todo, TodoState};
pub use tools::{Purpose, ToolPatterns};

pub(crate) use errors::head as command_head;
pub(crate) use requests::{is_summary, spoken};
pub(crate) use sentences::{code_spans, sentences};
pub(crate) use steps::last_calls;

/// What a conversation did.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Facts {
    /// What the user asked for, in order, word for word; what a program put around it is left out.
    pub requests: Vec<Request>,
    /// Every file that was touched or named, by its path as the conversation writes it (without `./`).
    pub files: BTreeMap<String, FileTrace>,
    /// What failed and did not succeed later, in order.
    pub errors: Vec<Unresolved>,
    /// Commands that were run, in order.
    pub commands: Vec<Command>,
    /// The last to-do list.
    pub todos: Vec<Todo>,
    /// Sentences that commit to something, in order, each once.
    pub decisions: Vec<Statement>,
    /// Sentences that plan, report or explain, in order, each once.
    pub notes: Vec<Note>,
    /// The user's sentences that forbid or demand something, in order, each once.
    pub constraints: Vec<Statement>,
}

/// What the user asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Where.
    pub message: MessageId,
    /// The user's words. A request that an earlier summary carries may be clipped.
    pub text: String,
}

/// A failure that nothing mended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unresolved {
    /// The message with the failed result.
    pub message: MessageId,
    /// The tool that failed; empty when an earlier summary does not say.
    pub tool: String,
    /// What it said, one line.
    pub text: String,
    /// The path or the command it failed for.
    pub about: Option<String>,
}

/// A command that was run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// The message that called.
    pub message: MessageId,
    /// The command line, as called.
    pub text: String,
    /// How it ended.
    pub ended: Ended,
}

/// How a tool call ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "StepEnded")]
pub enum Ended {
    /// It did what was asked.
    Well,
    /// It failed.
    Badly,
    /// There is no result among the messages.
    Unanswered,
}

/// A sentence somebody said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// Where.
    pub message: MessageId,
    /// Who.
    pub by: Role,
    /// The sentence, one line.
    pub text: String,
}

/// A sentence that plans, reports or explains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// Where.
    pub message: MessageId,
    /// What it does.
    pub kind: NoteKind,
    /// The sentence, one line.
    pub text: String,
}

/// What a sentence does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NoteKind {
    /// It says what is to be done.
    Plan,
    /// It says what was done.
    Done,
    /// It says what was found out.
    Finding,
    /// It says what did not work.
    Failure,
}

/// Reads what `messages` did. Summaries among them carry their own facts on: what they name stands before
/// what follows them.
pub fn facts<'a>(messages: impl IntoIterator<Item = &'a Message>, tools: &ToolPatterns) -> Facts {
    facts_after(None, messages, tools)
}

/// The same for a conversation that an earlier summary, which is not among the messages, stands in front of.
pub fn facts_after<'a>(
    summary: Option<&str>,
    messages: impl IntoIterator<Item = &'a Message>,
    tools: &ToolPatterns,
) -> Facts {
    let mut gathered = gather::Gatherer::new(tools);
    let mut messages = messages.into_iter().enumerate().peekable();
    if let Some(summary) = summary {
        let first = messages.peek().map_or(MessageId(0), |(_, message)| message.id);
        gathered.summary(0, first, summary);
    }
    messages.for_each(|(index, message)| gathered.message(index, message));
    gathered.into_facts()
}

#[cfg(test)]
pub(crate) mod tests;
