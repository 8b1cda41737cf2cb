//! A reply while it is put together, and what becomes of it. Knows no dialect.

use serde_json::Value;

use super::error::ProviderError;
use crate::conversation::history::{ContentBlock, Foreign, Provider};
use crate::tokens::cost::Usage;

/// An event of a reply in progress.
#[derive(Clone, PartialEq, Debug)]
pub enum ReplyEvent {
    /// The next piece of text.
    Text(String),
    /// The next piece of reasoning, if the provider shows it.
    Thinking(String),
    /// A call of a tool, complete.
    ToolCall { id: String, name: String, input: Value },
}

/// Why a reply ended.
#[derive(Clone, PartialEq, Debug)]
pub enum ReplyEnd {
    /// The model was done.
    Complete,
    /// The model wants the results of its calls.
    ToolCalls,
    /// The answer's own limit was reached; it may end anywhere.
    OutputLimit,
    /// The stream ended before the provider said why.
    Cut,
    /// The provider failed midway, or sent something other than a reply.
    Failed(ProviderError),
}

/// A reply as far as it arrived.
#[derive(Clone, PartialEq, Debug)]
pub struct Reply {
    /// The content for the conversation, without interrupted calls.
    pub content: Vec<ContentBlock>,
    /// The billed usage, as far as reported.
    pub usage: Option<Usage>,
    /// Why it ended.
    pub end: ReplyEnd,
}

impl Reply {
    /// The text, without reasoning and calls.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            ContentBlock::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// A reply that is being put together.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) content: Vec<ContentBlock>,
    pub(super) usage: Option<Usage>,
    pub(super) end: Option<ReplyEnd>,
    /// Whether something came that only this dialect sends.
    pub(super) has_begun: bool,
}

impl Draft {
    pub(super) fn say(&mut self, text: &str, out: &mut Vec<ReplyEvent>) {
        if text.is_empty() {
            return;
        }
        match self.content.last_mut() {
            Some(ContentBlock::Text { text: said }) => said.push_str(text),
            _ => self.content.push(ContentBlock::text(text)),
        }
        out.push(ReplyEvent::Text(text.to_owned()));
    }

    pub(super) fn call(&mut self, id: &str, name: &str, input: Value, out: &mut Vec<ReplyEvent>) {
        let (id, name) = (id.to_owned(), name.to_owned());
        out.push(ReplyEvent::ToolCall { id: id.clone(), name: name.clone(), input: input.clone() });
        self.content.push(ContentBlock::ToolCall { id, name, input });
    }

    pub(super) fn keep(&mut self, provider: Provider, value: Value) {
        self.content.push(ContentBlock::Foreign(Foreign { provider, value }));
    }

    pub(super) fn finish(self) -> Reply {
        let mut end = self.end.unwrap_or(ReplyEnd::Cut);
        let calls = self.content.iter().any(|block| matches!(block, ContentBlock::ToolCall { .. }));
        if end == ReplyEnd::Complete && calls {
            end = ReplyEnd::ToolCalls;
        }
        Reply { content: self.content, usage: self.usage, end }
    }
}

/// The number at a JSON pointer; 0 without one.
pub(super) fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

/// The text in a field; empty without one.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The arguments of a call as the model wrote them. Invalid JSON stays a text.
pub(super) fn arguments(written: &str) -> Value {
    if written.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(written).unwrap_or_else(|_| written.into())
}
