//! Cutting text to a length. Never inside a character.

/// Stands for what was cut out of the middle.
const GAP: &str = "\n[...]\n";

/// The first `chars` characters of `text`.
pub(crate) fn clip(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// `text` in at most `chars` characters: two thirds of them from its beginning, the rest from its end. Too short for
/// both, the beginning alone.
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

/// As much of the beginning of `text` as weighs at most `tokens`, in whole lines where one fits.
pub(crate) fn clip_to_weight(text: &str, tokens: usize, count: &dyn Fn(&str) -> usize) -> String {
    if count(text) <= tokens {
        return text.to_owned();
    }
    // A token is at least one byte in every vocabulary but may be many; halving finds the place in a few counts.
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

/// The start of the character that byte `at` is in, or the end of the text.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// The next start of a character from byte `at` on, or the end of the text.
pub(crate) fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

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
