//! Builds the sections of a prompt with their headings, groups and acknowledgements. The policy (`tiers`) decides the
//! order of the sections.

use std::sync::Arc;

use strata_code::outline::LEGEND;
use strata_conversation::history::ContentBlock;
use strata_conversation::providers::{Carriers, Speaker};
use strata_tokens::models::Ttl;

use super::blocks::{Layout, LayoutBlock, Part, Tier};
use super::content::{Content, Count, FileListCoverage, Piece, SentMessage, Tree, WeighedBlock};
use super::item::ItemKey;

/// Maximum number of map blocks in one content block (`docs/prompt.md`, "Order").
pub(crate) const GROUP_ITEMS: usize = 24;
/// Token limit for the map blocks in one content block. A larger map block gets its own content block.
pub(crate) const GROUP_TOKENS: usize = 3_000;

/// Heading of the first map section.
const STRUCTURE: &str = "# Repository Structure";
/// Heading of later map sections.
const STRUCTURE_CONTINUED: &str = "# Repository Structure (continued)";
/// Heading of selected files outside the cached tiers.
pub(crate) const WORKING_FILES: &str = "# Working Files";
const URLS: &str = "# URL Context";

/// The assistant's reply to a message that only provides context.
const ACKNOWLEDGEMENT: &str = "Ok.";

/// Builds a [`Layout`] section by section.
pub(crate) struct Composer<'a> {
    layout: Layout,
    count: Count<'a>,
    tier: Tier,
}

impl<'a> Composer<'a> {
    /// Creates an empty prompt. `count` is used for texts that have no token count yet.
    pub(crate) fn new(count: Count<'a>) -> Self {
        Self { layout: Layout::default(), count, tier: Tier::Active }
    }

    /// Sets the tier of all content added later.
    pub(crate) fn enter(&mut self, tier: Tier) {
        self.tier = tier;
    }

    /// Sets a cache breakpoint after everything added so far, on the last block that can carry one.
    pub(crate) fn mark(&mut self, ttl: Ttl, carriers: Carriers) {
        self.layout.mark_end(ttl, carriers);
    }

    /// Whether the prompt has any blocks.
    pub(crate) fn has_text(&self) -> bool {
        self.layout.blocks().next().is_some()
    }

    pub(crate) fn finish(self) -> Layout {
        self.layout
    }

    /// Adds the system prompt, unless it is blank.
    pub(crate) fn system(&mut self, text: &Arc<str>) {
        if !text.trim().is_empty() {
            let content = ContentBlock::text(&**text);
            self.put(Speaker::System, content, Part::System, vec![ItemKey::System]);
        }
    }

    /// Adds the first map section: the legend of map blocks, then the blocks.
    pub(crate) fn map_in_front(&mut self, speaker: Speaker, pieces: &[&Piece]) {
        self.heading(speaker, &format!("{STRUCTURE}\n\n{LEGEND}"), Part::Map);
        self.map_groups(speaker, pieces);
    }

    /// Adds a later map section, with the user as the speaker.
    pub(crate) fn map(&mut self, pieces: &[&Piece]) {
        self.heading(Speaker::User, STRUCTURE_CONTINUED, Part::Map);
        self.map_groups(Speaker::User, pieces);
    }

    /// Adds the texts of files and excerpts under a heading.
    pub(crate) fn files(&mut self, speaker: Speaker, heading: &str, pieces: &[&Piece]) {
        self.heading(speaker, heading, Part::Files);
        for piece in pieces {
            self.piece(speaker, piece, Part::Files);
        }
    }

    /// Adds the web pages, if any, with an acknowledgement.
    pub(crate) fn urls(&mut self, pieces: &[&Piece]) {
        if pieces.is_empty() {
            return;
        }
        self.heading(Speaker::User, URLS, Part::Urls);
        for piece in pieces {
            self.piece(Speaker::User, piece, Part::Urls);
        }
        self.acknowledge(Part::Urls);
    }

    /// Adds the repository file list, unless it is empty, with an acknowledgement.
    pub(crate) fn file_list(&mut self, tree: &Tree) -> FileListCoverage {
        let list = tree.list(self.count);
        if !list.text.is_empty() {
            let text = format!("{}\n\n{}", tree.heading(), list.text);
            self.put(Speaker::User, ContentBlock::text(text), Part::FileList, vec![]);
            self.acknowledge(Part::FileList);
        }
        FileListCoverage::from(&list)
    }

    /// Adds the session state and the context frame to the request's message.
    pub(crate) fn session_state(&mut self, content: &Content<'_>) {
        for (text, part) in content.volatile() {
            self.put(Speaker::User, ContentBlock::text(text), part, vec![]);
        }
    }

    /// Adds a short assistant message, so that roles alternate after a message that only provides context.
    pub(crate) fn acknowledge(&mut self, part: Part) {
        self.put(Speaker::Assistant, ContentBlock::text(ACKNOWLEDGEMENT), part, vec![]);
    }

    /// Adds a message of the conversation.
    pub(crate) fn said(&mut self, said: &SentMessage) {
        for block in &said.blocks {
            self.weighed(said.speaker, block, Part::History, vec![ItemKey::History(said.id)]);
        }
    }

    /// Adds the new prompt or the new tool results.
    pub(crate) fn request(&mut self, blocks: &[WeighedBlock]) {
        for block in blocks {
            self.weighed(Speaker::User, block, Part::Prompt, vec![]);
        }
    }

    fn map_groups(&mut self, speaker: Speaker, pieces: &[&Piece]) {
        let mut rest = pieces;
        while !rest.is_empty() {
            let mut weight = 0;
            let fitting = rest.iter().take(GROUP_ITEMS).take_while(|piece| {
                weight += piece.tokens;
                weight <= GROUP_TOKENS
            });
            let (group, later) = rest.split_at(fitting.count().max(1));
            let texts: Vec<&str> = group.iter().map(|piece| &*piece.text).collect();
            let items = group.iter().map(|piece| piece.key.clone()).collect();
            self.put(speaker, ContentBlock::text(texts.join("\n")), Part::Map, items);
            rest = later;
        }
    }

    fn heading(&mut self, speaker: Speaker, heading: &str, part: Part) {
        self.put(speaker, ContentBlock::text(heading), part, vec![]);
    }

    fn piece(&mut self, speaker: Speaker, piece: &Piece, part: Part) {
        let block = WeighedBlock { content: ContentBlock::text(&*piece.text), tokens: piece.tokens };
        self.weighed(speaker, &block, part, vec![piece.key.clone()]);
    }

    fn put(&mut self, speaker: Speaker, content: ContentBlock, part: Part, items: Vec<ItemKey>) {
        let tokens = match &content {
            ContentBlock::Text { text } => (self.count)(text),
            _ => 0,
        };
        self.weighed(speaker, &WeighedBlock { content, tokens }, part, items);
    }

    fn weighed(&mut self, speaker: Speaker, block: &WeighedBlock, part: Part, items: Vec<ItemKey>) {
        let WeighedBlock { content, tokens } = block.clone();
        self.layout.push(speaker, LayoutBlock { content, part, items, tier: self.tier, tokens, mark: None });
    }
}
