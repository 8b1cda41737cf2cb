//! Interprets a question for the map: the files and definitions that it names, and the words that it shares
//! with names.

use rustc_hash::{FxHashMap, FxHashSet};
use strata_base::key::FileKey;

use super::query::ParsedQuery;
use super::score::{FileRelevance, weight_words};
use crate::symbols::graph::{Ranking, ReferenceGraph, Seeds};
use crate::symbols::words::{each_subword, stem};

/// A name in a question identifies files only if at most this many files define it.
const MAX_DEFINERS: usize = 4;
/// Value of a definition whose name consists of words of the question, relative to a single mention.
const DEFINITION_NAMED_IN_QUESTION_VALUE: f64 = 4.0;
/// Share of a file's rank that depends on the question.
const QUESTION_SHARE_OF_RANK: f64 = 0.8;
/// Exponent for relevance scores, which favors files with high scores.
const RELEVANCE_EXPONENT: f64 = 3.0;
/// Maximum number of files with a relevance score.
const MAX_SCORED_FILES: usize = 400;

/// The words of a question with their weights, and the identifiers it contains.
#[derive(Debug)]
pub struct QuestionWords {
    words: FxHashMap<String, f64>,
    best: f64,
    identifiers: FxHashSet<String>,
}

impl QuestionWords {
    /// Weights the words of a question by their rarity.
    pub fn new(relevance: &FileRelevance<'_>) -> Self {
        let query = &relevance.query;
        let words: FxHashMap<String, f64> = weight_words(relevance.lexical(), query)
            .into_iter()
            .map(|(word, value)| (word.to_owned(), value))
            .collect();
        let best = words.values().copied().fold(f64::MIN_POSITIVE, f64::max);
        Self { words, best, identifiers: query.identifiers.iter().cloned().collect() }
    }

    /// Returns the value that the question adds to a definition called `name`.
    pub(in crate::symbols) fn definition_value(&self, name: &str) -> f64 {
        if self.identifiers.contains(name) {
            return 2.0 * DEFINITION_NAMED_IN_QUESTION_VALUE;
        }
        let (mut value, mut count) = (0.0, 0_u32);
        each_subword(name, |word| {
            value += self.words.get(stem(word)).copied().unwrap_or(0.0);
            count += 1;
        });
        DEFINITION_NAMED_IN_QUESTION_VALUE * (value / (self.best * f64::from(count.max(1)).sqrt())).min(1.0)
    }
}

/// Ranks files by seeds and by their relevance to a question.
pub fn rank_files_for_question(
    relevance: &FileRelevance<'_>,
    references: &ReferenceGraph,
    seeds: &Seeds<'_>,
) -> Ranking {
    let mut relevant = relevance.best_files(MAX_SCORED_FILES);
    relevant.sort_unstable_by_key(|(_, key)| *key);
    relevant.iter_mut().for_each(|(score, _)| *score = score.powf(RELEVANCE_EXPONENT));
    let all: f64 = relevant.iter().map(|(score, _)| score).sum::<f64>().max(f64::MIN_POSITIVE);
    let mut relevant = relevant.into_iter().peekable();
    let mut relevance = |key: &FileKey| {
        while relevant.next_if(|(_, relevant)| *relevant < key).is_some() {}
        relevant.next_if(|(_, relevant)| *relevant == key).map_or(0.0, |(score, _)| score / all)
    };
    let scores = references.scores(seeds);
    let mixed = references.files().iter().zip(scores).map(|(key, score)| {
        (key.clone(), (1.0 - QUESTION_SHARE_OF_RANK) * score + QUESTION_SHARE_OF_RANK * relevance(key))
    });
    Ranking::from_scores(mixed)
}

/// Returns the files that a text names by path, or by an identifier that few files define, in key order.
pub fn mentioned_files(text: &str, files: &[FileKey], references: &ReferenceGraph) -> Vec<FileKey> {
    let parsed_query = ParsedQuery::read(text);
    let mut files_named: Vec<FileKey> =
        parsed_query.named_files_among(files.iter()).into_iter().cloned().collect();
    for name in &parsed_query.identifiers {
        let definers = references.definers_of(name);
        if definers.len() <= MAX_DEFINERS {
            files_named.extend(definers.into_iter().cloned());
        }
    }
    files_named.sort_unstable();
    files_named.dedup();
    files_named
}
