//! The facts of a conversation as plain values.

use std::collections::BTreeMap;

use super::files::FileTrace;
use super::step_outcome::StepOutcome;
use super::todos::Todo;
use crate::history::{MessageId, Role};

#[derive(Clone, PartialEq, Debug, Default)]
pub struct ConversationFacts {
    /// The user's requests in order, verbatim, without text added by programs.
    pub requests: Vec<UserRequest>,
    /// Files that were touched or mentioned, by path as the conversation spells it, without `./`.
    pub files: BTreeMap<String, FileTrace>,
    /// Errors that were not repaired, in order.
    pub errors: Vec<UnresolvedError>,
    /// Commands in the order of their calls.
    pub(crate) commands: Vec<CommandRun>,
    /// The last to-do list.
    pub(crate) todos: Vec<Todo>,
    /// Sentences that commit to something, in order and without duplicates.
    pub(crate) decisions: Vec<Statement>,
    /// Sentences that plan, report or explain something, in order and without duplicates.
    pub(crate) notes: Vec<Note>,
    /// The user's sentences that demand or forbid something, in order and without duplicates.
    pub(crate) constraints: Vec<Statement>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UserRequest {
    /// Message that contains the request.
    pub message: MessageId,
    /// The user's words, possibly clipped if the request comes from an earlier summary.
    pub text: String,
}

/// A failed tool call that no later call repaired.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnresolvedError {
    /// Message with the failed result.
    pub message: MessageId,
    /// Name of the tool; empty if the error comes from an earlier summary that does not name the tool.
    pub tool: String,
    /// Error message, on one line.
    pub text: String,
    /// Path or command of the failed call.
    pub about: Option<String>,
}

/// A command that a tool call ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CommandRun {
    /// Message that called the tool.
    pub message: MessageId,
    /// Command line as called.
    pub text: String,
    pub ended: StepOutcome,
}

/// A sentence that decides or demands something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Statement {
    /// Message that contains the sentence.
    pub message: MessageId,
    /// Author of the sentence.
    pub by: Role,
    /// The sentence, on one line.
    pub text: String,
}

/// A sentence by the assistant that plans, reports or explains something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Note {
    /// Message that contains the sentence.
    pub message: MessageId,
    pub kind: NoteKind,
    /// The sentence, on one line.
    pub text: String,
}

/// What a [`Note`] reports.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum NoteKind {
    Plan,
    /// Finished work.
    Done,
    Finding,
    /// A failed approach.
    Failure,
}
