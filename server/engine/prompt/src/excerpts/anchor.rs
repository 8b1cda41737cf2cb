//! Finds a range of lines again after edits around or inside it. Stores hashes of the lines instead of text.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use strata_base::hash::ContentHash;
use strata_base::text::lines;

/// Fingerprint of a range of lines, used to find the range in a changed file.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Anchor(Vec<u32>);

impl Anchor {
    pub(super) fn from_text(body: &str) -> Self {
        Self(line_hashes(body))
    }

    /// Returns the current range of the lines that were at `old_range` (zero-based, end exclusive). It is the nearest
    /// exact match, or else the range from their first to their last line. Returns `None` if neither is found.
    pub(super) fn find(&self, text: &str, old_range: Range<u32>) -> Option<Range<u32>> {
        let anchor_hashes = &self.0;
        let Some((first, last)) = anchor_hashes.first().zip(anchor_hashes.last()) else {
            return Some(old_range);
        };
        let text_hashes = line_hashes(text);
        let start = usize::try_from(old_range.start).ok()?;
        let distance = |at: &usize| at.abs_diff(start);
        let exact_matches = text_hashes
            .windows(anchor_hashes.len())
            .enumerate()
            .filter(|(_, lines)| *lines == anchor_hashes.as_slice())
            .map(|(at, _)| at);
        if let Some(at) = exact_matches.min_by_key(distance) {
            return to_line_range(at, at + anchor_hashes.len());
        }
        let positions_of = |line: &u32| {
            let positions = text_hashes.iter().enumerate().filter(move |(_, hash)| *hash == line);
            positions.map(|(at, _)| at).collect::<Vec<_>>()
        };
        let start_of_first = positions_of(first).into_iter().min_by_key(distance);
        let length = anchor_hashes.len();
        let ends = |begin: usize| {
            let ends = positions_of(last)
                .into_iter()
                .filter(|at| *at >= begin && *at < begin + 2 * length + MAX_LINE_GROWTH);
            ends.min_by_key(|at| (at + 1).abs_diff(begin + length))
        };
        match start_of_first {
            Some(begin) => {
                to_line_range(begin, ends(begin).map_or(begin + length, |end| end + 1).min(text_hashes.len()))
            }
            None => {
                let end =
                    positions_of(last).into_iter().min_by_key(|at| (at + 1).abs_diff(start + length))? + 1;
                to_line_range(end.saturating_sub(length), end)
            }
        }
    }
}

/// Number of lines by which a range may grow and still be found, in addition to doubling in length.
const MAX_LINE_GROWTH: usize = 40;

fn to_line_range(start: usize, end: usize) -> Option<Range<u32>> {
    Some(u32::try_from(start).ok()?..u32::try_from(end).ok()?)
}

fn line_hashes(text: &str) -> Vec<u32> {
    let short_hash = |line: &str| {
        let [a, b, c, d, ..] = ContentHash::from_text(line.trim_end()).to_bytes();
        u32::from_le_bytes([a, b, c, d])
    };
    lines(text).map(short_hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_after_edit(before: &str, old_range: Range<u32>, after: &str) -> Option<Range<u32>> {
        let lines: Vec<&str> = before.lines().collect();
        let body = lines[old_range.start as usize..old_range.end as usize].join("\n");
        Anchor::from_text(&body).find(after, old_range)
    }

    const BEFORE: &str = "a\nb\nc\nd\ne\nf\n";

    #[test]
    fn a_moved_range_is_found_at_its_new_lines() {
        assert_eq!(find_after_edit(BEFORE, 1..4, BEFORE), Some(1..4));
        assert_eq!(find_after_edit(BEFORE, 1..4, "x\ny\na\nb\nc\nd\ne\n"), Some(3..6));
        assert_eq!(find_after_edit(BEFORE, 1..4, "b\nc\nd\nx\nb\nc\nd\n"), Some(0..3), "the nearest counts");
    }

    #[test]
    fn a_range_edited_inside_is_found_by_its_first_or_last_line() {
        assert_eq!(find_after_edit(BEFORE, 1..4, "a\nb\nnew\nc\nnew\nd\ne\n"), Some(1..6));
        assert_eq!(find_after_edit(BEFORE, 1..4, "a\nb\nc\nother\ne\n"), Some(1..4), "by the first line");
        assert_eq!(find_after_edit(BEFORE, 1..4, "a\nother\nc\nd\ne\n"), Some(1..4), "by the last line");
        assert_eq!(find_after_edit(BEFORE, 1..4, "a\ne\nf\n"), None);
        assert_eq!(find_after_edit(BEFORE, 1..4, ""), None);
    }
}
