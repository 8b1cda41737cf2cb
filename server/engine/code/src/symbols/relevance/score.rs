//! Combines the evidence for each file's relevance into a score. The constants were tuned on every second
//! commit of the bench `relevance`, which prints the results for all commits.

use std::collections::BTreeMap;

use strata_base::key::FileKey;

use super::lexical::{FIELDS, Field, LexicalIndex};
use super::query::{ParsedQuery, Query};
use crate::outline::{Outline, QualifiedNames, SymbolKind};
use crate::symbols::graph::References;
use crate::symbols::index::SymbolIndex;
use crate::symbols::words::{each_subword, stem};

/// Weight of a word in each field. The path has the largest weight, then definitions; mentions only break
/// ties.
const FIELD_WEIGHTS: [f64; FIELDS] = [4.0, 3.0, 0.2, 0.05];
/// Length normalization of each field (BM25's `b`). Mentions have so little weight that they need none.
const LENGTH: [f64; FIELDS] = [0.5, 0.5, 0.5, 0.0];
/// Saturation for repeated words (BM25's `k1`).
const SATURATION: f64 = 3.0;
/// Bonus for a file whose path the text contains: as much as the best match by words.
const NAMED: f64 = 1.0;
/// Factor for files that are not code, since most queries are about code.
const NO_CODE: f64 = 0.5;
/// Maximum bonus from references, relative to the best file's score.
const SPREAD: f64 = 0.2;
/// Exponent for scores when used as the restart weights of a walk. It favors good matches.
const SHARPEN: f64 = 1.5;
/// Maximum bonus for centrality, since files that many others use change more often.
const CENTRAL: f64 = 0.1;
/// Maximum bonus for the number of definitions, since larger files change more often.
const SIZE: f64 = 0.07;
/// Share of the score that a source file and its tests pass to each other.
const COMPANION: f64 = 0.1;
/// Maximum number of files in a group with the same subject. In larger groups (`mod.rs`), the names carry no
/// information.
const MAX_COMPANIONS: usize = 6;
/// Index to which the changelog is raised in the ranking, because most commits change it although queries rarely
/// mention it.
const CHANGELOG_PLACE: usize = 5;
/// Maximum number of symbols reported per file.
const MAX_SYMBOLS: usize = 8;

/// A file that is relevant to a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Relevant {
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

/// Returns at most `limit` files that are relevant to a text, best first, then in key order. If no file matches,
/// returns the files most important to the repository and the seeds, with low scores. Returns no files if there are
/// neither text nor seeds.
pub fn relevant(
    index: &SymbolIndex,
    lexical: &LexicalIndex,
    references: &References,
    query: &Query<'_>,
    limit: usize,
) -> Vec<Relevant> {
    let asked = ParsedQuery::read(query.text);
    let Some(scores) = scores(lexical, references, &asked, query) else { return Vec::new() };
    let score = |number: u32| scores.get(number as usize).copied().unwrap_or(0.0);
    let mut ranked: Vec<(f64, &FileKey)> =
        lexical.files().map(|(number, file)| (score(number), &file.key)).collect();
    ranked.sort_by(|(a, a_key), (b, b_key)| b.total_cmp(a).then_with(|| a_key.cmp(b_key)));
    ranked.retain(|(score, _)| *score > 0.0);
    ranked.truncate(limit);
    let words: BTreeMap<&str, f64> = weighed(lexical, &asked).into_iter().collect();
    let all: f64 = words.values().copied().fold(0.0, f64::max);
    let symbols = |key: &FileKey, score: f64| {
        index.get(key).map_or(Vec::new(), |file| matched(&file.outline, &words, all, score))
    };
    ranked
        .into_iter()
        .map(|(score, key)| Relevant { file: key.clone(), score, symbols: symbols(key, score) })
        .collect()
}

/// Returns the relevance of each file to a text, between 0 and 1, indexed by number in the lexical index, or `None`
/// if there are neither text nor seeds.
pub(crate) fn scores(
    lexical: &LexicalIndex,
    references: &References,
    asked: &ParsedQuery,
    query: &Query<'_>,
) -> Option<Vec<f64>> {
    let words = weighed(lexical, asked);
    let mut scores = by_words(lexical, &words);
    to_one(&mut scores);
    for number in asked.named(lexical) {
        add(&mut scores, number, NAMED);
    }
    if query.text.trim().is_empty() && query.seeds.is_empty() {
        return None;
    }
    let start: Vec<f64> = of_graph(lexical, references, &scores).map(|score| score.powf(SHARPEN)).collect();
    for (number, _) in lexical.files().filter(|(_, file)| !file.is_code) {
        if let Some(score) = scores.get_mut(number as usize) {
            *score *= NO_CODE;
        }
    }
    let mut walked = references.around(&start, &query.seeds);
    to_one(&mut walked);
    for ((key, walked), central) in references.files().iter().zip(&walked).zip(references.centrality()) {
        if let Some(number) = lexical.number(key) {
            add(&mut scores, number, SPREAD * walked + CENTRAL * central.sqrt());
        }
    }
    by_size(lexical, &mut scores);
    to_companions(lexical, &mut scores);
    to_changelog(lexical, &mut scores);
    // If no word of the text is known, the remaining evidence is weak, so scores below 1 are not scaled up.
    let best = scores.iter().copied().fold(1.0, f64::max);
    scores.iter_mut().for_each(|score| *score /= best);
    Some(scores)
}

/// Returns the words of a text that occur in some file, with their weights. Rare words have larger weights.
pub(super) fn weighed<'a>(lexical: &LexicalIndex, asked: &'a ParsedQuery) -> Vec<(&'a str, f64)> {
    let count = lexical.len() as f64;
    let rarity = |word: &str| {
        let having = lexical.postings(word).len() as f64;
        (having > 0.0).then(|| (1.0 + (count - having + 0.5) / (having + 0.5)).ln())
    };
    let words = asked.words.iter();
    words.filter_map(|(word, weight)| Some((word.as_str(), weight * rarity(word)?))).collect()
}

/// Scores files with BM25F, which combines the counts of a word in all fields before applying saturation.
fn by_words(lexical: &LexicalIndex, words: &[(&str, f64)]) -> Vec<f64> {
    let mut scores = vec![0.0; lexical.len()];
    let averages: [f64; FIELDS] = std::array::from_fn(|field| lexical.average(field).max(1.0));
    for (word, worth) in words {
        for posting in lexical.postings(word) {
            let fields = posting.counts.iter().zip(lexical.lengths(posting.file)).zip(averages);
            let weights = FIELD_WEIGHTS.iter().zip(LENGTH);
            let count: f64 = fields
                .zip(weights)
                .filter(|(((count, _), _), _)| **count > 0)
                .map(|(((count, length), average), (weight, against))| {
                    weight * f64::from(*count) / (1.0 - against + against * f64::from(length) / average)
                })
                .sum();
            add(&mut scores, posting.file, worth * count / (SATURATION + count));
        }
    }
    scores
}

fn by_size(lexical: &LexicalIndex, scores: &mut [f64]) {
    let size = |number: u32| {
        let [_, _, defined, _] = lexical.lengths(number);
        (1.0 + f64::from(defined)).ln()
    };
    let most = lexical.files().map(|(number, _)| size(number)).fold(1.0, f64::max);
    for (number, _) in lexical.files() {
        add(scores, number, SIZE * size(number) / most);
    }
}

fn to_companions(lexical: &LexicalIndex, scores: &mut [f64]) {
    let before = scores.to_vec();
    let score = |number: u32| before.get(number as usize).copied().unwrap_or(0.0);
    for group in lexical.companions().filter(|group| (2..=MAX_COMPANIONS).contains(&group.len())) {
        for &number in group {
            let others = group.iter().filter(|other| **other != number);
            add(scores, number, COMPANION * others.map(|&other| score(other)).fold(0.0, f64::max));
        }
    }
}

/// Raises the score of the changelog that is closest to the best file.
fn to_changelog(lexical: &LexicalIndex, scores: &mut [f64]) {
    let score = |number: u32| scores.get(number as usize).copied().unwrap_or(0.0);
    let mut ranked: Vec<(f64, &FileKey)> =
        lexical.files().map(|(number, file)| (score(number), &file.key)).collect();
    ranked.sort_by(|(a, a_key), (b, b_key)| b.total_cmp(a).then_with(|| a_key.cmp(b_key)));
    let (Some((_, best)), Some((place, _))) = (ranked.first(), ranked.get(CHANGELOG_PLACE)) else { return };
    let shared = |key: &FileKey| {
        let own = key.directory().split('/').filter(|part| !part.is_empty());
        // A changelog in a directory that does not contain the best file belongs to another part of the repository.
        let mut way = best.as_str().split('/');
        own.map(|part| way.next() == Some(part)).try_fold(0_usize, |count, same| same.then_some(count + 1))
    };
    let logs = lexical.files().filter(|(_, file)| file.is_changelog);
    let closest = logs
        .filter_map(|(number, file)| Some((shared(&file.key)?, number)))
        .max_by_key(|(shared, _)| *shared);
    if let Some(score) = closest.and_then(|(_, number)| scores.get_mut(number as usize)) {
        *score = score.max(*place);
    }
}

/// Returns the symbols of a file whose names contain words of the text.
fn matched(outline: &Outline, words: &BTreeMap<&str, f64>, best: f64, file: f64) -> Vec<MatchedSymbol> {
    let mut names = QualifiedNames::default();
    let mut found = Vec::new();
    for symbol in outline.visible() {
        names.enter(symbol);
        let (mut worth, mut count) = (0.0, 0_u32);
        each_subword(&symbol.name, |word| {
            worth += words.get(stem(word)).copied().unwrap_or(0.0);
            count += 1;
        });
        if worth > 0.0 && symbol.kind.is_referable() {
            let fit = (worth / (best * f64::from(count.max(1)).sqrt())).min(1.0);
            found.push(MatchedSymbol { kind: symbol.kind, name: names.dotted(), score: (fit * file).sqrt() });
        }
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(MAX_SYMBOLS);
    found
}

/// Returns the scores in the order of the graph's files.
fn of_graph<'a>(
    lexical: &'a LexicalIndex,
    references: &'a References,
    scores: &'a [f64],
) -> impl Iterator<Item = f64> + 'a {
    let number = |key| lexical.number(key);
    references
        .files()
        .iter()
        .map(move |key| number(key).and_then(|number| scores.get(number as usize)).copied().unwrap_or(0.0))
}

fn add(scores: &mut [f64], number: u32, more: f64) {
    if let Some(score) = scores.get_mut(number as usize) {
        *score += more;
    }
}

/// Scales scores so that the best is 1.
fn to_one(scores: &mut [f64]) {
    let best = scores.iter().copied().fold(0.0, f64::max);
    if best > 0.0 {
        scores.iter_mut().for_each(|score| *score /= best);
    }
}

/// `by_size` relies on the position of `Field::Symbol`.
const _: () = assert!(Field::Symbol as usize == 2);
