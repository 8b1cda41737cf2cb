//! One message of a conversation, richer than any provider's form of it. Knows nothing about how a
//! provider wants it written (`wire` does) or whether a list of messages is acceptable (`repair` makes it so).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::foreign::Foreign;
use super::role::Role;
use crate::key::FileKey;

/// The stable number of a message in its session. Never reused, never renumbered by a compaction.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct MessageId(pub u64);

/// The purpose of a message, which decides how archival and compaction treat it.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "MessageKind")]
pub enum Kind {
    /// Ordinary talk.
    #[default]
    Normal,
    /// The result of a tool call.
    ToolResult,
    /// A result hidden from the model because a summary replaces it.
    ToolResultArchived,
    /// The summary that replaces archived results.
    ToolSummary,
    /// The summary that a compaction left.
    Summary,
    /// An event around the conversation, reported to the model.
    SystemEvent,
    /// One iteration of an autonomous loop.
    Iteration,
}

/// Where the bytes of an image are.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ImageSource {
    /// Inline, base64.
    Base64 {
        /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        media_type: String,
        /// The bytes, base64 without line breaks.
        data: String,
    },
    /// At an address that the provider fetches.
    Url {
        /// The address.
        url: String,
    },
}

/// A picture in a message.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// The source of its bytes.
    pub source: ImageSource,
    /// Width in pixels, when known; without it the token estimate is a constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Height in pixels, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
}

/// One part of a tool's result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ResultPart {
    /// Text output.
    Text {
        /// The output.
        text: String,
    },
    /// A picture the tool made.
    Image(Image),
    /// Something that only one provider has a form for.
    Foreign(Foreign),
}

/// How a tool call ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ToolOutcome")]
pub enum Outcome {
    /// It succeeded.
    #[default]
    Ok,
    /// It failed; the content says how.
    Error,
}

/// One part of a message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ContentBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image(Image),
    /// The model's reasoning, given back to it unchanged or not at all.
    Thinking {
        /// The reasoning; empty where the provider does not show it.
        text: String,
        /// The provider's seal over it (Anthropic `signature`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// Reasoning that the provider sent encrypted, given back to it unchanged or not at all.
    RedactedThinking {
        /// The ciphertext.
        data: String,
    },
    /// The model asks for a tool.
    ToolCall {
        /// Pairs the call with its result.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments, opaque to Strata.
        input: Value,
    },
    /// The result of a tool.
    ToolResult {
        /// The `id` of the call.
        call_id: String,
        /// The output.
        content: Vec<ResultPart>,
        /// Whether the tool failed.
        #[serde(default)]
        outcome: Outcome,
    },
    /// Something that only one provider has a form for.
    Foreign(Foreign),
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Whether this block can carry a cache breakpoint: not empty, thinking or foreign blocks.
    pub fn can_carry_a_mark(&self) -> bool {
        match self {
            Self::Text { text } => !text.trim().is_empty(),
            Self::Thinking { .. } | Self::RedactedThinking { .. } | Self::Foreign(_) => false,
            Self::Image(_) | Self::ToolCall { .. } | Self::ToolResult { .. } => true,
        }
    }

    /// Whether it continues with a run of tool calls, or one of tool results, that `before` belongs to: looking back for a
    /// cache entry, a provider takes such a run for one block (Anthropic, "Prompt caching").
    pub(crate) fn continues_run_of(&self, before: &Self) -> bool {
        matches!(
            (before, self),
            (Self::ToolCall { .. }, Self::ToolCall { .. })
                | (Self::ToolResult { .. }, Self::ToolResult { .. })
        )
    }

    /// The pictures it holds.
    pub fn images(&self) -> impl Iterator<Item = &Image> {
        let (own, parts): (Option<&Image>, &[ResultPart]) = match self {
            Self::Image(image) => (Some(image), &[]),
            Self::ToolResult { content, .. } => (None, content),
            _ => (None, &[]),
        };
        own.into_iter().chain(parts.iter().filter_map(|part| match part {
            ResultPart::Image(image) => Some(image),
            ResultPart::Text { .. } | ResultPart::Foreign(_) => None,
        }))
    }

    /// Whether this is the model's reasoning, shown or encrypted.
    pub(crate) fn is_reasoning(&self) -> bool {
        matches!(self, Self::Thinking { .. } | Self::RedactedThinking { .. })
    }

    /// Whether this is the result of a tool call.
    pub fn is_tool_result(&self) -> bool {
        matches!(self, Self::ToolResult { .. })
    }
}

/// Whether a party sees a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Shown.
    #[default]
    Shown,
    /// Kept in the store, not shown, not counted.
    Hidden,
}

/// Whether a compaction may take a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pin {
    /// It may.
    #[default]
    Free,
    /// The user wants it to stay verbatim.
    Kept,
}

impl Pin {
    fn is_free(&self) -> bool {
        *self == Self::Free
    }
}

/// A message before the history has given it its number.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewMessage {
    /// The speaker.
    pub role: Role,
    /// The content, in order.
    pub content: Vec<ContentBlock>,
    /// Whether the model sees it. A hidden message is never sent and never counted.
    #[serde(default)]
    pub agent: Visibility,
    /// Whether the user sees it.
    #[serde(default)]
    pub user: Visibility,
    /// Its purpose.
    #[serde(default)]
    pub kind: Kind,
    /// Whether a compaction may take it.
    #[serde(default, skip_serializing_if = "Pin::is_free")]
    pub pin: Pin,
    /// Time of the message, in milliseconds since 1970, from the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Files it speaks of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_mentioned: Vec<FileKey>,
    /// Files changed by this message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<FileKey>,
    /// Further fields of this message in a provider's format, by the provider's name, for writing it back unchanged (`exchange`).
    /// Never sent, never counted.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl NewMessage {
    /// A visible message of one text block.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, vec![ContentBlock::text(text)])
    }

    /// A visible message with the given content.
    pub fn new(role: Role, content: Vec<ContentBlock>) -> Self {
        Self {
            role,
            content,
            agent: Visibility::Shown,
            user: Visibility::Shown,
            kind: Kind::Normal,
            pin: Pin::Free,
            time_ms: None,
            files_mentioned: Vec::new(),
            files_modified: Vec::new(),
            extra: Map::new(),
        }
    }

    /// Whether it is sent to the model: visible messages, and archived results, whose stubs stay as long as their calls.
    pub(crate) fn is_sent(&self) -> bool {
        self.agent == Visibility::Shown || self.kind == Kind::ToolResultArchived
    }
}

/// A message in a history.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Its number.
    pub id: MessageId,
    /// The message itself.
    #[serde(flatten)]
    pub body: NewMessage,
}

impl Message {
    /// All text blocks, one after the other, separated by line breaks.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .body
            .content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::Text { text } => Some(text.as_str()),
                ContentBlock::Foreign(foreign) => foreign.text(),
                _ => None,
            })
            .collect();
        texts.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_say_who_sees_it_is_seen_by_all() {
        let message: NewMessage =
            serde_json::from_value(serde_json::json!({ "role": "user", "content": [] })).unwrap();
        assert_eq!((message.agent, message.user), (Visibility::Shown, Visibility::Shown));
        assert_eq!(message.kind, Kind::Normal);
    }
}
