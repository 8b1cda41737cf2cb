//! What is known about a conversation once it was read. Reads nothing.

use std::collections::BTreeMap;

use super::files::FileTrace;
use super::step_outcome::StepOutcome;
use super::todos::Todo;
use crate::conversation::history::{MessageId, Role};

/// What a conversation did.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ConversationFacts {
    /// What the user asked for, in order, verbatim; what a program put around it is left out.
    pub requests: Vec<Request>,
    /// Every file that was touched or named, by its path as the conversation writes it (without `./`).
    pub files: BTreeMap<String, FileTrace>,
    /// What failed and did not succeed later, in order.
    pub errors: Vec<UnresolvedError>,
    /// Commands that were run, in order.
    pub(crate) commands: Vec<Command>,
    /// The last to-do list.
    pub(crate) todos: Vec<Todo>,
    /// Sentences that commit to something, in order, each once.
    pub(crate) decisions: Vec<Statement>,
    /// Sentences that plan, report or explain, in order, each once.
    pub(crate) notes: Vec<Note>,
    /// The user's sentences that forbid or demand something, in order, each once.
    pub(crate) constraints: Vec<Statement>,
}

/// What the user asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Where.
    pub message: MessageId,
    /// The user's words. A request that an earlier summary carries may be clipped.
    pub text: String,
}

/// A failure that nothing repaired.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnresolvedError {
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
pub(crate) struct Command {
    /// The message that called.
    pub message: MessageId,
    /// The command line, as called.
    pub text: String,
    /// How it ended.
    pub ended: StepOutcome,
}

/// A sentence someone said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Statement {
    /// Where.
    pub message: MessageId,
    /// Who.
    pub by: Role,
    /// The sentence, one line.
    pub text: String,
}

/// A sentence that plans, reports or explains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Note {
    /// Where.
    pub message: MessageId,
    /// What it does.
    pub kind: NoteKind,
    /// The sentence, one line.
    pub text: String,
}

/// What a sentence does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum NoteKind {
    /// It says what is to be done.
    Plan,
    /// It says what was done.
    Done,
    /// It says what was found out.
    Finding,
    /// It says what did not work.
    Failure,
}
