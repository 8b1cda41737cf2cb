//! Measures how often a conversation mentions the same names. Only counts words that look like identifiers or
//! files, because ordinary words recur anyway.

use std::collections::HashMap;

/// Maximum bytes of a word that counts as a name.
const MAX_NAME_BYTES: usize = 120;
/// Minimum bytes of a word that counts as a name.
const MIN_NAME_BYTES: usize = 4;

/// Counts the messages that mention each name.
#[derive(Default)]
pub(super) struct NameFrequencies<'a> {
    names: HashMap<&'a str, (u32, usize)>,
}

impl<'a> NameFrequencies<'a> {
    /// Counts the names in `text`, which belongs to the message at `index`.
    pub(super) fn count_names(&mut self, index: usize, text: &'a str) {
        for name in identifier_like_words(text) {
            let (count, last) = self.names.entry(name).or_insert((0, usize::MAX));
            if *last != index {
                *count += 1;
                *last = index;
            }
        }
    }

    /// Returns the recurrence of the most frequent name in `text`, from 0 to 8: the binary logarithm of the
    /// number of messages that mention the name, rounded down. 0 if there is no name.
    pub(super) fn score(&self, text: &str) -> u32 {
        let most = identifier_like_words(text)
            .filter_map(|name| self.names.get(name))
            .map(|&(count, _)| count)
            .max();
        most.and_then(u32::checked_ilog2).unwrap_or_default().min(8)
    }
}

/// Returns the words that contain a separator, or a capital after the first character.
fn identifier_like_words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | ':');
    text.split(move |c: char| !is_part(c)).map(|word| word.trim_matches(['.', ':', '-', '/'])).filter(
        |word| {
            let inside = word.chars().skip(1);
            (MIN_NAME_BYTES..=MAX_NAME_BYTES).contains(&word.len())
                && inside.into_iter().any(|c| matches!(c, '_' | '.' | '/' | ':') || c.is_uppercase())
                && word.contains(char::is_alphabetic)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_once_for_each_message() {
        let mut recurrence = NameFrequencies::default();
        for index in 0..4 {
            recurrence.count_names(index, "parse_all and parse_all again, see Lexer");
        }
        assert_eq!(recurrence.score("fix `parse_all`."), 2);
        assert_eq!(recurrence.score("again Lexer"), 0);
    }
}
