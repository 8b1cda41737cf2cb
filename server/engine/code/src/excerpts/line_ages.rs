//! When the lines of a file were added: the code that was just written is the code that the next request is about.

use super::passages::{WordHash, hash_word};

/// Minimum length of a line that counts, in bytes without whitespace at both ends. Shorter ones, such as `}`, occur in
/// every version.
const MIN_LINE_BYTES: usize = 4;

/// The ages of a file's lines in commits, from the versions of the file before its last changes. A line counts as added
/// by the newest change whose earlier version does not contain it, so that lines which are not committed yet are as old
/// as the last commit. Stores hashes of lines, not text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineAges {
    /// Age of each change, newest first, and the sorted hashes of the lines before it.
    changes: Vec<(u32, Vec<WordHash>)>,
}

impl LineAges {
    /// Adds a change that is older than the others. `age` is the number of commits since, and `before` the text that it
    /// changed.
    pub fn add_change(&mut self, age: u32, before: &str) {
        let mut lines: Vec<WordHash> = before.lines().filter_map(line_hash).collect();
        lines.sort_unstable();
        lines.dedup();
        self.changes.push((age, lines));
    }

    /// Iterates over the lines of a text that count, with the number of commits since each was added; `None` if it is
    /// older than the known changes.
    pub(super) fn line_ages<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Option<u32>> + 'a {
        text.lines().filter_map(line_hash).map(|line| {
            let added = self.changes.iter().find(|(_, before)| before.binary_search(&line).is_err());
            added.map(|(age, _)| *age)
        })
    }
}

fn line_hash(line: &str) -> Option<WordHash> {
    let line = line.trim();
    (line.len() >= MIN_LINE_BYTES).then(|| hash_word(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_old_as_the_change_that_added_it() {
        let mut ages = LineAges::default();
        ages.add_change(1, "one = 1\ntwo = 2\n}\n");
        ages.add_change(4, "one = 1\n}\n");
        let text = "one = 1\n    two = 2\nthree = 3\n}\n";
        assert_eq!(ages.line_ages(text).collect::<Vec<_>>(), [None, Some(4), Some(1)]);
        assert_eq!(LineAges::default().line_ages(text).collect::<Vec<_>>(), [None; 3]);
    }
}
