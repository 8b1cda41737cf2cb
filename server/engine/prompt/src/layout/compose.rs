//! Builds the sections of a prompt with their headings, groups and acknowledgements. The policy (`tiers`) decides the
//! order of the sections.

use std::sync::Arc;

use strata_code::outline::LEGEND;
use strata_conversation::history::ContentBlock;
use strata_conversation::providers::{BreakpointTargets, Speaker};
use strata_tokens::models::Ttl;

use super::blocks::{Layout, LayoutBlock, Part, Tier};
use super::content::{
    CountFn, CountedBlock, FileListCoverage, FileListInput, LayoutContent, PromptPiece, SentMessage,
};
use super::item::ItemKey;

/// Maximum number of map blocks in one content block (`docs/prompt.md`, "Order").
pub(crate) const MAX_GROUPED_MAP_BLOCKS: usize = 24;
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
pub(crate) struct LayoutBuilder<'a> {
    layout: Layout,
    count: CountFn<'a>,
    tier: Tier,
}

impl<'a> LayoutBuilder<'a> {
    /// Creates an empty prompt. `count` is used for texts that have no token count yet.
    pub(crate) fn new(count: CountFn<'a>) -> Self {
        Self { layout: Layout::default(), count, tier: Tier::Active }
    }

    /// Sets the tier of all content added later.
    pub(crate) fn set_tier(&mut self, tier: Tier) {
        self.tier = tier;
    }

    /// Sets a cache breakpoint after everything added so far, on the last block that can carry one.
    pub(crate) fn set_end_breakpoint(&mut self, ttl: Ttl, carriers: BreakpointTargets) {
        self.layout.set_end_breakpoint(ttl, carriers);
    }

    pub(crate) fn has_blocks(&self) -> bool {
        self.layout.blocks().next().is_some()
    }

    pub(crate) fn finish(self) -> Layout {
        self.layout
    }

    /// Adds the system prompt, unless it is blank.
    pub(crate) fn add_system_prompt(&mut self, text: &Arc<str>) {
        if !text.trim().is_empty() {
            let content = ContentBlock::text(&**text);
            self.add_uncounted_block(Speaker::System, content, Part::System, vec![ItemKey::System]);
        }
    }

    /// Adds the first map section: the legend of map blocks, then the blocks.
    pub(crate) fn add_first_map(&mut self, speaker: Speaker, pieces: &[&PromptPiece]) {
        self.add_heading(speaker, &format!("{STRUCTURE}\n\n{LEGEND}"), Part::Map);
        self.add_map_groups(speaker, pieces);
    }

    /// Adds a later map section, with the user as the speaker.
    pub(crate) fn add_later_map(&mut self, pieces: &[&PromptPiece]) {
        self.add_heading(Speaker::User, STRUCTURE_CONTINUED, Part::Map);
        self.add_map_groups(Speaker::User, pieces);
    }

    /// Adds the texts of files and excerpts under a heading.
    pub(crate) fn add_files(&mut self, speaker: Speaker, heading: &str, pieces: &[&PromptPiece]) {
        self.add_heading(speaker, heading, Part::Files);
        for piece in pieces {
            self.add_piece(speaker, piece, Part::Files);
        }
    }

    /// Adds the web pages, if any, with an acknowledgement.
    pub(crate) fn add_web_pages(&mut self, pieces: &[&PromptPiece]) {
        if pieces.is_empty() {
            return;
        }
        self.add_heading(Speaker::User, URLS, Part::Urls);
        for piece in pieces {
            self.add_piece(Speaker::User, piece, Part::Urls);
        }
        self.add_acknowledgement(Part::Urls);
    }

    /// Adds the repository file list, unless it is empty, with an acknowledgement.
    pub(crate) fn add_file_list(&mut self, tree: &FileListInput) -> FileListCoverage {
        let list = tree.list(self.count);
        if !list.text.is_empty() {
            let text = format!("{}\n\n{}", tree.heading(), list.text);
            self.add_uncounted_block(Speaker::User, ContentBlock::text(text), Part::FileList, vec![]);
            self.add_acknowledgement(Part::FileList);
        }
        FileListCoverage::from(&list)
    }

    /// Adds the session state and the context frame to the request's message.
    pub(crate) fn add_volatile_parts(&mut self, content: &LayoutContent<'_>) {
        for (text, part) in content.volatile_parts() {
            self.add_uncounted_block(Speaker::User, ContentBlock::text(text), part, vec![]);
        }
    }

    /// Adds a short assistant message, so that roles alternate after a message that only provides context.
    pub(crate) fn add_acknowledgement(&mut self, part: Part) {
        self.add_uncounted_block(Speaker::Assistant, ContentBlock::text(ACKNOWLEDGEMENT), part, vec![]);
    }

    pub(crate) fn add_message(&mut self, message: &SentMessage) {
        for block in &message.blocks {
            self.add_block(message.speaker, block, Part::History, vec![ItemKey::History(message.id)]);
        }
    }

    /// Adds the new prompt or the new tool results.
    pub(crate) fn add_request(&mut self, blocks: &[CountedBlock]) {
        for block in blocks {
            self.add_block(Speaker::User, block, Part::Prompt, vec![]);
        }
    }

    fn add_map_groups(&mut self, speaker: Speaker, pieces: &[&PromptPiece]) {
        let mut remaining = pieces;
        while !remaining.is_empty() {
            let mut group_tokens = 0;
            let fitting = remaining.iter().take(MAX_GROUPED_MAP_BLOCKS).take_while(|piece| {
                group_tokens += piece.tokens;
                group_tokens <= GROUP_TOKENS
            });
            let (group, later) = remaining.split_at(fitting.count().max(1));
            let texts: Vec<&str> = group.iter().map(|piece| &*piece.text).collect();
            let items = group.iter().map(|piece| piece.key.clone()).collect();
            self.add_uncounted_block(speaker, ContentBlock::text(texts.join("\n")), Part::Map, items);
            remaining = later;
        }
    }

    fn add_heading(&mut self, speaker: Speaker, heading: &str, part: Part) {
        self.add_uncounted_block(speaker, ContentBlock::text(heading), part, vec![]);
    }

    fn add_piece(&mut self, speaker: Speaker, piece: &PromptPiece, part: Part) {
        let block = CountedBlock { content: ContentBlock::text(&*piece.text), tokens: piece.tokens };
        self.add_block(speaker, &block, part, vec![piece.key.clone()]);
    }

    fn add_uncounted_block(
        &mut self,
        speaker: Speaker,
        content: ContentBlock,
        part: Part,
        items: Vec<ItemKey>,
    ) {
        let tokens = match &content {
            ContentBlock::Text { text } => (self.count)(text),
            _ => 0,
        };
        self.add_block(speaker, &CountedBlock { content, tokens }, part, items);
    }

    fn add_block(&mut self, speaker: Speaker, block: &CountedBlock, part: Part, items: Vec<ItemKey>) {
        let CountedBlock { content, tokens } = block.clone();
        self.layout.push(speaker, LayoutBlock { content, part, items, tier: self.tier, tokens, mark: None });
    }
}
