//! Strata's model of a prompt: messages of blocks, each with its purpose, items, tier and size. Every dialect (`wire`) is written
//! from it without additions. Immutable.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::item::ItemKey;
use crate::conversation::dialect::{Carriers, Speaker, SpokenBlock, SpokenMessage};
use crate::conversation::history::ContentBlock;
use crate::tokens::models::Ttl;

/// How stable content has proved to be. L0 is the most stable and comes first; active content is not cached.
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

/// The purpose of a block: the rows of the token breakdown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PromptPart")]
pub enum Part {
    /// The system prompt with additions from the settings.
    System,
    /// Map blocks and their legend.
    Map,
    /// Full texts of selected files.
    Files,
    /// The repository file list.
    FileList,
    /// Updates of earlier texts: diffs, outlines, changes of the file list.
    Updates,
    /// Web pages.
    Urls,
    /// Earlier messages.
    History,
    /// The tools the client declares.
    Tools,
    /// Volatile facts: branch, files already read.
    SessionState,
    /// Names relevant to the request.
    ContextFrame,
    /// The new prompt or the new tool results.
    Prompt,
    /// The format itself: roles, separators, the beginning of the reply.
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

/// One piece of a prompt that is sent as one content block.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LayoutBlock {
    /// The content sent.
    pub content: ContentBlock,
    /// Its purpose.
    pub part: Part,
    /// The items it shows, in order; empty for furniture such as an acknowledgement.
    pub items: Vec<ItemKey>,
    /// Its tier.
    pub tier: Tier,
    /// Its weight in tokens of the model's tokenizer, without structure.
    pub tokens: usize,
    /// The cache breakpoint after this block, if any.
    pub mark: Option<Ttl>,
}

/// Consecutive blocks of one speaker.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LayoutMessage {
    /// The speaker.
    pub speaker: Speaker,
    /// The content; never empty.
    pub blocks: Vec<LayoutBlock>,
    /// How many of `blocks`, counted from the end, are true in this prompt only and will not be part of the conversation.
    pub volatile: usize,
}

/// A whole prompt: at most one system message, which comes first, then user and assistant in turns.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Layout {
    /// The messages in order.
    pub messages: Vec<LayoutMessage>,
}

impl Layout {
    /// Adds a block after everything else. Blocks of one speaker in a row make one message, because
    /// providers demand that roles alternate.
    pub fn push(&mut self, speaker: Speaker, block: LayoutBlock) {
        match self.messages.last_mut() {
            Some(last) if last.speaker == speaker => last.blocks.push(block),
            _ => self.messages.push(LayoutMessage { speaker, blocks: vec![block], volatile: 0 }),
        }
    }

    /// Adds a block of the user that the next prompt will not hold, after everything else.
    pub(crate) fn push_volatile(&mut self, block: LayoutBlock) {
        self.push(Speaker::User, block);
        if let Some(last) = self.messages.last_mut() {
            last.volatile += 1;
        }
    }

    /// Tokens of each part.
    pub(crate) fn parts(&self) -> BTreeMap<Part, usize> {
        let mut parts = BTreeMap::new();
        for block in self.blocks() {
            *parts.entry(block.part).or_insert(0) += block.tokens;
        }
        parts
    }

    /// The messages as a dialect writes them.
    pub(in crate::prompt) fn spoken(&self) -> Vec<SpokenMessage<'_>> {
        let messages = self.messages.iter().map(|said| {
            let blocks = said.blocks.iter();
            let blocks =
                blocks.map(|block| SpokenBlock { content: &block.content, mark: block.mark }).collect();
            SpokenMessage { speaker: said.speaker, blocks, volatile: said.volatile }
        });
        messages.collect()
    }

    /// All blocks in order.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = &LayoutBlock> {
        self.messages.iter().flat_map(|message| &message.blocks)
    }

    /// The weight of all blocks in tokens, without structure.
    pub fn tokens(&self) -> usize {
        self.blocks().map(|block| block.tokens).sum()
    }

    /// Sets a cache breakpoint after the last block so far that can carry one.
    pub(crate) fn mark_end(&mut self, ttl: Ttl, carriers: Carriers) {
        let mut blocks = self.messages.iter_mut().flat_map(|LayoutMessage { speaker, blocks, .. }| {
            blocks.iter_mut().map(|block| (*speaker, block))
        });
        if let Some((_, block)) = blocks.rfind(|(speaker, block)| carriers.include(*speaker, &block.content))
        {
            block.mark = Some(ttl);
        }
    }
}
