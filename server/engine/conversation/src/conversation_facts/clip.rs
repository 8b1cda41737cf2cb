//! Reduces text to one line of limited length.

use strata_base::text::{ceil_char_boundary, floor_char_boundary};

/// Marks omitted text.
const ELLIPSIS: char = '…';

/// Joins `text` into one line of at most `limit` characters: each run of white space becomes one space, and
/// control characters are removed. Longer text is cut and ends with an ellipsis, after a whole word if one
/// ends in the last quarter. Stops reading at the limit.
pub fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut written = 0;
    let mut gap = false;
    for character in text.chars() {
        if character.is_whitespace() {
            gap = true;
            continue;
        }
        if character.is_control() {
            continue;
        }
        let needed = if gap && written > 0 { 2 } else { 1 };
        if written + needed > limit {
            return truncate_with_ellipsis(line, limit);
        }
        if needed == 2 {
            line.push(' ');
        }
        line.push(character);
        written += needed;
        gap = false;
    }
    line
}

/// Returns the beginning of `text`: at most `bytes` bytes, without splitting a character.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    &text[..floor_char_boundary(text, bytes)]
}

/// Returns the end of `text`: at most `bytes` bytes, without splitting a character.
pub(crate) fn tail(text: &str, bytes: usize) -> &str {
    &text[ceil_char_boundary(text, text.len().saturating_sub(bytes))..]
}

/// Shortens a full line to make room for the ellipsis.
fn truncate_with_ellipsis(mut line: String, limit: usize) -> String {
    if limit == 0 {
        return String::new();
    }
    while line.chars().count() >= limit {
        line.pop();
    }
    let word_end = line.rfind(' ').filter(|&end| end >= line.len() / 4 * 3);
    line.truncate(word_end.unwrap_or(line.len()));
    line.push(ELLIPSIS);
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_joined_and_words_are_not_split() {
        assert_eq!(one_line("  a\n\n b\u{2028}c\u{0}\t", 10), "a b c");
        assert_eq!(one_line("one two three four", 18), "one two three four");
        assert_eq!(one_line("one two three fours", 18), "one two three…");
        assert_eq!(one_line("abcdefghijkl", 5), "abcd…");
        assert_eq!(one_line("anything", 0), "");
    }

    proptest! {
        #[test]
        fn the_result_is_one_line_within_the_limit(text in any::<String>(), limit in 0usize..50) {
            let line = one_line(&text, limit);
            prop_assert!(line.chars().count() <= limit);
            prop_assert!(!line.chars().any(|character| character.is_control() || (character.is_whitespace() && character != ' ')));
            prop_assert_eq!(one_line(&line, limit), line);
        }
    }
}
