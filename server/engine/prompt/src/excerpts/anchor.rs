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
    /// Computes the fingerprint of the lines of a text.
    pub(super) fn of(body: &str) -> Self {
        Self(hashes(body))
    }

    /// Returns the current range of the lines that were at `place` (zero-based, end exclusive). It is the nearest exact
    /// match, or else the range from their first to their last line. Returns `None` if neither is found.
    pub(super) fn find(&self, text: &str, place: Range<u32>) -> Option<Range<u32>> {
        let wanted = &self.0;
        let Some((first, last)) = wanted.first().zip(wanted.last()) else { return Some(place) };
        let now = hashes(text);
        let start = usize::try_from(place.start).ok()?;
        let distance = |at: &usize| at.abs_diff(start);
        let whole = now
            .windows(wanted.len())
            .enumerate()
            .filter(|(_, lines)| *lines == wanted.as_slice())
            .map(|(at, _)| at);
        if let Some(at) = whole.min_by_key(distance) {
            return range(at, at + wanted.len());
        }
        let places_of = |line: &u32| {
            let places = now.iter().enumerate().filter(move |(_, hash)| *hash == line);
            places.map(|(at, _)| at).collect::<Vec<_>>()
        };
        let begins = places_of(first).into_iter().min_by_key(distance);
        let length = wanted.len();
        let ends = |begin: usize| {
            let ends =
                places_of(last).into_iter().filter(|at| *at >= begin && *at < begin + 2 * length + LONGER);
            ends.min_by_key(|at| (at + 1).abs_diff(begin + length))
        };
        match begins {
            Some(begin) => range(begin, ends(begin).map_or(begin + length, |end| end + 1).min(now.len())),
            None => {
                let end = places_of(last).into_iter().min_by_key(|at| (at + 1).abs_diff(start + length))? + 1;
                range(end.saturating_sub(length), end)
            }
        }
    }
}

/// Number of lines by which a range may grow and still be found, in addition to doubling in length.
const LONGER: usize = 40;

fn range(start: usize, end: usize) -> Option<Range<u32>> {
    Some(u32::try_from(start).ok()?..u32::try_from(end).ok()?)
}

fn hashes(text: &str) -> Vec<u32> {
    let short = |line: &str| {
        let [a, b, c, d, ..] = ContentHash::of(line.trim_end()).to_bytes();
        u32::from_le_bytes([a, b, c, d])
    };
    lines(text).map(short).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(before: &str, place: Range<u32>, now: &str) -> Option<Range<u32>> {
        let lines: Vec<&str> = before.lines().collect();
        let body = lines[place.start as usize..place.end as usize].join("\n");
        Anchor::of(&body).find(now, place)
    }

    const BEFORE: &str = "a\nb\nc\nd\ne\nf\n";

    #[test]
    fn lines_are_found_where_they_went() {
        assert_eq!(found(BEFORE, 1..4, BEFORE), Some(1..4));
        assert_eq!(found(BEFORE, 1..4, "x\ny\na\nb\nc\nd\ne\n"), Some(3..6));
        assert_eq!(found(BEFORE, 1..4, "b\nc\nd\nx\nb\nc\nd\n"), Some(0..3), "the nearest counts");
    }

    #[test]
    fn lines_that_changed_inside_are_found_by_their_ends() {
        assert_eq!(found(BEFORE, 1..4, "a\nb\nnew\nc\nnew\nd\ne\n"), Some(1..6));
        assert_eq!(found(BEFORE, 1..4, "a\nb\nc\nother\ne\n"), Some(1..4), "by the first line");
        assert_eq!(found(BEFORE, 1..4, "a\nother\nc\nd\ne\n"), Some(1..4), "by the last line");
        assert_eq!(found(BEFORE, 1..4, "a\ne\nf\n"), None);
        assert_eq!(found(BEFORE, 1..4, ""), None);
    }
}
