//! Labels of the lines in a summary without a model. `earlier` uses them to parse a summary again.

use super::{FileState, TodoState};

/// Label of the user's first request.
pub(crate) const ASKED_FIRST: &str = "Asked first: ";
/// Label of the user's last request.
pub(crate) const ASKED_LAST: &str = "Asked last: ";
/// Label of the user's other requests.
pub(crate) const ASKED: &str = "Asked: ";
pub(crate) const DECIDED: &str = "Decided: ";
/// Label of constraints.
pub(crate) const REQUIRED_LABEL: &str = "Required: ";
/// Label of unresolved errors.
pub(crate) const UNRESOLVED: &str = "Unresolved: ";
/// Label of commands.
pub(crate) const RAN: &str = "Ran: ";
/// Suffix of a failed command.
pub(crate) const FAILED: &str = " (failed)";
pub(crate) const PLANNED: &str = "Planned: ";
/// Label of finished work.
pub(crate) const DONE: &str = "Done: ";
pub(crate) const FOUND: &str = "Found: ";
/// Label of failed approaches.
pub(crate) const DID_NOT_WORK: &str = "Did not work: ";
/// Label of a file's description.
pub(crate) const ABOUT_FILE_LABEL: &str = "About ";
/// Label of a file and the code written to it.
pub(crate) const CHANGED_FILE_LABEL: &str = "Changed ";
/// Label of the last changed file and the code written to it.
pub(crate) const LAST_CHANGE: &str = "Last change: ";
/// Labels of lines about the whole conversation, which each summary writes again instead of carrying them
/// over.
pub(crate) const REGENERATED_LABELS: [&str; 7] =
    [EXPLORED, MOST_WORKED, UNFINISHED, LAST_CALLS, LAST_SAID, GO_ON, NEXT_ERROR_LABEL];
/// Label of the line that counts the calls of each tool.
pub(crate) const EXPLORED: &str = "Steps by tool: ";
/// Label of the most edited files.
pub(crate) const MOST_WORKED: &str = "Most work went into ";
/// Label of unfinished tasks.
pub(crate) const UNFINISHED: &str = "Not finished: ";
/// Label of the last tool calls.
pub(crate) const LAST_CALLS: &str = "Last actions: ";
/// Label of the assistant's last message.
pub(crate) const LAST_SAID: &str = "Last said: ";
/// Label of the task to do next.
pub(crate) const GO_ON: &str = "Go on with";
/// Label of the error to resolve next.
pub(crate) const NEXT_ERROR_LABEL: &str = "Resolve: ";
/// Separates a failed call from its error message.
pub(crate) const FAILURE_SEPARATOR: &str = " -> ";

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

pub(crate) fn todo_label(state: TodoState) -> &'static str {
    match state {
        TodoState::Done => "✅ ",
        TodoState::InProgress => "🔄 ",
        TodoState::Pending => "⏳ ",
    }
}
