//! Finds the keywords of all rules in a text. Most texts have few, so a table of the first three letters of the keywords
//! rules out nearly all places. It fits into the fastest cache and needs nothing from the place before, which makes the
//! search about twice as fast as an automaton.

use std::ops::Range;

/// Number of letters that the table knows.
const PREFIX_LETTERS: usize = 3;
/// Bits that distinguish letters in the table.
const BITS_PER_LETTER: usize = 6;
/// Number of combinations of the first letters.
const PREFIX_CODE_COUNT: usize = 1 << (PREFIX_LETTERS * BITS_PER_LETTER);
/// Class of the bytes that are in no keyword.
const NO_LETTER_CLASS: u8 = 0;
/// Number of classes of letters.
const LETTER_CLASS_COUNT: u8 = 1 << BITS_PER_LETTER;

/// A list of keywords, which ignore the case of ASCII letters.
#[derive(Debug)]
pub(super) struct Keywords {
    /// In lower case, sorted by the code of their first letters. The number is that of the caller.
    words: Vec<(Box<[u8]>, usize)>,
    /// Class of each byte.
    classes: [u8; 256],
    /// Whether a keyword starts with the letters of a code, one bit each.
    starts: Box<[u64; PREFIX_CODE_COUNT / 64]>,
    /// For each element of `starts`, the number of bits that are set in the ones before it.
    ranks: Box<[u32]>,
    /// For each bit that is set, the range of its keywords in `words`.
    ranges: Vec<Range<usize>>,
}

impl Keywords {
    /// Creates a list. Returns `None` if a keyword is shorter than three bytes; a test checks that none is.
    pub(super) fn new(words: &[String]) -> Option<Self> {
        let mut classes = [NO_LETTER_CLASS; 256];
        let mut next = NO_LETTER_CLASS + 1;
        for byte in words.iter().flat_map(|word| word.bytes()) {
            let class = classes.get(usize::from(byte.to_ascii_lowercase())).copied()?;
            if class == NO_LETTER_CLASS {
                for case in [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()] {
                    *classes.get_mut(usize::from(case))? = next;
                }
                // Bytes that share a class make the table less exact, not wrong.
                next = (next + 1).min(LETTER_CLASS_COUNT - 1);
            }
        }
        let lower = |word: &String| word.to_ascii_lowercase().into_bytes().into_boxed_slice();
        let mut words: Vec<_> = words.iter().map(lower).zip(0..).collect();
        if words.iter().any(|(word, _)| word.len() < PREFIX_LETTERS) {
            return None;
        }
        let code = |word: &[u8]| prefix_code(&classes, word);
        words.sort_by_cached_key(|(word, number)| (code(word), *number));
        let mut starts = Box::new([0_u64; PREFIX_CODE_COUNT / 64]);
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (index, (word, _)) in words.iter().enumerate() {
            let code = code(word);
            let bits = starts.get_mut(code / 64)?;
            match ranges.last_mut() {
                Some(last) if *bits >> (code % 64) & 1 == 1 => last.end = index + 1,
                _ => ranges.push(index..index + 1),
            }
            *bits |= 1 << (code % 64);
        }
        let mut before = 0;
        let rank = |bits: &u64| {
            let rank = before;
            before += bits.count_ones();
            rank
        };
        let ranks = starts.iter().map(rank).collect();
        Some(Self { words, classes, starts, ranks, ranges })
    }

    /// Returns the keywords in a text with their numbers, in order of their starts.
    pub(super) fn find<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = (Range<usize>, usize)> {
        let mut next = 0;
        let starts = std::iter::from_fn(move || {
            let (start, after) = self.next_start(text, next)?;
            next = after;
            Some(start)
        });
        starts.flat_map(move |KeywordStart { start, code, bits }| {
            let before = (bits & ((1 << (code % 64)) - 1)).count_ones();
            let rank = self.ranks.get(code / 64).copied().unwrap_or_default() + before;
            let range = self.ranges.get(rank as usize).cloned().unwrap_or_default();
            let words = self.words.get(range).unwrap_or_default();
            words.iter().filter_map(move |(word, number)| {
                let range = start..start + word.len();
                text.get(range.clone())?.eq_ignore_ascii_case(word).then_some((range, *number))
            })
        })
    }

    /// Returns the next place from `from` at which a keyword may start, and where to continue.
    fn next_start(&self, text: &[u8], from: usize) -> Option<(KeywordStart, usize)> {
        let rest = text.get(from..)?;
        let mut letters = 0_usize;
        for (index, byte) in rest.iter().enumerate() {
            let class = self.classes.get(usize::from(*byte)).copied().unwrap_or(NO_LETTER_CLASS);
            letters = letters << BITS_PER_LETTER | usize::from(class);
            let code = letters % PREFIX_CODE_COUNT;
            let bits = self.starts.get(code / 64).copied().unwrap_or_default();
            if bits >> (code % 64) & 1 == 1 && index + 1 >= PREFIX_LETTERS {
                let start = from + index + 1 - PREFIX_LETTERS;
                return Some((KeywordStart { start, code, bits }, start + 1));
            }
        }
        None
    }
}

/// A place at which a keyword may start.
struct KeywordStart {
    start: usize,
    /// Code of the letters there.
    code: usize,
    /// The element of [`Keywords::starts`] with the bit of the code.
    bits: u64,
}

/// Returns the code of the first letters of a word.
fn prefix_code(classes: &[u8; 256], word: &[u8]) -> usize {
    let class = |index: usize| {
        let byte = word.get(index).copied().unwrap_or_default();
        usize::from(classes.get(usize::from(byte)).copied().unwrap_or(NO_LETTER_CLASS))
    };
    class(0) << (2 * BITS_PER_LETTER) | class(1) << BITS_PER_LETTER | class(2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn find(words: &[&str], text: &str) -> Vec<(Range<usize>, usize)> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        Keywords::new(&words).unwrap().find(text.as_bytes()).collect()
    }

    #[test]
    fn keywords_are_found_in_any_case_also_inside_each_other() {
        let words = ["pass", "key", "passw", "ssw", "_key"];
        assert_eq!(find(&words, "a PassWd_KEY"), [(2..6, 0), (2..7, 2), (4..7, 3), (8..12, 4), (9..12, 1)]);
        assert!(find(&words, "").is_empty() && find(&words, "ke").is_empty());
        assert!(Keywords::new(&["SK".to_owned()]).is_none());
    }

    proptest! {
        #[test]
        fn the_table_finds_the_same_keywords_as_a_plain_search(
            words in prop::collection::btree_set("[a-cé_ \\\\]{2}[a-c0-9]{1,3}", 1..12),
            text in "[a-cA-Cé_ \\\\0-9x]{0,60}",
        ) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let lower = text.to_ascii_lowercase();
            let mut expected = Vec::new();
            for (number, word) in words.iter().enumerate() {
                let starts = (0..lower.len()).filter(|at| lower.as_bytes()[*at..].starts_with(word.as_bytes()));
                expected.extend(starts.map(|at| (at..at + word.len(), number)));
            }
            let mut actual = find(&words, &text);
            for places in [&mut expected, &mut actual] {
                places.sort_by_key(|(range, number)| (range.start, *number));
            }
            prop_assert_eq!(actual, expected);
        }

        /// More kinds of bytes than classes.
        #[test]
        fn bytes_that_share_a_class_are_not_confused(text in "[ -~\u{80}-\u{ff}]{0,80}") {
            let all: Vec<String> = (0x21..0x17f_u32).filter_map(char::from_u32).map(|c| format!("a{c}b")).collect();
            let words: Vec<&str> = all.iter().map(String::as_str).collect();
            for (range, number) in find(&words, &text) {
                prop_assert!(text[range].eq_ignore_ascii_case(words[number]));
            }
            let bare = format!("a{}b", text.chars().next().unwrap_or('~'));
            let is_listed = words.iter().any(|word| word.eq_ignore_ascii_case(&bare));
            prop_assert_eq!(!find(&words, &bare).is_empty(), is_listed);
        }
    }
}
