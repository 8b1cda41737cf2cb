//! Text utilities: truncation at character boundaries, line positions, formatting of numbers, and an error
//! for malformed text.

use std::ops::Range;

/// Marks text that was cut from the middle.
const GAP: &str = "\n[...]\n";

/// Error for a text that cannot be parsed. The message quotes the text and describes the expected form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub(crate) String);

/// Start positions of the lines of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineStarts {
    /// Byte offsets of the starts of all lines but the first.
    starts: Vec<usize>,
    end: usize,
}

impl LineStarts {
    /// Finds the lines of a text.
    pub fn of(text: &str) -> Self {
        Self { starts: text.match_indices('\n').map(|(at, _)| at + 1).collect(), end: text.len() }
    }

    /// Returns the line number of a byte offset, starting at 1.
    pub(crate) fn line(&self, byte: usize) -> u32 {
        let before = self.starts.partition_point(|start| *start <= byte);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }

    /// Returns the first and last line numbers of a byte range, starting at 1. A line break at the end of the
    /// range does not count.
    pub fn of_range(&self, range: &Range<usize>) -> (u32, u32) {
        let first = self.line(range.start);
        (first, self.line(range.end.saturating_sub(1)).max(first))
    }

    /// Returns the number of lines. Text after the last line break counts as a line unless it is empty.
    pub fn count(&self) -> u32 {
        let whole = u32::try_from(self.starts.len()).unwrap_or(u32::MAX);
        let last = self.starts.last().copied().unwrap_or(0);
        if last < self.end { whole.saturating_add(1) } else { whole }
    }

    /// Returns the byte range of the lines from `first` to `last`, both inclusive and 1-based. Lines beyond
    /// the end of the text are ignored.
    pub fn bytes(&self, first: u32, last: u32) -> Range<usize> {
        let start = |line: u32| match line {
            0 | 1 => 0,
            line => self.starts.get(line as usize - 2).copied().unwrap_or(self.end),
        };
        let from = start(first);
        from..start(last.saturating_add(1)).max(from)
    }
}

/// Formats a number with a comma between groups of three digits: `1,234`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut written = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            written.push(',');
        }
        written.push(digit);
    }
    written
}

/// Returns the first `chars` characters of `text`.
pub(crate) fn clip(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// Shortens `text` to at most `chars` characters by removing its middle: keeps two thirds from the
/// beginning and one third from the end. If `chars` is too small for both, keeps only the beginning.
pub(crate) fn clip_middle(text: &str, chars: usize) -> String {
    let head = clip(text, chars);
    if head.len() == text.len() {
        return text.to_owned();
    }
    let Some(room) = chars.checked_sub(GAP.len()).filter(|room| *room >= 2 * GAP.len()) else {
        return head.to_owned();
    };
    let head = clip(text, room * 2 / 3);
    let tail = text.char_indices().rev().nth(room - room * 2 / 3 - 1).map_or(0, |(at, _)| at);
    format!("{head}{GAP}{}", text.get(tail..).unwrap_or_default())
}

/// Returns the longest prefix of `text` with at most `tokens` tokens, cut at a line break if there is one in
/// its second half.
pub(crate) fn clip_to_weight(text: &str, tokens: usize, count: &dyn Fn(&str) -> usize) -> String {
    if count(text) <= tokens {
        return text.to_owned();
    }
    // Token lengths vary too much to compute the position, so find it by binary search, with few counts.
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let (mut fits, mut over) = (0, places.len());
    while over - fits > 1 {
        let middle = fits + (over - fits) / 2;
        let end = places.get(middle).copied().unwrap_or_default();
        if count(text.get(..end).unwrap_or_default()) <= tokens {
            fits = middle;
        } else {
            over = middle;
        }
    }
    let end = places.get(fits).copied().unwrap_or_default();
    let head = text.get(..end).unwrap_or_default();
    match head.rfind('\n') {
        Some(line) if line > head.len() / 2 => head.get(..line).unwrap_or_default().to_owned(),
        _ => head.to_owned(),
    }
}

/// Returns the largest character boundary at or before byte `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Returns the smallest character boundary at or after byte `at`, or the end of the text.
pub(crate) fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_bytes_lead_to_each_other() {
        let text = "a\nbb\n\nc";
        let lines = LineStarts::of(text);
        assert_eq!([0, 1, 2, 4, 5, 6, 7].map(|byte| lines.line(byte)), [1, 1, 2, 2, 3, 4, 4]);
        assert_eq!(lines.of_range(&(2..5)), (2, 2), "with its line break");
        assert_eq!(lines.of_range(&(0..7)), (1, 4));
        assert_eq!(lines.of_range(&(2..2)), (2, 2));
        assert_eq!(
            [lines.bytes(1, 1), lines.bytes(2, 3), lines.bytes(4, 9), lines.bytes(8, 9)],
            [0..2, 2..6, 6..7, 7..7]
        );
        let count = |text: &str| LineStarts::of(text).count();
        assert_eq!([count(""), count("a"), count("a\n"), count("a\nb"), count("\n\n")], [0, 1, 1, 2, 2]);
    }

    #[test]
    fn each_three_digits_stand_together() {
        let written = [0, 7, 999, 1_000, 12_345, 1_234_567].map(grouped);
        assert_eq!(written, ["0", "7", "999", "1,000", "12,345", "1,234,567"]);
    }

    #[test]
    fn places_are_moved_to_characters() {
        let text = "aéb";
        assert_eq!([0, 1, 2, 3, 4, 9].map(|at| floor(text, at)), [0, 1, 1, 3, 4, 4]);
        assert_eq!([0, 1, 2, 3, 4, 9].map(|at| ceil(text, at)), [0, 1, 3, 3, 4, 4]);
    }

    #[test]
    fn clipping_counts_characters_and_keeps_them_whole() {
        assert_eq!(clip("äöü", 2), "äö");
        assert_eq!(clip_middle("short", 5), "short");
        let long = "é".repeat(100);
        for chars in 0..100 {
            assert!(clip_middle(&long, chars).chars().count() <= chars, "{chars}");
        }
        assert!(clip_middle(&long, 50).ends_with("éé"));
    }

    #[test]
    fn clipping_to_a_weight_keeps_whole_lines() {
        let count = |text: &str| text.split_whitespace().count();
        assert_eq!(clip_to_weight("a b\nc d\ne f", 5, &count), "a b\nc d");
        assert_eq!(clip_to_weight("a b c d e f", 2, &count).split_whitespace().count(), 2);
        assert_eq!(clip_to_weight("a b", 2, &count), "a b");
    }
}
