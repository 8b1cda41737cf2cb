//! Chooses the passages with the highest scores until the budget is full.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::candidates::{ExcerptCandidate, recency_score};
use super::excerpt::{Excerpt, ExcerptBudget, ExcerptQuery, ExcerptReason, ShownDefinition};
use super::features::{Features, Intent};
use super::passages::{Passage, PassageCache};
use super::score::{ScoredFile, score};

/// Bonus for a passage next to a chosen one: changes cluster, and adjacent passages share a heading.
const NEIGHBOR_BONUS: f64 = 0.3;
/// Minimum recency of a file that a request without matching words may mean: its last change is one of the last three
/// commits.
const MIN_RECENCY: f64 = 0.75;
/// Number of consecutive passages that do not fit the budget after which the search stops.
const MAX_CONSECUTIVE_MISFITS: usize = 40;

/// A passage with its score. Ties are broken in favor of the earlier passage.
#[derive(Clone, Copy, Debug)]
struct RankedPassage {
    score: f64,
    file: usize,
    index: usize,
}

impl Ord for RankedPassage {
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |ranked: &Self| Reverse((ranked.file, ranked.index));
        self.score.total_cmp(&other.score).then_with(|| place(self).cmp(&place(other)))
    }
}

impl PartialOrd for RankedPassage {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedPassage {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for RankedPassage {}

/// Chooses excerpts, best first, that fit `budget` together with their headings. `heading` returns the text around an
/// excerpt in a prompt; `count` returns the number of tokens in a text. An excerpt never mixes lines that the prompt
/// already shows with lines that it does not. If no word of the question occurs in any candidate, only open files of
/// which the prompt shows nothing are considered, and for a request to change code the files that changed last: "undo
/// that" and "it still fails" follow a change.
pub fn choose(
    passages: &PassageCache,
    candidates: &[ExcerptCandidate<'_>],
    query: &ExcerptQuery<'_>,
    budget: ExcerptBudget,
    heading: &dyn Fn(&Excerpt) -> String,
    count: &dyn Fn(&str) -> usize,
) -> Vec<Excerpt> {
    let files = score(passages, candidates, query);
    let has_word_matches = files.iter().any(|file| file.has_words);
    let is_change = Intent::classify(query.text) == Intent::Change;
    let mut scores: FxHashMap<(usize, usize), f64> = FxHashMap::default();
    for (file_index, file) in files.iter().enumerate() {
        let is_unnamed = || file.features.iter().all(|features| features.file_named == 0.0);
        if !has_word_matches && !file.is_relevant_without_matching_words(query, is_change)
            || file.is_blank() && is_unnamed()
        {
            continue;
        }
        for (index, (score, passage)) in file.scores.iter().zip(&file.passages.list).enumerate() {
            if !passage.shown.is_empty() && !file.is_dismissed(passage, query) {
                scores.insert((file_index, index), *score);
            }
        }
    }
    let ranked = |(&(file, index), &score): (&(usize, usize), &f64)| RankedPassage { score, file, index };
    let mut queue: BinaryHeap<RankedPassage> = scores.iter().map(ranked).collect();
    let best = queue.peek().map_or(1.0, |ranked| ranked.score.max(f64::MIN_POSITIVE));
    let mut packing = ExcerptPacker {
        files: &files,
        query,
        best,
        heading,
        count,
        runs: BTreeMap::new(),
        total_tokens: 0,
        new_tokens: 0,
    };
    let mut misses = 0;
    while let Some(RankedPassage { file, index, .. }) = queue.pop() {
        if packing.is_chosen(file, index) {
            continue;
        }
        if packing.add(file, index, budget) {
            misses = 0;
            for index in [index.checked_sub(1), index.checked_add(1)].into_iter().flatten() {
                let score = scores.get(&(file, index)).map(|score| score + NEIGHBOR_BONUS);
                queue.extend(score.map(|score| RankedPassage { score, file, index }));
            }
        } else {
            misses += 1;
        }
        if misses > MAX_CONSECUTIVE_MISFITS {
            break;
        }
    }
    packing.excerpts()
}

impl ScoredFile<'_> {
    /// Whether the file may be meant although no word of the request occurs in any candidate. Of a file of which the
    /// user or an earlier question chose parts, no others are guessed.
    fn is_relevant_without_matching_words(&self, query: &ExcerptQuery<'_>, is_change: bool) -> bool {
        let key = &self.candidate.file.file;
        let has_changed = recency_score(query.recency.get(key).copied()) > MIN_RECENCY;
        let is_near = query.open.contains(key) || is_change && has_changed;
        is_near && !query.shown.contains_key(key)
    }

    /// Whether the prompt already shows the whole passage.
    fn is_shown(&self, index: usize, query: &ExcerptQuery<'_>) -> bool {
        let (Some(shown), Some(passage)) =
            (query.shown.get(&self.candidate.file.file), self.passages.list.get(index))
        else {
            return false;
        };
        let mut lines = to_u32_range(&passage.shown);
        lines.all(|line| shown.iter().any(|range| range.contains(&line)))
    }

    fn is_dismissed(&self, passage: &Passage, query: &ExcerptQuery<'_>) -> bool {
        let definition = passage.definition.and_then(|index| self.passages.definitions.get(index));
        let name_and_ordinal = definition.map(|definition| (&*definition.name, definition.ordinal));
        let lines = to_u32_range(&passage.lines);
        query
            .dismissed
            .iter()
            .any(|dismissed| dismissed.covers(&self.candidate.file.file, name_and_ordinal, &lines))
    }
}

/// The excerpts chosen so far.
struct ExcerptPacker<'a> {
    files: &'a [ScoredFile<'a>],
    query: &'a ExcerptQuery<'a>,
    best: f64,
    heading: &'a dyn Fn(&Excerpt) -> String,
    count: &'a dyn Fn(&str) -> usize,
    /// Sequences of consecutive chosen passages, keyed by the indices of the file and of the first passage. Each
    /// value is the index after the last passage, and the tokens of the sequence.
    runs: BTreeMap<(usize, usize), (usize, usize)>,
    /// Tokens of all chosen excerpts.
    total_tokens: usize,
    /// Tokens of the chosen excerpts that the prompt does not show yet.
    new_tokens: usize,
}

impl ExcerptPacker<'_> {
    /// Adds a passage if it fits in the budget, and joins it with adjacent chosen passages under one heading. Returns
    /// whether it was added.
    fn add(&mut self, file: usize, index: usize, budget: ExcerptBudget) -> bool {
        let before = self.runs.range((file, 0)..(file, index)).next_back();
        let is_shown = self.is_shown(file, index);
        let joins = |other: usize| self.is_shown(file, other) == is_shown;
        let before = before.filter(|((_, start), (end, _))| *end == index && joins(*start));
        let before = before.map(|(run, (_, tokens))| (run.1, *tokens));
        let after = self.runs.get(&(file, index + 1)).filter(|_| joins(index + 1)).copied();
        let start = before.map_or(index, |(start, _)| start);
        let end = after.map_or(index + 1, |(end, _)| end);
        let freed = before.map_or(0, |(_, tokens)| tokens) + after.map_or(0, |(_, tokens)| tokens);
        let remaining_of = |budget: usize, total: usize| (budget + freed).saturating_sub(total);
        let remaining_total = remaining_of(budget.all, self.total_tokens);
        let remaining = if is_shown {
            remaining_total
        } else {
            remaining_total.min(remaining_of(budget.new, self.new_tokens))
        };
        let Some(excerpt) = self.excerpt(file, start..end) else { return false };
        // Skip counting an excerpt that is clearly too long. A token is rarely longer than eight bytes.
        if excerpt.bytes.len() / 8 > remaining {
            return false;
        }
        let text = self.files.get(file).and_then(|file| file.candidate.text.get(excerpt.bytes.clone()));
        let tokens = (self.count)(text.unwrap_or_default()) + (self.count)(&(self.heading)(&excerpt));
        if tokens > remaining {
            return false;
        }
        if after.is_some() {
            self.runs.remove(&(file, index + 1));
        }
        self.runs.insert((file, start), (end, tokens));
        self.total_tokens = self.total_tokens + tokens - freed;
        if !is_shown {
            self.new_tokens = self.new_tokens + tokens - freed;
        }
        true
    }

    /// Whether a passage has been chosen.
    fn is_chosen(&self, file: usize, index: usize) -> bool {
        self.runs.range((file, 0)..=(file, index)).next_back().is_some_and(|(_, (end, _))| *end > index)
    }

    fn is_shown(&self, file: usize, index: usize) -> bool {
        self.files.get(file).is_some_and(|file| file.is_shown(index, self.query))
    }

    fn excerpt(&self, file_index: usize, run: Range<usize>) -> Option<Excerpt> {
        let file = self.files.get(file_index)?;
        let (first, last) =
            (file.passages.list.get(run.start)?, file.passages.list.get(run.end.checked_sub(1)?)?);
        let lines = first.shown.start..last.shown.end;
        let whole_definition = file.passages.definitions.iter().find(|definition| definition.lines == lines);
        let score = run.clone().filter_map(|index| file.scores.get(index)).copied().fold(0.0, f64::max);
        let features = run
            .filter_map(|index| file.features.get(index))
            .fold(Features::default(), |all, one| all.max(one));
        Some(Excerpt {
            file: file.candidate.file.file.clone(),
            definition: whole_definition.map(|definition| definition.name.clone()),
            ordinal: whole_definition.map_or(0, |definition| definition.ordinal),
            bytes: first.bytes.start..last.bytes.end,
            lines: to_u32_range(&lines),
            score: self.relative_score(score),
            reason: reason(file, &features),
            definitions: Vec::new(),
        })
    }

    /// Returns the definitions that a run of passages shows at least in part, most relevant first.
    fn definitions(&self, file_index: usize, run: Range<usize>) -> Vec<ShownDefinition> {
        let Some(file) = self.files.get(file_index) else { return Vec::new() };
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for index in run {
            let definition = file.passages.list.get(index).and_then(|passage| passage.definition);
            if let (Some(definition), Some(score)) = (definition, file.scores.get(index)) {
                let best = scores.entry(definition).or_insert(f64::MIN);
                *best = best.max(*score);
            }
        }
        let shown = |(index, score): (usize, f64)| {
            let definition = file.passages.definitions.get(index)?;
            let (name, ordinal) = (definition.name.clone(), definition.ordinal);
            Some(ShownDefinition { name, ordinal, score: self.relative_score(score) })
        };
        let mut shown: Vec<ShownDefinition> = scores.into_iter().filter_map(shown).collect();
        shown.sort_by(|a, b| b.score.total_cmp(&a.score));
        shown
    }

    /// Returns a score relative to the best one.
    fn relative_score(&self, score: f64) -> f64 {
        (score / self.best).clamp(0.0, 1.0)
    }

    fn excerpts(&self) -> Vec<Excerpt> {
        let runs = self.runs.iter().map(|(&(file, start), &(end, _))| {
            let definitions = self.definitions(file, start..end);
            self.excerpt(file, start..end).map(|excerpt| Excerpt { definitions, ..excerpt })
        });
        let mut excerpts: Vec<Excerpt> = runs.flatten().collect();
        excerpts.sort_by(|a, b| b.score.total_cmp(&a.score));
        excerpts
    }
}

/// Returns the most specific reason for choosing an excerpt.
fn reason(file: &ScoredFile<'_>, features: &Features) -> ExcerptReason {
    if features.stack_frame > 0.0 {
        ExcerptReason::Trace
    } else if features.exact_name > 0.0 {
        ExcerptReason::Defines
    } else if file.candidate.file.is_named {
        ExcerptReason::Named
    } else if features.mentions > 0.0 && features.name_match == 0.0 {
        ExcerptReason::Called
    } else if features.text_match > 0.0 {
        ExcerptReason::Words
    } else if features.file_open > 0.0 {
        ExcerptReason::Open
    } else if features.file_recency > 0.5 {
        ExcerptReason::Recent
    } else {
        ExcerptReason::File
    }
}

fn to_u32_range(lines: &Range<usize>) -> Range<u32> {
    let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    number(lines.start)..number(lines.end)
}
