//! Builds the symbol map: chooses, within a token budget, which files have a block and at what level. Every
//! level has a cost and a value ([`ladder`]), and the budget is spent where the value per token is highest.

mod ladder;
pub(super) mod member;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;

use self::ladder::{Ladder, Rung};
use self::member::MapMember;
use super::AskedWords;
use super::graph::{Ranking, References};
use super::index::{FileSymbols, SymbolIndex};
use crate::outline::{BlockDetail, MapLevel, block_text};

/// Number of consecutive steps that do not fit the budget after which the search stops.
const MAX_MISSES: usize = 24;
/// Limits the candidates for a map: files are considered in rank order until their full blocks add up to this
/// multiple of the remaining budget.
const LOOK_AHEAD: f64 = 8.0;
/// Minimum number of files to consider, even if their full blocks exceed the limit that [`LOOK_AHEAD`] sets.
const LEAST_FILES: usize = 256;
/// Initial estimate of the bytes per token.
const TOKEN_BYTES: f64 = 3.5;
/// A map is extended only while at least this many tokens of its budget remain.
const LEAST_ROOM: usize = 6;
/// An existing map is extended only if more than `1 / LEAST_PART` of the budget remains, because extending it
/// requires examining all files.
const LEAST_PART: usize = 256;
/// Share of the remaining budget that a round spends by estimate. The remainder is spent with exact counts
/// after the last round.
const PART_BY_ESTIMATE: f64 = 0.8;
/// Maximum number of rounds that spend the budget by estimate.
const ROUNDS: usize = 4;

/// Limits and requirements of a map.
#[derive(Clone, Copy)]
pub struct MapRequest<'a> {
    /// Maximum total number of tokens in all blocks.
    pub budget: usize,
    /// Blocks of the previous map. They come first, in this order and unchanged, so that neither a new ranking nor a new
    /// selection rewrites a cached map.
    pub kept: &'a [MapMember],
    /// Files that must appear, at least by name, if the kept blocks leave room for them.
    pub required: &'a [FileKey],
    /// The candidates, in order of rank.
    pub ranking: &'a Ranking,
    /// Words of a question. Definitions whose names contain them are preferred.
    pub about: Option<&'a AskedWords>,
    /// Files that must not appear: excluded, or shown in full.
    pub without: &'a BTreeSet<FileKey>,
}

/// One block of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapEntry {
    /// The file that the block describes.
    pub key: FileKey,
    pub text: Arc<str>,
    /// Hash of the block's text.
    pub hash: ContentHash,
    pub tokens: usize,
    pub detail: BlockDetail,
}

/// The blocks chosen for a map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapSelection {
    /// Kept blocks in their order, then required ones, then other blocks by rank.
    pub blocks: Vec<MapEntry>,
    /// Tokens of all blocks; at most the budget.
    pub total: usize,
    /// Required files that do not fit in the budget.
    pub missing: Vec<FileKey>,
    /// Number of tokens that all required files need together: unchanged kept blocks as they are, others at their
    /// minimum detail.
    pub required_tokens: usize,
}

impl MapEntry {
    /// Returns the record of this block that a session stores.
    pub fn member(&self) -> MapMember {
        MapMember { path: self.key.clone(), detail: self.detail.clone(), hash: Some(self.hash) }
    }
}

/// Whether a file is always shown by path only.
fn is_only_named(file: &FileSymbols, key: &FileKey, references: &References) -> bool {
    let looks_generated = || file.outline.generated || file.language.is_generated_file(key.as_str());
    file.outline.is_empty()
        || file.language.is_test_file(key.as_str())
        || references.says_generated(key).unwrap_or_else(looks_generated)
}

/// Chooses the blocks of a map and their levels of detail. `count` returns the tokens of a text.
pub fn map_within(
    index: &SymbolIndex,
    references: &References,
    request: &MapRequest<'_>,
    count: &dyn Fn(&str) -> usize,
) -> MapSelection {
    let mut draft = Draft { index, request, count, blocks: Vec::new(), places: BTreeMap::new(), total: 0 };
    let mut selection = MapSelection::default();
    let is_wanted = |member: &&MapMember| !request.without.contains(&member.path);
    // Replacing a kept block would rewrite all cached text after it, so kept blocks also come before required ones.
    let mut misses = 0;
    let mut changed = Vec::new();
    for member in request.kept.iter().filter(is_wanted) {
        match draft.as_it_was(member) {
            _ if misses >= MAX_MISSES => break,
            Some(entry) => misses = if draft.add(entry) { 0 } else { misses + 1 },
            None if index.get(&member.path).is_some() => changed.push(&member.path),
            None => {}
        }
    }
    let mut known = BTreeSet::new();
    for key in request.required.iter().filter(|key| !request.without.contains(*key)) {
        if !known.insert(key) {
            continue;
        }
        let place = draft.places.get(key).and_then(|place| draft.blocks.get(*place));
        if let Some(entry) = place {
            selection.required_tokens += entry.tokens;
            continue;
        }
        let entry = draft.entry(key, draft.least(key));
        selection.required_tokens += entry.tokens;
        if !draft.add(entry) {
            selection.missing.push(key.clone());
        }
    }
    changed.retain(|key| !selection.missing.contains(key));
    for key in &changed {
        if !draft.places.contains_key(*key) {
            draft.add(draft.entry(key, draft.least(key)));
        }
    }
    let fixed: BTreeSet<&FileKey> =
        request.kept.iter().map(|member| &member.path).filter(|key| !changed.contains(key)).collect();
    // Blocks that changed are rewritten anyway, and edited files matter, so extend them before others.
    if !changed.is_empty() {
        let changed: BTreeSet<&FileKey> = changed.into_iter().collect();
        draft.grow(references, &|key| changed.contains(key));
    }
    if fixed.is_empty() || draft.room() > request.budget / LEAST_PART {
        draft.grow(references, &|key| !fixed.contains(key) && !selection.missing.contains(key));
    }
    let Draft { blocks, total, .. } = draft;
    let order: FxHashMap<&FileKey, usize> =
        request.kept.iter().map(|member| &member.path).enumerate().map(|(at, key)| (key, at)).collect();
    selection.blocks = blocks;
    selection.blocks.sort_by_key(|entry| order.get(&entry.key).copied().unwrap_or(usize::MAX));
    selection.total = total;
    selection
}

/// A map under construction.
struct Draft<'a> {
    index: &'a SymbolIndex,
    request: &'a MapRequest<'a>,
    count: &'a dyn Fn(&str) -> usize,
    blocks: Vec<MapEntry>,
    /// Index in `blocks` of each file.
    places: BTreeMap<FileKey, usize>,
    total: usize,
}

/// A step to a higher rung of a file's ladder.
struct Step<'a> {
    key: &'a FileKey,
    ladder: usize,
    rung: Rung,
    /// Additional value per additional byte.
    slope: f64,
}

impl<'a> Draft<'a> {
    fn entry(&self, key: &FileKey, detail: BlockDetail) -> MapEntry {
        let text = match self.index.get(key) {
            Some(file) if detail.level == MapLevel::Full => Arc::clone(&file.block.text),
            Some(file) => block_text(file.language, key, &file.outline, &detail).into(),
            None => format!("{}\n", strata_base::sanitize::single_line(key.as_str())).into(),
        };
        MapEntry { key: key.clone(), hash: ContentHash::of(&text), tokens: (self.count)(&text), text, detail }
    }

    /// Returns the block of a member, if its text is unchanged.
    fn as_it_was(&self, member: &MapMember) -> Option<MapEntry> {
        self.index.get(&member.path)?;
        let entry = self.entry(&member.path, member.detail.clone());
        (Some(entry.hash) == member.hash).then_some(entry)
    }

    /// Returns the minimum detail for a required file.
    fn least(&self, key: &FileKey) -> BlockDetail {
        let has_names = self.index.get(key).is_some_and(|file| !file.outline.is_empty());
        BlockDetail::plain(if has_names { MapLevel::Names } else { MapLevel::Path })
    }

    fn room(&self) -> usize {
        self.request.budget.saturating_sub(self.total)
    }

    /// Adds a block or replaces the file's existing one. Returns `false` if the block does not fit.
    fn add(&mut self, entry: MapEntry) -> bool {
        let place = self.places.get(&entry.key).copied();
        let before = place.and_then(|place| self.blocks.get(place)).map_or(0, |before| before.tokens);
        if entry.tokens > self.room() + before {
            return false;
        }
        self.total = self.total + entry.tokens - before;
        match place.and_then(|place| self.blocks.get_mut(place)) {
            Some(slot) => *slot = entry,
            None => {
                self.places.insert(entry.key.clone(), self.blocks.len());
                self.blocks.push(entry);
            }
        }
        true
    }

    /// Spends the remaining budget on the files that `may_grow` accepts: shows more of them, or adds them to the
    /// map.
    fn grow(&mut self, references: &References, may_grow: &dyn Fn(&FileKey) -> bool) {
        if self.room() < LEAST_ROOM {
            return;
        }
        let ladders = self.ladders(references, may_grow);
        let mut steps: Vec<Step<'_>> = Vec::new();
        for (at, (key, ladder)) in ladders.iter().enumerate() {
            let all = ladder.steps().into_iter();
            steps.extend(all.map(|(rung, slope)| Step { key, ladder: at, rung, slope }));
        }
        steps.sort_by(|a, b| b.slope.total_cmp(&a.slope).then_with(|| a.ladder.cmp(&b.ladder)));
        let mut at = 0;
        let mut bytes_a_token = TOKEN_BYTES;
        for _ in 0..ROUNDS {
            let room = self.room() as f64 * PART_BY_ESTIMATE * bytes_a_token;
            if room < 400.0 {
                break;
            }
            let (from, before) = (at, self.total);
            let mut wanted: BTreeMap<usize, Rung> = BTreeMap::new();
            let mut reached: FxHashMap<usize, f64> = FxHashMap::default();
            let mut cost = 0.0;
            while let Some(step) = steps.get(at) {
                let known = reached.get(&step.ladder).copied().unwrap_or_else(|| {
                    self.places
                        .get(step.key)
                        .and_then(|place| self.blocks.get(*place))
                        .map_or(0.0, |b| b.text.len() as f64)
                });
                let more = (step.rung.cost - known).max(0.0);
                if cost + more > room {
                    break;
                }
                cost += more;
                reached.insert(step.ladder, step.rung.cost);
                wanted.insert(step.ladder, step.rung);
                at += 1;
            }
            for (ladder, rung) in wanted {
                if let Some((key, ladder)) = ladders.get(ladder) {
                    self.climb(key, ladder, rung);
                }
            }
            if at == from {
                break;
            }
            let spent = self.total.saturating_sub(before);
            if spent > 64 && cost > 0.0 {
                bytes_a_token = (cost / spent as f64).clamp(1.5, 8.0);
            }
        }
        let mut misses = 0;
        for step in steps.iter().skip(at) {
            if misses >= MAX_MISSES || self.room() == 0 {
                break;
            }
            let Some((key, ladder)) = ladders.get(step.ladder) else { continue };
            misses = if self.climb(key, ladder, step.rung) { 0 } else { misses + 1 };
        }
        // Spend the remaining budget on the cheapest blocks of the highest-ranked missing files.
        let mut misses = 0;
        for (key, ladder) in &ladders {
            if misses >= MAX_MISSES || self.room() < LEAST_ROOM {
                break;
            }
            if let Some(least) = ladder.least().filter(|_| !self.places.contains_key(*key)) {
                misses = if self.climb(key, ladder, least) { 0 } else { misses + 1 };
            }
        }
    }

    /// Shows a file at a rung, unless the file is already shown in more detail. Returns `false` if the block
    /// does not fit.
    fn climb(&mut self, key: &FileKey, ladder: &Ladder<'_>, rung: Rung) -> bool {
        let detail = ladder.detail(rung);
        let now = self.places.get(key).and_then(|place| self.blocks.get(*place));
        if now.is_some_and(|now| now.detail == detail || now.detail.level > detail.level) {
            return true;
        }
        let entry = self.entry(key, detail);
        self.add(entry)
    }

    /// Returns the ladders of the highest-ranked files.
    fn ladders(
        &self,
        references: &References,
        may_grow: &dyn Fn(&FileKey) -> bool,
    ) -> Vec<(&'a FileKey, Ladder<'a>)> {
        let index: &'a SymbolIndex = self.index;
        let MapRequest { ranking, required, without, about, .. } = *self.request;
        let ahead = self.room() as f64 * TOKEN_BYTES * LOOK_AHEAD;
        let (mut looked, mut ladders) = (0.0, Vec::new());
        // Unsaved buffers without a file are not ranked. Required ones count as much as the highest-ranked
        // file.
        let first = ranking.scored().next().map_or(1.0, |(_, score)| score);
        let unranked: BTreeSet<&'a FileKey> =
            required.iter().filter(|key| references.files().binary_search(key).is_err()).collect();
        for (key, score) in unranked.into_iter().map(|key| (key, first)).chain(ranking.scored()) {
            if looked > ahead && ladders.len() >= LEAST_FILES {
                break;
            }
            if without.contains(key) || !may_grow(key) {
                continue;
            }
            let Some((key, file)) = index.get_key_value(key) else { continue };
            let path = key.as_str().len();
            let ladder = if is_only_named(file, key, references) {
                Ladder::of_path(path, score)
            } else {
                looked += file.block.text.len() as f64;
                let mentioned: FxHashMap<&str, f64> = references.mentioned(key).collect();
                let asked = |name: &str| about.map_or(0.0, |words| words.worth(name));
                Ladder::new(file, path, score, &mentioned, &asked)
            };
            ladders.push((key, ladder));
        }
        ladders
    }
}
