//! Finds selected lines again after edits around or inside them. Remembers hashes of the lines beside each end of a
//! range instead of line numbers, which change with every line inserted above.

use serde::{Deserialize, Serialize};
use strata_base::hash::ContentHash;
use strata_base::text::lines;

use super::line_range::LineRange;

/// Number of lines to remember on each side of an end.
const ANCHOR_CONTEXT_LINES: usize = 6;

/// Hash of a line without leading and trailing white space. 0 for a line without letters and digits, which says nothing
/// about its place.
type LineHash = u32;

/// The lines of a text, as hashes.
#[derive(Debug)]
pub(super) struct HashedLines(Vec<LineHash>);

/// A range of lines, with what is needed to find it in a changed text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct LineAnchor {
    /// The lines when they were last found.
    pub(super) range: LineRange,
    start: Boundary,
    end: Boundary,
}

/// A place between two lines.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Boundary {
    /// Lines above, nearest first.
    above: Vec<LineHash>,
    /// Lines below, nearest first.
    below: Vec<LineHash>,
}

impl HashedLines {
    pub(super) fn new(text: &str) -> Self {
        let hash = |line: &str| {
            if !line.contains(char::is_alphanumeric) {
                return 0;
            }
            let [a, b, c, d, ..] = ContentHash::from_text(line.trim()).to_bytes();
            u32::from_le_bytes([a, b, c, d]).max(1)
        };
        Self(lines(text).map(hash).collect())
    }

    pub(super) fn line_count(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    fn boundary(&self, at: usize) -> Boundary {
        let (above, below) = self.0.split_at(at.min(self.0.len()));
        Boundary {
            above: above.iter().rev().take(ANCHOR_CONTEXT_LINES).copied().collect(),
            below: below.iter().take(ANCHOR_CONTEXT_LINES).copied().collect(),
        }
    }

    /// Returns how much of a boundary's surroundings a place has: the matching lines next to it, of which those with
    /// text count most. Returns `None` if no line with text matches.
    fn score(&self, boundary: &Boundary, at: usize) -> Option<usize> {
        let (above, below) = self.0.split_at(at);
        let matching =
            |expected: &[LineHash], actual: &mut dyn Iterator<Item = &LineHash>| -> (usize, usize) {
                let same = expected.iter().zip(actual).take_while(|(expected, actual)| expected == actual);
                same.fold((0, 0), |(texts, all), (hash, _)| (texts + usize::from(*hash != 0), all + 1))
            };
        let (texts_above, all_above) = matching(&boundary.above, &mut above.iter().rev());
        let (texts_below, all_below) = matching(&boundary.below, &mut below.iter());
        let texts = texts_above + texts_below;
        (texts > 0).then_some(texts * 2 * ANCHOR_CONTEXT_LINES + all_above + all_below)
    }

    /// Returns the place that matches a boundary best. Of equal places, the one nearest to `near`.
    fn find(&self, boundary: &Boundary, near: usize) -> Option<usize> {
        let places = (0..=self.0.len()).filter_map(|at| Some((self.score(boundary, at)?, at)));
        let best = places.max_by_key(|(score, at)| (*score, std::cmp::Reverse(at.abs_diff(near))));
        best.map(|(_, at)| at)
    }
}

impl LineAnchor {
    /// Remembers a range of lines. Lines beyond the end of the text are cut off. Returns `None` if all are.
    pub(super) fn new(lines: &HashedLines, range: LineRange) -> Option<Self> {
        let range = LineRange::new(range.first(), range.last().min(lines.line_count()))?;
        let (start, end) = (range.first() as usize - 1, range.last() as usize);
        Some(Self { range, start: lines.boundary(start), end: lines.boundary(end) })
    }

    /// Finds the lines in a text, and remembers them as they are there. Returns `None` if the text no longer has them.
    pub(super) fn relocate(&self, lines: &HashedLines) -> Option<Self> {
        let before = (self.range.first() as usize - 1, self.range.last() as usize);
        if lines.line_count() as usize >= before.1
            && lines.boundary(before.0) == self.start
            && lines.boundary(before.1) == self.end
        {
            return Some(self.clone());
        }
        let start = lines.find(&self.start, before.0)?;
        // The end has probably moved as far as the start.
        let end = lines.find(&self.end, before.1.saturating_add(start).saturating_sub(before.0))?;
        let number = |line: usize| u32::try_from(line).ok();
        Self::new(lines, LineRange::new(number(start)?.checked_add(1)?, number(end)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(before: &str, range: &str, after: &str) -> Option<String> {
        let anchor = LineAnchor::new(&HashedLines::new(before), range.parse().unwrap()).unwrap();
        anchor.relocate(&HashedLines::new(after)).map(|anchor| anchor.range.to_string())
    }

    const BEFORE: &str = "a\n{\n  b\n}\n\nc\n{\n  d\n}\n\ne\n";

    #[test]
    fn lines_are_found_where_edits_moved_them() {
        for (range, after, expected) in [
            ("L6-9", BEFORE.to_owned(), Some("L6-9")),
            ("L6-9", format!("new\n\n{BEFORE}"), Some("L8-11")),
            ("L6-9", BEFORE.replacen("a\n{\n  b\n}\n\n", "", 1), Some("L1-4")),
            ("L9", format!("{}{BEFORE}", "new\n".repeat(7)), Some("L16")),
            ("L6-9", BEFORE.replace("  d\n", "  d\n  d2\n"), Some("L6-10")),
            ("L6-9", BEFORE.replace("c\n", "see\n"), Some("L6-9")),
            ("L8", BEFORE.replace("  d\n", "  changed\n"), Some("L8")),
            ("L8", BEFORE.replace("  d\n", "    d\n").replace('\n', "\r\n"), Some("L8")),
            ("L6-9", BEFORE.replace("c\n{\n  d\n}\n", ""), None),
            ("L6-9", String::new(), None),
            ("L1-11", "entirely\ndifferent\n".to_owned(), None),
            ("L7-9", "x\n{\n  y\n}\n".to_owned(), None),
        ] {
            assert_eq!(followed(BEFORE, range, &after).as_deref(), expected, "{range} {after:?}");
        }
    }

    #[test]
    fn a_range_beyond_the_end_is_cut_off() {
        let lines = HashedLines::new("a\nb\n");
        let anchor = |range: &str| LineAnchor::new(&lines, range.parse().unwrap());
        assert_eq!(anchor("L2-9").map(|anchor| anchor.range.to_string()).as_deref(), Some("L2"));
        assert_eq!(anchor("L3-9"), None);
    }
}
