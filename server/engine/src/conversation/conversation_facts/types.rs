//! The facts of a conversation as values. Reads nothing.

use std::collections::BTreeMap;

use super::files::FileTrace;
use super::step_outcome::StepOutcome;
use super::todos::Todo;
use crate::conversation::history::{MessageId, Role};

/// The facts of a conversation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ConversationFacts {
    /// The user's requests, in order, verbatim, without text added by programs.
    pub requests: Vec<Request>,
    /// Every file that was touched or named, by its path as the conversation writes it (without `./`).
    pub files: BTreeMap<String, FileTrace>,
    /// Errors that were not repaired, in order.
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

/// A request of the user.
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
    /// Its message, one line.
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
    /// Its outcome.
    pub ended: StepOutcome,
}

/// A sentence from the conversation.
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
    /// Its kind.
    pub kind: NoteKind,
    /// The sentence, one line.
    pub text: String,
}

/// The kind of a sentence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum NoteKind {
    /// A plan.
    Plan,
    /// Finished work.
    Done,
    /// A finding.
    Finding,
    /// It says what did not work.
    Failure,
}
