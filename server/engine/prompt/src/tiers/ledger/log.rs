//! The types that make up the log: its blocks, their content and size, and the boundaries between them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_code::symbols::FileList;
use strata_conversation::history::{ContentBlock, MessageId};
use strata_conversation::providers::{BreakpointTargets, Speaker};

use crate::layout::{
    CountedBlock, FileListCoverage, ItemKey, LayoutBlock, LayoutContent, Part, PromptPiece, SentMessage, Tier,
};

use super::listing::{FileListChanges, ListedFiles};
use super::wording;

/// A version of a file's text, as shown in the log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct FileVersion {
    /// Hash of the full text as sent, including its heading.
    pub(super) hash: ContentHash,
    pub(super) body: Arc<str>,
    /// A note to the model about the text; usually empty.
    pub(super) notice: Arc<str>,
}

impl FileVersion {
    pub(super) fn from_piece(piece: &PromptPiece) -> Self {
        Self { hash: piece.hash, body: Arc::clone(&piece.body), notice: Arc::clone(&piece.notice) }
    }
}

/// A diff that leads to a version of a file. It does not contain the version's text, because a log can have many diffs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct VersionDiff {
    /// Hash of the version that the diff leads to.
    pub(super) to: ContentHash,
    /// Hunks in the format that [`diff::apply`](crate::diff::apply) accepts.
    pub(super) hunks: Arc<str>,
}

/// One unit of the content of a log block.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) enum LogEntry {
    /// The system prompt.
    System(ContentHash),
    /// The legend that explains how to read the log.
    Legend,
    /// A message of the conversation.
    #[serde(rename = "Said")]
    Message(ContentHash),
    /// A file's map block. A `SymbolNote` replaces an earlier map block.
    Symbol(FileKey, ContentHash),
    SymbolNote(FileKey, ContentHash),
    /// The full text of a file or of a range of its lines.
    Full(ItemKey, FileVersion),
    /// Changes since the last shown version of a text.
    Delta(ItemKey, VersionDiff),
    /// Changes since the last full text. Replaces the deltas in between.
    Net(ItemKey, VersionDiff),
    /// A version that the model knows because it wrote the change itself. The entry belongs to the request and shows no
    /// text.
    Implied(ItemKey, ContentHash),
    /// The repository file list. A `TreeNote` contains the changes since the last list.
    Tree(Arc<ListedFiles>),
    TreeNote(Arc<FileListChanges>),
    /// A web page.
    Url(ItemKey, ContentHash),
}

/// One block of the log: content blocks of one speaker that are kept or removed together.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct LogBlock {
    pub(super) entries: Vec<LogEntry>,
    pub(super) speaker: Speaker,
    /// Content blocks as sent, without breakpoints.
    pub(super) blocks: Vec<LayoutBlock>,
    pub(super) tokens: usize,
    hash: ContentHash,
}

/// The end of a prefix of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LogBoundary {
    /// Hash that identifies the prefix.
    pub(super) hash: ContentHash,
    /// Tokens of the prefix.
    pub(super) tokens: usize,
    /// Number of positions in the prefix that count toward the provider's lookback. Each content block is a position,
    /// except that a run of tool calls or results counts once.
    pub(super) positions: usize,
}

impl LogBoundary {
    /// The boundary of the empty prefix.
    pub(super) const START: Self = Self { hash: ContentHash::NONE, tokens: 0, positions: 0 };

    /// Returns the boundary after `log_block`, given the block before it.
    fn boundary_after_block(self, before: Option<&LogBlock>, log_block: &LogBlock) -> Self {
        let before = before.and_then(|before| before.blocks.last());
        let previous = std::iter::once(before).chain(log_block.blocks.iter().map(Some));
        let begins_position = |(block, before): &(&LayoutBlock, Option<&LayoutBlock>)| {
            !before.is_some_and(|before| block.content.is_same_tool_kind_as(&before.content))
        };
        let positions = log_block.blocks.iter().zip(previous).filter(begins_position).count();
        Self {
            hash: ContentHash::from_parts([&self.hash.to_bytes()[..], &log_block.hash.to_bytes()]),
            tokens: self.tokens + log_block.tokens,
            positions: self.positions + positions,
        }
    }

    /// Returns the boundaries of a log: one for the empty prefix, then one after each block.
    pub(super) fn log_boundaries(log: &[Arc<LogBlock>]) -> Vec<Self> {
        let mut boundaries = Vec::with_capacity(log.len() + 1);
        let mut at = Self::START;
        boundaries.push(at);
        let mut before = None;
        for log_block in log {
            at = at.boundary_after_block(before, log_block);
            boundaries.push(at);
            before = Some(&**log_block);
        }
        boundaries
    }
}

/// Properties of a log block other than its contents.
struct BlockProperties {
    entries: Vec<LogEntry>,
    items: Vec<ItemKey>,
    part: Part,
}

impl LogBlock {
    fn new(
        speaker: Speaker,
        labels: BlockProperties,
        contents: impl IntoIterator<Item = CountedBlock>,
        hash: ContentHash,
        framing: usize,
    ) -> Self {
        let BlockProperties { entries, items, part } = labels;
        let block = |CountedBlock { content, tokens }| LayoutBlock {
            content,
            part,
            items: items.clone(),
            tier: Tier::Active,
            tokens,
            mark: None,
        };
        let blocks: Vec<LayoutBlock> = contents.into_iter().map(block).collect();
        let tokens = blocks.iter().map(|block| block.tokens + framing).sum();
        Self { entries, speaker, blocks, tokens, hash }
    }

    fn text(labels: BlockProperties, text: String, content: &LayoutContent<'_>) -> Self {
        let hash = ContentHash::from_text(&text);
        let tokens = (content.count)(&text);
        let block = CountedBlock { content: ContentBlock::text(text), tokens };
        Self::new(Speaker::User, labels, [block], hash, content.framing)
    }

    /// Creates the block of the system prompt. Includes the legend of the log if the prompt contains more than a
    /// conversation.
    pub(super) fn system(content: &LayoutContent<'_>) -> Self {
        let mut entries = vec![LogEntry::System(system_hash(content))];
        let mut texts = vec![&*content.system];
        if has_workspace_content(content) {
            entries.push(LogEntry::Legend);
            texts.push(wording::legend());
        }
        let hash = ContentHash::from_parts(texts.iter().map(|text| text.as_bytes()));
        let blocks = texts
            .into_iter()
            .filter(|text| !text.trim().is_empty())
            .map(|text| CountedBlock { tokens: (content.count)(text), content: ContentBlock::text(text) });
        let labels = BlockProperties { entries, items: vec![ItemKey::System], part: Part::System };
        Self::new(Speaker::System, labels, blocks, hash, content.framing)
    }

    /// Creates a block with the legend, for a log that begins after a conversation.
    pub(super) fn legend(content: &LayoutContent<'_>) -> Self {
        let labels = BlockProperties { entries: vec![LogEntry::Legend], items: vec![], part: Part::Map };
        Self::text(labels, wording::legend().to_owned(), content)
    }

    pub(super) fn message(message: &SentMessage, hash: ContentHash, content: &LayoutContent<'_>) -> Self {
        let labels = BlockProperties {
            entries: vec![LogEntry::Message(hash)],
            items: vec![ItemKey::History(message.id)],
            part: Part::History,
        };
        Self::new(message.speaker, labels, message.blocks.iter().cloned(), hash, content.framing)
    }

    /// Creates the block of the new request, which becomes a message in the next prompt.
    pub(super) fn request(blocks: &[CountedBlock], content: &LayoutContent<'_>) -> Self {
        let hash = SentMessage::hash_blocks(Speaker::User, blocks);
        let labels =
            BlockProperties { entries: vec![LogEntry::Message(hash)], items: vec![], part: Part::Prompt };
        Self::new(Speaker::User, labels, blocks.iter().cloned(), hash, content.framing)
    }

    /// Creates a log block of map blocks that share one content block.
    pub(super) fn map_blocks(pieces: &[&PromptPiece], content: &LayoutContent<'_>) -> Self {
        let path = |piece: &PromptPiece| match &piece.key {
            ItemKey::Symbol(path) => Some(path.clone()),
            _ => None,
        };
        let entry = |piece: &&PromptPiece| Some(LogEntry::Symbol(path(piece)?, piece.hash));
        let labels = BlockProperties {
            entries: pieces.iter().filter_map(entry).collect(),
            items: pieces.iter().map(|piece| piece.key.clone()).collect(),
            part: Part::Map,
        };
        Self::text(labels, wording::map_blocks(pieces), content)
    }

    /// Creates a log block with a map block that replaces an earlier one.
    pub(super) fn map_block_update(path: &FileKey, piece: &PromptPiece, content: &LayoutContent<'_>) -> Self {
        let labels = BlockProperties {
            entries: vec![LogEntry::SymbolNote(path.clone(), piece.hash)],
            items: vec![piece.key.clone()],
            part: Part::Updates,
        };
        Self::text(labels, wording::map_block_update(path, piece), content)
    }

    /// Creates a log block with the full text of a file, or of a range of its lines.
    pub(super) fn full_text(piece: &PromptPiece, content: &LayoutContent<'_>) -> Self {
        Self::piece(
            piece,
            LogEntry::Full(piece.key.clone(), FileVersion::from_piece(piece)),
            Part::Files,
            content,
        )
    }

    /// Creates a log block with a web page.
    pub(super) fn web_page(piece: &PromptPiece, content: &LayoutContent<'_>) -> Self {
        Self::piece(piece, LogEntry::Url(piece.key.clone(), piece.hash), Part::Urls, content)
    }

    fn piece(piece: &PromptPiece, entry: LogEntry, part: Part, content: &LayoutContent<'_>) -> Self {
        let labels = BlockProperties { entries: vec![entry], items: vec![piece.key.clone()], part };
        let block = CountedBlock { content: ContentBlock::text(&*piece.text), tokens: piece.tokens };
        Self::new(Speaker::User, labels, [block], piece.hash, content.framing)
    }

    /// Creates a log block with a diff that updates a file. `entry` is a delta or a net diff.
    pub(super) fn file_diff(
        entry: LogEntry,
        key: &ItemKey,
        text: String,
        content: &LayoutContent<'_>,
    ) -> Self {
        let labels = BlockProperties { entries: vec![entry], items: vec![key.clone()], part: Part::Updates };
        Self::text(labels, text, content)
    }

    /// Creates a log block with the repository file list. Returns `None` if the list is empty.
    pub(super) fn file_list(content: &LayoutContent<'_>) -> Option<Self> {
        let FileList { text, names, collapsed, .. } = content.tree.list(content.count);
        if text.is_empty() {
            return None;
        }
        let listed = FileListCoverage { names, collapsed };
        let listing = ListedFiles { files: content.tree.files.clone(), listed };
        let labels = BlockProperties {
            entries: vec![LogEntry::Tree(listing.into())],
            items: vec![],
            part: Part::FileList,
        };
        Some(Self::text(labels, wording::file_list(content.tree.heading(), &text), content))
    }

    /// Creates a log block with the changes since the last file list.
    pub(super) fn file_list_changes(
        changes: FileListChanges,
        text: String,
        content: &LayoutContent<'_>,
    ) -> Self {
        let entries = vec![LogEntry::TreeNote(changes.into())];
        Self::text(BlockProperties { entries, items: vec![], part: Part::Updates }, text, content)
    }

    /// Counts the tokens of the block's texts, without the overhead of its content blocks.
    pub(super) fn text_tokens(&self) -> usize {
        self.blocks.iter().map(|block| block.tokens).sum()
    }

    pub(super) fn has_legend(&self) -> bool {
        self.entries.contains(&LogEntry::Legend)
    }

    pub(super) fn is_message_or_request(&self) -> bool {
        matches!(self.entries.first(), Some(LogEntry::Message(_)))
    }

    /// Whether the block is a request that has not become a message yet.
    pub(super) fn is_request(&self) -> bool {
        self.blocks.iter().any(|block| block.part == Part::Prompt)
    }

    pub(super) fn become_message(&mut self, id: MessageId) {
        for block in &mut self.blocks {
            block.part = Part::History;
            block.items = vec![ItemKey::History(id)];
        }
    }

    /// Whether a cache breakpoint may be at the end of the block.
    pub(super) fn can_carry_breakpoint(&self, carriers: BreakpointTargets) -> bool {
        self.blocks.last().is_some_and(|block| carriers.can_carry_breakpoint(self.speaker, &block.content))
    }
}

pub(super) fn system_hash(content: &LayoutContent<'_>) -> ContentHash {
    ContentHash::from_text(&content.system)
}

/// Whether the content includes more than a system prompt and a conversation.
pub(super) fn has_workspace_content(content: &LayoutContent<'_>) -> bool {
    let pieces = [&content.map, &content.files, &content.urls];
    pieces.iter().any(|pieces| !pieces.is_empty())
        || (content.tree.budget > 0 && !content.tree.files.is_empty())
}
