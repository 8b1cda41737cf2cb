//! Projects any list of messages, wherever it was cut, to a conversation that every provider accepts. Does
//! not change the history, does not drop anything that could be sent, and adds only fixed texts. The result is
//! deterministic, and computing it takes time linear in the size of the history.
//!
//! Repairs (`docs/formats.md`, "Repairs"; `providers::Rule` cites the providers' rules):
//!
//! - Hidden messages and empty texts are removed, and archived results become stubs.
//! - Unanswered calls get a result, late results become text, and results without calls are dropped. Results
//!   directly follow their calls.
//! - Server-side calls stay with their results or are removed.
//! - Ids and tool names are normalized.
//! - Reasoning stays complete or is removed.
//! - Unacceptable images are omitted.

mod calls;
mod clean;
mod late_result;
mod pictures;
mod server_calls;
#[cfg(test)]
mod tests;
mod turns;
mod utterance;

use calls::CallTracker;
pub(crate) use clean::MAX_OPENAI_STRING_CHARS;
pub use clean::archived_stub;
use clean::clean_blocks;
use turns::Turns;
#[cfg(test)]
pub(crate) use utterance::NO_RESPONSE;
pub(crate) use utterance::UNDERSTOOD;
use utterance::Utterance;
pub use utterance::{EARLIER_LEFT_OUT, PICTURE_LEFT_OUT};

use super::{ContentBlock, ForeignProvider, History, Message, MessageId, Role};

/// A message, or a part of one, as the model sees it. Results may come before an earlier message of the same
/// turn.
#[derive(Clone, PartialEq, Debug)]
pub struct ProjectedMessage {
    /// Id of the message. The result added for an unanswered call has the id of the calling message.
    pub id: MessageId,
    pub role: Role,
    /// Content blocks; never empty.
    pub content: Vec<ContentBlock>,
}

/// A history and the following request, as the model sees them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Projection {
    /// Messages of the history, starting with a user message. Adjacent messages of the same role form one
    /// turn.
    pub history: Vec<ProjectedMessage>,
    /// Results in the new request, which must directly follow the history.
    pub results: Vec<ContentBlock>,
    /// Remaining content of the new request, which comes last.
    pub prompt: Vec<ContentBlock>,
    /// Call ids of results in the new request that answer no call, or one that has its result. These results are
    /// dropped.
    pub unmatched: Vec<String>,
}

impl Projection {
    /// Adds an assistant message if the history ends with tool results, so that the following text (such as a
    /// summarizer's instructions) is not read as part of them. Call this only for requests that are not
    /// continued, since the assistant never wrote this message.
    pub(crate) fn add_reply_to_tool_results(&mut self) {
        let Some(last) = self.history.last() else { return };
        if last.content.last().is_some_and(ContentBlock::is_tool_result) {
            let content = vec![ContentBlock::text(UNDERSTOOD)];
            self.history.push(ProjectedMessage { id: last.id, role: Role::Assistant, content });
        }
    }
}

impl History {
    /// Returns all blocks that `recipient` sees of the history and the following request, in order. See [`project`].
    pub fn projected_blocks(
        &self,
        prompt: &[ContentBlock],
        recipient: Option<ForeignProvider>,
    ) -> Vec<ContentBlock> {
        let projection = project(self.messages().iter().map(|message| &**message), prompt, recipient);
        let messages = projection.history.into_iter().flat_map(|message| message.content);
        messages.chain(projection.results).chain(projection.prompt).collect()
    }
}

/// Projects `history`, followed by `prompt` (text, images, or results of pending calls) as the user's next
/// message. Pending calls that `prompt` does not answer get a substitute result.
///
/// `recipient` is the provider whose format the request will have, if any. Content that only one provider
/// accepts (the model's reasoning, foreign blocks) is sent only to that provider.
///
/// If `prompt` is empty, only `history` is projected, and it may end with an assistant message.
pub fn project<'a>(
    history: impl IntoIterator<Item = &'a Message>,
    prompt: &[ContentBlock],
    recipient: Option<ForeignProvider>,
) -> Projection {
    let earlier = history.into_iter().filter_map(|message| clean::clean_message(message, recipient));
    let request =
        Utterance { id: None, role: Role::User, content: clean_blocks(prompt, Role::User, recipient) };
    let utterances = earlier.chain((!request.content.is_empty()).then_some(request));
    let mut calls = CallTracker::default();
    let turns = Turns::new(utterances).with_answered_calls(&mut calls);
    let mut projection = Projection { unmatched: calls.into_orphan_result_ids(), ..Projection::default() };
    for utterance in pictures::replace_unsendable_images(turns.into_utterances(), recipient) {
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
