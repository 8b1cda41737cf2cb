//! Character classes of the OpenAI split patterns: letters, marks, numbers and white space. The sets come
//! from `regex-syntax`, the parser behind the pattern matcher of tiktoken-rs, so that both use the same
//! version of Unicode.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, HirKind};

/// Unicode categories `Lu` and `Lt`.
pub(super) const UPPER: u8 = 1;
/// Unicode category `Ll`.
pub(super) const LOWER: u8 = 1 << 1;
/// Unicode categories `Lm` and `Lo`: letters without relevant case.
pub(super) const CASELESS_LETTER: u8 = 1 << 2;
/// Unicode category `M`.
pub(super) const COMBINING_MARK: u8 = 1 << 3;
/// Unicode category `N`.
pub(super) const NUMBER: u8 = 1 << 4;
/// `\s` without carriage return and line feed.
pub(super) const BLANK: u8 = 1 << 5;
/// Carriage return, line feed.
pub(super) const NEWLINE: u8 = 1 << 6;
/// Any other character.
pub(super) const OTHER_CHARACTER: u8 = 1 << 7;

const CODE_POINTS: usize = 0x11_0000;
const CODE_POINTS_PER_PAGE: usize = 256;

/// Class of every character: pages of 256 code points, with equal pages stored once.
#[derive(Debug)]
pub(super) struct CharClasses {
    /// Class by byte; 0 for bytes that start a multi-byte character.
    bytes: [u8; 256],
    pages: Vec<u16>,
    page_classes: Vec<u8>,
}

impl CharClasses {
    /// Returns the shared table. The first call builds it, which takes a few milliseconds.
    pub(super) fn shared() -> &'static Self {
        static SHARED: OnceLock<CharClasses> = OnceLock::new();
        SHARED.get_or_init(Self::from_unicode_sets)
    }

    /// Returns the class and the length in bytes of the character at byte `offset`; `(0, 0)` at the end of the
    /// text.
    #[inline]
    pub(super) fn class_at(&self, text: &str, offset: usize) -> (u8, usize) {
        let Some(&byte) = text.as_bytes().get(offset) else { return (0, 0) };
        match self.bytes[usize::from(byte)] {
            0 => self.non_ascii_class_at(text, offset),
            class => (class, 1),
        }
    }

    /// Returns the end of the run of characters in `classes` that starts at byte `offset`, as a byte offset.
    #[inline]
    pub(super) fn run_end(&self, text: &str, mut offset: usize, classes: u8) -> usize {
        let bytes = text.as_bytes();
        loop {
            while bytes.get(offset).is_some_and(|byte| self.bytes[usize::from(*byte)] & classes != 0) {
                offset += 1;
            }
            if bytes.get(offset).is_none_or(u8::is_ascii) {
                return offset;
            }
            let (class, len) = self.non_ascii_class_at(text, offset);
            if class & classes == 0 {
                return offset;
            }
            offset += len;
        }
    }

    fn non_ascii_class_at(&self, text: &str, offset: usize) -> (u8, usize) {
        let next = text.get(offset..).and_then(|rest| rest.chars().next());
        next.map_or((OTHER_CHARACTER, 1), |c| (self.class_of(c), c.len_utf8()))
    }

    fn class_of(&self, c: char) -> u8 {
        let code = c as usize;
        let page = self.pages.get(code / CODE_POINTS_PER_PAGE).copied().map_or(0, usize::from);
        self.page_classes
            .get(page * CODE_POINTS_PER_PAGE + code % CODE_POINTS_PER_PAGE)
            .copied()
            .unwrap_or(OTHER_CHARACTER)
    }

    fn from_unicode_sets() -> Self {
        let mut class_by_code = vec![OTHER_CHARACTER; CODE_POINTS];
        let sets = [
            (r"[\p{Lu}\p{Lt}]", UPPER),
            (r"\p{Ll}", LOWER),
            (r"[\p{Lm}\p{Lo}]", CASELESS_LETTER),
            (r"\p{M}", COMBINING_MARK),
            (r"\p{N}", NUMBER),
            (r"\s", BLANK),
            (r"[\r\n]", NEWLINE),
        ];
        for (pattern, class) in sets {
            for (first, last) in ranges(pattern) {
                if let Some(range) = class_by_code.get_mut(first as usize..=last as usize) {
                    range.fill(class);
                }
            }
        }
        let mut bytes = [0; 256];
        bytes[..128].copy_from_slice(&class_by_code[..128]);
        let (mut pages, mut page_classes) = (Vec::new(), Vec::new());
        for page in class_by_code.chunks(CODE_POINTS_PER_PAGE) {
            let existing = page_classes.chunks(CODE_POINTS_PER_PAGE).position(|other| other == page);
            let index = existing.unwrap_or_else(|| {
                page_classes.extend_from_slice(page);
                page_classes.len() / CODE_POINTS_PER_PAGE - 1
            });
            pages.push(u16::try_from(index).unwrap_or(0));
        }
        Self { bytes, pages, page_classes }
    }
}

/// Returns the ranges of a character class pattern. Returns no ranges for other patterns.
fn ranges(pattern: &str) -> Vec<(char, char)> {
    match regex_syntax::parse(pattern).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => {
            class.iter().map(|range| (range.start(), range.end())).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_members() {
        let classes = CharClasses::shared();
        let cases = [
            ('A', UPPER),
            ('ǅ', UPPER),
            ('z', LOWER),
            ('ß', LOWER),
            ('ª', CASELESS_LETTER),
            ('語', CASELESS_LETTER),
            ('\u{301}', COMBINING_MARK),
            ('7', NUMBER),
            ('½', NUMBER),
            ('\t', BLANK),
            ('\u{a0}', BLANK),
            ('\u{2028}', BLANK),
            ('\r', NEWLINE),
            ('\n', NEWLINE),
            ('/', OTHER_CHARACTER),
            ('😀', OTHER_CHARACTER),
            ('\u{10ffff}', OTHER_CHARACTER),
        ];
        for (c, class) in cases {
            assert_eq!(classes.class_at(&c.to_string(), 0), (class, c.len_utf8()), "{c:?}");
        }
        assert_eq!(classes.class_at("a", 1), (0, 0));
    }
}
