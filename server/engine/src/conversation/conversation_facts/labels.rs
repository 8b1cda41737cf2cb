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
