//! Scores the passages of the candidate files for a request.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use strata_base::key::FileKey;

use super::candidates::{ExcerptCandidate, recency_score};
use super::excerpt::ExcerptQuery;
use super::features::{Features, Intent, is_answer_kind_word};
use super::passages::{Passage, PassageCache, Passages, WordHash, hash_word};
use super::similar_commits::commit_similarity;
use super::stack_trace;
use crate::symbols::{FileRole, ParsedQuery, each_name_word, sort_and_truncate};

/// How quickly repeated words stop adding to a BM25 score (`k1`).
const BM25_SATURATION: f64 = 1.2;
/// How strongly a passage's length reduces its BM25 score (`b`).
const PASSAGE_LENGTH_NORM: f64 = 0.6;
/// How strongly a file's length reduces its BM25 score (`b`).
const FILE_LENGTH_NORM: f64 = 0.75;
/// Number of the best passages whose mentions of definitions count.
const MAX_MENTIONING_PASSAGES: usize = 8;
/// Factor for the mentions of each next best passage.
const CALLER_DECAY: f64 = 0.85;
/// Maximum number of definitions that a mentioned name may mean.
const MAX_NAMESAKES: usize = 3;
/// Minimum length of a mentioned name, in bytes.
const MIN_NAME_BYTES: usize = 4;

/// A file with its passages and their scores.
pub(super) struct ScoredFile<'a> {
    pub(super) candidate: &'a ExcerptCandidate<'a>,
    pub(super) passages: Arc<Passages>,
    pub(super) features: Vec<Features>,
    pub(super) scores: Vec<f64>,
    /// Whether words of the request occur in the file's text, in its path or in the subject of a commit that changed
    /// it.
    pub(super) has_words: bool,
}

pub(super) fn score<'a>(
    cache: &PassageCache,
    candidates: &'a [ExcerptCandidate<'a>],
    query: &ExcerptQuery<'_>,
) -> Vec<ScoredFile<'a>> {
    let mut parsed_query = query.parse();
    let intent = Intent::classify(query.text);
    let weights = intent.weights();
    if intent == Intent::Question {
        drop_answer_kind_words(&mut parsed_query);
    }
    let mut files: Vec<ScoredFile<'a>> = candidates
        .iter()
        .map(|candidate| ScoredFile {
            candidate,
            passages: cache.passages(candidate.outline, candidate.text),
            features: Vec::new(),
            scores: Vec::new(),
            has_words: false,
        })
        .collect();
    add_word_features(&mut files, &parsed_query);
    let words: FxHashSet<&str> = parsed_query.words.iter().map(|(word, _)| word.as_str()).collect();
    add_file_features(&mut files, &parsed_query, &words, query);
    add_line_ages(&mut files, query);
    add_name_features(&mut files, &parsed_query, &words);
    for (file_index, line, depth) in stack_trace::stack_frames(query.text, candidates) {
        add_stack_frame_feature(&mut files, file_index, line, depth);
    }
    apply_weights(&mut files, weights);
    add_mention_features(&mut files);
    apply_weights(&mut files, weights);
    files
}

/// Drops the words that say what kind of answer is wanted, unless there are no others.
fn drop_answer_kind_words(parsed_query: &mut ParsedQuery) {
    if parsed_query.words.iter().any(|(word, _)| !is_answer_kind_word(word)) {
        parsed_query.words.retain(|(word, _)| !is_answer_kind_word(word));
    }
}

fn apply_weights(files: &mut [ScoredFile<'_>], weights: &Features) {
    for file in files {
        file.scores = file.features.iter().map(|features| features.weighted(weights)).collect();
    }
}

/// Adds the features that depend on the words of passages and files.
fn add_word_features(files: &mut [ScoredFile<'_>], parsed_query: &ParsedQuery) {
    let words: Vec<WordHash> = parsed_query.words.iter().map(|(word, _)| hash_word(word)).collect();
    let counts: Vec<FileCounts> = files.iter().map(|file| FileCounts::new(&file.passages, &words)).collect();
    let by_passage = WordWeights::new(&words, parsed_query, counts.iter().flat_map(|file| &file.passages));
    let by_file = WordWeights::new(&words, parsed_query, counts.iter().map(|file| &file.total));
    for (file, counts) in files.iter_mut().zip(&counts) {
        let file_text_match = by_file.bm25(&counts.total, FILE_LENGTH_NORM);
        file.has_words = file_text_match > 0.0 || has_any_word(file.candidate.file.file.as_str(), &words);
        let features = |(passage, counts): (&Passage, &WordCounts)| Features {
            text_match: by_passage.bm25(counts, PASSAGE_LENGTH_NORM),
            name_match: by_passage.name_weight(&words, passage),
            length: (1.0 + f64::from(line_count(passage)) / 10.0).ln(),
            query_coverage: by_passage.coverage(counts),
            file_text_match,
            ..Features::default()
        };
        file.features = file.passages.list.iter().zip(&counts.passages).map(features).collect();
    }
    normalize_feature(files, |features| &mut features.text_match);
    normalize_feature(files, |features| &mut features.name_match);
    normalize_feature(files, |features| &mut features.file_text_match);
}

/// Divides a feature by its highest value.
fn normalize_feature(files: &mut [ScoredFile<'_>], feature: impl Fn(&mut Features) -> &mut f64) {
    let all = |files: &mut [ScoredFile<'_>], each: &mut dyn FnMut(&mut f64)| {
        for features in files.iter_mut().flat_map(|file| &mut file.features) {
            each(feature(features));
        }
    };
    let mut best = f64::MIN_POSITIVE;
    all(files, &mut |value| best = best.max(*value));
    all(files, &mut |value| *value /= best);
}

/// Adds the features that all passages of a file share, and those that depend on a passage's place in its file.
fn add_file_features(
    files: &mut [ScoredFile<'_>],
    parsed_query: &ParsedQuery,
    words: &FxHashSet<&str>,
    query: &ExcerptQuery<'_>,
) {
    let similarities = commit_similarity(query.past, parsed_query);
    let is_about_tests = parsed_query.words.iter().any(|(word, _)| FileRole::Tests.is_requested_by(word));
    let feature_value = |is_set: bool| if is_set { 1.0 } else { 0.0 };
    for file in files {
        let candidate = &file.candidate.file;
        let key = &candidate.file;
        file.has_words |= similarities.contains_key(key);
        let is_blank = file.is_blank();
        let is_unrequested = matches!(candidate.unrequested_role, Some(FileRole::Tests | FileRole::Document));
        let file_size = (1.0 + file.passages.line_count() as f64 / 100.0).ln();
        let tests: Vec<bool> = (0..file.features.len())
            .map(|index| !is_about_tests && !is_unrequested && file.is_in_inline_test_module(index))
            .collect();
        for ((index, features), is_test) in file.features.iter_mut().enumerate().zip(tests) {
            *features = Features {
                file_relevance: candidate.relevance,
                file_named: feature_value(candidate.is_named || is_blank && is_file_named(key, words)),
                similar_commit: similarities.get(key).copied().unwrap_or(0.0),
                file_recency: recency_score(query.recency.get(key).copied()),
                file_open: feature_value(query.open.contains(key)),
                first_passage: feature_value(index == 0),
                file_size,
                unrequested_role: feature_value(is_unrequested),
                inline_test: feature_value(is_test),
                ..*features
            };
        }
    }
}

/// Adds the average recency of the lines of each passage.
fn add_line_ages(files: &mut [ScoredFile<'_>], query: &ExcerptQuery<'_>) {
    for file in files {
        let Some(ages) = query.line_ages.get(&file.candidate.file.file) else { continue };
        let passages = Arc::clone(&file.passages);
        for (features, passage) in file.features.iter_mut().zip(&passages.list) {
            let text = file.candidate.text.get(passage.bytes.clone()).unwrap_or_default();
            let (mut sum, mut count) = (0.0, 0.0_f64);
            for age in ages.line_ages(text) {
                sum += recency_score(age);
                count += 1.0;
            }
            features.line_recency = sum / count.max(1.0);
        }
    }
}

/// Marks the passages of definitions whose names the request spells.
fn add_name_features(files: &mut [ScoredFile<'_>], parsed_query: &ParsedQuery, words: &FxHashSet<&str>) {
    let spelled: FxHashSet<&str> = parsed_query.identifiers.iter().map(String::as_str).collect();
    for file in files {
        let passages = Arc::clone(&file.passages);
        for (features, passage) in file.features.iter_mut().zip(&passages.list) {
            let definition = passage.definition.and_then(|index| passages.definitions.get(index));
            let Some(name) = definition.map(|definition| last_name(&definition.name)) else { continue };
            features.exact_name = if spelled.contains(name) { 1.0 } else { 0.0 };
            let (mut matching, mut total) = (0.0, 0.0_f64);
            each_name_word(name, |word| {
                total += 1.0;
                matching += if words.contains(word) { 1.0 } else { 0.0 };
            });
            features.name_coverage = matching / total.max(1.0);
        }
    }
}

/// Marks the passage that a frame of a stack trace points at. `depth` is the number of frames inside it.
fn add_stack_frame_feature(files: &mut [ScoredFile<'_>], file_index: usize, line: usize, depth: i32) {
    let Some(file) = files.get_mut(file_index) else { return };
    let passages = Arc::clone(&file.passages);
    for (features, passage) in file.features.iter_mut().zip(&passages.list) {
        if passage.lines.contains(&line) {
            features.stack_frame = features.stack_frame.max(CALLER_DECAY.powi(depth));
        }
    }
}

/// Marks the definitions that the best passages mention. A name with many definitions says nothing.
fn add_mention_features(files: &mut [ScoredFile<'_>]) {
    let mut definitions: FxHashMap<&str, Vec<(usize, usize)>> = FxHashMap::default();
    for (file_index, file) in files.iter().enumerate() {
        for (index, definition) in file.passages.definitions.iter().enumerate() {
            let name = last_name(&definition.name);
            if name.len() >= MIN_NAME_BYTES {
                definitions.entry(name).or_default().push((file_index, index));
            }
        }
    }
    let mut best: Vec<(f64, usize, usize)> = Vec::new();
    for (file_index, file) in files.iter().enumerate() {
        best.extend(file.scores.iter().enumerate().map(|(index, score)| (*score, file_index, index)));
    }
    let order = |a: &(f64, usize, usize), b: &(f64, usize, usize)| {
        b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2)))
    };
    sort_and_truncate(&mut best, MAX_MENTIONING_PASSAGES, order);
    let mut called: FxHashMap<(usize, usize), f64> = FxHashMap::default();
    for (rank, (_, file_index, index)) in (0..).zip(best) {
        let Some(file) = files.get(file_index) else { continue };
        let Some(passage) = file.passages.list.get(index) else { continue };
        let text = file.candidate.text.get(passage.bytes.clone()).unwrap_or_default();
        for name in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
            for definition in definitions
                .get(name)
                .into_iter()
                .filter(|namesakes| namesakes.len() <= MAX_NAMESAKES)
                .flatten()
            {
                if *definition != (file_index, passage.definition.unwrap_or(usize::MAX)) {
                    let value = called.entry(*definition).or_default();
                    *value = value.max(CALLER_DECAY.powi(rank));
                }
            }
        }
    }
    for (file_index, file) in files.iter_mut().enumerate() {
        for (features, passage) in file.features.iter_mut().zip(&file.passages.list) {
            let definition = passage.definition.and_then(|index| called.get(&(file_index, index)));
            features.mentions = definition.copied().unwrap_or(0.0);
        }
    }
}

fn line_count(passage: &Passage) -> u32 {
    u32::try_from(passage.shown.len()).unwrap_or(u32::MAX)
}

/// Returns the last part of a qualified name, without marks such as those of `$ZodType` and `valid?`, which requests and
/// the words of a text leave out.
fn last_name(name: &str) -> &str {
    let last = name.rsplit('.').next().unwrap_or(name);
    last.trim_matches(|c: char| !c.is_alphanumeric() && c != '_')
}

/// Whether a request spells the name of a file without its extension, such as `RetryPolicy` for `retry_policy.py`. A name
/// of one word (`__init__.py`) or none (`.gitkeep`) identifies no file.
fn is_file_named(file: &FileKey, words: &FxHashSet<&str>) -> bool {
    let (mut is_spelled, mut count) = (true, 0);
    let name = file.file_name();
    each_name_word(name.split('.').next().unwrap_or(name), |word| {
        is_spelled &= words.contains(word);
        count += 1;
    });
    is_spelled && count > 1
}

/// Whether a path contains one of the words.
fn has_any_word(path: &str, words: &[WordHash]) -> bool {
    let mut is_contained = false;
    each_name_word(path, |word| is_contained |= words.contains(&hash_word(word)));
    is_contained
}

/// How often each word of the question occurs in a text, and the text's length in words.
struct WordCounts {
    words: Vec<u32>,
    length: f64,
}

/// Occurrences of the question's words in a file and in each of its passages.
struct FileCounts {
    passages: Vec<WordCounts>,
    total: WordCounts,
}

/// Weight of each word of a question relative to a set of texts: rare words count more.
struct WordWeights {
    words: Vec<f64>,
    /// Combined weight of the words that occur in at least one text.
    known_weight: f64,
    /// Average length of a text in words.
    average_length: f64,
}

impl FileCounts {
    fn new(passages: &Passages, words: &[WordHash]) -> Self {
        let counts = |passage: &Passage| WordCounts {
            words: words.iter().map(|term| u32::from(passage.occurrences(*term))).collect(),
            length: f64::from(passage.length),
        };
        let passages: Vec<WordCounts> = passages.list.iter().map(counts).collect();
        let sum = |index: usize| passages.iter().filter_map(|counts| counts.words.get(index)).sum::<u32>();
        let total = WordCounts {
            words: (0..words.len()).map(sum).collect(),
            length: passages.iter().map(|counts| counts.length).sum(),
        };
        Self { passages, total }
    }
}

impl WordWeights {
    fn new<'a>(
        words: &[WordHash],
        parsed_query: &ParsedQuery,
        texts: impl Iterator<Item = &'a WordCounts>,
    ) -> Self {
        let (mut frequencies, mut count, mut length) = (vec![0.0_f64; words.len()], 0.0_f64, 0.0_f64);
        for text in texts {
            count += 1.0;
            length += text.length;
            for (frequency, _) in frequencies.iter_mut().zip(&text.words).filter(|(_, count)| **count > 0) {
                *frequency += 1.0;
            }
        }
        let rarity = |frequency: f64| (1.0 + (count - frequency + 0.5) / (frequency + 0.5)).ln();
        let weights = parsed_query.words.iter().map(|(_, weight)| weight);
        let words: Vec<f64> =
            frequencies.iter().zip(weights).map(|(frequency, weight)| weight * rarity(*frequency)).collect();
        let known_weight = words
            .iter()
            .zip(&frequencies)
            .filter(|(_, frequency)| **frequency > 0.0)
            .map(|(word, _)| word)
            .sum();
        Self { words, known_weight, average_length: (length / count.max(1.0)).max(1.0) }
    }

    fn bm25(&self, counts: &WordCounts, length_norm: f64) -> f64 {
        let length = 1.0 - length_norm + length_norm * counts.length / self.average_length;
        let word = |(weight, count): (&f64, &u32)| {
            let count = f64::from(*count);
            weight * count * (BM25_SATURATION + 1.0) / (count + BM25_SATURATION * length)
        };
        self.words.iter().zip(&counts.words).map(word).sum()
    }

    /// Returns the weighted share of the question's words that a text contains. Ignores words that no text
    /// contains.
    fn coverage(&self, counts: &WordCounts) -> f64 {
        let contained = self.words.iter().zip(&counts.words).filter(|(_, count)| **count > 0);
        contained.map(|(weight, _)| weight).sum::<f64>() / self.known_weight.max(f64::MIN_POSITIVE)
    }

    /// Returns the combined weight of the question's words that occur in the names of a passage.
    fn name_weight(&self, words: &[WordHash], passage: &Passage) -> f64 {
        let named = words.iter().zip(&self.words).filter(|(term, _)| passage.names.contains(term));
        named.map(|(_, weight)| weight).sum()
    }
}

impl ScoredFile<'_> {
    pub(super) fn is_blank(&self) -> bool {
        self.candidate.text.trim().is_empty()
    }

    /// Whether a passage belongs to a test module inside a source file.
    fn is_in_inline_test_module(&self, index: usize) -> bool {
        let passage = self.passages.list.get(index);
        let definition = passage.and_then(|passage| self.passages.definitions.get(passage.definition?));
        let outermost = definition.and_then(|definition| definition.name.split('.').next());
        matches!(outermost, Some("test" | "tests"))
    }
}
