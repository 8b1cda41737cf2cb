//! Brings together what speaks for a file.

use rustc_hash::{FxHashMap, FxHashSet};
use strata_grammars::LanguageId;

use super::companions::{is_changelog, subject};
use super::lexical::{FIELDS, LexicalIndex};
use super::query::{Asked, Query};
use crate::key::FileKey;
use crate::outline::SymbolKind;
use crate::symbols::graph::{Direction, References};
use crate::symbols::index::SymbolIndex;

/// Constants under tuning.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// Field weights: name, directory, symbol, head, mention.
    pub fields: [f64; FIELDS],
    /// Length normalization by field.
    pub b: [f64; FIELDS],
    pub k1: f64,
    pub first: f64,
    pub code: f64,
    pub path: f64,
    pub spread: f64,
    pub companion: f64,
    pub changelog: f64,
    pub size: f64,
    pub rank: f64,
    pub nolang: f64,
    pub sharpen: f64,
    pub own: f64,
    pub central: f64,
    pub centralpow: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            fields: [2.0, 2.0, 0.2, 0.05],
            b: [0.0, 0.5, 0.5, 0.0],
            k1: 3.0,
            first: 2.0,
            code: 1.0,
            path: 1.0,
            spread: 0.2,
            companion: 0.15,
            changelog: 5.0,
            size: 0.07,
            rank: 0.05,
            nolang: 0.5,
            sharpen: 2.0,
            own: 0.5,
            central: 0.1,
            centralpow: 0.5,
        }
    }
}

/// A file that a text is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Relevant {
    /// Which.
    pub file: FileKey,
    /// How much, between 0 and 1: the best has 1.
    pub score: f64,
    /// The symbols in it that the text is about, best first.
    pub symbols: Vec<MatchedSymbol>,
}

/// A symbol that a text is about.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchedSymbol {
    /// What it is.
    pub kind: SymbolKind,
    /// Its name behind the names of what it is in: `Session.send`.
    pub name: String,
    /// How much, between 0 and 1: the best of all files' symbols has 1.
    pub score: f64,
}

/// The files that a text is about, best first, equal ones by key; at most `limit`.
pub fn relevant(
    index: &SymbolIndex,
    lexical: &LexicalIndex,
    references: &References,
    query: &Query<'_>,
    limit: usize,
) -> Vec<Relevant> {
    relevant_tuned(index, lexical, references, query, limit, &Tuning::default())
}

#[doc(hidden)]
pub fn relevant_tuned(
    index: &SymbolIndex,
    lexical: &LexicalIndex,
    references: &References,
    query: &Query<'_>,
    limit: usize,
    tuning: &Tuning,
) -> Vec<Relevant> {
    let _ = index;
    let asked = Asked::read(query.text, tuning.first, tuning.code);
    let mut scores = by_words(lexical, &asked, tuning);
    by_paths(lexical, &asked, &mut scores, tuning);
    let best = scores.iter().copied().fold(0.0, f64::max);
    if best > 0.0 {
        for score in &mut scores {
            *score /= best;
        }
    }
    // Along references.
    let of = |key: &FileKey| {
        lexical.number(key).and_then(|number| scores.get(number as usize)).copied().unwrap_or(0.0)
    };
    let start: Vec<f64> = references.files().iter().map(|key| of(key).powf(tuning.sharpen)).collect();
    for (key, number) in lexical.files() {
        let Some(score) = scores.get_mut(number as usize) else { continue };
        if LanguageId::by_path(key.as_str(), "").is_none() {
            *score *= tuning.nolang;
        }
    }
    if tuning.spread > 0.0 && start.iter().any(|s| *s > 0.0) {
        let total: f64 = start.iter().sum();
        let walked = references.walk(&start, Direction::Either);
        let got: Vec<f64> = walked
            .iter()
            .zip(&start)
            .map(|(rank, start)| (rank - tuning.own * 0.15 * start / total).max(0.0))
            .collect();
        let most = got.iter().copied().fold(0.0, f64::max);
        for (got, key) in got.iter().zip(references.files()) {
            if let Some(score) = lexical.number(key).and_then(|number| scores.get_mut(number as usize)) {
                *score += tuning.spread * got / most.max(1e-12);
            }
        }
    }
    for (weight, direction) in [(tuning.rank, Direction::Forward), (tuning.central, Direction::Either)] {
        if weight > 0.0 {
            let general = references.walk(&[], direction);
            let most = general.iter().copied().fold(0.0, f64::max);
            for (got, key) in general.iter().zip(references.files()) {
                if let Some(score) = lexical.number(key).and_then(|number| scores.get_mut(number as usize)) {
                    *score += weight * (got / most.max(1e-12)).powf(tuning.centralpow);
                }
            }
        }
    }
    if tuning.size > 0.0 {
        let most = (1.0 + lexical.files().map(|(_, n)| lexical.length(n, 2)).fold(0.0, f64::max)).ln();
        for (_, number) in lexical.files() {
            if let Some(score) = scores.get_mut(number as usize) {
                *score += tuning.size * (1.0 + lexical.length(number, 2)).ln() / most;
            }
        }
    }
    // To companions.
    let mut subjects: FxHashMap<String, Vec<u32>> = FxHashMap::default();
    for (key, number) in lexical.files() {
        if LanguageId::by_path(key.as_str(), "").is_some() {
            subjects.entry(subject(key)).or_default().push(number);
        }
    }
    let before = scores.clone();
    for group in subjects.values().filter(|group| (2..=6).contains(&group.len())) {
        for &number in group {
            let others = group.iter().filter(|&&other| other != number);
            let best = others.filter_map(|&other| before.get(other as usize)).copied().fold(0.0, f64::max);
            if let Some(score) = scores.get_mut(number as usize) {
                *score += tuning.companion * best;
            }
        }
    }
    // The changelog.
    let mut sorted: Vec<f64> =
        lexical.files().filter_map(|(_, number)| scores.get(number as usize)).copied().collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let place = sorted.get(tuning.changelog as usize).copied().unwrap_or(0.0);
    for (key, number) in lexical.files() {
        if is_changelog(key)
            && tuning.changelog > 0.0
            && let Some(score) = scores.get_mut(number as usize)
        {
            *score = score.max(place);
        }
    }
    let mut ranked: Vec<(f64, &FileKey)> = lexical
        .files()
        .map(|(key, number)| (scores.get(number as usize).copied().unwrap_or(0.0), key))
        .collect();
    ranked.sort_by(|(a, a_key), (b, b_key)| b.total_cmp(a).then_with(|| a_key.cmp(b_key)));
    ranked
        .into_iter()
        .take(limit)
        .filter(|(score, _)| *score > 0.0)
        .map(|(score, key)| Relevant { file: key.clone(), score, symbols: Vec::new() })
        .collect()
}

fn by_words(lexical: &LexicalIndex, asked: &Asked, tuning: &Tuning) -> Vec<f64> {
    let mut scores = vec![0.0; lexical.bound()];
    let count = lexical.len() as f64;
    let averages: [f64; FIELDS] = std::array::from_fn(|field| lexical.average(field).max(1.0));
    for (word, weight) in &asked.words {
        let postings = lexical.postings(word);
        if postings.is_empty() {
            continue;
        }
        let df = postings.len() as f64;
        let idf = (1.0 + (count - df + 0.5) / (df + 0.5)).ln();
        for posting in postings {
            let mut tf = 0.0;
            for field in 0..FIELDS {
                let n = f64::from(posting.counts[field]);
                if n > 0.0 {
                    let norm = 1.0 - tuning.b[field]
                        + tuning.b[field] * lexical.length(posting.file, field) / averages[field];
                    tf += tuning.fields[field] * n / norm;
                }
            }
            if let Some(score) = scores.get_mut(posting.file as usize) {
                *score += weight * idf * tf / (tuning.k1 + tf);
            }
        }
    }
    scores
}

fn by_paths(lexical: &LexicalIndex, asked: &Asked, scores: &mut [f64], tuning: &Tuning) {
    if asked.paths.is_empty() {
        return;
    }
    let best = scores.iter().copied().fold(1.0, f64::max);
    let paths: FxHashSet<&str> = asked.paths.iter().map(String::as_str).collect();
    for (key, number) in lexical.files() {
        let path = key.as_str();
        let ends =
            std::iter::once(path).chain(path.match_indices('/').filter_map(|(at, _)| path.get(at + 1..)));
        let named = ends.into_iter().any(|end| paths.contains(end));
        if named && let Some(score) = scores.get_mut(number as usize) {
            *score += tuning.path * best;
        }
    }
}
