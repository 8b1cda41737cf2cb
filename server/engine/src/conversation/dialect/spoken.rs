//! The input of a dialect: messages of blocks, some followed by a breakpoint. Knows no dialect.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::conversation::history::{ContentBlock, ResultPart, Role};
use crate::tokens::models::Ttl;

/// The speaker of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The instructions above the conversation.
    System,
    /// The user or program.
    User,
    /// The model.
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
pub enum Carriers {
    /// Any but reasoning and empty text (Anthropic, "Prompt caching").
    #[default]
    Any,
    /// Texts and pictures that are input: "a supported content block inside an input message", which nothing that the
    /// assistant said is (OpenAI, "Prompt caching").
    Input,
}

impl Carriers {
    /// Whether a breakpoint can follow `content` of `speaker`.
    pub fn include(self, speaker: Speaker, content: &ContentBlock) -> bool {
        match self {
            Self::Any => content.can_carry_a_mark(),
            Self::Input if speaker == Speaker::Assistant => false,
            Self::Input => match content {
                ContentBlock::Text { .. } | ContentBlock::Image(_) => content.can_carry_a_mark(),
                ContentBlock::ToolResult { content, .. } => content.iter().any(|part| match part {
                    ResultPart::Text { text } => !text.is_empty(),
                    ResultPart::Image(_) => true,
                    ResultPart::Foreign(foreign) => foreign.text().is_some_and(|text| !text.is_empty()),
                }),
                ContentBlock::Thinking { .. }
                | ContentBlock::RedactedThinking { .. }
                | ContentBlock::ToolCall { .. }
                | ContentBlock::Foreign(_) => false,
            },
        }
    }
}

/// A block to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpokenBlock<'a> {
    pub content: &'a ContentBlock,
    /// A cache breakpoint follows it.
    pub mark: Option<Ttl>,
}

/// Consecutive blocks of one speaker.
#[derive(Clone, Debug)]
pub(crate) struct SpokenMessage<'a> {
    pub speaker: Speaker,
    pub blocks: Vec<SpokenBlock<'a>>,
    /// How many of `blocks`, counted from the end, are true in this prompt only and will not be part of the conversation.
    pub volatile: usize,
}

impl<'a> SpokenMessage<'a> {
    /// The blocks that are sent again in the next prompt, and the others.
    pub(super) fn parts(&self) -> (&[SpokenBlock<'a>], &[SpokenBlock<'a>]) {
        self.blocks.split_at(self.blocks.len().saturating_sub(self.volatile))
    }
}

/// A message in the form of both dialects. Moves its content, which `json!` would copy.
pub(super) fn message_with(role: &str, content: Value) -> Value {
    Value::Object(Map::from_iter([("role".to_owned(), role.into()), ("content".to_owned(), content)]))
}

/// The blocks of a message with tool results first, otherwise in order. Providers want results first, but a prompt may put other
/// content of the same speaker before them.
pub(crate) fn results_first<B>(
    blocks: &[B],
    content: impl Fn(&B) -> &ContentBlock + Copy,
) -> impl Iterator<Item = &B> {
    let is_result = move |block: &&B| content(block).is_tool_result();
    blocks.iter().filter(is_result).chain(blocks.iter().filter(move |block| !is_result(block)))
}
