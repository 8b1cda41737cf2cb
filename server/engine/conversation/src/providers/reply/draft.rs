//! The assembled reply and its events, independent of the dialect.

use std::fmt;

use serde_json::{Value, json};
use strata_base::json;
use strata_tokens::cost::Usage;

use super::error::ProviderError;
use crate::history::{ContentBlock, Foreign, ForeignProvider};

/// An event of a reply in progress.
#[derive(Clone, PartialEq, Debug)]
pub enum ReplyEvent {
    /// The next piece of text.
    Text(String),
    /// The next piece of reasoning, if the provider shows it.
    Thinking(String),
    ToolCall {
        id: String,
        name: String,
        input: Value,
    },
}

/// Reason why a reply ended.
#[derive(Clone, PartialEq, Debug)]
pub enum ReplyEnd {
    /// The model finished its answer.
    Complete,
    /// The model is waiting for the results of its calls.
    ToolCalls,
    /// The reply reached the limit on output tokens, so its text may end anywhere.
    OutputLimit,
    /// The stream ended before the provider stated a reason.
    Cut,
    /// The provider failed during the reply, or sent something other than a reply.
    Failed(ProviderError),
}

/// A model's reply, complete or as far as it was received before an interruption.
#[derive(Clone, PartialEq, Debug)]
pub struct Reply {
    /// Content to add to the conversation, without interrupted calls.
    pub content: Vec<ContentBlock>,
    /// Token counts that the provider reported, if any.
    pub usage: Option<Usage>,
    pub end: ReplyEnd,
}

impl Reply {
    /// Returns the text of the reply, without reasoning and calls.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            ContentBlock::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// A reply that is being assembled from events in one format.
pub trait StreamedReply: fmt::Debug + Send {
    /// Adds an event of a stream, with the name that its framing has, which may be empty. Skips unknown types.
    fn read_event(&mut self, name: &str, data: &Value, draft: &mut ReplyDraft);

    /// Adds a reply that was not streamed; `None` if `body` is not a reply.
    fn read_body(&mut self, body: &Value, draft: &mut ReplyDraft) -> Option<()>;

    /// Completes the reply at the end of the stream, or at its marker `[DONE]`.
    fn end(&mut self, _draft: &mut ReplyDraft) {}
}

/// A reply that is being assembled.
#[derive(Debug, Default)]
pub struct ReplyDraft {
    pub(crate) content: Vec<ContentBlock>,
    pub(crate) usage: Option<Usage>,
    pub(crate) end: Option<ReplyEnd>,
    /// Events that were not passed on yet.
    pub(crate) events: Vec<ReplyEvent>,
    /// Whether an event of this dialect was received.
    pub(crate) has_begun: bool,
}

impl ReplyDraft {
    /// Adds text to the reply, and shows it.
    pub(crate) fn push_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.content.last_mut() {
            Some(ContentBlock::Text { text: last_text }) => last_text.push_str(text),
            _ => self.content.push(ContentBlock::text(text)),
        }
        self.emit_event(ReplyEvent::Text(text.to_owned()));
    }

    /// Shows reasoning, without adding it to the reply.
    pub(crate) fn emit_thinking(&mut self, text: &str) {
        self.emit_event(ReplyEvent::Thinking(text.to_owned()));
    }

    /// Shows an event, without adding it to the reply. Ignores empty texts.
    pub(crate) fn emit_event(&mut self, event: ReplyEvent) {
        if !matches!(&event, ReplyEvent::Text(text) | ReplyEvent::Thinking(text) if text.is_empty()) {
            self.events.push(event);
        }
    }

    pub(crate) fn push_call(&mut self, id: &str, name: &str, input: Value) {
        let (id, name) = (id.to_owned(), name.to_owned());
        self.emit_event(ReplyEvent::ToolCall { id: id.clone(), name: name.clone(), input: input.clone() });
        self.content.push(ContentBlock::ToolCall { id, name, input });
    }

    pub(crate) fn push_foreign(&mut self, provider: ForeignProvider, value: Value) {
        self.content.push(ContentBlock::Foreign(Foreign { provider, value }));
    }

    pub(crate) fn finish(self) -> Reply {
        let has_calls = self.content.iter().any(|block| matches!(block, ContentBlock::ToolCall { .. }));
        let end = match self.end.unwrap_or(ReplyEnd::Cut) {
            ReplyEnd::Complete if has_calls => ReplyEnd::ToolCalls,
            ReplyEnd::ToolCalls if !has_calls => {
                ReplyEnd::Failed(ProviderError::server("the provider announced tool calls but sent none"))
            }
            end => end,
        };
        Reply { content: self.content, usage: self.usage, end }
    }
}

/// Returns the count at a JSON pointer; 0 if there is none, or if it is negative. Some servers write counts as
/// `12.0`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "float casts saturate")]
pub(crate) fn count_at_pointer(value: &Value, pointer: &str) -> u64 {
    let count = value.pointer(pointer);
    count.and_then(|count| count.as_u64().or_else(|| Some(count.as_f64()? as u64))).unwrap_or_default()
}

/// Parses the arguments of a call: a string of JSON, or the JSON itself, which some servers send. Returns
/// invalid JSON as a string.
pub(crate) fn parse_arguments(written: &Value) -> Value {
    match written {
        Value::Null => json!({}),
        Value::String(written) if written.trim().is_empty() => json!({}),
        Value::String(written) => json::from_str(written).unwrap_or_else(|_| written.as_str().into()),
        other => other.clone(),
    }
}
