//! Scores the passages of the candidate files for a request.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use strata_base::key::FileKey;

use super::candidates::{Candidate, Role, recent};
use super::excerpt::ExcerptQuery;
use super::features::{Features, Intent, is_about_the_answer};
use super::passages::{Passage, PassageCache, Passages, Term, term};
use super::past::by_past;
use super::stack_trace;
use crate::symbols::{ParsedQuery, name_words};

/// How quickly repeated words stop adding to a BM25 score (`k1`).
const SATURATION: f64 = 1.2;
/// How strongly a passage's length reduces its BM25 score (`b`).
const LENGTH: f64 = 0.6;
/// How strongly a file's length reduces its BM25 score (`b`).
const FILE_LENGTH: f64 = 0.75;
/// Number of the best passages whose mentions of definitions count.
const CALLERS: usize = 8;
/// Factor for the mentions of each next best passage.
const NEXT_CALLER: f64 = 0.85;
/// Maximum number of definitions that a mentioned name may mean.
const MAX_NAMESAKES: usize = 3;
/// Minimum length of a mentioned name, in bytes.
const LEAST_NAME: usize = 4;

/// A file with its passages and their scores.
pub(super) struct ScoredFile<'a> {
    pub(super) candidate: &'a Candidate<'a>,
    pub(super) passages: Arc<Passages>,
    /// The features of each passage.
    pub(super) features: Vec<Features>,
    /// The score of each passage.
    pub(super) scores: Vec<f64>,
    /// Whether words of the request occur in the file's text, in its path or in the subject of a commit that changed
    /// it.
    pub(super) has_words: bool,
}

/// Scores the passages of the candidates.
pub(super) fn score<'a>(
    cache: &PassageCache,
    candidates: &'a [Candidate<'a>],
    query: &ExcerptQuery<'_>,
) -> Vec<ScoredFile<'a>> {
    let mut asked = query.parsed();
    let intent = Intent::of(query.text);
    let weights = intent.weights();
    if intent == Intent::Question {
        drop_words_about_the_answer(&mut asked);
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
    add_words(&mut files, &asked);
    let words: FxHashSet<&str> = asked.words.iter().map(|(word, _)| word.as_str()).collect();
    add_files(&mut files, &asked, &words, query);
    add_line_ages(&mut files, query);
    add_names(&mut files, &asked, &words);
    for (number, line, depth) in stack_trace::frames(query.text, candidates) {
        add_frame(&mut files, number, line, depth);
    }
    weigh(&mut files, weights);
    add_called(&mut files);
    weigh(&mut files, weights);
    files
}

/// Drops the words that say what kind of answer is wanted, unless there are no others.
fn drop_words_about_the_answer(asked: &mut ParsedQuery) {
    if asked.words.iter().any(|(word, _)| !is_about_the_answer(word)) {
        asked.words.retain(|(word, _)| !is_about_the_answer(word));
    }
}

fn weigh(files: &mut [ScoredFile<'_>], weights: &Features) {
    for file in files {
        file.scores = file.features.iter().map(|features| features.weighted(weights)).collect();
    }
}

/// Adds the features that depend on the words of passages and files.
fn add_words(files: &mut [ScoredFile<'_>], asked: &ParsedQuery) {
    let words: Vec<Term> = asked.words.iter().map(|(word, _)| term(word)).collect();
    let counts: Vec<FileCounts> = files.iter().map(|file| FileCounts::of(&file.passages, &words)).collect();
    let by_passage = WordWeights::of(&words, asked, counts.iter().flat_map(|file| &file.passages));
    let by_file = WordWeights::of(&words, asked, counts.iter().map(|file| &file.all));
    for (file, counts) in files.iter_mut().zip(&counts) {
        let file_words = by_file.bm25(&counts.all, FILE_LENGTH);
        file.has_words = file_words > 0.0 || has_words(file.candidate.file.file.as_str(), &words);
        let features = |(passage, counts): (&Passage, &Counts)| Features {
            words: by_passage.bm25(counts, LENGTH),
            names: by_passage.names(&words, passage),
            length: (1.0 + f64::from(line_count(passage)) / 10.0).ln(),
            covered: by_passage.covered(counts),
            file_words,
            ..Features::default()
        };
        file.features = file.passages.list.iter().zip(&counts.passages).map(features).collect();
    }
    scale(files, |features| &mut features.words);
    scale(files, |features| &mut features.names);
    scale(files, |features| &mut features.file_words);
}

/// Divides a feature by its highest value.
fn scale(files: &mut [ScoredFile<'_>], feature: impl Fn(&mut Features) -> &mut f64) {
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
fn add_files(
    files: &mut [ScoredFile<'_>],
    asked: &ParsedQuery,
    words: &FxHashSet<&str>,
    query: &ExcerptQuery<'_>,
) {
    let past = by_past(query.past, asked);
    let is_about_tests = asked.words.iter().any(|(word, _)| Role::Tests.is_asked_by(word));
    let flag = |is_set: bool| if is_set { 1.0 } else { 0.0 };
    for file in files {
        let candidate = &file.candidate.file;
        let key = &candidate.file;
        file.has_words |= past.contains_key(key);
        let is_blank = file.is_blank();
        let is_aside = matches!(candidate.aside, Some(Role::Tests | Role::Document));
        let size = (1.0 + file.passages.line_count() as f64 / 100.0).ln();
        let tests: Vec<bool> = (0..file.features.len())
            .map(|at| !is_about_tests && !is_aside && file.is_inline_test(at))
            .collect();
        for ((at, features), is_test) in file.features.iter_mut().enumerate().zip(tests) {
            *features = Features {
                file: candidate.relevance,
                named: flag(candidate.is_named || is_blank && is_spelled(key, words)),
                past: past.get(key).copied().unwrap_or(0.0),
                recent: recent(query.recency.get(key).copied()),
                open: flag(query.open.contains(key)),
                first: flag(at == 0),
                size,
                aside: flag(is_aside),
                inline_test: flag(is_test),
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
            for age in ages.of(text) {
                sum += recent(age);
                count += 1.0;
            }
            features.fresh = sum / count.max(1.0);
        }
    }
}

/// Marks the passages of definitions whose names the request spells.
fn add_names(files: &mut [ScoredFile<'_>], asked: &ParsedQuery, words: &FxHashSet<&str>) {
    let spelled: FxHashSet<&str> = asked.identifiers.iter().map(String::as_str).collect();
    for file in files {
        let passages = Arc::clone(&file.passages);
        for (features, passage) in file.features.iter_mut().zip(&passages.list) {
            let definition = passage.definition.and_then(|at| passages.definitions.get(at));
            let Some(name) = definition.map(|definition| last_name(&definition.name)) else { continue };
            features.exact = if spelled.contains(name) { 1.0 } else { 0.0 };
            let (mut asked, mut all) = (0.0, 0.0_f64);
            name_words(name, |word| {
                all += 1.0;
                asked += if words.contains(word) { 1.0 } else { 0.0 };
            });
            features.own_name = asked / all.max(1.0);
        }
    }
}

/// Marks the passage that a frame of a stack trace points at. `depth` is the number of frames inside it.
fn add_frame(files: &mut [ScoredFile<'_>], number: usize, line: usize, depth: i32) {
    let Some(file) = files.get_mut(number) else { return };
    let passages = Arc::clone(&file.passages);
    for (features, passage) in file.features.iter_mut().zip(&passages.list) {
        if passage.lines.contains(&line) {
            features.frame = features.frame.max(NEXT_CALLER.powi(depth));
        }
    }
}

/// Marks the definitions that the best passages mention. A name with many definitions says nothing.
fn add_called(files: &mut [ScoredFile<'_>]) {
    let mut definitions: FxHashMap<&str, Vec<(usize, usize)>> = FxHashMap::default();
    for (number, file) in files.iter().enumerate() {
        for (at, definition) in file.passages.definitions.iter().enumerate() {
            let name = last_name(&definition.name);
            if name.len() >= LEAST_NAME {
                definitions.entry(name).or_default().push((number, at));
            }
        }
    }
    let mut best: Vec<(f64, usize, usize)> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        best.extend(file.scores.iter().enumerate().map(|(at, score)| (*score, number, at)));
    }
    let order = |one: &(f64, usize, usize), other: &(f64, usize, usize)| {
        other.0.total_cmp(&one.0).then_with(|| (one.1, one.2).cmp(&(other.1, other.2)))
    };
    if best.len() > CALLERS {
        best.select_nth_unstable_by(CALLERS, order);
        best.truncate(CALLERS);
    }
    best.sort_by(order);
    let mut called: FxHashMap<(usize, usize), f64> = FxHashMap::default();
    for (rank, (_, number, at)) in (0..).zip(best) {
        let Some(file) = files.get(number) else { continue };
        let Some(passage) = file.passages.list.get(at) else { continue };
        let text = file.candidate.text.get(passage.bytes.clone()).unwrap_or_default();
        for name in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
            for definition in
                definitions.get(name).into_iter().filter(|found| found.len() <= MAX_NAMESAKES).flatten()
            {
                if *definition != (number, passage.definition.unwrap_or(usize::MAX)) {
                    let value = called.entry(*definition).or_default();
                    *value = value.max(NEXT_CALLER.powi(rank));
                }
            }
        }
    }
    for (number, file) in files.iter_mut().enumerate() {
        for (features, passage) in file.features.iter_mut().zip(&file.passages.list) {
            let definition = passage.definition.and_then(|at| called.get(&(number, at)));
            features.called = definition.copied().unwrap_or(0.0);
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
fn is_spelled(file: &FileKey, words: &FxHashSet<&str>) -> bool {
    let (mut is_spelled, mut count) = (true, 0);
    let name = file.file_name();
    name_words(name.split('.').next().unwrap_or(name), |word| {
        is_spelled &= words.contains(word);
        count += 1;
    });
    is_spelled && count > 1
}

/// Whether a path contains one of the words.
fn has_words(path: &str, words: &[Term]) -> bool {
    let mut found = false;
    name_words(path, |word| found |= words.contains(&term(word)));
    found
}

/// How often each word of the question occurs in a text, and the text's length in words.
struct Counts {
    words: Vec<u32>,
    length: f64,
}

/// Occurrences of the question's words in a file and in each of its passages.
struct FileCounts {
    passages: Vec<Counts>,
    all: Counts,
}

/// Weight of each word of a question relative to a set of texts: rare words count more.
struct WordWeights {
    words: Vec<f64>,
    /// Combined weight of the words that occur in at least one text.
    known: f64,
    /// Average length of a text in words.
    average: f64,
}

impl FileCounts {
    fn of(passages: &Passages, words: &[Term]) -> Self {
        let counts = |passage: &Passage| Counts {
            words: words.iter().map(|term| u32::from(passage.count(*term))).collect(),
            length: f64::from(passage.length),
        };
        let passages: Vec<Counts> = passages.list.iter().map(counts).collect();
        let sum = |at: usize| passages.iter().filter_map(|counts| counts.words.get(at)).sum::<u32>();
        let all = Counts {
            words: (0..words.len()).map(sum).collect(),
            length: passages.iter().map(|counts| counts.length).sum(),
        };
        Self { passages, all }
    }
}

impl WordWeights {
    fn of<'a>(words: &[Term], asked: &ParsedQuery, texts: impl Iterator<Item = &'a Counts>) -> Self {
        let (mut having, mut count, mut length) = (vec![0.0_f64; words.len()], 0.0_f64, 0.0_f64);
        for text in texts {
            count += 1.0;
            length += text.length;
            for (having, _) in having.iter_mut().zip(&text.words).filter(|(_, count)| **count > 0) {
                *having += 1.0;
            }
        }
        let rarity = |having: f64| (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
        let weights = asked.words.iter().map(|(_, weight)| weight);
        let words: Vec<f64> =
            having.iter().zip(weights).map(|(having, weight)| weight * rarity(*having)).collect();
        let known =
            words.iter().zip(&having).filter(|(_, having)| **having > 0.0).map(|(word, _)| word).sum();
        Self { words, known, average: (length / count.max(1.0)).max(1.0) }
    }

    fn bm25(&self, counts: &Counts, against_length: f64) -> f64 {
        let length = 1.0 - against_length + against_length * counts.length / self.average;
        let word = |(weight, count): (&f64, &u32)| {
            let count = f64::from(*count);
            weight * count * (SATURATION + 1.0) / (count + SATURATION * length)
        };
        self.words.iter().zip(&counts.words).map(word).sum()
    }

    /// Returns the weighted share of the question's words that a text contains. Ignores words that no text
    /// contains.
    fn covered(&self, counts: &Counts) -> f64 {
        let having = self.words.iter().zip(&counts.words).filter(|(_, count)| **count > 0);
        having.map(|(weight, _)| weight).sum::<f64>() / self.known.max(f64::MIN_POSITIVE)
    }

    /// Returns the combined weight of the question's words that occur in the names of a passage.
    fn names(&self, words: &[Term], passage: &Passage) -> f64 {
        let named = words.iter().zip(&self.words).filter(|(term, _)| passage.names.contains(term));
        named.map(|(_, weight)| weight).sum()
    }
}

impl ScoredFile<'_> {
    /// Whether the file has no text.
    pub(super) fn is_blank(&self) -> bool {
        self.candidate.text.trim().is_empty()
    }

    /// Whether a passage belongs to a test module inside a source file.
    fn is_inline_test(&self, at: usize) -> bool {
        let passage = self.passages.list.get(at);
        let definition = passage.and_then(|passage| self.passages.definitions.get(passage.definition?));
        let outermost = definition.and_then(|definition| definition.name.split('.').next());
        matches!(outermost, Some("test" | "tests"))
    }
}
