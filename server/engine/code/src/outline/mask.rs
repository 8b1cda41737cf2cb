//! Hides text that a grammar does not understand from the parser, mostly macros of C and C++. Hidden text is replaced
//! by text of the same length, so that all offsets stay valid. What to hide is data in `grammars/`. Also turns carriage
//! returns on their own into line feeds, because for most grammars only a line feed ends a comment.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use regex::bytes::{Regex, RegexBuilder};
use strata_base::text::replace_lone_cr;
use strata_grammars::LanguageId;

/// The parts of a text that are hidden from the parser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ParseMask {
    /// Sorted byte ranges of the hidden parts.
    hidden: Arc<[Range<usize>]>,
    /// Whether line ends were replaced, so that lines of the tree and of the text differ.
    has_replaced_line_ends: bool,
}

impl ParseMask {
    /// Whether a text in chunks may have hidden parts.
    pub(super) fn may_apply<'a>(language: LanguageId, mut chunks: impl Iterator<Item = &'a str>) -> bool {
        !language.masks.is_empty() || chunks.any(|chunk| chunk.contains('\r'))
    }

    /// Returns the text to parse instead of `source`, or `None` if nothing is hidden.
    pub(super) fn mask_source(language: LanguageId, source: &str) -> Option<(String, Self)> {
        let mut text = Cow::Borrowed(source);
        let mut hidden: Vec<Range<usize>> = Vec::new();
        for (pattern, substitute) in mask_patterns(language) {
            let matches: Vec<Range<usize>> = pattern
                .captures_iter(text.as_bytes())
                .filter_map(|captures| Some(captures.get(1)?.range()))
                .collect();
            for range in &matches {
                let replaced = text.get(range.clone()).map(|part| padded_substitute(part, substitute));
                text.to_mut().replace_range(range.clone(), &replaced.unwrap_or_default());
            }
            hidden.extend(matches);
        }
        let with_line_feeds = replace_lone_cr(&text);
        let has_replaced_line_ends = matches!(with_line_feeds, Cow::Owned(_));
        if hidden.is_empty() && !has_replaced_line_ends {
            return None;
        }
        hidden.sort_unstable_by_key(|range| (range.start, range.end));
        Some((with_line_feeds.into_owned(), Self { hidden: hidden.into(), has_replaced_line_ends }))
    }

    /// Byte ranges of the hidden parts, in order.
    pub(super) fn hidden_ranges(&self) -> &[Range<usize>] {
        &self.hidden
    }

    /// Whether a tree parsed under this mask can be reused, after all edits, to parse a text under the mask `other`.
    pub(super) fn is_reusable_as(&self, other: &Self) -> bool {
        !self.has_replaced_line_ends && self == other
    }

    /// Moves the mask for a change to the text that ends at byte `new_end`.
    pub(super) fn edit(&mut self, old: Range<usize>, new_end: usize) {
        if self.hidden.is_empty() {
            return;
        }
        let moved = |range: &Range<usize>| {
            if range.end <= old.start {
                return Some(range.clone());
            }
            let moved = |at: usize| (at - old.end) + new_end;
            (range.start >= old.end).then(|| moved(range.start)..moved(range.end))
        };
        self.hidden = self.hidden.iter().filter_map(moved).collect();
    }
}

/// Returns a text of the same length as `part`: `substitute`, then spaces. Line breaks stay.
fn padded_substitute(part: &str, substitute: &str) -> String {
    let replaced: String = part
        .bytes()
        .enumerate()
        .map(|(index, byte)| match (byte, substitute.as_bytes().get(index)) {
            (b'\n' | b'\r', _) => char::from(byte),
            (_, Some(substitute)) => char::from(*substitute),
            _ => ' ',
        })
        .collect();
    replaced
}

/// Returns the byte ranges of the words in a hidden part of a text, which may be names.
pub(super) fn words(hidden: &str) -> impl Iterator<Item = Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut offset = 0;
    hidden.split(move |c| !is_word(c)).filter_map(move |word| {
        let start = offset;
        offset += word.len();
        offset += hidden.get(offset..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        word.starts_with(|c: char| !c.is_ascii_digit()).then_some(start..start + word.len())
    })
}

/// Returns the patterns of a language, each with its replacement. Patterns that do not compile, which a test rules out,
/// are ignored.
fn mask_patterns(language: LanguageId) -> &'static [(Regex, &'static str)] {
    static PATTERNS: [OnceLock<Vec<(Regex, &str)>>; LanguageId::COUNT] =
        [const { OnceLock::new() }; LanguageId::COUNT];
    let Some(cell) = PATTERNS.get(language.index()) else { return &[] };
    cell.get_or_init(|| {
        // Without Unicode, searching takes a tenth of the time. A group starts and ends with ASCII.
        let compile = |pattern| RegexBuilder::new(pattern).unicode(false).build().ok();
        language
            .masks
            .iter()
            .filter_map(|(pattern, substitute)| Some((compile(pattern)?, *substitute)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_hides_a_group() {
        for language in LanguageId::all() {
            assert_eq!(mask_patterns(language).len(), language.masks.len(), "{language}");
            for (pattern, substitute) in mask_patterns(language) {
                assert_eq!(pattern.captures_len(), 2, "{language}: {pattern}");
                assert!(substitute.is_ascii() && !substitute.contains('\n'), "{language}: {substitute}");
            }
        }
    }

    #[test]
    fn hidden_text_keeps_its_length_and_lines() {
        assert_eq!(padded_substitute("Q_A(x,\n  ä)", ""), "      \n     ");
        assert_eq!(padded_substitute("signals", "public"), "public ");
        let c = LanguageId::by_name("c").unwrap();
        let (text, mask) = ParseMask::mask_source(c, "// a\rint b;\r\n").unwrap();
        assert_eq!((&*text, mask.has_replaced_line_ends), ("// a\nint b;\r\n", true));
        assert!(ParseMask::mask_source(c, "int a;\r\n").is_none());
    }

    #[test]
    fn hidden_text_has_words() {
        let text = "Q_PROPERTY(int größe READ x2 2)";
        let found_words: Vec<&str> = words(text).map(|range| &text[range]).collect();
        assert_eq!(found_words, ["Q_PROPERTY", "int", "größe", "READ", "x2"]);
    }

    #[test]
    fn a_mask_moves_with_its_text() {
        let mut mask = ParseMask { hidden: [2..4, 10..12, 20..22].into(), has_replaced_line_ends: false };
        mask.edit(11..15, 20);
        assert_eq!(*mask.hidden, [2..4, 25..27]);
    }
}
