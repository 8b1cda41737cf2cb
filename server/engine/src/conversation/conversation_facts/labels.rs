//! How the lines of a summary begin that needs no model, so that the next one can read them again.

use super::{FileState, TodoState};

/// Before the first thing the user asked for.
pub(crate) const ASKED_FIRST: &str = "Asked first: ";
/// Before the last thing the user asked for.
pub(crate) const ASKED_LAST: &str = "Asked last: ";
/// Before anything else the user asked for.
pub(crate) const ASKED: &str = "Asked: ";
/// Before a decision.
pub(crate) const DECIDED: &str = "Decided: ";
/// Before a constraint.
pub(crate) const REQUIRED: &str = "Required: ";
/// Before an unresolved error.
pub(crate) const UNRESOLVED: &str = "Unresolved: ";
/// Before a command.
pub(crate) const RAN: &str = "Ran: ";
/// After a command that failed.
pub(crate) const FAILED: &str = " (failed)";
/// Label of plans.
pub(crate) const PLANNED: &str = "Planned: ";
/// Label of finished work.
pub(crate) const DONE: &str = "Done: ";
/// Label of findings.
pub(crate) const FOUND: &str = "Found: ";
/// Before what did not work.
pub(crate) const DID_NOT_WORK: &str = "Did not work: ";
/// Label of a file's description.
pub(crate) const ABOUT: &str = "About ";
/// Before a file and the code that was written to it.
pub(crate) const CHANGED: &str = "Changed ";
/// Before the file that was changed last and the code that was written to it.
pub(crate) const LAST_CHANGE: &str = "Last change: ";
/// Before lines about the whole conversation, which the next summary writes again and does not carry on.
pub(crate) const WRITTEN_ANEW: [&str; 7] =
    [EXPLORED, MOST_WORKED, UNFINISHED, LAST_CALLS, LAST_SAID, GO_ON, RESOLVE];
/// Before the number of calls of each tool.
pub(crate) const EXPLORED: &str = "Steps by tool: ";
/// Before the files that took most of the work.
pub(crate) const MOST_WORKED: &str = "Most work went into ";
/// Before the tasks that are not done.
pub(crate) const UNFINISHED: &str = "Not finished: ";
/// Before the last tool calls.
pub(crate) const LAST_CALLS: &str = "Last actions: ";
/// Label of the assistant's last message.
pub(crate) const LAST_SAID: &str = "Last said: ";
/// Before the task that comes first.
pub(crate) const GO_ON: &str = "Go on with";
/// Before the error that comes first.
pub(crate) const RESOLVE: &str = "Resolve: ";
/// Separates a failure from its message.
pub(crate) const SAID: &str = " -> ";

/// Label of files by their last operation.
pub(crate) fn state_label(state: FileState) -> &'static str {
    match state {
        FileState::Edited => "edited: ",
        FileState::Created => "created: ",
        FileState::Deleted => "deleted: ",
        FileState::Read => "read: ",
        FileState::Failed => "failed: ",
        FileState::Mentioned => "named: ",
    }
}

/// Before a task, by how far it is.
pub(crate) fn todo_label(state: TodoState) -> &'static str {
    match state {
        TodoState::Done => "✅ ",
        TodoState::InProgress => "🔄 ",
        TodoState::Pending => "⏳ ",
    }
}
