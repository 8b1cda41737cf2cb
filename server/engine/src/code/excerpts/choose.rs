//! Chooses the passages with the highest scores until the budget is full.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::candidates::{CandidateFile, Role, recent};
use super::excerpt::{Excerpt, ExcerptBudget, ExcerptQuery, ExcerptReason};
use super::passages::{Passage, PassageCache, Passages, Term, term};
use super::past::by_past;
use crate::code::outline::Outline;
use crate::code::symbols::{ParsedQuery, name_words};

// Weights of the features whose weighted sum is a passage's score. Each feature is between 0 and 1, or a
// logarithm. The score is the log odds that a commit about the question changes the passage, from a logistic
// regression on the histories of flask and requests. The regression also included the passage's length, which
// the score ignores: a longer passage is more likely to be changed but costs more, and the two effects cancel
// out. The bench `content` covers other repositories as well.
/// Weight of the BM25 score of the passage's text.
const WORDS: f64 = 2.91;
/// Weight of the question's words that occur in the names of the passage's definition and its containers.
const NAMES: f64 = 1.45;
/// Weight of the share of the question's words that the passage contains.
const COVERED: f64 = 0.75;
/// Weight of the BM25 score of the whole file.
const FILE_WORDS: f64 = 0.78;
/// Weight of the file's relevance, judged by path, names and references.
const FILE: f64 = 1.22;
/// Weight of the similarity of the question to the subject of an earlier commit that changed the file.
const PAST: f64 = 1.53;
/// Weight of the recency of the file's last change.
const RECENT: f64 = 0.85;
/// Bonus for a passage of an open file.
const OPEN: f64 = 0.85;
/// Bonus for the first passage of a file. It usually contains the imports, which change along with other
/// code.
const FIRST: f64 = 1.19;
/// Weight of the penalty for a file's size: in a larger file, a smaller part is relevant.
const SIZE: f64 = 0.77;
/// Penalty for a test or a document that the question does not ask for. It ranks them after most source files.
const NO_SOURCE: f64 = 4.62;
/// Penalty for a test module inside a source file. The value is a guess, lower than for a test file, because the
/// repositories used for fitting the weights (flask and requests) have no such modules.
const INLINE_TEST: f64 = 1.0;
/// Bonus for a passage next to a chosen one: changes cluster, and adjacent passages share a heading.
const BESIDE: f64 = 0.3;
/// How quickly repeated words stop adding to a BM25 score (`k1`).
const SATURATION: f64 = 1.2;
/// How strongly a passage's length reduces its BM25 score (`b`).
const LENGTH: f64 = 0.6;
/// How strongly a file's length reduces its BM25 score (`b`).
const FILE_LENGTH: f64 = 0.75;
/// Number of consecutive passages that do not fit the budget after which the search stops.
const MAX_MISSES: usize = 40;

/// A file that may contribute excerpts, with its current text.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The candidate that `candidate_files` returned.
    pub file: &'a CandidateFile,
    /// The file's outline, if it has one.
    pub outline: Option<&'a Outline>,
    pub text: &'a str,
}

/// A file with its passages and their scores.
struct ScoredFile<'a> {
    candidate: &'a Candidate<'a>,
    passages: Arc<Passages>,
    scores: Vec<f64>,
    /// BM25 score of each passage's text.
    lexical: Vec<f64>,
    /// Combined weight of the question's words that occur in the names of each passage.
    by_names: Vec<f64>,
    /// Weighted share of the question's words that each passage contains.
    covered: Vec<f64>,
    /// BM25 score of the whole file.
    by_file: f64,
    /// Whether words of the question occur in the file's text, in its path or in the subject of a commit that changed
    /// it.
    has_words: bool,
}

/// A passage with its score. Ties are broken in favor of the earlier passage.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    score: f64,
    file: usize,
    at: usize,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |ranked: &Self| Reverse((ranked.file, ranked.at));
        self.score.total_cmp(&other.score).then_with(|| place(self).cmp(&place(other)))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

/// Chooses excerpts, best first, that fit `budget` together with their headings. `heading` returns the text around an
/// excerpt in a prompt; `count` returns the number of tokens in a text. An excerpt never mixes lines that the prompt
/// already shows with lines that it does not. If no word of the question occurs in any candidate, only open files are
/// considered.
pub fn choose(
    passages: &PassageCache,
    candidates: &[Candidate<'_>],
    query: &ExcerptQuery<'_>,
    budget: ExcerptBudget,
    heading: &dyn Fn(&Excerpt) -> String,
    count: &dyn Fn(&str) -> usize,
) -> Vec<Excerpt> {
    let asked = ParsedQuery::read(query.text);
    let mut files: Vec<ScoredFile<'_>> = candidates
        .iter()
        .map(|candidate| ScoredFile {
            candidate,
            passages: passages.passages(candidate.outline, candidate.text),
            scores: Vec::new(),
            lexical: Vec::new(),
            by_names: Vec::new(),
            covered: Vec::new(),
            by_file: 0.0,
            has_words: false,
        })
        .collect();
    score(&mut files, &asked, query);
    let is_known = files.iter().any(|file| file.has_words);
    let mut scores: FxHashMap<(usize, usize), f64> = FxHashMap::default();
    for (number, file) in files.iter().enumerate() {
        if !is_known && !query.open.contains(&file.candidate.file.file) {
            continue;
        }
        for (at, (score, passage)) in file.scores.iter().zip(&file.passages.list).enumerate() {
            if !passage.shown.is_empty() && !file.is_dismissed(passage, query) {
                scores.insert((number, at), *score);
            }
        }
    }
    let ranked = |(&(file, at), &score): (&(usize, usize), &f64)| Ranked { score, file, at };
    let mut waiting: BinaryHeap<Ranked> = scores.iter().map(ranked).collect();
    let best = waiting.peek().map_or(1.0, |ranked| ranked.score.max(f64::MIN_POSITIVE));
    let mut packed =
        Packing { files: &files, query, best, heading, count, runs: BTreeMap::new(), all: 0, new: 0 };
    let mut misses = 0;
    while let Some(Ranked { file, at, .. }) = waiting.pop() {
        if packed.has(file, at) {
            continue;
        }
        if packed.add(file, at, budget) {
            misses = 0;
            for at in [at.checked_sub(1), at.checked_add(1)].into_iter().flatten() {
                let score = scores.get(&(file, at)).map(|score| score + BESIDE);
                waiting.extend(score.map(|score| Ranked { score, file, at }));
            }
        } else {
            misses += 1;
        }
        if misses > MAX_MISSES {
            break;
        }
    }
    packed.excerpts()
}

/// Computes the score of every passage from its own words and from features of its file.
fn score(files: &mut [ScoredFile<'_>], asked: &ParsedQuery, query: &ExcerptQuery<'_>) {
    let words: Vec<Term> = asked.words.iter().map(|(word, _)| term(word)).collect();
    let counts: Vec<FileCounts> = files.iter().map(|file| FileCounts::of(&file.passages, &words)).collect();
    let by_passage = WordWeights::of(&words, asked, counts.iter().flat_map(|file| &file.passages));
    let by_file = WordWeights::of(&words, asked, counts.iter().map(|file| &file.all));
    for (file, counts) in files.iter_mut().zip(&counts) {
        file.lexical = counts.passages.iter().map(|counts| by_passage.bm25(counts, LENGTH)).collect();
        file.by_names = file.passages.list.iter().map(|passage| by_passage.names(&words, passage)).collect();
        file.covered = counts.passages.iter().map(|counts| by_passage.covered(counts)).collect();
        file.by_file = by_file.bm25(&counts.all, FILE_LENGTH);
    }
    let best = |scores: &mut dyn Iterator<Item = f64>| scores.fold(f64::MIN_POSITIVE, f64::max);
    let past = by_past(query.past, asked);
    let is_about_tests = asked.words.iter().any(|(word, _)| Role::Tests.is_asked_by(word));
    let best_words = best(&mut files.iter().flat_map(|file| &file.lexical).copied());
    let best_names = best(&mut files.iter().flat_map(|file| &file.by_names).copied());
    let best_file = best(&mut files.iter().map(|file| file.by_file));
    for file in files {
        file.lexical.iter_mut().for_each(|score| *score /= best_words);
        file.by_names.iter_mut().for_each(|score| *score /= best_names);
        let key = &file.candidate.file.file;
        file.has_words = file.by_file > 0.0 || past.contains_key(key) || has_words(key.as_str(), &words);
        let set_aside = match file.candidate.file.aside {
            None | Some(Role::Source | Role::Example) => 0.0,
            Some(Role::Tests | Role::Document) => NO_SOURCE,
        };
        let open = if query.open.contains(key) { OPEN } else { 0.0 };
        let of_file = FILE * file.candidate.file.relevance
            + FILE_WORDS * file.by_file / best_file
            + RECENT * recent(query.recency.get(key).copied())
            + open
            + PAST * past.get(key).copied().unwrap_or(0.0)
            - SIZE * (1.0 + file.passages.line_count() as f64 / 100.0).ln()
            - set_aside;
        let own = |scores: &[f64], at: usize| scores.get(at).copied().unwrap_or(0.0);
        let first = |at: usize| if at == 0 { FIRST } else { 0.0 };
        let is_set_aside = |at: usize| !is_about_tests && file.is_inline_test(at);
        let test = |at: usize| if set_aside == 0.0 && is_set_aside(at) { INLINE_TEST } else { 0.0 };
        let score = |at: usize| {
            of_file
                + first(at)
                + WORDS * own(&file.lexical, at)
                + NAMES * own(&file.by_names, at)
                + COVERED * own(&file.covered, at)
                - test(at)
        };
        file.scores = (0..file.lexical.len()).map(score).collect();
    }
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
    /// Whether the prompt already shows the whole passage.
    fn is_shown(&self, at: usize, query: &ExcerptQuery<'_>) -> bool {
        let (Some(shown), Some(passage)) =
            (query.shown.get(&self.candidate.file.file), self.passages.list.get(at))
        else {
            return false;
        };
        let mut lines = line_numbers(&passage.shown);
        lines.all(|line| shown.iter().any(|range| range.contains(&line)))
    }

    /// Whether a passage belongs to a test module inside a source file.
    fn is_inline_test(&self, at: usize) -> bool {
        let passage = self.passages.list.get(at);
        let definition = passage.and_then(|passage| self.passages.definitions.get(passage.definition?));
        let outermost = definition.and_then(|definition| definition.name.split('.').next());
        matches!(outermost, Some("test" | "tests"))
    }

    fn is_dismissed(&self, passage: &Passage, query: &ExcerptQuery<'_>) -> bool {
        let definition = passage.definition.and_then(|at| self.passages.definitions.get(at));
        let named = definition.map(|definition| (&*definition.name, definition.ordinal));
        let lines = line_numbers(&passage.lines);
        query.dismissed.iter().any(|dismissed| dismissed.covers(&self.candidate.file.file, named, &lines))
    }
}

/// The excerpts chosen so far.
struct Packing<'a> {
    files: &'a [ScoredFile<'a>],
    query: &'a ExcerptQuery<'a>,
    best: f64,
    heading: &'a dyn Fn(&Excerpt) -> String,
    count: &'a dyn Fn(&str) -> usize,
    /// Sequences of consecutive chosen passages, keyed by the indices of the file and of the first passage. Each
    /// value is the index after the last passage, and the tokens of the sequence.
    runs: BTreeMap<(usize, usize), (usize, usize)>,
    /// Tokens of all chosen excerpts.
    all: usize,
    /// Tokens of the chosen excerpts that the prompt does not show yet.
    new: usize,
}

impl Packing<'_> {
    /// Adds a passage if it fits in the budget, and joins it with adjacent chosen passages under one heading. Returns
    /// whether it was added.
    fn add(&mut self, file: usize, at: usize, budget: ExcerptBudget) -> bool {
        let before = self.runs.range((file, 0)..(file, at)).next_back();
        let is_shown = self.is_shown(file, at);
        let joins = |other: usize| self.is_shown(file, other) == is_shown;
        let before = before.filter(|((_, start), (end, _))| *end == at && joins(*start));
        let before = before.map(|(run, (_, tokens))| (run.1, *tokens));
        let after = self.runs.get(&(file, at + 1)).filter(|_| joins(at + 1)).copied();
        let start = before.map_or(at, |(start, _)| start);
        let end = after.map_or(at + 1, |(end, _)| end);
        let freed = before.map_or(0, |(_, tokens)| tokens) + after.map_or(0, |(_, tokens)| tokens);
        let left_of = |budget: usize, total: usize| (budget + freed).saturating_sub(total);
        let left_of_all = left_of(budget.all, self.all);
        let left = if is_shown { left_of_all } else { left_of_all.min(left_of(budget.new, self.new)) };
        let Some(excerpt) = self.excerpt(file, start..end) else { return false };
        // Skip counting an excerpt that is clearly too long. A token is rarely longer than eight bytes.
        if excerpt.bytes.len() / 8 > left {
            return false;
        }
        let text = self.files.get(file).and_then(|file| file.candidate.text.get(excerpt.bytes.clone()));
        let tokens = (self.count)(text.unwrap_or_default()) + (self.count)(&(self.heading)(&excerpt));
        if tokens > left {
            return false;
        }
        if after.is_some() {
            self.runs.remove(&(file, at + 1));
        }
        self.runs.insert((file, start), (end, tokens));
        self.all = self.all + tokens - freed;
        if !is_shown {
            self.new = self.new + tokens - freed;
        }
        true
    }

    /// Whether a passage has been chosen.
    fn has(&self, file: usize, at: usize) -> bool {
        self.runs.range((file, 0)..=(file, at)).next_back().is_some_and(|(_, (end, _))| *end > at)
    }

    fn is_shown(&self, file: usize, at: usize) -> bool {
        self.files.get(file).is_some_and(|file| file.is_shown(at, self.query))
    }

    fn excerpt(&self, number: usize, run: Range<usize>) -> Option<Excerpt> {
        let file = self.files.get(number)?;
        let (first, last) =
            (file.passages.list.get(run.start)?, file.passages.list.get(run.end.checked_sub(1)?)?);
        let lines = first.shown.start..last.shown.end;
        let all_of = file.passages.definitions.iter().find(|definition| definition.lines == lines);
        let score = run.clone().filter_map(|at| file.scores.get(at)).copied().fold(0.0, f64::max);
        let by_words = run.filter_map(|at| file.lexical.get(at)).copied().fold(0.0, f64::max);
        Some(Excerpt {
            file: file.candidate.file.file.clone(),
            definition: all_of.map(|definition| definition.name.clone()),
            ordinal: all_of.map_or(0, |definition| definition.ordinal),
            bytes: first.bytes.start..last.bytes.end,
            lines: line_numbers(&lines),
            score: (score / self.best).clamp(0.0, 1.0),
            reason: self.reason(file, by_words),
        })
    }

    fn reason(&self, file: &ScoredFile<'_>, by_words: f64) -> ExcerptReason {
        let key = &file.candidate.file.file;
        if file.candidate.file.is_named {
            ExcerptReason::Named
        } else if by_words > 0.0 {
            ExcerptReason::Words
        } else if self.query.open.contains(key) {
            ExcerptReason::Open
        } else if recent(self.query.recency.get(key).copied()) > 0.5 {
            ExcerptReason::Recent
        } else {
            ExcerptReason::File
        }
    }

    /// Returns the chosen excerpts, best first.
    fn excerpts(&self) -> Vec<Excerpt> {
        let runs = self.runs.iter().map(|(&(file, start), &(end, _))| self.excerpt(file, start..end));
        let mut excerpts: Vec<Excerpt> = runs.flatten().collect();
        excerpts.sort_by(|a, b| b.score.total_cmp(&a.score));
        excerpts
    }
}

fn line_numbers(lines: &Range<usize>) -> Range<u32> {
    let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    number(lines.start)..number(lines.end)
}
