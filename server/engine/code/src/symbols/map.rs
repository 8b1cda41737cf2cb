//! Builds the symbol map: chooses, within a token budget, which files have a block and at what level. Every
//! level has a cost and a value ([`ladder`]), and the budget is spent where the value per token is highest.

mod ladder;
pub(super) mod member;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;

use self::ladder::{DetailLadder, Rung};
use self::member::MapMember;
use super::QuestionWords;
use super::graph::{Ranking, ReferenceGraph};
use super::index::{FileSymbols, SymbolIndex};
use crate::outline::{BlockDetail, MapLevel, block_text};

/// Number of consecutive steps that do not fit the budget after which the search stops.
const MAX_CONSECUTIVE_MISFITS: usize = 24;
/// Limits the candidates for a map: files are considered in rank order until their full blocks add up to this
/// multiple of the remaining budget.
const CANDIDATE_BUDGET_FACTOR: f64 = 8.0;
/// Minimum number of files to consider, even if their full blocks exceed the limit that [`CANDIDATE_BUDGET_FACTOR`]
/// sets.
const MIN_CANDIDATE_FILES: usize = 256;
/// Initial estimate of the bytes per token.
const INITIAL_BYTES_PER_TOKEN: f64 = 3.5;
/// A map is extended only while at least this many tokens of its budget remain.
const MIN_TOKENS_TO_EXTEND_MAP: usize = 6;
/// An existing map is extended only if more than `1 / MIN_BUDGET_TO_EXTEND_MAP_DIVISOR` of the budget remains, because
/// extending it requires examining all files.
const MIN_BUDGET_TO_EXTEND_MAP_DIVISOR: usize = 256;
/// Share of the remaining budget that a round spends by estimate. The remainder is spent with exact counts
/// after the last round.
const ESTIMATED_BUDGET_SHARE: f64 = 0.8;
/// Maximum number of rounds that spend the budget by estimate.
const MAX_ESTIMATION_ROUNDS: usize = 4;

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
    pub about: Option<&'a QuestionWords>,
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
    pub fn to_member(&self) -> MapMember {
        MapMember { path: self.key.clone(), detail: self.detail.clone(), hash: Some(self.hash) }
    }
}

/// Whether a file is always shown by path only.
fn is_always_path_only(file: &FileSymbols, key: &FileKey, references: &ReferenceGraph) -> bool {
    let looks_generated = || file.outline.generated || file.language.is_generated_file(key.as_str());
    file.outline.is_empty()
        || file.language.is_test_file(key.as_str())
        || references.declared_generated(key).unwrap_or_else(looks_generated)
}

/// Chooses the blocks of a map and their levels of detail. `count` returns the tokens of a text.
pub fn build_map(
    index: &SymbolIndex,
    references: &ReferenceGraph,
    request: &MapRequest<'_>,
    count: &dyn Fn(&str) -> usize,
) -> MapSelection {
    let mut builder =
        MapBuilder { index, request, count, blocks: Vec::new(), indices: BTreeMap::new(), total: 0 };
    let mut selection = MapSelection::default();
    let is_allowed = |member: &&MapMember| !request.without.contains(&member.path);
    // Replacing a kept block would rewrite all cached text after it, so kept blocks also come before required ones.
    let mut misses = 0;
    let mut changed = Vec::new();
    for member in request.kept.iter().filter(is_allowed) {
        match builder.unchanged_entry(member) {
            _ if misses >= MAX_CONSECUTIVE_MISFITS => break,
            Some(entry) => misses = if builder.add(entry) { 0 } else { misses + 1 },
            None if index.get(&member.path).is_some() => changed.push(&member.path),
            None => {}
        }
    }
    let mut listed = BTreeSet::new();
    for key in request.required.iter().filter(|key| !request.without.contains(*key)) {
        if !listed.insert(key) {
            continue;
        }
        let existing = builder.indices.get(key).and_then(|index| builder.blocks.get(*index));
        if let Some(entry) = existing {
            selection.required_tokens += entry.tokens;
            continue;
        }
        let entry = builder.entry(key, builder.minimum_detail(key));
        selection.required_tokens += entry.tokens;
        if !builder.add(entry) {
            selection.missing.push(key.clone());
        }
    }
    changed.retain(|key| !selection.missing.contains(key));
    for key in &changed {
        if !builder.indices.contains_key(*key) {
            builder.add(builder.entry(key, builder.minimum_detail(key)));
        }
    }
    let fixed: BTreeSet<&FileKey> =
        request.kept.iter().map(|member| &member.path).filter(|key| !changed.contains(key)).collect();
    // Blocks that changed are rewritten anyway, and edited files matter, so extend them before others.
    if !changed.is_empty() {
        let changed: BTreeSet<&FileKey> = changed.into_iter().collect();
        builder.spend_remaining_budget(references, &|key| changed.contains(key));
    }
    if fixed.is_empty() || builder.remaining_tokens() > request.budget / MIN_BUDGET_TO_EXTEND_MAP_DIVISOR {
        builder.spend_remaining_budget(references, &|key| {
            !fixed.contains(key) && !selection.missing.contains(key)
        });
    }
    let MapBuilder { blocks, total, .. } = builder;
    let order: FxHashMap<&FileKey, usize> =
        request.kept.iter().map(|member| &member.path).enumerate().map(|(index, key)| (key, index)).collect();
    selection.blocks = blocks;
    selection.blocks.sort_by_key(|entry| order.get(&entry.key).copied().unwrap_or(usize::MAX));
    selection.total = total;
    selection
}

/// A map under construction.
struct MapBuilder<'a> {
    index: &'a SymbolIndex,
    request: &'a MapRequest<'a>,
    count: &'a dyn Fn(&str) -> usize,
    blocks: Vec<MapEntry>,
    /// Index in `blocks` of each file.
    indices: BTreeMap<FileKey, usize>,
    total: usize,
}

/// A step to a higher rung of a file's ladder.
struct DetailUpgrade<'a> {
    key: &'a FileKey,
    ladder: usize,
    rung: Rung,
    /// Additional value per additional byte.
    slope: f64,
}

impl<'a> MapBuilder<'a> {
    fn entry(&self, key: &FileKey, detail: BlockDetail) -> MapEntry {
        let text = match self.index.get(key) {
            Some(file) if detail.level == MapLevel::Full => Arc::clone(&file.block.text),
            Some(file) => block_text(file.language, key, &file.outline, &detail).into(),
            None => format!("{}\n", strata_base::sanitize::escape_line_start(key.as_str())).into(),
        };
        MapEntry {
            key: key.clone(),
            hash: ContentHash::from_text(&text),
            tokens: (self.count)(&text),
            text,
            detail,
        }
    }

    /// Returns the block of a member, if its text is unchanged.
    fn unchanged_entry(&self, member: &MapMember) -> Option<MapEntry> {
        self.index.get(&member.path)?;
        let entry = self.entry(&member.path, member.detail.clone());
        (Some(entry.hash) == member.hash).then_some(entry)
    }

    /// Returns the minimum detail for a required file.
    fn minimum_detail(&self, key: &FileKey) -> BlockDetail {
        let has_names = self.index.get(key).is_some_and(|file| !file.outline.is_empty());
        BlockDetail::for_level(if has_names { MapLevel::Names } else { MapLevel::Path })
    }

    fn remaining_tokens(&self) -> usize {
        self.request.budget.saturating_sub(self.total)
    }

    /// Adds a block or replaces the file's existing one. Returns `false` if the block does not fit.
    fn add(&mut self, entry: MapEntry) -> bool {
        let index = self.indices.get(&entry.key).copied();
        let replaced_tokens = index.and_then(|index| self.blocks.get(index)).map_or(0, |block| block.tokens);
        if entry.tokens > self.remaining_tokens() + replaced_tokens {
            return false;
        }
        self.total = self.total + entry.tokens - replaced_tokens;
        match index.and_then(|index| self.blocks.get_mut(index)) {
            Some(slot) => *slot = entry,
            None => {
                self.indices.insert(entry.key.clone(), self.blocks.len());
                self.blocks.push(entry);
            }
        }
        true
    }

    /// Spends the remaining budget on the files that `may_grow` accepts: shows more of them, or adds them to the
    /// map.
    fn spend_remaining_budget(&mut self, references: &ReferenceGraph, may_grow: &dyn Fn(&FileKey) -> bool) {
        if self.remaining_tokens() < MIN_TOKENS_TO_EXTEND_MAP {
            return;
        }
        let ladders = self.build_ladders(references, may_grow);
        let mut steps: Vec<DetailUpgrade<'_>> = Vec::new();
        for (ladder_index, (key, ladder)) in ladders.iter().enumerate() {
            let all = ladder.efficient_rungs().into_iter();
            steps.extend(all.map(|(rung, slope)| DetailUpgrade { key, ladder: ladder_index, rung, slope }));
        }
        steps.sort_by(|a, b| b.slope.total_cmp(&a.slope).then_with(|| a.ladder.cmp(&b.ladder)));
        let mut next_step = 0;
        let mut bytes_a_token = INITIAL_BYTES_PER_TOKEN;
        for _ in 0..MAX_ESTIMATION_ROUNDS {
            let bytes_left = self.remaining_tokens() as f64 * ESTIMATED_BUDGET_SHARE * bytes_a_token;
            if bytes_left < 400.0 {
                break;
            }
            let (first_step, total_before) = (next_step, self.total);
            let mut target_rungs: BTreeMap<usize, Rung> = BTreeMap::new();
            let mut reached_costs: FxHashMap<usize, f64> = FxHashMap::default();
            let mut cost = 0.0;
            while let Some(step) = steps.get(next_step) {
                let current_cost = reached_costs.get(&step.ladder).copied().unwrap_or_else(|| {
                    self.indices
                        .get(step.key)
                        .and_then(|index| self.blocks.get(*index))
                        .map_or(0.0, |b| b.text.len() as f64)
                });
                let added_cost = (step.rung.cost - current_cost).max(0.0);
                if cost + added_cost > bytes_left {
                    break;
                }
                cost += added_cost;
                reached_costs.insert(step.ladder, step.rung.cost);
                target_rungs.insert(step.ladder, step.rung);
                next_step += 1;
            }
            for (ladder, rung) in target_rungs {
                if let Some((key, ladder)) = ladders.get(ladder) {
                    self.show_file(key, ladder, rung);
                }
            }
            if next_step == first_step {
                break;
            }
            let spent = self.total.saturating_sub(total_before);
            if spent > 64 && cost > 0.0 {
                bytes_a_token = (cost / spent as f64).clamp(1.5, 8.0);
            }
        }
        let mut misses = 0;
        for step in steps.iter().skip(next_step) {
            if misses >= MAX_CONSECUTIVE_MISFITS || self.remaining_tokens() == 0 {
                break;
            }
            let Some((key, ladder)) = ladders.get(step.ladder) else { continue };
            misses = if self.show_file(key, ladder, step.rung) { 0 } else { misses + 1 };
        }
        // Spend the remaining budget on the cheapest blocks of the highest-ranked missing files.
        let mut misses = 0;
        for (key, ladder) in &ladders {
            if misses >= MAX_CONSECUTIVE_MISFITS || self.remaining_tokens() < MIN_TOKENS_TO_EXTEND_MAP {
                break;
            }
            if let Some(cheapest) = ladder.cheapest().filter(|_| !self.indices.contains_key(*key)) {
                misses = if self.show_file(key, ladder, cheapest) { 0 } else { misses + 1 };
            }
        }
    }

    /// Shows a file at a rung, unless the file is already shown in more detail. Returns `false` if the block
    /// does not fit.
    fn show_file(&mut self, key: &FileKey, ladder: &DetailLadder<'_>, rung: Rung) -> bool {
        let detail = ladder.block_detail(rung);
        let current = self.indices.get(key).and_then(|index| self.blocks.get(*index));
        if current.is_some_and(|current| current.detail == detail || current.detail.level > detail.level) {
            return true;
        }
        let entry = self.entry(key, detail);
        self.add(entry)
    }

    /// Returns the ladders of the highest-ranked files.
    fn build_ladders(
        &self,
        references: &ReferenceGraph,
        may_grow: &dyn Fn(&FileKey) -> bool,
    ) -> Vec<(&'a FileKey, DetailLadder<'a>)> {
        let index: &'a SymbolIndex = self.index;
        let MapRequest { ranking, required, without, about, .. } = *self.request;
        let max_bytes = self.remaining_tokens() as f64 * INITIAL_BYTES_PER_TOKEN * CANDIDATE_BUDGET_FACTOR;
        let (mut total_bytes, mut ladders) = (0.0, Vec::new());
        // Unsaved buffers without a file are not ranked. Required ones count as much as the highest-ranked
        // file.
        let first = ranking.scored_files().next().map_or(1.0, |(_, score)| score);
        let unranked: BTreeSet<&'a FileKey> =
            required.iter().filter(|key| references.files().binary_search(key).is_err()).collect();
        for (key, score) in unranked.into_iter().map(|key| (key, first)).chain(ranking.scored_files()) {
            if total_bytes > max_bytes && ladders.len() >= MIN_CANDIDATE_FILES {
                break;
            }
            if without.contains(key) || !may_grow(key) {
                continue;
            }
            let Some((key, file)) = index.get_key_value(key) else { continue };
            let path = key.as_str().len();
            let ladder = if is_always_path_only(file, key, references) {
                DetailLadder::path_only(path, score)
            } else {
                total_bytes += file.block.text.len() as f64;
                let mentioned: FxHashMap<&str, f64> = references.mention_counts(key).collect();
                let question_value = |name: &str| about.map_or(0.0, |words| words.definition_value(name));
                DetailLadder::new(file, path, score, &mentioned, &question_value)
            };
            ladders.push((key, ladder));
        }
        ladders
    }
}
