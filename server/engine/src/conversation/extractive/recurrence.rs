//! How often the things that a conversation speaks of come up again. Counts words that look like names in code
//! or of files; other words recur without meaning anything.

use std::collections::HashMap;

/// Longest word that is a name. Bytes.
const LONGEST: usize = 120;
/// Shortest. Bytes.
const SHORTEST: usize = 4;

/// Number of messages in which each name occurs.
#[derive(Default)]
pub(super) struct Recurrence<'a> {
    names: HashMap<&'a str, (u32, usize)>,
}

impl<'a> Recurrence<'a> {
    /// Counts the names of one text of the `index`th message.
    pub(super) fn read(&mut self, index: usize, text: &'a str) {
        for name in names(text) {
            let (count, last) = self.names.entry(name).or_insert((0, usize::MAX));
            if *last != index {
                *count += 1;
                *last = index;
            }
        }
    }

    /// How much the most frequent name of a text recurs: 0 for none or one message, one more each time the number
    /// of messages doubles, at most 8.
    pub(super) fn of(&self, text: &str) -> u32 {
        let most = names(text).filter_map(|name| self.names.get(name)).map(|&(count, _)| count).max();
        most.and_then(u32::checked_ilog2).unwrap_or_default().min(8)
    }
}

/// Words with a sign or a capital inside.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | ':');
    text.split(move |c: char| !is_part(c)).map(|word| word.trim_matches(['.', ':', '-', '/'])).filter(
        |word| {
            let inside = word.chars().skip(1);
            (SHORTEST..=LONGEST).contains(&word.len())
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
        let mut recurrence = Recurrence::default();
        for index in 0..4 {
            recurrence.read(index, "parse_all and parse_all again, see Lexer");
        }
        assert_eq!(recurrence.of("fix `parse_all`."), 2);
        assert_eq!(recurrence.of("again Lexer"), 0);
    }
}
