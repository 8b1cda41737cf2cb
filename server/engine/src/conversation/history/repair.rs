//! Projects any list of messages, cut anywhere, into a conversation that every provider accepts: what the model sees of a
//! history. Never changes the history, drops nothing that could be sent, and adds only the fixed texts below. Deterministic and
//! linear.
//!
//! Repairs (`docs/prompt.md`, "Formats"; `dialect::Rule` cites the providers' rules): hidden messages and empty texts are
//! removed; archived results become stubs; unanswered calls get a result; results without calls are dropped; results come
//! directly after their calls; server-side calls stay with their results or are removed; ids and tool names are normalized;
//! reasoning stays complete or is removed; unacceptable pictures are left out.

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

/// What the model sees of one message or a part of it. Results may move before an earlier message of the same turn.
#[derive(Clone, PartialEq, Debug)]
pub struct ProjectedMessage {
    /// The message. A result made up for a call bears the id of the message that called.
    pub id: MessageId,
    /// The speaker.
    pub role: Role,
    /// The content; never empty.
    pub content: Vec<ContentBlock>,
}

/// What the model sees of a history and of the request after it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Projection {
    /// The history, from a user message on. Adjacent entries may have the same role: they make one turn.
    pub history: Vec<ProjectedMessage>,
    /// The new results, which must directly follow the history.
    pub results: Vec<ContentBlock>,
    /// The rest of the new request, which comes last.
    pub prompt: Vec<ContentBlock>,
    /// Call ids of new results that answer no pending call of the history; they are not in `results`.
    pub unmatched: Vec<String>,
}

impl Projection {
    /// Adds an assistant message after tool results at the end of the history, so that the following text (such as a summarizer's
    /// instructions) is not read together with them. Only for requests that are not continued, since the assistant never said
    /// this.
    pub(crate) fn acknowledge(&mut self) {
        let Some(last) = self.history.last() else { return };
        if last.content.last().is_some_and(ContentBlock::is_tool_result) {
            let content = vec![ContentBlock::text(UNDERSTOOD)];
            self.history.push(ProjectedMessage { id: last.id, role: Role::Assistant, content });
        }
    }
}

/// What the model sees of `history` if `prompt` (a text, pictures, or results of pending calls) is the user's next message.
/// Pending calls that `prompt` leaves open get a result that says so.
///
/// `recipient` is the provider whose form the request will have, if any: what only one of them takes (the model's
/// reasoning, foreign blocks) goes to that one alone.
///
/// With an empty `prompt`, repairs a list on its own, which may then end with the assistant.
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
