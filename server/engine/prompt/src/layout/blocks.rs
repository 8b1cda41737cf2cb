//! The layout of a prompt, independent of providers: messages made of blocks, each with its purpose, items, tier and
//! size. Dialects (`wire`) write request bodies from the layout and add no content.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_conversation::history::ContentBlock;
use strata_conversation::providers::{BreakpointTargets, Speaker, SpokenBlock, SpokenMessage};
use strata_tokens::models::Ttl;

use super::item::ItemKey;

/// How stable a piece of content is. L0 is the most stable and comes first; `active` content is not cached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
pub enum Tier {
    /// The most stable content, which comes first in the prompt.
    L0,
    /// Cached content that is less stable than L0.
    L1,
    /// Cached content that is less stable than L1.
    L2,
    /// The least stable content that is still cached.
    L3,
    /// Content after the last cache breakpoint, which is not cached.
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

/// Purpose of a block, and one row of the token breakdown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PromptPart")]
pub enum Part {
    /// The system prompt, with additions from the settings.
    System,
    /// Map blocks, with the legend that explains them.
    Map,
    /// Texts of selected files and excerpts.
    Files,
    /// The list of the repository's files.
    FileList,
    /// Updates to earlier content: diffs, outlines and changes to the file list.
    Updates,
    /// Web pages in the context.
    Urls,
    /// Earlier messages of the conversation.
    History,
    /// Tools that the client declares.
    Tools,
    /// Volatile facts, such as the branch and the files already read.
    SessionState,
    /// The context frame, which names code relevant to the question.
    ContextFrame,
    /// The new prompt or new tool results.
    Prompt,
    /// Overhead of the request format, such as roles, separators and the start of the reply.
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

/// A piece of a prompt that is sent as one content block.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LayoutBlock {
    pub content: ContentBlock,
    pub part: Part,
    /// Items that the block shows, in order; empty for a block such as a heading or an acknowledgement.
    pub items: Vec<ItemKey>,
    pub tier: Tier,
    /// Token count according to the model's tokenizer, without the overhead of the request format.
    pub tokens: usize,
    /// Lifetime of the cache breakpoint after this block; `None` if there is no breakpoint.
    pub mark: Option<Ttl>,
}

/// Consecutive blocks of one speaker, sent as one message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LayoutMessage {
    pub speaker: Speaker,
    /// Blocks of the message; never empty.
    pub blocks: Vec<LayoutBlock>,
    /// Number of trailing `blocks` that belong to this prompt only and are not kept in the conversation.
    pub volatile: usize,
}

/// A whole prompt: at most one system message, which comes first, then alternating user and assistant messages.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Layout {
    pub messages: Vec<LayoutMessage>,
}

impl Layout {
    /// Appends a block. Consecutive blocks of one speaker form one message, because providers require alternating
    /// roles.
    pub fn push(&mut self, speaker: Speaker, block: LayoutBlock) {
        match self.messages.last_mut() {
            Some(last) if last.speaker == speaker => last.blocks.push(block),
            _ => self.messages.push(LayoutMessage { speaker, blocks: vec![block], volatile: 0 }),
        }
    }

    /// Appends a user block that is not kept in the next prompt.
    pub(crate) fn push_volatile(&mut self, block: LayoutBlock) {
        self.push(Speaker::User, block);
        if let Some(last) = self.messages.last_mut() {
            last.volatile += 1;
        }
    }

    pub(crate) fn part_tokens(&self) -> BTreeMap<Part, usize> {
        let mut parts = BTreeMap::new();
        for block in self.blocks() {
            *parts.entry(block.part).or_insert(0) += block.tokens;
        }
        parts
    }

    /// Converts the messages to the form from which the body in each dialect is written.
    pub(crate) fn to_messages(&self) -> Vec<SpokenMessage<'_>> {
        let messages = self.messages.iter().map(|message| {
            let blocks = message.blocks.iter();
            let blocks =
                blocks.map(|block| SpokenBlock { content: &block.content, mark: block.mark }).collect();
            SpokenMessage { speaker: message.speaker, blocks, volatile: message.volatile }
        });
        messages.collect()
    }

    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = &LayoutBlock> {
        self.messages.iter().flat_map(|message| &message.blocks)
    }

    /// Counts the tokens of all blocks, without the overhead of the format.
    pub fn tokens(&self) -> usize {
        self.blocks().map(|block| block.tokens).sum()
    }

    /// Sets a cache breakpoint on the last block that can carry one.
    pub(crate) fn set_end_breakpoint(&mut self, ttl: Ttl, carriers: BreakpointTargets) {
        let mut blocks = self.messages.iter_mut().flat_map(|LayoutMessage { speaker, blocks, .. }| {
            blocks.iter_mut().map(|block| (*speaker, block))
        });
        if let Some((_, block)) =
            blocks.rfind(|(speaker, block)| carriers.can_carry_breakpoint(*speaker, &block.content))
        {
            block.mark = Some(ttl);
        }
    }
}
