//! The input of every dialect: messages of blocks with optional breakpoints.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strata_tokens::models::Ttl;

use super::request::BreakpointMode;
use crate::history::{ContentBlock, ResultPart, Role};

/// Sender of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The application, in instructions that precede the conversation.
    System,
    /// The user, or a program that acts for the user.
    User,
    Assistant,
}

impl From<Role> for Speaker {
    fn from(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
        }
    }
}

/// Which content blocks can carry a cache breakpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BreakpointTargets {
    /// All blocks except reasoning and empty text (Anthropic, "Prompt caching").
    #[default]
    Any,
    /// Text and images outside of assistant messages (OpenAI, "Prompt caching": "a supported content block
    /// inside an input message").
    Input,
}

impl BreakpointTargets {
    pub fn can_carry_breakpoint(self, speaker: Speaker, content: &ContentBlock) -> bool {
        match self {
            Self::Any => content.can_carry_breakpoint(),
            Self::Input if speaker == Speaker::Assistant => false,
            Self::Input => match content {
                ContentBlock::Text { .. } | ContentBlock::Image(_) => content.can_carry_breakpoint(),
                ContentBlock::ToolResult { content, .. } => content.iter().any(|part| match part {
                    ResultPart::Image(_) => true,
                    part => part.text().is_some_and(|text| !text.is_empty()),
                }),
                ContentBlock::Thinking { .. }
                | ContentBlock::RedactedThinking { .. }
                | ContentBlock::ToolCall { .. }
                | ContentBlock::Foreign(_) => false,
            },
        }
    }
}

/// A block with an optional breakpoint.
#[derive(Clone, Copy, Debug)]
pub struct SpokenBlock<'a> {
    pub content: &'a ContentBlock,
    /// Lifetime of the breakpoint after the block, if there is one.
    pub mark: Option<Ttl>,
}

/// Consecutive blocks of one speaker.
#[derive(Clone, Debug)]
pub struct SpokenMessage<'a> {
    pub speaker: Speaker,
    pub blocks: Vec<SpokenBlock<'a>>,
    /// Number of trailing blocks that only this prompt contains, because they do not become part of the
    /// conversation.
    pub volatile: usize,
}

impl<'a> SpokenMessage<'a> {
    /// Returns the blocks of up to two messages. With explicit breakpoints, the second message contains the volatile
    /// blocks; otherwise it is empty.
    pub(super) fn split_volatile_blocks(&self, breakpoints: BreakpointMode) -> [&[SpokenBlock<'a>]; 2] {
        match breakpoints {
            BreakpointMode::Automatic => [&self.blocks, &[]],
            BreakpointMode::Explicit => {
                self.blocks.split_at(self.blocks.len().saturating_sub(self.volatile)).into()
            }
        }
    }

    /// Returns the blocks of text. Instructions contain no others.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&'a str, &SpokenBlock<'a>)> {
        self.blocks.iter().filter_map(|block| match block.content {
            ContentBlock::Text { text } => Some((text.as_str(), block)),
            _ => None,
        })
    }
}

/// Builds a message from its role and content. Moves `content`, which `json!` would copy.
pub(crate) fn build_message(role: &str, content: Value) -> Value {
    Value::Object(Map::from_iter([("role".to_owned(), role.into()), ("content".to_owned(), content)]))
}

/// Returns blocks with tool results first and otherwise in order. Providers require results first, but a
/// layout may put other content of the same speaker before them.
pub fn order_results_first<B>(
    blocks: &[B],
    content: impl Fn(&B) -> &ContentBlock + Copy,
) -> impl Iterator<Item = &B> {
    let is_result = move |block: &&B| content(block).is_tool_result();
    blocks.iter().filter(is_result).chain(blocks.iter().filter(move |block| !is_result(block)))
}
