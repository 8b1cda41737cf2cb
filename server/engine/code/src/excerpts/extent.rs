//! Finds the definitions of an outline in a text without parsing it. A definition starts on the line that contains its
//! name, preceded by the same word as in its head, and ends where the indentation returns to the level of its head. In
//! unusually formatted text, a definition may be cut short or missed.

use std::ops::Range;

use strata_base::text::line_starts;

use crate::outline::{Outline, QualifiedNameTracker, Symbol};

/// The search stops after this many definitions that are in the outline but not found in the text.
const MAX_UNFOUND_DEFINITIONS: usize = 64;
/// Maximum number of lines of comments and attributes above a definition that belong to it.
const MAX_LEADING_LINES: usize = 40;
/// Prefixes of lines that continue a definition although they are indented no deeper than its first line.
const CONTINUATION_PREFIXES: [&str; 12] =
    [")", "]", "}", "{", "end", "where", "done", "fi", "esac", "then", "begin", "until"];
/// Prefixes of lines that contain comments or attributes.
const LEADING_PREFIXES: [&str; 11] = ["#[", "#!", "#", "@", "//", "/*", "*", "--", "%", ";;", "<!--"];

/// A text with the offsets of its lines.
#[derive(Debug)]
pub(super) struct TextLines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

/// The extent of a definition in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DefinitionExtent {
    /// The definition's name, qualified by its containers.
    pub(super) name: String,
    /// Zero-based index among the definitions with the same name.
    pub(super) ordinal: u32,
    /// Line range of the definition, including the comments and attributes directly above it.
    pub(super) lines: Range<usize>,
}

/// Returns the zero-based line range and the byte range of a definition in the current text of its file, or
/// `None` if it no longer exists. `ordinal` is the index among the definitions called `definition`.
pub fn definition_range(
    outline: &Outline,
    text: &str,
    definition: &str,
    ordinal: u32,
) -> Option<(Range<u32>, Range<usize>)> {
    let lines = TextLines::new(text);
    let extent = definition_extents(outline, &lines).into_iter();
    let extent =
        extent.filter(|extent| extent.name == definition).find(|extent| extent.ordinal == ordinal)?;
    let range = lines.trim_blank_lines(extent.lines);
    let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    Some((number(range.start)..number(range.end), lines.bytes(&range)))
}

/// Returns the extents of the types, modules, functions and macros of an outline, in order. Ignores
/// definitions inside functions.
pub(super) fn definition_extents(outline: &Outline, lines: &TextLines<'_>) -> Vec<DefinitionExtent> {
    let mut extents = Vec::new();
    let mut names = QualifiedNameTracker::default();
    let mut inside_function: Option<u32> = None;
    let (mut search_start, mut misses) = (0, 0);
    let mut ordinals = rustc_hash::FxHashMap::default();
    for symbol in outline.symbols.iter() {
        names.enter(symbol);
        if inside_function.is_some_and(|depth| symbol.depth > depth) || symbol.kind.is_value() {
            continue;
        }
        inside_function = symbol.kind.is_function().then_some(symbol.depth);
        if misses > MAX_UNFOUND_DEFINITIONS {
            break;
        }
        let Some((name_start, name_end)) =
            lines.find_name(symbol, search_start).filter(|_| !symbol.name.is_empty())
        else {
            misses += 1;
            continue;
        };
        search_start = name_end;
        let head = lines.line_of(name_start);
        let name = names.dotted_name();
        let ordinal: &mut u32 = ordinals.entry(name.clone()).or_default();
        let range = lines.leading_start(head)..lines.definition_end(head);
        extents.push(DefinitionExtent { name, ordinal: *ordinal, lines: range });
        *ordinal += 1;
    }
    extents
}

impl<'a> TextLines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let starts = line_starts(text).filter(|start| *start < text.len()).collect();
        Self { text, starts }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns a line without leading and trailing whitespace.
    pub(super) fn trimmed(&self, line: usize) -> &'a str {
        self.text.get(self.bytes(&(line..line + 1))).unwrap_or_default().trim()
    }

    pub(super) fn is_blank(&self, line: usize) -> bool {
        self.trimmed(line).is_empty()
    }

    /// Returns the width of a line's indentation, in columns. A tab counts as four.
    pub(super) fn indent(&self, line: usize) -> usize {
        let text = self.text.get(self.bytes(&(line..line + 1))).unwrap_or_default();
        let whitespace = text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
        whitespace.map(|byte| if byte == b'\t' { 4 } else { 1 }).sum()
    }

    /// Returns the byte range of a range of lines.
    pub(super) fn bytes(&self, lines: &Range<usize>) -> Range<usize> {
        let start = |line: usize| self.starts.get(line).copied().unwrap_or(self.text.len());
        start(lines.start)..start(lines.end)
    }

    pub(super) fn trim_blank_lines(&self, mut lines: Range<usize>) -> Range<usize> {
        while lines.start < lines.end && self.is_blank(lines.start) {
            lines.start += 1;
        }
        while lines.start < lines.end && self.is_blank(lines.end - 1) {
            lines.end -= 1;
        }
        lines
    }

    fn line_of(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// Finds the name of a definition at or after byte `from`, preceded by the same word as in its head, if any.
    /// Returns the byte offsets of its start and end.
    fn find_name(&self, symbol: &Symbol, from: usize) -> Option<(usize, usize)> {
        let before = symbol.head.split(&*symbol.name).next().unwrap_or_default();
        let word = before.split_whitespace().next_back().unwrap_or_default();
        let word_and_name = match before.ends_with(char::is_whitespace) {
            true => format!("{word} {}", symbol.name),
            false => format!("{word}{}", symbol.name),
        };
        [&*word_and_name, &*symbol.name].into_iter().find_map(|text| self.find_word(text, from))
    }

    fn find_word(&self, word: &str, from: usize) -> Option<(usize, usize)> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let rest = self.text.get(from..)?;
        let (offset, _) = rest.match_indices(word).find(|(offset, _)| {
            let before = rest.get(..*offset).and_then(|text| text.chars().next_back());
            let after = rest.get(offset + word.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })?;
        Some((from + offset, from + offset + word.len()))
    }

    /// Returns the first line of the comments and attributes directly above `head`, or `head` if there are
    /// none.
    fn leading_start(&self, head: usize) -> usize {
        let indent = self.indent(head);
        let mut first = head;
        while first > 0 && head - first < MAX_LEADING_LINES {
            let above = first - 1;
            let text = self.trimmed(above);
            let is_leading = LEADING_PREFIXES.iter().any(|start| text.starts_with(*start));
            if !is_leading || self.indent(above).abs_diff(indent) > 1 {
                break;
            }
            first = above;
        }
        first
    }

    /// Returns the line after the end of a definition whose head starts on line `head`.
    fn definition_end(&self, head: usize) -> usize {
        let indent = self.indent(head);
        let mut end = head + 1;
        for line in head + 1..self.len() {
            let text = self.trimmed(line);
            // Blank lines and unindented `#` lines belong to the definition only if a deeper line follows.
            if text.is_empty() || text.starts_with('#') && self.indent(line) <= indent {
                continue;
            }
            let is_deeper = self.indent(line) > indent;
            let is_continuation = self.indent(line) == indent
                && CONTINUATION_PREFIXES.iter().any(|start| starts_with_word(text, start));
            if !is_deeper && !is_continuation {
                break;
            }
            end = line + 1;
        }
        end
    }
}

/// Whether a line starts with the word or symbol `start`, rather than with a longer word.
fn starts_with_word(line: &str, start: &str) -> bool {
    let Some(rest) = line.strip_prefix(start) else { return false };
    !start.ends_with(char::is_alphabetic) || !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}
