//! Text utilities: the lines of a text, truncation at character boundaries, formatting of numbers, and an error for
//! malformed text.
//!
//! A line ends at LF, CRLF or CR, and at no other character, as in the Language Server Protocol (3.17, "Text
//! Documents"). Everything that numbers lines uses this module, so that a number means the same line everywhere.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

/// Marks text that was cut from the middle.
const GAP: &str = "\n[...]\n";

/// Error for a text that cannot be parsed. The message quotes the text and describes the expected form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseTextError(pub String);

/// Mark that some programs write at the start of a text. It belongs to the encoding, not to the text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the text without its byte order mark.
pub fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Returns the byte offset after each line ending.
fn line_ends(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().filter_map(move |(offset, byte)| match byte {
        b'\n' => Some(offset + 1),
        b'\r' if bytes.get(offset + 1) != Some(&b'\n') => Some(offset + 1),
        _ => None,
    })
}

/// Returns the byte offset at which each line starts, including an empty last line.
pub fn line_starts(text: &str) -> impl Iterator<Item = usize> {
    iter::once(0).chain(line_ends(text))
}

/// Returns the lines of a text without their endings. Like [`str::lines`], except that a CR alone ends a line, too.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let last = (!text.is_empty() && !text.ends_with(['\n', '\r'])).then_some(text.len());
    let mut start = 0;
    line_ends(text).chain(last).map(move |end| {
        let line = text.get(start..end).unwrap_or_default();
        start = end;
        line.strip_suffix("\r\n").or_else(|| line.strip_suffix(['\n', '\r'])).unwrap_or(line)
    })
}

/// Returns the first line of a text without its ending.
pub fn first_line(text: &str) -> &str {
    lines(text).next().unwrap_or_default()
}

/// Replaces each CR that ends a line with LF, for code that knows no other line ending. All byte offsets stay valid.
pub fn replace_lone_cr(text: &str) -> Cow<'_, str> {
    let lone: Vec<usize> = line_ends(text)
        .filter(|end| text.as_bytes().get(end - 1) == Some(&b'\r'))
        .map(|end| end - 1)
        .collect();
    if lone.is_empty() {
        return text.into();
    }
    let ends = lone.iter().copied().chain(iter::once(text.len()));
    let mut start = 0;
    let parts: Vec<&str> = ends
        .map(|end| {
            let part = text.get(start..end).unwrap_or_default();
            start = end + 1;
            part
        })
        .collect();
    parts.join("\n").into()
}

/// Start positions of the lines of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineStarts {
    /// Byte offsets of the starts of all lines but the first.
    starts: Vec<usize>,
    end: usize,
}

impl LineStarts {
    /// Finds the lines of a text.
    pub fn new(text: &str) -> Self {
        Self { starts: line_ends(text).collect(), end: text.len() }
    }

    /// Returns the line number of a byte offset, starting at 1.
    pub fn line(&self, byte: usize) -> u32 {
        let before = self.starts.partition_point(|start| *start <= byte);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }

    /// Returns the first and last line numbers of a byte range, starting at 1. A line break at the end of the
    /// range does not count.
    pub fn line_range(&self, range: &Range<usize>) -> (u32, u32) {
        let first = self.line(range.start);
        (first, self.line(range.end.saturating_sub(1)).max(first))
    }

    /// Returns the number of lines. Text after the last line break counts as a line unless it is empty.
    pub fn count(&self) -> u32 {
        let line_breaks = u32::try_from(self.starts.len()).unwrap_or(u32::MAX);
        let last = self.starts.last().copied().unwrap_or(0);
        if last < self.end { line_breaks.saturating_add(1) } else { line_breaks }
    }

    /// Returns the byte range of the lines from `first` to `last`, both inclusive and 1-based. Lines beyond
    /// the end of the text are ignored.
    pub fn bytes(&self, first: u32, last: u32) -> Range<usize> {
        let start = |line: u32| match line {
            0 | 1 => 0,
            line => self.starts.get(line as usize - 2).copied().unwrap_or(self.end),
        };
        let start_byte = start(first);
        start_byte..start(last.saturating_add(1)).max(start_byte)
    }
}

/// Formats a number with a comma between groups of three digits: `1,234`.
pub fn group_digits(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the first `chars` characters of `text`.
pub fn clip(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(offset, _)| offset);
    text.get(..end).unwrap_or(text)
}

/// Returns the first `chars` characters of `text`, with an ellipsis if characters are omitted.
pub fn ellipsize(text: &str, chars: usize) -> String {
    let kept = clip(text, chars);
    let ellipsis = if kept.len() < text.len() { "…" } else { "" };
    format!("{kept}{ellipsis}")
}

/// Shortens `text` to at most `chars` characters by removing its middle: keeps two thirds from the
/// beginning and one third from the end. If `chars` is too small for both, keeps only the beginning.
pub fn clip_middle(text: &str, chars: usize) -> String {
    let head = clip(text, chars);
    if head.len() == text.len() {
        return text.to_owned();
    }
    let Some(budget) = chars.checked_sub(GAP.len()).filter(|budget| *budget >= 2 * GAP.len()) else {
        return head.to_owned();
    };
    let head = clip(text, budget * 2 / 3);
    let tail = text.char_indices().rev().nth(budget - budget * 2 / 3 - 1).map_or(0, |(offset, _)| offset);
    format!("{head}{GAP}{}", text.get(tail..).unwrap_or_default())
}

/// Returns the longest prefix of `text` with at most `tokens` tokens, cut at a line break if there is one in
/// its second half.
pub fn clip_to_tokens(text: &str, tokens: usize, count: &dyn Fn(&str) -> usize) -> String {
    if count(text) <= tokens {
        return text.to_owned();
    }
    // Token lengths vary too much to compute the position, so find it by binary search, with few counts.
    let boundaries: Vec<usize> = text.char_indices().map(|(offset, _)| offset).collect();
    let (mut low, mut high) = (0, boundaries.len());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let end = boundaries.get(middle).copied().unwrap_or_default();
        if count(text.get(..end).unwrap_or_default()) <= tokens {
            low = middle;
        } else {
            high = middle;
        }
    }
    let end = boundaries.get(low).copied().unwrap_or_default();
    let head = text.get(..end).unwrap_or_default();
    match head.rfind('\n') {
        Some(line_break) if line_break > head.len() / 2 => {
            head.get(..line_break).unwrap_or_default().to_owned()
        }
        _ => head.to_owned(),
    }
}

/// Returns the largest character boundary at or before byte `at`.
pub fn floor_char_boundary(text: &str, byte: usize) -> usize {
    (0..=byte.min(text.len())).rev().find(|&byte| text.is_char_boundary(byte)).unwrap_or(0)
}

/// Returns the smallest character boundary at or after byte `at`, or the end of the text.
pub fn ceil_char_boundary(text: &str, byte: usize) -> usize {
    (byte..text.len()).find(|&byte| text.is_char_boundary(byte)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_numbers_and_byte_offsets_convert_both_ways() {
        let text = "a\nbb\n\nc";
        let lines = LineStarts::new(text);
        assert_eq!([0, 1, 2, 4, 5, 6, 7].map(|byte| lines.line(byte)), [1, 1, 2, 2, 3, 4, 4]);
        assert_eq!(lines.line_range(&(2..5)), (2, 2), "with its line break");
        assert_eq!(lines.line_range(&(0..7)), (1, 4));
        assert_eq!(lines.line_range(&(2..2)), (2, 2));
        assert_eq!(
            [lines.bytes(1, 1), lines.bytes(2, 3), lines.bytes(4, 9), lines.bytes(8, 9)],
            [0..2, 2..6, 6..7, 7..7]
        );
        let count = |text: &str| LineStarts::new(text).count();
        assert_eq!([count(""), count("a"), count("a\n"), count("a\nb"), count("\n\n")], [0, 1, 1, 2, 2]);
    }

    #[test]
    fn only_the_line_endings_of_the_protocol_end_a_line() {
        for (text, expected) in [
            ("", &[] as &[&str]),
            ("a", &["a"]),
            ("a\n", &["a"]),
            ("a\r", &["a"]),
            ("a\r\nb", &["a", "b"]),
            ("a\rb\n\rc\r\r\nd", &["a", "b", "", "c", "", "d"]),
            ("a\u{b}b\u{85}c\u{2028}d", &["a\u{b}b\u{85}c\u{2028}d"]),
        ] {
            assert_eq!(lines(text).collect::<Vec<_>>(), expected, "{text:?}");
            assert_eq!(first_line(text), expected.first().copied().unwrap_or_default());
            let (of_text, with_feeds) = (LineStarts::new(text), replace_lone_cr(text));
            assert_eq!(of_text.count() as usize, expected.len(), "{text:?}");
            assert_eq!(LineStarts::new(&with_feeds), of_text, "{text:?}");
            assert_eq!(with_feeds.lines().collect::<Vec<_>>(), expected, "{text:?}");
        }
        assert!(matches!(replace_lone_cr("a\r\nb\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn digits_are_grouped_by_three() {
        let grouped_numbers = [0, 7, 999, 1_000, 12_345, 1_234_567].map(group_digits);
        assert_eq!(grouped_numbers, ["0", "7", "999", "1,000", "12,345", "1,234,567"]);
    }

    #[test]
    fn offsets_move_to_character_boundaries() {
        let text = "aéb";
        assert_eq!([0, 1, 2, 3, 4, 9].map(|at| floor_char_boundary(text, at)), [0, 1, 1, 3, 4, 4]);
        assert_eq!([0, 1, 2, 3, 4, 9].map(|at| ceil_char_boundary(text, at)), [0, 1, 3, 3, 4, 4]);
    }

    #[test]
    fn clipping_counts_characters_and_splits_none() {
        assert_eq!(clip("äöü", 2), "äö");
        assert_eq!([2, 3].map(|chars| ellipsize("äöü", chars)), ["äö…", "äöü"]);
        assert_eq!(clip_middle("short", 5), "short");
        let long = "é".repeat(100);
        for chars in 0..100 {
            assert!(clip_middle(&long, chars).chars().count() <= chars, "{chars}");
        }
        assert!(clip_middle(&long, 50).ends_with("éé"));
    }

    #[test]
    fn clipping_to_tokens_keeps_complete_lines() {
        let count = |text: &str| text.split_whitespace().count();
        assert_eq!(clip_to_tokens("a b\nc d\ne f", 5, &count), "a b\nc d");
        assert_eq!(clip_to_tokens("a b c d e f", 2, &count).split_whitespace().count(), 2);
        assert_eq!(clip_to_tokens("a b", 2, &count), "a b");
    }
}
