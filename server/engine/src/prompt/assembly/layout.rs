//! A prompt as Strata thinks of it: messages of blocks, each block knowing what it is, which items it
//! shows, which tier it stands in and what it weighs. Every dialect (`wire`) is written from this and
//! adds nothing of its own. A layout never changes after it was made.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::conversation::history::{ContentBlock, MessageId, ResultPart, Role};
use crate::conversation::selection::LineRange;
use crate::hash::ContentHash;
use crate::key::FileKey;

/// The name of one tracked unit of prompt content.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKey {
    /// The system prompt.
    System,
    /// A file's map block: `symbol:{path}`.
    Symbol(FileKey),
    /// A file's full text: `file:{path}`.
    File(FileKey),
    /// Some lines of a file: `file:{path}#L10-40`.
    Lines(FileKey, LineRange),
    /// A message of the conversation: `history:{n}`.
    History(MessageId),
    /// The text of a web page, by the hash of its address: `url:{hash}`.
    Url(ContentHash),
}

impl ItemKey {
    /// The file it belongs to, if it belongs to one.
    pub fn path(&self) -> Option<&FileKey> {
        match self {
            Self::Symbol(path) | Self::File(path) | Self::Lines(path, _) => Some(path),
            Self::System | Self::History(_) | Self::Url(_) => None,
        }
    }
}

impl fmt::Display for ItemKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str("system"),
            Self::Symbol(path) => write!(f, "symbol:{path}"),
            Self::File(path) => write!(f, "file:{path}"),
            Self::Lines(path, lines) => write!(f, "file:{path}#{lines}"),
            Self::History(id) => write!(f, "history:{}", id.0),
            Self::Url(hash) => write!(f, "url:{hash}"),
        }
    }
}

impl fmt::Debug for ItemKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for ItemKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for ItemKey {
    fn schema_name() -> Cow<'static, str> {
        "ItemKey".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "The name of one tracked unit of prompt content: `system`, `symbol:{path}`, `file:{path}`, \
                            `file:{path}#L1-9`, `history:{n}`, `url:{hash}`.",
        })
    }
}

impl<'de> Deserialize<'de> for ItemKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let unknown = || serde::de::Error::custom(format!("`{text}` does not name an item"));
        if text == "system" {
            return Ok(Self::System);
        }
        let (kind, name) = text.split_once(':').ok_or_else(unknown)?;
        match kind {
            "symbol" => Ok(Self::Symbol(FileKey::from(name))),
            "file" => Ok(match name.rsplit_once('#').map(|(path, lines)| (path, lines.parse())) {
                Some((path, Ok(lines))) => Self::Lines(FileKey::from(path), lines),
                _ => Self::File(FileKey::from(name)),
            }),
            "history" => name.parse().map(|n| Self::History(MessageId(n))).map_err(|_| unknown()),
            "url" => serde_json::from_value(name.into()).map(Self::Url).map_err(|_| unknown()),
            _ => Err(unknown()),
        }
    }
}

/// How stable content has proved to be: L0 is the most stable and stands first; active content is not
/// cached at all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
pub enum Tier {
    /// The most stable.
    L0,
    /// Stable.
    L1,
    /// Settling.
    L2,
    /// Newly graduated.
    L3,
    /// Not cached.
    #[serde(rename = "active")]
    Active,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::L0 => "L0",
            Self::L1 => "L1",
            Self::L2 => "L2",
            Self::L3 => "L3",
            Self::Active => "active",
        })
    }
}

/// What a block is for: the rows of the token breakdown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PromptPart")]
pub enum Part {
    /// The system prompt and what the settings add to it.
    System,
    /// Map blocks and their legend.
    Map,
    /// Full texts of selected files.
    Files,
    /// The repository file list.
    FileList,
    /// What brings texts further up to date: diffs, outlines, changes of the file list.
    Updates,
    /// Web pages.
    Urls,
    /// Earlier messages.
    History,
    /// The tools the client declares.
    Tools,
    /// What is true right now only: branch, files already read.
    SessionState,
    /// What of the repository the request is about.
    ContextFrame,
    /// The new prompt or the new tool results.
    Prompt,
    /// What the format itself costs: roles, separators, the reply's opening.
    Structure,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "system prompt",
            Self::Map => "symbol map",
            Self::Files => "files",
            Self::FileList => "file list",
            Self::Updates => "updates",
            Self::Urls => "web pages",
            Self::History => "history",
            Self::Tools => "tools",
            Self::SessionState => "session state",
            Self::ContextFrame => "context frame",
            Self::Prompt => "prompt",
            Self::Structure => "structure",
        })
    }
}

/// How long a provider is asked to keep a prefix.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
pub enum Ttl {
    /// Five minutes from its last use.
    #[default]
    #[serde(rename = "5m")]
    FiveMinutes,
    /// One hour from its last use.
    #[serde(rename = "1h")]
    OneHour,
}

/// Who speaks in a laid-out message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The instructions above the conversation.
    System,
    /// The person or program.
    User,
    /// The model.
    Assistant,
}

/// One piece of a prompt that is sent as one content block.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LaidBlock {
    /// What is sent.
    pub content: ContentBlock,
    /// What it is for.
    pub part: Part,
    /// The items it shows, in order; empty for furniture such as an acknowledgement.
    pub items: Vec<ItemKey>,
    /// The tier it stands in.
    pub tier: Tier,
    /// Its weight in tokens of the model's tokenizer, without structure.
    pub tokens: usize,
    /// A cache breakpoint stands behind this block.
    pub mark: Option<Ttl>,
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
    /// Whether a breakpoint can stand behind `content`, said by `speaker`.
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

impl From<Role> for Speaker {
    fn from(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
        }
    }
}

/// Consecutive blocks of one speaker.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LaidMessage {
    /// Who speaks.
    pub speaker: Speaker,
    /// What is said; never empty.
    pub blocks: Vec<LaidBlock>,
    /// How many of `blocks`, counted from the end, are true in this prompt only and will not be part of the conversation.
    pub volatile: usize,
}

impl LaidMessage {
    /// The blocks that are sent again in the next prompt, and those that are not.
    pub fn parts(&self) -> (&[LaidBlock], &[LaidBlock]) {
        self.blocks.split_at(self.blocks.len().saturating_sub(self.volatile))
    }
}

/// A whole prompt: at most one system message, which stands first, then user and assistant in turns.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Layout {
    messages: Vec<LaidMessage>,
}

impl Layout {
    /// An empty prompt.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a block behind everything else. Blocks of one speaker in a row make one message, because
    /// providers demand that roles alternate.
    pub fn push(&mut self, speaker: Speaker, block: LaidBlock) {
        match self.messages.last_mut() {
            Some(last) if last.speaker == speaker => last.blocks.push(block),
            _ => self.messages.push(LaidMessage { speaker, blocks: vec![block], volatile: 0 }),
        }
    }

    /// Adds a block of the user that the next prompt will not hold, behind everything else.
    pub fn push_volatile(&mut self, block: LaidBlock) {
        self.push(Speaker::User, block);
        if let Some(last) = self.messages.last_mut() {
            last.volatile += 1;
        }
    }

    /// The messages in order.
    pub fn messages(&self) -> &[LaidMessage] {
        &self.messages
    }

    /// All blocks in order.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = &LaidBlock> {
        self.messages.iter().flat_map(|message| &message.blocks)
    }

    /// The weight of all blocks in tokens, without structure.
    pub fn tokens(&self) -> usize {
        self.blocks().map(|block| block.tokens).sum()
    }

    /// Sets a cache breakpoint behind the last block so far that can carry one.
    pub fn mark_end(&mut self, ttl: Ttl, carriers: Carriers) {
        let mut blocks = self
            .messages
            .iter_mut()
            .flat_map(|LaidMessage { speaker, blocks, .. }| blocks.iter_mut().map(|block| (*speaker, block)));
        if let Some((_, block)) = blocks.rfind(|(speaker, block)| carriers.include(*speaker, &block.content))
        {
            block.mark = Some(ttl);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_keys_are_written_and_read_alike() {
        let keys = [
            ItemKey::System,
            ItemKey::Symbol("src/a.rs".into()),
            ItemKey::File("untitled:Untitled-1".into()),
            ItemKey::File("odd#name".into()),
            ItemKey::Lines("src/a.rs".into(), "L10-40".parse().unwrap()),
            ItemKey::History(MessageId(7)),
            ItemKey::Url(ContentHash::of("https://example.org")),
        ];
        for key in keys {
            let json = serde_json::to_string(&key).unwrap();
            assert_eq!(json, format!("\"{key}\""));
            assert_eq!(serde_json::from_str::<ItemKey>(&json).unwrap(), key);
        }
        assert!(serde_json::from_str::<ItemKey>("\"history:x\"").is_err());
    }
}
