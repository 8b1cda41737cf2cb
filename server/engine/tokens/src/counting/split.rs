//! Splits a text into pre-tokens exactly as the split patterns of the OpenAI encodings do, in one pass and
//! without backtracking.
//!
//! The patterns (`o200k_base` and `cl100k_base` in `openai/tiktoken`, `tiktoken_ext/openai_public.py`) are
//! ordered alternatives, each of which is a function below. The patterns are not given to a regular
//! expression engine because a backtracking matcher runs out of stack on long white space.

use super::classes::{
    BLANK, CASELESS_LETTER, COMBINING_MARK, CharClasses, LOWER, NEWLINE, NUMBER, OTHER_CHARACTER, UPPER,
};
use super::{Encoding, ascii};

const LETTER: u8 = UPPER | LOWER | CASELESS_LETTER;
const SPACE: u8 = BLANK | NEWLINE;
/// Symbols: `[^\s\p{L}\p{N}]`.
const SYMBOL_CLASSES: u8 = COMBINING_MARK | OTHER_CHARACTER;
/// `[^\r\n\p{L}\p{N}]`, the optional first character of a word.
const WORD_LEAD_CLASSES: u8 = BLANK | SYMBOL_CLASSES;
/// `[\p{Lm}\p{Lo}\p{M}]`, allowed in both the head and the tail of an o200k word.
const HEAD_OR_TAIL_CLASSES: u8 = CASELESS_LETTER | COMBINING_MARK;
/// Characters in the head of an o200k word: `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`.
const WORD_HEAD_CLASSES: u8 = UPPER | HEAD_OR_TAIL_CLASSES;
/// Characters in the tail of an o200k word: `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`.
const WORD_TAIL_CLASSES: u8 = LOWER | HEAD_OR_TAIL_CLASSES;

/// Iterator over the ends of the pre-tokens of a text, as byte offsets. Each pre-token starts at the end of
/// the previous one.
pub(super) struct PreTokenEnds<'a> {
    text: &'a str,
    at: usize,
    /// Ends already found, as bits relative to `known_from`.
    known: u64,
    known_from: usize,
    encoding: Encoding,
    classes: &'static CharClasses,
}

impl<'a> PreTokenEnds<'a> {
    pub(super) fn new(encoding: Encoding, text: &'a str) -> Self {
        Self { text, at: 0, known: 0, known_from: 0, encoding, classes: CharClasses::shared() }
    }

    #[inline]
    fn pre_token_end(&self) -> usize {
        let at = self.at;
        let (class, len) = self.classes.class_at(self.text, at);
        let word = match self.encoding {
            Encoding::Cl100k => self.contraction_end(at).or_else(|| self.plain_word_end(at, class, len)),
            Encoding::O200k => self.cased_word_end(at, class, len),
        };
        if let Some(end) = word {
            end
        } else if class & NUMBER != 0 {
            self.number_end(at)
        } else if let Some(end) = self.symbols_end(at) {
            end
        } else {
            self.whitespace_end(at)
        }
    }

    /// Matches a word of cl100k at byte `at`: `[^\r
    /// \p{L}\p{N}]?+\p{L}++`. Returns its end.
    fn plain_word_end(&self, at: usize, class: u8, len: usize) -> Option<usize> {
        let start = if class & WORD_LEAD_CLASSES != 0 { at + len } else { at };
        let end = self.classes.run_end(self.text, start, LETTER);
        (end > start).then_some(end)
    }

    /// Matches a word of o200k at byte `at` and returns its end. Tries `HEAD*TAIL+` after a lead character, then
    /// without one, then `HEAD+TAIL*` in the same order. A contraction may follow.
    #[inline]
    fn cased_word_end(&self, at: usize, class: u8, len: usize) -> Option<usize> {
        // Reject most non-words before trying each alternative.
        let has_lead = class & WORD_LEAD_CLASSES != 0
            && self.classes.class_at(self.text, at + len).0 & (WORD_HEAD_CLASSES | WORD_TAIL_CLASSES) != 0;
        if !has_lead && class & (WORD_HEAD_CLASSES | WORD_TAIL_CLASSES) == 0 {
            return None;
        }
        let after_lead = has_lead.then_some(at + len);
        let end = after_lead
            .and_then(|start| self.capitalized_word_end(start))
            .or_else(|| self.capitalized_word_end(at))
            .or_else(|| after_lead.and_then(|start| self.uppercase_word_end(start)))
            .or_else(|| self.uppercase_word_end(at))?;
        Some(self.contraction_end(end).unwrap_or(end))
    }

    /// Matches `HEAD*TAIL+`. The head is greedy and gives back only what the tail needs, which is the last character
    /// that may be in both.
    #[inline]
    fn capitalized_word_end(&self, start: usize) -> Option<usize> {
        let (mut at, mut last_both) = (start, None);
        loop {
            let (class, len) = self.classes.class_at(self.text, at);
            if class & WORD_HEAD_CLASSES == 0 {
                break;
            }
            at += len;
            if class & HEAD_OR_TAIL_CLASSES != 0 {
                last_both = Some(at);
            }
        }
        let end = self.classes.run_end(self.text, at, WORD_TAIL_CLASSES);
        if end > at { Some(end) } else { last_both }
    }

    /// Matches `HEAD+TAIL*` after `HEAD*TAIL+` failed, so that no tail can follow.
    fn uppercase_word_end(&self, start: usize) -> Option<usize> {
        let end = self.classes.run_end(self.text, start, WORD_HEAD_CLASSES);
        (end > start).then_some(end)
    }

    /// Matches a contraction: `(?i:'s|'t|'re|'ve|'m|'ll|'d)`. Ignoring case, `s` also matches U+017F, the long s.
    fn contraction_end(&self, at: usize) -> Option<usize> {
        let rest = self.text.as_bytes().get(at..)?.strip_prefix(b"'")?;
        let len = match *rest {
            [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 1,
            [b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..]
            | [b'l' | b'L', b'l' | b'L', ..]
            | [0xc5, 0xbf, ..] => 2,
            _ => return None,
        };
        Some(at + 1 + len)
    }

    /// Matches up to three numeric characters: `\p{N}{1,3}`.
    fn number_end(&self, mut at: usize) -> usize {
        for _ in 0..3 {
            let (class, len) = self.classes.class_at(self.text, at);
            if class & NUMBER == 0 {
                break;
            }
            at += len;
        }
        at
    }

    /// Matches ` ?[^\s\p{L}\p{N}]+` and the newlines after it, in o200k also the slashes among them.
    fn symbols_end(&self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let start = at + usize::from(bytes.get(at) == Some(&b' '));
        let mut end = self.classes.run_end(self.text, start, SYMBOL_CLASSES);
        if end == start {
            return None;
        }
        let allows_slash = self.encoding == Encoding::O200k;
        while bytes
            .get(end)
            .is_some_and(|&byte| matches!(byte, b'\r' | b'\n') || (allows_slash && byte == b'/'))
        {
            end += 1;
        }
        Some(end)
    }

    /// Matches white space up to the last newline of the run. In a run without a newline, matches the whole run at
    /// the end of the text, or else all but its last character, which becomes the first of the next pre-token.
    fn whitespace_end(&self, start: usize) -> usize {
        let (mut at, mut last_start, mut after_newline) = (start, start, None);
        loop {
            let (class, len) = self.classes.class_at(self.text, at);
            if class & SPACE == 0 {
                break;
            }
            last_start = at;
            at += len;
            if class & NEWLINE != 0 {
                after_newline = Some(at);
            }
        }
        match after_newline {
            Some(end) => end,
            None if at == self.text.len() || last_start == start => at,
            None => last_start,
        }
    }
}

impl Iterator for PreTokenEnds<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let start = self.at;
        if start >= self.text.len() {
            return None;
        }
        if self.known == 0 {
            self.known = ascii::pre_token_starts(self.encoding, self.text.as_bytes(), start);
            self.known_from = start;
        }
        if self.known != 0 {
            self.at = self.known_from + self.known.trailing_zeros() as usize;
            self.known &= self.known - 1;
            return Some(self.at);
        }
        let end = self.pre_token_end();
        // Alternatives are never empty. If one were, the rest of the text would be one piece instead of an
        // endless loop.
        self.at = if end > start { end } else { self.text.len() };
        Some(self.at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(encoding: Encoding, text: &str) -> Vec<&str> {
        let mut start = 0;
        let piece = |end| &text[std::mem::replace(&mut start, end)..end];
        PreTokenEnds::new(encoding, text).map(piece).collect()
    }

    #[track_caller]
    fn assert_pieces(encoding: Encoding, text: &str, expected: &[&str]) {
        assert_eq!(pieces(encoding, text), expected);
    }

    /// Compares the cuts themselves, because equal counts do not show where a text is cut.
    #[test]
    fn words_of_o200k() {
        let assert_pieces = |text: &str, pieces: &[&str]| assert_pieces(Encoding::O200k, text, pieces);
        assert_pieces("camelCase HTTPServer", &["camel", "Case", " HTTPServer"]);
        assert_pieces("語AB 語Ab", &["語", "AB", " 語Ab"]);
        assert_pieces("A語BC", &["A語", "BC"]);
        assert_pieces("\u{301}A\u{301}\u{301}B", &["\u{301}A\u{301}\u{301}", "B"]);
        assert_pieces("-語AB", &["-語", "AB"]);
        assert_pieces("don't I'LL x'ſ 'tis", &["don't", " I'LL", " x'ſ", " '", "tis"]);
        assert_pieces("f(x)\n//\ny", &["f", "(x", ")\n//\n", "y"]);
    }

    #[test]
    fn words_of_cl100k() {
        let assert_pieces = |text: &str, pieces: &[&str]| assert_pieces(Encoding::Cl100k, text, pieces);
        assert_pieces("camelCase 語AB", &["camelCase", " 語AB"]);
        assert_pieces("don't 'sx '語", &["don", "'t", " '", "sx", " '", "語"]);
        assert_pieces("'sx", &["'s", "x"]);
        assert_pieces("f(x)\n//\ny", &["f", "(x", ")\n", "//\n", "y"]);
    }

    #[test]
    fn white_space_and_numbers() {
        for encoding in Encoding::ALL {
            assert_pieces(encoding, "a  b\t\tc", &["a", " ", " b", "\t", "\tc"]);
            assert_pieces(encoding, "a \n \n  b ", &["a", " \n \n", " ", " b", " "]);
            assert_pieces(encoding, "1234 12", &["123", "4", " ", "12"]);
            assert_pieces(encoding, " \u{a0}!", &[" ", "\u{a0}", "!"]);
        }
    }

    /// Splits a text one piece at a time, as the patterns do.
    fn one_by_one(encoding: Encoding, text: &str) -> Vec<&str> {
        let mut ends = PreTokenEnds::new(encoding, text);
        let mut pieces = Vec::new();
        while ends.at < text.len() {
            let end = ends.pre_token_end();
            pieces.push(&text[ends.at..end]);
            ends.at = end;
        }
        pieces
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn pieces_add_up_to_the_text(text in "\\PC*|[ \\t\r\na-bA-B'/1-9-]*") {
            for encoding in Encoding::ALL {
                prop_assert!(pieces(encoding, &text).iter().all(|piece| !piece.is_empty()));
                prop_assert_eq!(pieces(encoding, &text).concat(), text.as_str());
            }
        }

        /// Texts of a few blocks, made of characters that matter to the patterns and of runs of one
        /// character.
        #[test]
        fn blocks_are_split_like_single_pieces(
            text in "([ \\t\r\na-cA-C'sTſ/09(=é語\u{a0}]|[a-c]{1,9}|  {1,70}|\n{1,9}|[0-9]{1,70}|\\){1,9}|\\PC){0,200}",
        ) {
            for encoding in Encoding::ALL {
                prop_assert_eq!(pieces(encoding, &text), one_by_one(encoding, &text));
            }
        }
    }
}
