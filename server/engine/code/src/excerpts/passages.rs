//! Divides a file into passages: functions and methods with their leading comments, and the code between them. Splits
//! long passages where the indentation is smallest. Stores the words of each passage, not its text.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHasher};
use strata_base::cache::Cache;
use strata_base::hash::ContentHash;

use super::extent::{DefinitionExtent, TextLines, definition_extents};
use crate::outline::Outline;
use crate::symbols::each_name_word;

/// Maximum number of lines of a passage. Longer passages are split.
const MAX_PASSAGE_LINES: usize = 50;
/// Approximate number of lines of each part of a split passage.
const PASSAGE_PART_LINES: usize = 32;
/// Maximum number of files whose passages are cached.
const MAX_PASSAGE_CACHE_FILES: usize = 1 << 9;

/// The hash of a word.
pub(super) type WordHash = u32;

/// A range of lines that is scored and shown as a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    /// Line range. It starts where the previous passage ends.
    pub(super) lines: Range<usize>,
    /// Line range without the blank lines at both ends.
    pub(super) shown: Range<usize>,
    /// Byte range of `shown`.
    pub(super) bytes: Range<usize>,
    /// The innermost definition that contains the passage, as an index into [`Passages::definitions`].
    pub(super) definition: Option<usize>,
    /// Hashes of the words in the names of the definition and its containers.
    pub(super) names: Vec<WordHash>,
    /// Sorted hashes of the words in the text, each with its count.
    pub(super) words: Vec<(WordHash, u16)>,
    /// Number of words in the text.
    pub(super) length: u32,
}

/// A definition in a file, with its line range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PassageDefinition {
    pub(super) name: String,
    pub(super) ordinal: u32,
    pub(super) lines: Range<usize>,
}

/// The passages of a file, in order and without gaps.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Passages {
    pub(super) list: Vec<Passage>,
    pub(super) definitions: Vec<PassageDefinition>,
}

/// Caches the passages of files, keyed by content. Clones share the cache.
#[derive(Clone, Debug, Default)]
pub struct PassageCache {
    files: Arc<Cache<(ContentHash, bool), Arc<Passages>, MAX_PASSAGE_CACHE_FILES>>,
}

impl PassageCache {
    /// Returns the passages of a text. `outline` must be the outline of the same text.
    pub(super) fn passages(&self, outline: Option<&Outline>, text: &str) -> Arc<Passages> {
        let key = (ContentHash::from_text(text), outline.is_some());
        self.files.get_or_insert_with(key, || Arc::new(Passages::new(outline, text)))
    }
}

impl Passages {
    fn new(outline: Option<&Outline>, text: &str) -> Self {
        if text.trim().is_empty() {
            return Self { list: vec![Passage::for_empty_file()], definitions: Vec::new() };
        }
        let lines = TextLines::new(text);
        let extents = outline.map(|outline| definition_extents(outline, &lines)).unwrap_or_default();
        let mut list = Vec::new();
        let mut start = 0;
        for boundary in boundaries(&extents, &lines) {
            list.extend(
                split_range(&lines, start..boundary).map(|part| Passage::new(part, &extents, &lines, text)),
            );
            start = boundary;
        }
        let definition = |extent: DefinitionExtent| PassageDefinition {
            name: extent.name,
            ordinal: extent.ordinal,
            lines: lines.trim_blank_lines(extent.lines),
        };
        Self { list, definitions: extents.into_iter().map(definition).collect() }
    }

    pub(super) fn line_count(&self) -> usize {
        self.list.last().map_or(0, |passage| passage.lines.end)
    }
}

impl Passage {
    fn new(part: Range<usize>, extents: &[DefinitionExtent], lines: &TextLines<'_>, text: &str) -> Self {
        let shown = lines.trim_blank_lines(part.clone());
        let bytes = lines.bytes(&shown);
        let definition = innermost_definition(extents, &part);
        let mut names = Vec::new();
        if let Some(extent) = definition.and_then(|index| extents.get(index)) {
            each_name_word(&extent.name, |word| names.push(hash_word(word)));
        }
        let mut counts: FxHashMap<WordHash, u16> = FxHashMap::default();
        let mut length = 0;
        each_name_word(text.get(bytes.clone()).unwrap_or_default(), |word| {
            let count = counts.entry(hash_word(word)).or_default();
            *count = count.saturating_add(1);
            length += 1;
        });
        let mut words: Vec<(WordHash, u16)> = counts.into_iter().collect();
        words.sort_unstable();
        Self { lines: part, shown, bytes, definition, names, words, length }
    }

    /// The passage of a file without text: that it is empty is all there is to show.
    fn for_empty_file() -> Self {
        let (names, words) = (Vec::new(), Vec::new());
        Self { lines: 0..1, shown: 0..1, bytes: 0..0, definition: None, names, words, length: 0 }
    }

    pub(super) fn occurrences(&self, term: WordHash) -> u16 {
        let index = self.words.binary_search_by_key(&term, |(word, _)| *word).ok();
        index.and_then(|index| self.words.get(index)).map_or(0, |(_, count)| *count)
    }
}

pub(super) fn hash_word(word: &str) -> WordHash {
    let mut hasher = FxHasher::default();
    word.as_bytes().hash(&mut hasher);
    let hash = hasher.finish();
    (hash ^ (hash >> 32)) as WordHash
}

/// Returns the lines at which a passage ends: the start and the end of each definition, and the end of the
/// file.
fn boundaries(extents: &[DefinitionExtent], lines: &TextLines<'_>) -> Vec<usize> {
    let mut boundaries = Vec::new();
    for extent in extents {
        boundaries.push(extent.lines.start);
        let mut end = extent.lines.end;
        while end < lines.len() && lines.is_blank(end) {
            end += 1;
        }
        boundaries.push(end);
    }
    boundaries.push(lines.len());
    boundaries.sort_unstable();
    boundaries.dedup();
    boundaries.retain(|boundary| *boundary > 0);
    boundaries
}

/// Returns the index of the innermost definition that contains the first of `lines`.
fn innermost_definition(extents: &[DefinitionExtent], lines: &Range<usize>) -> Option<usize> {
    let contains =
        |extent: &DefinitionExtent| extent.lines.start <= lines.start && lines.start < extent.lines.end;
    let before = extents.partition_point(|extent| extent.lines.start <= lines.start);
    extents.get(..before)?.iter().rposition(contains)
}

/// Splits a range into parts of at most [`MAX_PASSAGE_LINES`] lines, at the best boundaries.
fn split_range(lines: &TextLines<'_>, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut remaining = range;
    std::iter::from_fn(move || {
        if remaining.is_empty() {
            return None;
        }
        let end = if remaining.len() <= MAX_PASSAGE_LINES {
            remaining.end
        } else {
            best_split_line(lines, &remaining)
        };
        let part = remaining.start..end;
        remaining.start = end;
        Some(part)
    })
}

/// Returns the best line to start a new part at: near the preferred length, after a blank line, and with little
/// indentation.
fn best_split_line(lines: &TextLines<'_>, range: &Range<usize>) -> usize {
    let near =
        range.start + PASSAGE_PART_LINES * 3 / 4..(range.start + PASSAGE_PART_LINES * 5 / 4).min(range.end);
    let cost = |line: &usize| {
        let is_blank = lines.is_blank(*line);
        let depth = if is_blank { 100 } else { lines.indent(*line) };
        let is_after_blank = !is_blank && lines.is_blank(line.saturating_sub(1));
        (depth + if is_after_blank { 0 } else { 8 }, line.abs_diff(range.start + PASSAGE_PART_LINES))
    };
    near.min_by_key(cost).unwrap_or(range.end)
}
