//! How the lines of a summary begin that needs no model, so that the next one can read them again.

use super::{FileState, TodoState};

/// In front of the first thing the user asked for.
pub(crate) const ASKED_FIRST: &str = "Asked first: ";
/// In front of the last thing the user asked for.
pub(crate) const ASKED_LAST: &str = "Asked last: ";
/// In front of anything else the user asked for.
pub(crate) const ASKED: &str = "Asked: ";
/// In front of a decision.
pub(crate) const DECIDED: &str = "Decided: ";
/// In front of a constraint.
pub(crate) const REQUIRED: &str = "Required: ";
/// In front of an unresolved error.
pub(crate) const UNRESOLVED: &str = "Unresolved: ";
/// In front of a command.
pub(crate) const RAN: &str = "Ran: ";
/// Behind a command that failed.
pub(crate) const FAILED: &str = " (failed)";
/// In front of what was planned.
pub(crate) const PLANNED: &str = "Planned: ";
/// In front of what was done.
pub(crate) const DONE: &str = "Done: ";
/// In front of what was found out.
pub(crate) const FOUND: &str = "Found: ";
/// In front of what did not work.
pub(crate) const DID_NOT_WORK: &str = "Did not work: ";
/// In front of a file and what it is.
pub(crate) const ABOUT: &str = "About ";
/// In front of a file and the code that was written to it.
pub(crate) const CHANGED: &str = "Changed ";
/// In front of the file that was changed last and the code that was written to it.
pub(crate) const LAST_CHANGE: &str = "Last change: ";
/// In front of lines about the whole conversation, which the next summary writes anew and does not carry on.
pub(crate) const WRITTEN_ANEW: [&str; 7] =
    [EXPLORED, MOST_WORKED, UNFINISHED, LAST_CALLS, LAST_SAID, GO_ON, RESOLVE];
/// In front of the number of calls of each tool.
pub(crate) const EXPLORED: &str = "Steps by tool: ";
/// In front of the files that took most of the work.
pub(crate) const MOST_WORKED: &str = "Most work went into ";
/// In front of the tasks that are not done.
pub(crate) const UNFINISHED: &str = "Not finished: ";
/// In front of the last tool calls.
pub(crate) const LAST_CALLS: &str = "Last actions: ";
/// In front of what the assistant said last.
pub(crate) const LAST_SAID: &str = "Last said: ";
/// In front of the task that comes first.
pub(crate) const GO_ON: &str = "Go on with";
/// In front of the error that comes first.
pub(crate) const RESOLVE: &str = "Resolve: ";
/// Between what failed and what it said.
pub(crate) const SAID: &str = " -> ";

/// In front of files, by what was done last with them.
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

/// In front of a task, by how far it is.
pub(crate) fn todo_label(state: TodoState) -> &'static str {
    match state {
        TodoState::Done => "✅ ",
        TodoState::InProgress => "🔄 ",
        TodoState::Pending => "⏳ ",
    }
}
