//! Combines the evidence for each file's relevance into a score. The constants were tuned on every second
//! commit of the bench `relevance`, which prints the results for all commits.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use strata_base::key::FileKey;

use super::lexical::{FileTerms, LEXICAL_FIELD_COUNT, LexicalField, LexicalIndex};
use super::query::{ParsedQuery, RelevanceQuery};
use super::role::FileRole;
use crate::outline::{Outline, QualifiedNameTracker, SymbolKind};
use crate::symbols::graph::{ReferenceGraph, Seeds};
use crate::symbols::index::SymbolIndex;
use crate::symbols::words::{each_subword, stem};

/// Weight of a word in each field. The path has the largest weight, then definitions; mentions only break
/// ties.
const FIELD_WEIGHTS: [f64; LEXICAL_FIELD_COUNT] = [4.0, 3.0, 0.2, 0.05];
/// Length normalization of each field (BM25's `b`). Mentions have so little weight that they need none.
const LENGTH_NORM: [f64; LEXICAL_FIELD_COUNT] = [0.5, 0.5, 0.5, 0.0];
/// Saturation for repeated words (BM25's `k1`).
const BM25_SATURATION: f64 = 3.0;
/// Bonus for a file whose path the text contains: as much as the best match by words.
const NAMED_BONUS: f64 = 1.0;
/// Factor for files that are not code, since most queries are about code.
const NON_CODE_FACTOR: f64 = 0.5;
/// Maximum bonus from references, relative to the best file's score.
const MAX_REFERENCE_BONUS: f64 = 0.2;
/// Exponent for scores when used as the restart weights of a walk. It favors good matches.
const RELEVANCE_EXPONENT: f64 = 1.5;
/// Maximum bonus for centrality, since files that many others use change more often.
const MAX_CENTRALITY_BONUS: f64 = 0.1;
/// Maximum bonus for the number of definitions, since larger files change more often.
const MAX_SIZE_BONUS: f64 = 0.07;
/// Share of the score that a source file and its tests pass to each other.
const COMPANION_SHARE: f64 = 0.1;
/// Maximum number of files in a group with the same subject. In larger groups (`mod.rs`), the names carry no
/// information.
const MAX_COMPANIONS: usize = 6;
/// Index to which the changelog is raised in the ranking, because most commits change it although queries rarely
/// mention it.
const CHANGELOG_RANKING_INDEX: usize = 5;
/// Maximum number of symbols reported per file.
const MAX_SYMBOLS_PER_FILE: usize = 8;

/// A file that is relevant to a query.
#[derive(Clone, Debug, PartialEq)]
pub struct RelevantFile {
    pub file: FileKey,
    /// Relevance between 0 and 1. The score of the best file is 1 if the file contains words of the text.
    pub score: f64,
    /// The most relevant symbols in the file, best first.
    pub symbols: Vec<MatchedSymbol>,
}

/// A symbol that is relevant to a query.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchedSymbol {
    pub kind: SymbolKind,
    /// Name qualified by its containers: `Session.send`.
    pub name: String,
    /// Relevance between 0 and 1, combining how well the name matches and how relevant the file is.
    pub score: f64,
}

/// The relevance of every file to a query.
#[derive(Debug)]
pub struct FileRelevance<'a> {
    lexical: &'a LexicalIndex,
    pub(crate) query: ParsedQuery,
    /// Between 0 and 1, indexed by number in the lexical index. Empty if the query has neither text nor seeds.
    scores: Vec<f64>,
}

impl<'a> FileRelevance<'a> {
    pub fn new(lexical: &'a LexicalIndex, references: &ReferenceGraph, query: &RelevanceQuery<'_>) -> Self {
        let parsed_query = ParsedQuery::read(query.text);
        let has_evidence = !query.text.trim().is_empty() || !query.seeds.is_empty();
        let scores =
            if has_evidence { scores(lexical, references, &parsed_query, &query.seeds) } else { Vec::new() };
        Self { lexical, query: parsed_query, scores }
    }

    /// Returns the index of the files.
    pub fn lexical(&self) -> &'a LexicalIndex {
        self.lexical
    }

    /// Returns all files with their numbers and scores, in key order, or nothing for an empty query.
    pub(crate) fn files(&self) -> impl Iterator<Item = (u32, &'a FileTerms, f64)> {
        self.lexical.files().zip(&self.scores).map(|((number, file), score)| (number, file, *score))
    }

    /// Returns at most `limit` files with scores above 0, best first, then in key order.
    pub(super) fn best_files(&self, limit: usize) -> Vec<(f64, &'a FileKey)> {
        let scored = self.files().map(|(_, file, score)| (score, &file.key));
        let mut ranked: Vec<(f64, &FileKey)> = scored.filter(|(score, _)| *score > 0.0).collect();
        sort_and_truncate(&mut ranked, limit, best_first);
        ranked
    }
}

/// Sorts the first `limit` items in an order and drops the others, which are not sorted. No two items may be equal.
pub(crate) fn sort_and_truncate<T>(items: &mut Vec<T>, limit: usize, order: impl Fn(&T, &T) -> Ordering) {
    if limit < items.len() {
        items.select_nth_unstable_by(limit, &order);
        items.truncate(limit);
    }
    items.sort_unstable_by(order);
}

/// Compares by score, and equal scores by key.
fn best_first((a, a_key): &(f64, &FileKey), (b, b_key): &(f64, &FileKey)) -> Ordering {
    b.total_cmp(a).then_with(|| a_key.cmp(b_key))
}

/// Returns at most `limit` files that are relevant to a query, best first, then in key order. If no file matches,
/// returns the files most important to the repository and the seeds, with low scores. Returns no files if there are
/// neither text nor seeds.
pub fn relevant_files(index: &SymbolIndex, relevance: &FileRelevance<'_>, limit: usize) -> Vec<RelevantFile> {
    let words: BTreeMap<&str, f64> = weight_words(relevance.lexical, &relevance.query).into_iter().collect();
    let best_weight: f64 = words.values().copied().fold(0.0, f64::max);
    let symbols = |key: &FileKey, score: f64| {
        index.get(key).map_or(Vec::new(), |file| matched_symbols(&file.outline, &words, best_weight, score))
    };
    let best_files = relevance.best_files(limit).into_iter();
    best_files
        .map(|(score, key)| RelevantFile { file: key.clone(), score, symbols: symbols(key, score) })
        .collect()
}

fn scores(
    lexical: &LexicalIndex,
    references: &ReferenceGraph,
    parsed_query: &ParsedQuery,
    seeds: &Seeds<'_>,
) -> Vec<f64> {
    let words = weight_words(lexical, parsed_query);
    let mut scores = bm25f_scores(lexical, &words);
    normalize(&mut scores);
    for number in parsed_query.named_files(lexical) {
        add_score(&mut scores, number, NAMED_BONUS);
    }
    let numbers: Vec<Option<u32>> = lexical.numbers(references.files()).collect();
    let score = |number: Option<u32>| number.and_then(|number| scores.get(number as usize)).copied();
    let start: Vec<f64> =
        numbers.iter().map(|number| score(*number).unwrap_or(0.0).powf(RELEVANCE_EXPONENT)).collect();
    for (number, _) in lexical.files().filter(|(_, file)| file.role == FileRole::Document) {
        if let Some(score) = scores.get_mut(number as usize) {
            *score *= NON_CODE_FACTOR;
        }
    }
    let mut walk_ranks = references.personalized_rank(&start, seeds);
    normalize(&mut walk_ranks);
    for ((number, walk_rank), central) in numbers.iter().zip(&walk_ranks).zip(references.centrality()) {
        if let Some(number) = *number {
            let bonus = MAX_REFERENCE_BONUS * walk_rank + MAX_CENTRALITY_BONUS * central.sqrt();
            add_score(&mut scores, number, bonus);
        }
    }
    add_size_bonus(lexical, &mut scores);
    share_with_companions(lexical, &mut scores);
    raise_changelog(lexical, &mut scores);
    // If no word of the text is known, the remaining evidence is weak, so scores below 1 are not scaled up.
    let best = scores.iter().copied().fold(1.0, f64::max);
    scores.iter_mut().for_each(|score| *score /= best);
    scores
}

/// Returns the words of a text that occur in some file, with their weights. Rare words have larger weights.
pub(super) fn weight_words<'a>(lexical: &LexicalIndex, parsed_query: &'a ParsedQuery) -> Vec<(&'a str, f64)> {
    let count = lexical.len() as f64;
    let rarity = |word: &str| {
        let frequency = lexical.postings(word).len() as f64;
        (frequency > 0.0).then(|| (1.0 + (count - frequency + 0.5) / (frequency + 0.5)).ln())
    };
    let words = parsed_query.words.iter();
    words.filter_map(|(word, weight)| Some((word.as_str(), weight * rarity(word)?))).collect()
}

/// Scores files with BM25F, which combines the counts of a word in all fields before applying saturation.
fn bm25f_scores(lexical: &LexicalIndex, words: &[(&str, f64)]) -> Vec<f64> {
    let mut scores = vec![0.0; lexical.len()];
    let averages: [f64; LEXICAL_FIELD_COUNT] =
        std::array::from_fn(|field| lexical.average_length(field).max(1.0));
    for (word, value) in words {
        for posting in lexical.postings(word) {
            let fields = posting.counts.iter().zip(lexical.field_lengths(posting.file)).zip(averages);
            let weights = FIELD_WEIGHTS.iter().zip(LENGTH_NORM);
            let count: f64 = fields
                .zip(weights)
                .filter(|(((count, _), _), _)| **count > 0)
                .map(|(((count, length), average), (weight, length_norm))| {
                    weight * f64::from(*count)
                        / (1.0 - length_norm + length_norm * f64::from(length) / average)
                })
                .sum();
            add_score(&mut scores, posting.file, value * count / (BM25_SATURATION + count));
        }
    }
    scores
}

fn add_size_bonus(lexical: &LexicalIndex, scores: &mut [f64]) {
    let size = |number: u32| {
        let [_, _, symbol_words, _] = lexical.field_lengths(number);
        (1.0 + f64::from(symbol_words)).ln()
    };
    let largest = lexical.files().map(|(number, _)| size(number)).fold(1.0, f64::max);
    for (number, _) in lexical.files() {
        add_score(scores, number, MAX_SIZE_BONUS * size(number) / largest);
    }
}

fn share_with_companions(lexical: &LexicalIndex, scores: &mut [f64]) {
    let before = scores.to_vec();
    let score = |number: u32| before.get(number as usize).copied().unwrap_or(0.0);
    for group in lexical.companions().filter(|group| (2..=MAX_COMPANIONS).contains(&group.len())) {
        for &number in group {
            let others = group.iter().filter(|other| **other != number);
            add_score(
                scores,
                number,
                COMPANION_SHARE * others.map(|&other| score(other)).fold(0.0, f64::max),
            );
        }
    }
}

/// Raises the score of the changelog that is closest to the best file.
fn raise_changelog(lexical: &LexicalIndex, scores: &mut [f64]) {
    let changelogs: Vec<(u32, &FileTerms)> = lexical.files().filter(|(_, file)| file.is_changelog).collect();
    let scored = scores.iter().copied().zip(lexical.files()).map(|(score, (_, file))| (score, &file.key));
    let mut ranked: Vec<(f64, &FileKey)> = scored.collect();
    if changelogs.is_empty() || ranked.len() <= CHANGELOG_RANKING_INDEX {
        return;
    }
    let (better, (target_score, _), _) = ranked.select_nth_unstable_by(CHANGELOG_RANKING_INDEX, best_first);
    let Some((_, best)) = better.iter().min_by(|a, b| best_first(a, b)) else { return };
    let common_directories = |key: &FileKey| {
        let directories = key.directory().split('/').filter(|part| !part.is_empty());
        // A changelog in a directory that does not contain the best file belongs to another part of the repository.
        let mut best_path = best.as_str().split('/');
        directories
            .map(|part| best_path.next() == Some(part))
            .try_fold(0_usize, |count, same| same.then_some(count + 1))
    };
    let closest = changelogs
        .into_iter()
        .filter_map(|(number, file)| Some((common_directories(&file.key)?, number)))
        .max_by_key(|(common_directories, _)| *common_directories);
    if let Some(score) = closest.and_then(|(_, number)| scores.get_mut(number as usize)) {
        *score = score.max(*target_score);
    }
}

/// Returns the symbols of a file whose names contain words of the text.
fn matched_symbols(
    outline: &Outline,
    words: &BTreeMap<&str, f64>,
    best: f64,
    file_score: f64,
) -> Vec<MatchedSymbol> {
    let mut names = QualifiedNameTracker::default();
    let mut symbols = Vec::new();
    for symbol in outline.visible_symbols() {
        names.enter(symbol);
        let (mut value, mut count) = (0.0, 0_u32);
        each_subword(&symbol.name, |word| {
            value += words.get(stem(word)).copied().unwrap_or(0.0);
            count += 1;
        });
        if value > 0.0 && symbol.kind.is_referable() {
            let fit = (value / (best * f64::from(count.max(1)).sqrt())).min(1.0);
            symbols.push(MatchedSymbol {
                kind: symbol.kind,
                name: names.dotted_name(),
                score: (fit * file_score).sqrt(),
            });
        }
    }
    symbols.sort_by(|a, b| b.score.total_cmp(&a.score));
    symbols.truncate(MAX_SYMBOLS_PER_FILE);
    symbols
}

fn add_score(scores: &mut [f64], number: u32, more: f64) {
    if let Some(score) = scores.get_mut(number as usize) {
        *score += more;
    }
}

/// Scales scores so that the best is 1.
fn normalize(scores: &mut [f64]) {
    let best = scores.iter().copied().fold(0.0, f64::max);
    if best > 0.0 {
        scores.iter_mut().for_each(|score| *score /= best);
    }
}

/// `add_size_bonus` relies on the position of `Field::Symbol`.
const _: () = assert!(LexicalField::Symbol as usize == 2);
