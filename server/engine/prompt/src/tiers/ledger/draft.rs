//! Drafts the next log: the longest prefix of the last log that is still valid and cached, followed by everything else
//! with its current text. Chooses no breakpoints and does not update the state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_tokens::models::CacheKind;

use crate::layout::{
    Content, FileListCoverage, GROUP_ITEMS, GROUP_TOKENS, ItemKey, LayoutBlock, Part, Piece, Tier,
    WeighedBlock,
};

use super::super::{Cut, Deltas, Rules};
use super::hazard::{self, Hazards, ONE};
use super::log::{Boundary, Entry, LogBlock, has_items, system_hash};
use super::log_contents::LogContents;
use super::state::State;
use super::{fixups, wording};

/// Overhead of a content block in tokens, as used for ordering (`docs/tiers.md`). It limits the influence of tiny token
/// counts.
const ORDER_FRAMING: u64 = 3;

/// Maximum number of cuts to try when a prompt has grown too long. Each try takes as long as assembling a prompt.
const MAX_TRIES: usize = 8;

/// The next log, without the volatile content that follows it.
pub(super) struct Draft {
    pub(super) log: Vec<Arc<LogBlock>>,
    /// Number of blocks kept from the last log.
    pub(super) kept: usize,
    /// Boundaries of the log: [`Boundary::START`], then one after each block.
    pub(super) boundaries: Vec<Boundary>,
    /// Probability, in millionths, that each block leaves the prompt at the next turn.
    pub(super) next: Vec<u32>,
    /// Discounted mean, over later turns, of the probability that each block leaves the prompt, in millionths.
    pub(super) discounted: Vec<u32>,
    /// Lines that give the current version of each updated file.
    pending: Vec<String>,
    listed: FileListCoverage,
}

impl Draft {
    /// Drafts a log that keeps as much of the last one as possible, or less if the prompt would become too long.
    pub(super) fn new(state: &State, content: &Content<'_>, rules: &Rules) -> Self {
        let view = View::new(content);
        let cuts = match rules.cut {
            Cut::Fresh => vec![LogPosition::START],
            Cut::Deepest => cuts(state, &view, rules),
        };
        let mut draft =
            Self::behind(cuts.first().copied().unwrap_or(LogPosition::START), state, &view, rules);
        let Some(slack) = rules.slack else { return draft };
        let lean = view.tokens();
        let within = |draft: &Self, slack: u32| {
            draft.tokens() * 100 <= (lean + draft.tree_tokens()) * (100 + slack as usize)
        };
        if within(&draft, slack) {
            return draft;
        }
        // Try cuts spread evenly over all candidates. The last candidate keeps nothing.
        let step = cuts.len().div_ceil(MAX_TRIES);
        for place in cuts.into_iter().rev().step_by(step.max(1)).collect::<Vec<_>>().into_iter().rev() {
            draft = Self::behind(place, state, &view, rules);
            if within(&draft, slack / 3) {
                break;
            }
        }
        draft
    }

    fn tokens(&self) -> usize {
        self.boundaries.last().map_or(0, |boundary| boundary.tokens)
    }

    /// Approximates the tokens of the file list by those of the list in the log, without formatting a new list.
    fn tree_tokens(&self) -> usize {
        let is_tree = |logged: &&Arc<LogBlock>| matches!(logged.entries.first(), Some(Entry::Tree(_)));
        self.log.iter().rfind(is_tree).map_or(0, |logged| logged.tokens)
    }

    fn behind(
        LogPosition { blocks: kept, said }: LogPosition,
        state: &State,
        view: &View<'_>,
        rules: &Rules,
    ) -> Self {
        let content = view.content;
        let mut writer = Writer { state, view, hazards: state.ages.hazards(), log: Vec::new() };
        writer.log.extend(state.log.iter().take(kept).cloned());
        writer.relabel(said);
        if kept == 0 {
            writer.put(LogBlock::system(content));
        }
        writer.history(said);
        let (results, asked): (Vec<_>, Vec<_>) =
            content.request.iter().cloned().partition(|block| block.content.is_tool_result());
        // Tool results directly follow their calls. A prompt follows everything else.
        writer.ask(&results);
        let shown = LogContents::read(&writer.log, rules.deltas);
        writer.items(&shown);
        let fixups = fixups::bring_up_to_date(&shown, content);
        fixups.blocks.into_iter().for_each(|block| writer.put(block));
        writer.ask(&asked);
        writer.imply(fixups.implied);
        let (pending, log, hazards) = (fixups.pending, writer.log, writer.hazards);
        let listed = listed(&log);
        let boundaries = Boundary::all(&log);
        let next = |key: &ItemKey| match key {
            ItemKey::Excerpt(_) => hazard::EXCERPT,
            _ => hazards.next(state.age(key)),
        };
        let ahead = |key: &ItemKey| match key {
            ItemKey::Excerpt(_) => hazard::EXCERPT,
            _ => hazards.discounted(state.age(key)),
        };
        // Only full texts use the discounted hazard, because an update leaves with the next full text.
        let discounted = log.iter().map(|logged| block_hazard(logged, ahead, next)).collect();
        let next = log.iter().map(|logged| block_hazard(logged, next, next)).collect();
        Self { log, kept, boundaries, next, discounted, pending, listed }
    }

    /// Returns how much of the repository the file list in the prompt covers.
    pub(super) fn listed(&self) -> FileListCoverage {
        self.listed
    }

    /// Returns the tokens of the kept prefix that the provider is expected to read from its cache.
    pub(super) fn readable(&self, rules: &Rules) -> usize {
        let kept = self.boundaries.get(self.kept).map_or(0, |boundary| boundary.tokens);
        match rules.prices.kind {
            CacheKind::None => 0,
            CacheKind::Explicit { .. } => kept,
            CacheKind::Automatic { granularity } => {
                let whole = kept - kept % granularity.max(1);
                if whole >= rules.prices.min_tokens { whole } else { 0 }
            }
        }
    }

    /// Returns the content after the log, which is never kept in the next prompt and never gets a breakpoint.
    pub(super) fn tail(&self, content: &Content<'_>) -> Vec<LayoutBlock> {
        let block = |text: String, part| LayoutBlock {
            tokens: (content.count)(&text),
            content: strata_conversation::history::ContentBlock::text(text),
            part,
            items: vec![],
            tier: Tier::Active,
            mark: None,
        };
        let mut tail = Vec::new();
        tail.extend(content.volatile().map(|(text, part)| block(text.to_owned(), part)));
        if !self.pending.is_empty() {
            let text = format!("{}\n\n{}", wording::PENDING, self.pending.join("\n"));
            tail.push(block(text, Part::Updates));
        }
        tail
    }
}

/// The content of the prompt, with lookup tables.
struct View<'a> {
    content: &'a Content<'a>,
    /// Hashes of the conversation's messages, in order.
    said: Vec<ContentHash>,
    symbols: BTreeMap<&'a FileKey, &'a Piece>,
    /// Pieces of files and excerpts, including lingering excerpts.
    files: BTreeMap<&'a ItemKey, &'a Piece>,
    /// Files that are selected, as a whole or in part.
    in_full: BTreeSet<&'a FileKey>,
    /// Files that are selected as a whole.
    whole: BTreeSet<&'a FileKey>,
    urls: BTreeMap<&'a ItemKey, &'a Piece>,
}

impl<'a> View<'a> {
    fn new(content: &'a Content<'a>) -> Self {
        let symbol = |piece: &'a Piece| match &piece.key {
            ItemKey::Symbol(path) => Some((path, piece)),
            _ => None,
        };
        Self {
            content,
            said: content.history.iter().map(crate::layout::SentMessage::hash).collect(),
            symbols: content.map.iter().filter_map(symbol).collect(),
            files: content.texts().map(|piece| (&piece.key, piece)).collect(),
            in_full: content.files.iter().filter_map(|piece| in_full(&piece.key)).collect(),
            whole: content.files.iter().filter_map(|piece| whole(&piece.key)).collect(),
            urls: content.urls.iter().map(|piece| (&piece.key, piece)).collect(),
        }
    }

    /// Counts the tokens of a prompt that shows each text once, without the file list.
    fn tokens(&self) -> usize {
        let content = self.content;
        let said = content.history.iter().map(crate::layout::SentMessage::tokens);
        let asked = content.request.iter().map(|block| block.tokens);
        let pieces = content.map.iter().chain(&content.files).chain(&content.urls).map(|piece| piece.tokens);
        let legend = if has_items(content) { (content.count)(wording::legend()) } else { 0 };
        said.chain(asked).chain(pieces).sum::<usize>()
            + (content.count)(&content.system)
            + legend
            + content.lingering.tokens()
    }

    /// Whether an item is an excerpt of a file that is selected as a whole. The file's full text then takes precedence.
    fn is_superseded(&self, key: &ItemKey) -> bool {
        matches!(key, ItemKey::Excerpt(excerpt) if self.whole.contains(&excerpt.file))
    }

    /// Whether an entry may be kept unchanged in the next prompt. Outdated text may be kept if later blocks update it.
    fn may_stay(&self, entry: &Entry, deltas: Deltas) -> bool {
        let content = self.content;
        match entry {
            Entry::System(hash) => *hash == system_hash(content),
            // The caller checks messages, because their order matters.
            Entry::Said(_) | Entry::Implied(..) | Entry::Legend => true,
            // A hidden outline gets no update. It may be kept if it is current, or if the prompt shows the file's full
            // text, which takes precedence.
            Entry::Symbol(path, hash) | Entry::SymbolNote(path, hash) => {
                self.symbols.contains_key(path)
                    || content.hidden.get(path).is_some_and(|now| now == hash || self.in_full.contains(path))
            }
            Entry::Full(key, version) => {
                self.is_superseded(key)
                    || self
                        .files
                        .get(key)
                        .is_some_and(|piece| deltas != Deltas::Never || piece.hash == version.hash)
            }
            Entry::Delta(key, _) | Entry::Net(key, _) => {
                self.is_superseded(key) || self.files.contains_key(key)
            }
            Entry::Tree(listing) => {
                let names = |path: &FileKey| listing.files.binary_search(path).is_ok();
                content.tree.budget > 0 && !content.excluded.iter().any(names)
            }
            Entry::TreeNote(changes) => !content.excluded.iter().any(|path| changes.contains_key(path)),
            Entry::Url(key, hash) => self.urls.get(key).is_some_and(|piece| piece.hash == *hash),
        }
    }
}

/// Returns the file of an item that shows a file's text in full or in part.
fn in_full(key: &ItemKey) -> Option<&FileKey> {
    match key {
        ItemKey::File(path) | ItemKey::Lines(path, _) => Some(path),
        _ => None,
    }
}

/// Returns the file of an item that shows a file's text in full.
fn whole(key: &ItemKey) -> Option<&FileKey> {
    match key {
        ItemKey::File(path) => Some(path),
        _ => None,
    }
}

/// The end of a prefix of the last log, as the number of blocks and the number of messages in the prefix.
#[derive(Clone, Copy)]
struct LogPosition {
    blocks: usize,
    said: usize,
}

impl LogPosition {
    const START: Self = Self { blocks: 0, said: 0 };
}

/// Returns the positions at which the last log may be cut, longest prefix first. Each prefix may be kept and is cached
/// by the provider.
fn cuts(state: &State, view: &View<'_>, rules: &Rules) -> Vec<LogPosition> {
    let mut said = 0;
    let mut places = vec![LogPosition::START];
    let boundaries = Boundary::all(&state.log);
    for (at, logged) in state.log.iter().enumerate() {
        for entry in &logged.entries {
            let stays = match entry {
                Entry::Said(hash) => {
                    said += 1;
                    view.said.get(said - 1) == Some(hash)
                }
                _ => view.may_stay(entry, rules.deltas),
            };
            if !stays {
                places.reverse();
                return places;
            }
        }
        if boundaries.get(at + 1).is_some_and(|boundary| state.holds(boundary.hash)) {
            places.push(LogPosition { blocks: at + 1, said });
        }
    }
    places.reverse();
    places
}

/// The next log while blocks are being appended.
struct Writer<'a> {
    state: &'a State,
    view: &'a View<'a>,
    hazards: Hazards,
    log: Vec<Arc<LogBlock>>,
}

impl Writer<'_> {
    fn put(&mut self, logged: LogBlock) {
        self.log.push(Arc::new(logged));
    }

    /// Converts the last request in the kept log to a message of the conversation, with its id.
    fn relabel(&mut self, said: usize) {
        let mut messages = self.view.content.history.iter().take(said);
        for logged in self.log.iter_mut().filter(|logged| logged.is_said()) {
            if let Some(message) = messages.next()
                && logged.is_request()
            {
                Arc::make_mut(logged).become_message(message.id);
            }
        }
    }

    /// Appends the new request.
    fn ask(&mut self, blocks: &[WeighedBlock]) {
        if !blocks.is_empty() {
            self.put(LogBlock::asked(blocks, self.view.content));
        }
    }

    /// Records versions that the model knows from its own messages, as entries of the request.
    fn imply(&mut self, versions: Vec<Entry>) {
        if let Some(request) = self.log.iter_mut().rfind(|logged| logged.is_request()) {
            Arc::make_mut(request).entries.extend(versions);
        }
    }

    fn history(&mut self, said: usize) {
        let content = self.view.content;
        let rest = content.history.iter().zip(&self.view.said).skip(said);
        for (message, hash) in rest {
            self.put(LogBlock::said(message, *hash, content));
        }
    }

    /// Appends everything that the kept log does not show, lowest hazard per token first (Smith's rule). When a block
    /// leaves, all content after it is written again, so short-lived and small items go last.
    fn items(&mut self, shown: &LogContents) {
        let content = self.view.content;
        let mut items: Vec<Item<'_>> = Vec::new();
        let is_shown = |path: &FileKey| shown.symbols.contains_key(path);
        let symbols = content.map.iter().filter(|piece| !piece.key.path().is_some_and(is_shown));
        items.extend(symbols.map(|piece| Item::Symbol(hazard::MAP, piece)));
        let files = content.files.iter().filter(|piece| !shown.files.contains_key(&piece.key));
        let hazard = |piece: &Piece| match piece.key {
            ItemKey::Excerpt(_) => hazard::EXCERPT,
            _ => self.hazards.discounted(self.state.age(&piece.key)),
        };
        items.extend(files.map(|piece| Item::File(hazard(piece), piece)));
        let urls = content.urls.iter().filter(|piece| !shown.urls.contains(&piece.key));
        items.extend(urls.map(|piece| Item::Url(hazard::PAGE, piece)));
        if shown.tree.is_none() {
            items.extend(LogBlock::tree(content).map(Item::Tree));
        }
        items.sort_by(Item::order);
        if !items.is_empty() && !self.log.iter().any(|logged| logged.has_legend()) {
            self.put(LogBlock::legend(content));
        }

        let mut group: Vec<&Piece> = Vec::new();
        let mut weight = 0;
        for item in items {
            if let Item::Symbol(_, piece) = item {
                if group.len() >= GROUP_ITEMS || (!group.is_empty() && weight + piece.tokens > GROUP_TOKENS) {
                    self.close(&mut group, &mut weight);
                }
                weight += piece.tokens;
                group.push(piece);
                continue;
            }
            self.close(&mut group, &mut weight);
            self.put(match item {
                Item::Symbol(_, piece) | Item::File(_, piece) => LogBlock::full(piece, content),
                Item::Url(_, piece) => LogBlock::url(piece, content),
                Item::Tree(tree) => tree,
            });
        }
        self.close(&mut group, &mut weight);
    }

    fn close(&mut self, group: &mut Vec<&Piece>, weight: &mut usize) {
        if !group.is_empty() {
            group.sort_by(|one, other| one.key.cmp(&other.key));
            self.put(LogBlock::symbols(group, self.view.content));
            group.clear();
            *weight = 0;
        }
    }
}

/// An item to append, with its discounted hazard.
enum Item<'a> {
    Symbol(u32, &'a Piece),
    File(u32, &'a Piece),
    Url(u32, &'a Piece),
    Tree(LogBlock),
}

impl Item<'_> {
    fn hazard_and_tokens(&self) -> (u64, u64) {
        let (hazard, tokens) = match self {
            Self::Symbol(hazard, piece) | Self::File(hazard, piece) | Self::Url(hazard, piece) => {
                (*hazard, piece.tokens)
            }
            Self::Tree(tree) => (hazard::PAGE, tree.tokens),
        };
        (u64::from(hazard), tokens as u64 + ORDER_FRAMING)
    }

    /// Compares the hazard per token without division. Ties are broken by key.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
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
    logged: &LogBlock,
    of_full: impl Fn(&ItemKey) -> u32,
    of_update: impl Fn(&ItemKey) -> u32,
) -> u32 {
    let one = u64::from(ONE);
    let stays = logged.entries.iter().fold(one, |stays, entry| {
        let hazard = match entry {
            Entry::System(_) | Entry::Legend | Entry::Said(_) | Entry::Implied(..) => 0,
            Entry::Symbol(..) | Entry::SymbolNote(..) => hazard::MAP,
            Entry::Full(key, _) => of_full(key),
            Entry::Delta(key, _) | Entry::Net(key, _) => of_update(key),
            Entry::Tree(_) | Entry::TreeNote(_) | Entry::Url(..) => hazard::PAGE,
        };
        stays * (one - u64::from(hazard.min(ONE))) / one
    });
    u32::try_from(one - stays).unwrap_or(ONE)
}

/// Returns the coverage of the last file list in the log.
fn listed(log: &[Arc<LogBlock>]) -> FileListCoverage {
    let entries = log.iter().rev().flat_map(|logged| &logged.entries);
    let mut listings = entries.filter_map(|entry| match entry {
        Entry::Tree(listing) => Some(listing),
        _ => None,
    });
    listings.next().map_or_else(FileListCoverage::default, |listing| listing.listed)
}
