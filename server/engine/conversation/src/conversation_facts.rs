//! Extracts facts from the messages of a conversation: requests, files read and edited, unrepaired failures,
//! open to-dos, decisions. Follows fixed rules, is deterministic, never fails, and takes time linear in the
//! size of the messages. Does not rank facts or write summaries (`extractive` does).

mod call;
mod clip;
mod cues;
mod describe;
mod earlier;
mod errors;
mod files;
mod gather;
pub(crate) mod labels;
mod notation;
mod requests;
mod sentences;
mod step_outcome;
mod steps;
mod todos;
mod tools;
mod types;

use crate::history::{Message, MessageId};

pub use clip::one_line;
pub(crate) use files::FileState;
pub use files::FileTrace;
pub use notation::expand_brace_notation;
pub(crate) use notation::to_brace_notation;
pub(crate) use step_outcome::StepOutcome;
pub use steps::{Step, files_read, non_edit_steps};
pub(crate) use todos::TodoState;
pub use tools::ToolPatterns;
pub(crate) use tools::ToolPurpose;
pub(crate) use types::{CommandRun, ConversationFacts, Note, UserRequest};
pub(crate) use types::{NoteKind, Statement, UnresolvedError};

pub(crate) use errors::retry_invariant_command;
pub(crate) use requests::text_typed_by_user;
pub(crate) use sentences::{code_spans, prose_sentences};
pub(crate) use steps::last_calls;

/// Extracts the facts of `messages`. If some messages are summaries, includes the facts that these state,
/// before the facts of later messages.
pub fn extract_facts<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    tools: &ToolPatterns,
) -> ConversationFacts {
    extract_facts_after_summary(None, messages, tools)
}

/// Extracts the facts of `messages` and of an earlier `summary` that precedes them.
pub(crate) fn extract_facts_after_summary<'a>(
    summary: Option<&str>,
    messages: impl IntoIterator<Item = &'a Message>,
    tools: &ToolPatterns,
) -> ConversationFacts {
    let mut gatherer = gather::Gatherer::new(tools);
    let mut messages = messages.into_iter().enumerate().peekable();
    if let Some(summary) = summary {
        let first = messages.peek().map_or(MessageId(0), |(_, message)| message.id);
        gatherer.read_summary(0, first, summary);
    }
    messages.for_each(|(index, message)| gatherer.read_message(index, message));
    gatherer.into_facts()
}

#[cfg(test)]
pub(crate) mod tests;
