//! Drafts the next log: the longest prefix of the last log that is still valid and cached, followed by everything else
//! with its current text. Chooses no breakpoints and does not update the state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_tokens::cost::Prices;
use strata_tokens::models::CacheKind;

use crate::layout::{
    CountedBlock, FileListCoverage, GROUP_TOKENS, ItemKey, LayoutBlock, LayoutContent,
    MAX_GROUPED_MAP_BLOCKS, Part, PromptPiece, Tier,
};

use super::super::{DeltaMode, LayoutReuse, LayoutRules};
use super::hazard::{self, DeselectionHazards, PROBABILITY_ONE};
use super::log::{LogBlock, LogBoundary, LogEntry, has_workspace_content, system_hash};
use super::log_contents::LogContents;
use super::state::LedgerState;
use super::{fixups, wording};

/// Overhead of a content block in tokens, as used for ordering (`docs/tiers.md`). It limits the influence of tiny token
/// counts.
const ORDERING_OVERHEAD_TOKENS: u64 = 3;

/// Size of the outdated text, as a percentage of the other content, up to which it stays whatever it costs, because
/// the expected number of later prompts and their pauses are only estimates.
const MAX_ALWAYS_KEPT_OUTDATED_PERCENT: usize = 10;

/// Maximum number of cuts to try if dropping outdated text may save money. Each try takes as long as assembling a
/// prompt.
const MAX_CUTS_TO_TRY: usize = 8;

/// The next log, without the volatile content that follows it.
pub(super) struct LogDraft {
    pub(super) log: Vec<Arc<LogBlock>>,
    /// Number of blocks kept from the last log.
    pub(super) kept: usize,
    /// Boundaries of the log: [`LogBoundary::START`], then one after each block.
    pub(super) boundaries: Vec<LogBoundary>,
    /// Probability, in millionths, that each block leaves the prompt at the next turn.
    pub(super) next_hazards: Vec<u32>,
    /// Discounted mean, over later turns, of the probability that each block leaves the prompt, in millionths.
    pub(super) discounted_hazards: Vec<u32>,
    /// Lines that give the current version of each updated file.
    version_lines: Vec<String>,
    file_list: FileListCoverage,
}

impl LogDraft {
    /// Drafts a log that keeps as much of the last one as possible, or less if that is expected to cost less.
    pub(super) fn new(state: &LedgerState, content: &LayoutContent<'_>, rules: &LayoutRules) -> Self {
        let index = ContentIndex::new(content);
        let cuts = match rules.reuse {
            LayoutReuse::None => vec![LogPosition::START],
            LayoutReuse::Maximal => possible_cut_positions(state, &index, rules),
        };
        let mut draft =
            Self::from_kept_prefix(cuts.first().copied().unwrap_or(LogPosition::START), state, &index, rules);
        let Some(later_price) = rules.later_price else { return draft };
        let Prices { read, write, .. } = rules.prices;
        let kept_tokens = |draft: &Self| draft.boundary_tokens(draft.kept);
        let needed = index.minimal_tokens() + draft.file_list_tokens();
        let outdated = draft.tokens().saturating_sub(needed);
        if outdated * 100 <= needed * MAX_ALWAYS_KEPT_OUTDATED_PERCENT {
            return draft;
        }
        // A shorter prefix can save no more than all outdated text costs.
        let most_saved = outdated as f64 * (write + later_price);
        let longest = kept_tokens(&draft);
        let can_save = |position: &LogPosition| {
            let rewritten = longest.saturating_sub(draft.boundary_tokens(position.blocks));
            rewritten as f64 * (write - read) < most_saved
        };
        let shorter: Vec<LogPosition> = cuts.into_iter().skip(1).filter(can_save).collect();
        let cost = |draft: &Self| {
            let kept = kept_tokens(draft) as f64;
            let all = draft.tokens() as f64;
            read * kept + write * (all - kept) + later_price * all
        };
        let mut least = cost(&draft);
        // Cuts are spread evenly, and the shortest prefix is among them.
        let step = shorter.len().div_ceil(MAX_CUTS_TO_TRY).max(1);
        for position in shorter.into_iter().rev().step_by(step) {
            let other = Self::from_kept_prefix(position, state, &index, rules);
            if cost(&other) < least {
                least = cost(&other);
                draft = other;
            }
        }
        draft
    }

    fn boundary_tokens(&self, blocks: usize) -> usize {
        self.boundaries.get(blocks).map_or(0, |boundary| boundary.tokens)
    }

    fn tokens(&self) -> usize {
        self.boundaries.last().map_or(0, |boundary| boundary.tokens)
    }

    /// Approximates the tokens of the file list by those of the list in the log, without formatting a new list.
    fn file_list_tokens(&self) -> usize {
        let is_tree =
            |log_block: &&Arc<LogBlock>| matches!(log_block.entries.first(), Some(LogEntry::Tree(_)));
        self.log.iter().rfind(is_tree).map_or(0, |log_block| log_block.tokens)
    }

    fn from_kept_prefix(
        LogPosition { blocks: kept, message_count }: LogPosition,
        state: &LedgerState,
        index: &ContentIndex<'_>,
        rules: &LayoutRules,
    ) -> Self {
        let content = index.content;
        let mut writer = LogBuilder { state, index, hazards: state.ages.hazards(), log: Vec::new() };
        writer.log.extend(state.log.iter().take(kept).cloned());
        writer.convert_requests(message_count);
        if kept == 0 {
            writer.push(LogBlock::system(content));
        }
        writer.add_history(message_count);
        let (results, request): (Vec<_>, Vec<_>) =
            content.request.iter().cloned().partition(|block| block.content.is_tool_result());
        // Tool results directly follow their calls. A prompt follows everything else.
        writer.add_request(&results);
        let log_contents = LogContents::from_log(&writer.log, rules.deltas);
        writer.add_missing_items(&log_contents);
        let fixups = fixups::build_updates(&log_contents, content);
        fixups.blocks.into_iter().for_each(|block| writer.push(block));
        writer.add_request(&request);
        writer.add_versions_known_from_messages(fixups.implied);
        let (version_lines, log, hazards) = (fixups.version_lines, writer.log, writer.hazards);
        let file_list = last_file_list_coverage(&log);
        let boundaries = LogBoundary::log_boundaries(&log);
        let next_hazard = |key: &ItemKey| match key {
            ItemKey::Excerpt(_) => hazard::EXCERPT_HAZARD,
            _ => hazards.next_hazard(state.age(key)),
        };
        let discounted_hazard = |key: &ItemKey| match key {
            ItemKey::Excerpt(_) => hazard::EXCERPT_HAZARD,
            _ => hazards.discounted_hazard(state.age(key)),
        };
        // Only full texts use the discounted hazard, because an update leaves with the next full text.
        let discounted_hazards =
            log.iter().map(|log_block| block_hazard(log_block, discounted_hazard, next_hazard)).collect();
        let next_hazards =
            log.iter().map(|log_block| block_hazard(log_block, next_hazard, next_hazard)).collect();
        Self { log, kept, boundaries, next_hazards, discounted_hazards, version_lines, file_list }
    }

    /// Returns how much of the repository the file list in the prompt covers.
    pub(super) fn file_list_coverage(&self) -> FileListCoverage {
        self.file_list
    }

    /// Returns the tokens of the kept prefix that the provider is expected to read from its cache.
    pub(super) fn expected_cached_tokens(&self, rules: &LayoutRules) -> usize {
        let kept_tokens = self.boundaries.get(self.kept).map_or(0, |boundary| boundary.tokens);
        match rules.prices.kind {
            CacheKind::None => 0,
            CacheKind::Explicit { .. } => kept_tokens,
            CacheKind::Automatic { granularity } => {
                let cached_tokens = kept_tokens - kept_tokens % granularity.max(1);
                if cached_tokens >= rules.prices.min_tokens { cached_tokens } else { 0 }
            }
        }
    }

    /// Returns the content after the log, which is never kept in the next prompt and never gets a breakpoint.
    pub(super) fn blocks_after_log(&self, content: &LayoutContent<'_>) -> Vec<LayoutBlock> {
        let block = |text: String, part| LayoutBlock {
            tokens: (content.count)(&text),
            content: strata_conversation::history::ContentBlock::text(text),
            part,
            items: vec![],
            tier: Tier::Active,
            mark: None,
        };
        let mut tail = Vec::new();
        tail.extend(content.volatile_parts().map(|(text, part)| block(text.to_owned(), part)));
        if !self.version_lines.is_empty() {
            let text = format!("{}\n\n{}", wording::VERSIONS_HEADING, self.version_lines.join("\n"));
            tail.push(block(text, Part::Updates));
        }
        tail
    }
}

/// The content of the prompt, with lookup tables.
struct ContentIndex<'a> {
    content: &'a LayoutContent<'a>,
    /// Hashes of the conversation's messages, in order.
    message_hashes: Vec<ContentHash>,
    symbols: BTreeMap<&'a FileKey, &'a PromptPiece>,
    /// Pieces of files and excerpts, including retained excerpts.
    files: BTreeMap<&'a ItemKey, &'a PromptPiece>,
    /// Files that are selected, as a whole or in part.
    selected_files: BTreeSet<&'a FileKey>,
    /// Files that are selected as a whole.
    whole_files: BTreeSet<&'a FileKey>,
    urls: BTreeMap<&'a ItemKey, &'a PromptPiece>,
}

impl<'a> ContentIndex<'a> {
    fn new(content: &'a LayoutContent<'a>) -> Self {
        let symbol = |piece: &'a PromptPiece| match &piece.key {
            ItemKey::Symbol(path) => Some((path, piece)),
            _ => None,
        };
        Self {
            content,
            message_hashes: content.history.iter().map(crate::layout::SentMessage::hash).collect(),
            symbols: content.map.iter().filter_map(symbol).collect(),
            files: content.file_texts().map(|piece| (&piece.key, piece)).collect(),
            selected_files: content.files.iter().filter_map(|piece| selected_file(&piece.key)).collect(),
            whole_files: content.files.iter().filter_map(|piece| file_shown_in_full(&piece.key)).collect(),
            urls: content.urls.iter().map(|piece| (&piece.key, piece)).collect(),
        }
    }

    /// Counts the tokens of a prompt that shows each text once, without the file list.
    fn minimal_tokens(&self) -> usize {
        let content = self.content;
        let messages = content.history.iter().map(crate::layout::SentMessage::tokens);
        let request = content.request.iter().map(|block| block.tokens);
        let pieces = content.map.iter().chain(&content.files).chain(&content.urls).map(|piece| piece.tokens);
        let legend = if has_workspace_content(content) { (content.count)(wording::legend()) } else { 0 };
        messages.chain(request).chain(pieces).sum::<usize>()
            + (content.count)(&content.system)
            + legend
            + content.retained_excerpts.tokens()
    }

    /// Whether an item is an excerpt of a file that is selected as a whole. The file's full text then takes precedence.
    fn is_covered_by_whole_file(&self, key: &ItemKey) -> bool {
        matches!(key, ItemKey::Excerpt(excerpt) if self.whole_files.contains(&excerpt.file))
    }

    /// Whether an entry may be kept unchanged in the next prompt. Outdated text may be kept if later blocks update it.
    fn can_stay(&self, entry: &LogEntry, deltas: DeltaMode) -> bool {
        let content = self.content;
        match entry {
            LogEntry::System(hash) => *hash == system_hash(content),
            // The caller checks messages, because their order matters.
            LogEntry::Message(_) | LogEntry::Implied(..) | LogEntry::Legend => true,
            // A hidden outline gets no update. It may be kept if it is current, or if the prompt shows the file's full
            // text, which takes precedence.
            LogEntry::Symbol(path, hash) | LogEntry::SymbolNote(path, hash) => {
                self.symbols.contains_key(path)
                    || content
                        .hidden
                        .get(path)
                        .is_some_and(|current| current == hash || self.selected_files.contains(path))
            }
            LogEntry::Full(key, version) => {
                self.is_covered_by_whole_file(key)
                    || self
                        .files
                        .get(key)
                        .is_some_and(|piece| deltas != DeltaMode::Never || piece.hash == version.hash)
            }
            LogEntry::Delta(key, _) | LogEntry::Net(key, _) => {
                self.is_covered_by_whole_file(key) || self.files.contains_key(key)
            }
            LogEntry::Tree(listing) => {
                let names = |path: &FileKey| listing.files.binary_search(path).is_ok();
                content.tree.budget > 0 && !content.excluded.iter().any(names)
            }
            LogEntry::TreeNote(changes) => !content.excluded.iter().any(|path| changes.contains_key(path)),
            LogEntry::Url(key, hash) => self.urls.get(key).is_some_and(|piece| piece.hash == *hash),
        }
    }
}

/// Returns the file of an item that shows a file's text in full or in part.
fn selected_file(key: &ItemKey) -> Option<&FileKey> {
    match key {
        ItemKey::File(path) | ItemKey::Lines(path, _) => Some(path),
        _ => None,
    }
}

/// Returns the file of an item that shows a file's text in full.
fn file_shown_in_full(key: &ItemKey) -> Option<&FileKey> {
    match key {
        ItemKey::File(path) => Some(path),
        _ => None,
    }
}

/// The end of a prefix of the last log, as the number of blocks and the number of messages in the prefix.
#[derive(Clone, Copy)]
struct LogPosition {
    blocks: usize,
    message_count: usize,
}

impl LogPosition {
    const START: Self = Self { blocks: 0, message_count: 0 };
}

/// Returns the positions at which the last log may be cut, longest prefix first. Each prefix may be kept and is cached
/// by the provider.
fn possible_cut_positions(
    state: &LedgerState,
    index: &ContentIndex<'_>,
    rules: &LayoutRules,
) -> Vec<LogPosition> {
    let mut message_count = 0;
    let mut positions = vec![LogPosition::START];
    let boundaries = LogBoundary::log_boundaries(&state.log);
    for (at, log_block) in state.log.iter().enumerate() {
        for entry in &log_block.entries {
            let can_stay = match entry {
                LogEntry::Message(hash) => {
                    message_count += 1;
                    index.message_hashes.get(message_count - 1) == Some(hash)
                }
                _ => index.can_stay(entry, rules.deltas),
            };
            if !can_stay {
                positions.reverse();
                return positions;
            }
        }
        if boundaries.get(at + 1).is_some_and(|boundary| state.is_cached(boundary.hash)) {
            positions.push(LogPosition { blocks: at + 1, message_count });
        }
    }
    positions.reverse();
    positions
}

/// The next log while blocks are being appended.
struct LogBuilder<'a> {
    state: &'a LedgerState,
    index: &'a ContentIndex<'a>,
    hazards: DeselectionHazards,
    log: Vec<Arc<LogBlock>>,
}

impl LogBuilder<'_> {
    fn push(&mut self, log_block: LogBlock) {
        self.log.push(Arc::new(log_block));
    }

    /// Converts the last request in the kept log to a message of the conversation, with its id.
    fn convert_requests(&mut self, message_count: usize) {
        let mut messages = self.index.content.history.iter().take(message_count);
        for log_block in self.log.iter_mut().filter(|log_block| log_block.is_message_or_request()) {
            if let Some(message) = messages.next()
                && log_block.is_request()
            {
                Arc::make_mut(log_block).become_message(message.id);
            }
        }
    }

    fn add_request(&mut self, blocks: &[CountedBlock]) {
        if !blocks.is_empty() {
            self.push(LogBlock::request(blocks, self.index.content));
        }
    }

    /// Records versions that the model knows from its own messages, as entries of the request.
    fn add_versions_known_from_messages(&mut self, versions: Vec<LogEntry>) {
        if let Some(request) = self.log.iter_mut().rfind(|log_block| log_block.is_request()) {
            Arc::make_mut(request).entries.extend(versions);
        }
    }

    fn add_history(&mut self, message_count: usize) {
        let content = self.index.content;
        let rest = content.history.iter().zip(&self.index.message_hashes).skip(message_count);
        for (message, hash) in rest {
            self.push(LogBlock::message(message, *hash, content));
        }
    }

    /// Appends everything that the kept log does not show, lowest hazard per token first (Smith's rule). When a block
    /// leaves, all content after it is written again, so short-lived and small items go last.
    fn add_missing_items(&mut self, log_contents: &LogContents) {
        let content = self.index.content;
        let mut new_items: Vec<NewItem<'_>> = Vec::new();
        let is_shown = |path: &FileKey| log_contents.symbols.contains_key(path);
        let symbols = content.map.iter().filter(|piece| !piece.key.path().is_some_and(is_shown));
        new_items.extend(symbols.map(|piece| NewItem::Symbol(hazard::MAP_HAZARD, piece)));
        let files = content.files.iter().filter(|piece| !log_contents.files.contains_key(&piece.key));
        let hazard = |piece: &PromptPiece| match piece.key {
            ItemKey::Excerpt(_) => hazard::EXCERPT_HAZARD,
            _ => self.hazards.discounted_hazard(self.state.age(&piece.key)),
        };
        new_items.extend(files.map(|piece| NewItem::File(hazard(piece), piece)));
        let urls = content.urls.iter().filter(|piece| !log_contents.urls.contains(&piece.key));
        new_items.extend(urls.map(|piece| NewItem::Url(hazard::PAGE_HAZARD, piece)));
        if log_contents.tree.is_none() {
            new_items.extend(LogBlock::file_list(content).map(NewItem::Tree));
        }
        new_items.sort_by(NewItem::compare_hazard);
        if !new_items.is_empty() && !self.log.iter().any(|log_block| log_block.has_legend()) {
            self.push(LogBlock::legend(content));
        }

        let mut group: Vec<&PromptPiece> = Vec::new();
        let mut group_tokens = 0;
        for item in new_items {
            if let NewItem::Symbol(_, piece) = item {
                if group.len() >= MAX_GROUPED_MAP_BLOCKS
                    || (!group.is_empty() && group_tokens + piece.tokens > GROUP_TOKENS)
                {
                    self.close_group(&mut group, &mut group_tokens);
                }
                group_tokens += piece.tokens;
                group.push(piece);
                continue;
            }
            self.close_group(&mut group, &mut group_tokens);
            self.push(match item {
                NewItem::Symbol(_, piece) | NewItem::File(_, piece) => LogBlock::full_text(piece, content),
                NewItem::Url(_, piece) => LogBlock::web_page(piece, content),
                NewItem::Tree(tree) => tree,
            });
        }
        self.close_group(&mut group, &mut group_tokens);
    }

    fn close_group(&mut self, group: &mut Vec<&PromptPiece>, group_tokens: &mut usize) {
        if !group.is_empty() {
            group.sort_by(|one, other| one.key.cmp(&other.key));
            self.push(LogBlock::map_blocks(group, self.index.content));
            group.clear();
            *group_tokens = 0;
        }
    }
}

/// An item to append, with its discounted hazard.
enum NewItem<'a> {
    Symbol(u32, &'a PromptPiece),
    File(u32, &'a PromptPiece),
    Url(u32, &'a PromptPiece),
    Tree(LogBlock),
}

impl NewItem<'_> {
    fn hazard_and_tokens(&self) -> (u64, u64) {
        let (hazard, tokens) = match self {
            Self::Symbol(hazard, piece) | Self::File(hazard, piece) | Self::Url(hazard, piece) => {
                (*hazard, piece.tokens)
            }
            Self::Tree(tree) => (hazard::PAGE_HAZARD, tree.tokens),
        };
        (u64::from(hazard), tokens as u64 + ORDERING_OVERHEAD_TOKENS)
    }

    /// Compares the hazard per token without division. Ties are broken by key.
    fn compare_hazard(&self, other: &Self) -> std::cmp::Ordering {
        let ((hazard, tokens), (others_hazard, others_tokens)) =
            (self.hazard_and_tokens(), other.hazard_and_tokens());
        (u128::from(hazard) * u128::from(others_tokens))
            .cmp(&(u128::from(others_hazard) * u128::from(tokens)))
            .then_with(|| self.key().cmp(&other.key()))
    }

    fn key(&self) -> Option<&ItemKey> {
        match self {
            Self::Symbol(_, piece) | Self::File(_, piece) | Self::Url(_, piece) => Some(&piece.key),
            Self::Tree(_) => None,
        }
    }
}

/// Returns the probability, in millionths, that the block leaves the prompt because of any of its entries.
fn block_hazard(
    log_block: &LogBlock,
    full_text_hazard: impl Fn(&ItemKey) -> u32,
    update_hazard: impl Fn(&ItemKey) -> u32,
) -> u32 {
    let one = u64::from(PROBABILITY_ONE);
    let survival = log_block.entries.iter().fold(one, |survival, entry| {
        let hazard = match entry {
            LogEntry::System(_) | LogEntry::Legend | LogEntry::Message(_) | LogEntry::Implied(..) => 0,
            LogEntry::Symbol(..) | LogEntry::SymbolNote(..) => hazard::MAP_HAZARD,
            LogEntry::Full(key, _) => full_text_hazard(key),
            LogEntry::Delta(key, _) | LogEntry::Net(key, _) => update_hazard(key),
            LogEntry::Tree(_) | LogEntry::TreeNote(_) | LogEntry::Url(..) => hazard::PAGE_HAZARD,
        };
        survival * (one - u64::from(hazard.min(PROBABILITY_ONE))) / one
    });
    u32::try_from(one - survival).unwrap_or(PROBABILITY_ONE)
}

/// Returns the coverage of the last file list in the log.
fn last_file_list_coverage(log: &[Arc<LogBlock>]) -> FileListCoverage {
    let entries = log.iter().rev().flat_map(|log_block| &log_block.entries);
    let mut listings = entries.filter_map(|entry| match entry {
        LogEntry::Tree(listing) => Some(listing),
        _ => None,
    });
    listings.next().map_or_else(FileListCoverage::default, |listing| listing.listed)
}
