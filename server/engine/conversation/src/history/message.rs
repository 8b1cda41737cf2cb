//! Messages of a conversation, independent of any provider's format. `wire` converts them to a provider's
//! format, and `repair` makes a list of messages acceptable to providers.

use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strata_base::key::FileKey;

use super::foreign::Foreign;
use super::role::Role;

/// Stable id of a message in its session. An id is never reused, and a compaction does not change it.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct MessageId(pub u64);

/// Purpose of a message, which determines how archival and compaction treat it.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "MessageKind")]
pub enum MessageKind {
    /// An ordinary message from the user or the model.
    #[default]
    Normal,
    /// The result of a tool call.
    ToolResult,
    /// A tool result that a summary replaces. The model only receives a stub of it.
    ToolResultArchived,
    /// A summary that replaces archived tool results.
    ToolSummary,
    /// A summary written by a compaction.
    Summary,
    /// An event outside the conversation that is reported to the model.
    SystemEvent,
    /// One iteration of an autonomous loop.
    Iteration,
}

/// Source of an image's bytes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ImageSource {
    /// Image bytes encoded as base64.
    Base64 {
        /// Media type: `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        media_type: String,
        /// Image bytes as base64, without line breaks.
        data: String,
    },
    /// URL that the provider fetches.
    Url {
        /// URL of the image.
        url: String,
    },
}

/// An image in a message.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// Source of the image's bytes.
    pub source: ImageSource,
    /// Width in pixels, if known. If the size is unknown, the token estimate is a constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Height in pixels, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
}

/// A part of a tool result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ResultPart {
    /// Text returned by the tool.
    Text {
        /// Text of the output.
        text: String,
    },
    /// Image returned by the tool.
    Image(Image),
    /// A part that only one provider supports.
    Foreign(Foreign),
}

/// Outcome of a tool call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ToolOutcome")]
pub enum ToolOutcome {
    /// The call succeeded.
    #[default]
    Ok,
    /// The call failed. The content describes the error.
    Error,
}

/// A part of a message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ContentBlock {
    /// Text written by the user or the model.
    Text {
        /// Text of the block.
        text: String,
    },
    /// An image, inline or by URL.
    Image(Image),
    /// The model's reasoning. It is sent back unchanged or not at all.
    Thinking {
        /// Text of the reasoning; empty if the provider does not show it.
        text: String,
        /// Provider's signature of the reasoning (Anthropic's `signature`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// Reasoning that the provider encrypted. It is sent back unchanged or not at all.
    RedactedThinking {
        /// Encrypted reasoning.
        data: String,
    },
    /// A tool call by the model.
    ToolCall {
        /// Id that pairs the call with its result.
        id: String,
        /// Name of the tool.
        name: String,
        /// Arguments of the call, which Strata does not interpret.
        input: Value,
    },
    /// The result of a tool call.
    ToolResult {
        /// Id of the call that the result answers.
        call_id: String,
        /// Parts of the tool's output.
        content: Vec<ResultPart>,
        /// Whether the tool succeeded or failed.
        #[serde(default)]
        outcome: ToolOutcome,
    },
    /// A block that only one provider supports.
    Foreign(Foreign),
}

impl ResultPart {
    /// Returns the part's text; `None` for an image and for a foreign block without text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Foreign(foreign) => foreign.text(),
            Self::Image(_) => None,
        }
    }
}

impl ContentBlock {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Whether the block can carry a cache breakpoint. Empty text, reasoning and foreign blocks cannot.
    pub fn can_carry_breakpoint(&self) -> bool {
        match self {
            Self::Text { text } => !text.trim().is_empty(),
            Self::Thinking { .. } | Self::RedactedThinking { .. } | Self::Foreign(_) => false,
            Self::Image(_) | Self::ToolCall { .. } | Self::ToolResult { .. } => true,
        }
    }

    /// Whether this block and `before` are both tool calls or both results. When looking back for a cache
    /// entry, a provider counts a run of such blocks as one (Anthropic, "Prompt caching").
    pub fn is_same_tool_kind_as(&self, before: &Self) -> bool {
        matches!(
            (before, self),
            (Self::ToolCall { .. }, Self::ToolCall { .. })
                | (Self::ToolResult { .. }, Self::ToolResult { .. })
        )
    }

    /// Returns the images of the block, including those in a tool result.
    pub fn images(&self) -> impl Iterator<Item = &Image> {
        let (image, parts): (Option<&Image>, &[ResultPart]) = match self {
            Self::Image(image) => (Some(image), &[]),
            Self::ToolResult { content, .. } => (None, content),
            _ => (None, &[]),
        };
        image.into_iter().chain(parts.iter().filter_map(|part| match part {
            ResultPart::Image(image) => Some(image),
            ResultPart::Text { .. } | ResultPart::Foreign(_) => None,
        }))
    }

    /// Whether the block is reasoning, readable or encrypted.
    pub fn is_reasoning(&self) -> bool {
        matches!(self, Self::Thinking { .. } | Self::RedactedThinking { .. })
    }

    pub fn is_tool_result(&self) -> bool {
        matches!(self, Self::ToolResult { .. })
    }
}

/// Whether a message is shown to the model or to the user.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// The message is shown.
    #[default]
    Shown,
    /// The message is hidden. A message hidden from the model is neither sent nor counted.
    Hidden,
}

/// Whether a compaction may remove a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pin {
    /// A compaction may remove the message.
    #[default]
    Free,
    /// The user pinned the message, so it stays verbatim.
    Kept,
}

impl Pin {
    fn is_unpinned(&self) -> bool {
        *self == Self::Free
    }
}

/// Content and properties of a message, without an id.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewMessage {
    /// Sender of the message: the user or the model.
    pub role: Role,
    /// Content blocks of the message, in order.
    pub content: Vec<ContentBlock>,
    /// Whether the model sees the message. Hidden messages are neither sent nor counted.
    #[serde(default)]
    pub agent: Visibility,
    /// Whether the user sees the message.
    #[serde(default)]
    pub user: Visibility,
    /// Purpose of the message.
    #[serde(default)]
    pub kind: MessageKind,
    /// Whether a compaction may remove the message.
    #[serde(default, skip_serializing_if = "Pin::is_unpinned")]
    pub pin: Pin,
    /// Time of the message according to the caller, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Files that the message mentions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_mentioned: Vec<FileKey>,
    /// Files that the message modified.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<FileKey>,
    /// Ignored. Stored messages may contain the field.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub extra: IgnoredAny,
}

impl NewMessage {
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, vec![ContentBlock::text(text)])
    }

    pub fn new(role: Role, content: Vec<ContentBlock>) -> Self {
        Self {
            role,
            content,
            agent: Visibility::Shown,
            user: Visibility::Shown,
            kind: MessageKind::Normal,
            pin: Pin::Free,
            time_ms: None,
            files_mentioned: Vec::new(),
            files_modified: Vec::new(),
            extra: IgnoredAny,
        }
    }

    /// Whether the message is sent to the model. Archived results are sent as stubs, because providers
    /// require a result for each call.
    pub fn is_sent(&self) -> bool {
        self.agent == Visibility::Shown || self.kind == MessageKind::ToolResultArchived
    }
}

/// A message in a history, with its id.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Id of the message in its session.
    pub id: MessageId,
    /// Content and properties of the message.
    #[serde(flatten)]
    pub body: NewMessage,
}

impl Message {
    /// Returns the text of all text blocks, separated by line breaks.
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
    fn messages_without_visibility_are_visible_to_all() {
        let message: NewMessage =
            serde_json::from_value(serde_json::json!({ "role": "user", "content": [] })).unwrap();
        assert_eq!((message.agent, message.user), (Visibility::Shown, Visibility::Shown));
        assert_eq!(message.kind, MessageKind::Normal);
    }

    #[test]
    fn a_stored_field_extra_is_dropped() {
        let stored =
            serde_json::json!({ "role": "user", "content": [], "extra": { "openai": { "name": "x" } } });
        let message: NewMessage = serde_json::from_value(stored).unwrap();
        assert_eq!(message, NewMessage::new(Role::User, Vec::new()));
        assert!(serde_json::to_value(message).unwrap().get("extra").is_none());
    }
}
