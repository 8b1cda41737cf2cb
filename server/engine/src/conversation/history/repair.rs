//! Makes of any list of messages, cut anywhere, a conversation that every provider takes: what the model
//! sees of a history. Never changes the history itself, drops nothing that could be sent, and invents only
//! the fixed texts below. Same messages, same bytes. Linear in the size of the history.
//!
//! What is repaired (`docs/prompt.md`, "Formats"; each provider's rule is cited at `dialect::Rule`): hidden
//! messages and empty texts go; archived results become stubs; unanswered calls get a result; results that answer nothing are dropped;
//! results stand before all else that follows their calls; calls that ran on the provider's servers stay with their
//! results or go; ids and tool names are brought into the form that all providers take; reasoning stays whole or goes;
//! pictures that would be refused, alone or together with the others, are left out.

mod calls;
mod clean;
mod pictures;
mod server_calls;
#[cfg(test)]
mod tests;
mod turns;
mod utterance;

use calls::Calls;
pub(crate) use clean::OPENAI_STRING_CHARS;
pub(crate) use clean::archived_stub;
use clean::clean;
use turns::Turns;
pub(crate) use utterance::UNDERSTOOD;
use utterance::Utterance;
#[cfg(test)]
pub(crate) use utterance::{EARLIER_LEFT_OUT, NO_RESPONSE, PICTURE_LEFT_OUT};

use super::{ContentBlock, Message, MessageId, Provider, Role};

/// What the model sees of one message, or a part of that: results may move before an earlier message
/// of the same turn.
#[derive(Clone, PartialEq, Debug)]
pub struct ProjectedMessage {
    /// The message. A result made up for a call bears the id of the message that called.
    pub id: MessageId,
    /// Who speaks.
    pub role: Role,
    /// What is said; never empty.
    pub content: Vec<ContentBlock>,
}

/// What the model sees of a history and of the new request after it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Projection {
    /// The history, from a user message on. Adjacent entries may have the same role: they make one turn.
    pub history: Vec<ProjectedMessage>,
    /// The new results. They must be laid directly after the history, before anything else.
    pub results: Vec<ContentBlock>,
    /// The rest of the new request, to be laid last.
    pub prompt: Vec<ContentBlock>,
    /// Call ids of new results that answer no pending call of the history; they are not in `results`.
    pub unmatched: Vec<String>,
}

impl Projection {
    /// Lets the assistant acknowledge tool results that the history ends with, so that what is laid after them
    /// next (the instructions of a summarizer) is not read along with them. For requests that no one goes on
    /// with: an ordinary one must not end so, nor have the assistant say what it never said.
    pub(crate) fn acknowledge(&mut self) {
        let Some(last) = self.history.last() else { return };
        if last.content.last().is_some_and(ContentBlock::is_tool_result) {
            let content = vec![ContentBlock::text(UNDERSTOOD)];
            self.history.push(ProjectedMessage { id: last.id, role: Role::Assistant, content });
        }
    }
}

/// What the model gets to see of `history` when `prompt` (a text, pictures, or results of the pending
/// calls) follows as the user's next message. Calls that are pending at the end of the history and that
/// `prompt` no response get a result that says so.
///
/// `recipient` is the provider whose form the request will have, if any: what only one of them takes (the model's
/// reasoning, foreign blocks) goes to that one alone.
///
/// With an empty `prompt` this repairs a list that stands for itself; it may then end with the assistant.
pub fn project<'a>(
    history: impl IntoIterator<Item = &'a Message>,
    prompt: &[ContentBlock],
    recipient: Option<Provider>,
) -> Projection {
    let heard = history.into_iter().filter_map(|message| clean::message(message, recipient));
    let asked = Utterance { id: None, role: Role::User, content: clean(prompt, Role::User, recipient) };
    let spoken = heard.chain((!asked.content.is_empty()).then_some(asked));
    let mut calls = Calls::default();
    let turns = Turns::new(spoken).answered(&mut calls);
    let mut projection = Projection { unmatched: calls.into_unmatched(), ..Projection::default() };
    for utterance in pictures::sendable(turns.into_utterances(), recipient) {
        let Utterance { id, role, content } = utterance;
        if let Some(id) = id {
            projection.history.push(ProjectedMessage { id, role, content });
        } else {
            let (results, rest): (Vec<_>, Vec<_>) =
                content.into_iter().partition(ContentBlock::is_tool_result);
            projection.results.extend(results);
            projection.prompt.extend(rest);
        }
    }
    projection
}
