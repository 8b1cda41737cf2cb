//! Converts between editor positions and byte offsets; no other module does. Lines end at LF, CRLF or CR (LSP 3.17,
//! "Text Documents"), and characters are counted in the negotiated encoding.

use ropey::Rope;
use strata_app::model::documents;
use strata_conversation::selection::LineRange;
use tower_lsp::ls_types::{Position, PositionEncodingKind, Range};

/// The unit of `Position::character`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PositionEncoding {
    Utf8,
    /// UTF-16 code units, the protocol's default.
    #[default]
    Utf16,
    Utf32,
}

/// Why a position does not exist in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum PositionError {
    /// The line is beyond the end of the text.
    #[error("line {line} does not exist; the text has {lines} lines")]
    NoSuchLine {
        /// Zero-based line number.
        line: u32,
        /// Number of lines in the text.
        lines: usize,
    },
    #[error("line {line}, character {character} is inside a character")]
    InsideCharacter {
        /// Zero-based line number.
        line: u32,
        /// Offset in the line, in the negotiated encoding.
        character: u32,
    },
}

impl PositionEncoding {
    /// Chooses the best encoding that the client offers. UTF-8 needs no conversion, so it takes precedence over the
    /// default. A client that offers nothing uses UTF-16.
    pub(crate) fn negotiate(offered: Option<&[PositionEncodingKind]>) -> Self {
        let offered = offered.unwrap_or_default();
        let has = |kind: &PositionEncodingKind| offered.contains(kind);
        if has(&PositionEncodingKind::UTF8) {
            Self::Utf8
        } else if has(&PositionEncodingKind::UTF16) || !has(&PositionEncodingKind::UTF32) {
            Self::Utf16
        } else {
            Self::Utf32
        }
    }

    /// Returns the encoding's name in the protocol.
    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    /// Converts a position to a byte offset. A character beyond the end of its line means the end of the line, as the
    /// protocol requires. The line after the last one means the end of the text, since clients send it to replace the
    /// whole text.
    ///
    /// # Errors
    /// [`PositionError`] if the line does not exist, or the position is inside a character.
    pub(crate) fn offset(self, rope: &Rope, position: Position) -> Result<usize, PositionError> {
        let lines = rope.len_lines();
        let line = position.line as usize;
        if line == lines {
            return Ok(rope.len_bytes());
        }
        if line > lines {
            return Err(PositionError::NoSuchLine { line: position.line, lines });
        }
        let character = position.character as usize;
        let byte = match contiguous_line(rope, line) {
            Some((start, line)) => self.offset_in_line(line, character).map(|byte| start + byte),
            None => self.offset_in_rope(rope, line, character),
        };
        byte.ok_or(PositionError::InsideCharacter { line: position.line, character: position.character })
    }

    /// Converts an offset in a line to a byte offset, limited to the end of the line. Returns `None` inside a
    /// character.
    fn offset_in_rope(self, rope: &Rope, line: usize, target: usize) -> Option<usize> {
        let start = rope.line_to_char(line);
        let end = end_of_line(rope, line);
        let character = match self {
            Self::Utf32 => start.saturating_add(target).min(end),
            Self::Utf8 => {
                let byte = rope.char_to_byte(start).saturating_add(target).min(rope.char_to_byte(end));
                let character = rope.byte_to_char(byte);
                if rope.char_to_byte(character) != byte {
                    return None;
                }
                character
            }
            Self::Utf16 => {
                let unit =
                    rope.char_to_utf16_cu(start).saturating_add(target).min(rope.char_to_utf16_cu(end));
                let character = rope.utf16_cu_to_char(unit);
                if rope.char_to_utf16_cu(character) != unit {
                    return None;
                }
                character
            }
        };
        Some(rope.char_to_byte(character))
    }

    /// Like `from_replacement`, but for a line that is contiguous in memory.
    fn offset_in_line(self, line: &str, target: usize) -> Option<usize> {
        let mut units = 0;
        for (byte, character) in line.char_indices() {
            if units >= target {
                return (units == target).then_some(byte);
            }
            units += match self {
                Self::Utf8 => character.len_utf8(),
                Self::Utf16 => character.len_utf16(),
                Self::Utf32 => 1,
            };
        }
        (units <= target).then_some(line.len())
    }

    /// Converts a byte offset to a position. An offset inside a character or beyond the text gives the nearest position
    /// before it.
    pub(crate) fn position(self, rope: &Rope, byte: usize) -> Position {
        let character = rope.byte_to_char(byte.min(rope.len_bytes()));
        let line = rope.char_to_line(character);
        let start = rope.line_to_char(line);
        // There is no position inside the line terminator.
        let character = character.min(end_of_line(rope, line));
        let units = match self {
            Self::Utf8 => rope.char_to_byte(character) - rope.char_to_byte(start),
            Self::Utf16 => rope.char_to_utf16_cu(character) - rope.char_to_utf16_cu(start),
            Self::Utf32 => character - start,
        };
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Position { line: number(line), character: number(units) }
    }

    /// Converts a range of positions to a range of byte offsets, which may be reversed.
    ///
    /// # Errors
    /// Same as [`PositionEncoding::offset`].
    pub(crate) fn range(self, rope: &Rope, range: Range) -> Result<std::ops::Range<usize>, PositionError> {
        let start = self.offset(rope, range.start)?;
        let end = if range.end == range.start { start } else { self.offset(rope, range.end)? };
        Ok(start..end)
    }
}

/// Whether a client may call `length` the length of these bytes. Clients count in any unit. Those that edit text without
/// carriage returns (Emacs, JetBrains) count CRLF as one, and those that edit lines (vim-lsp) count the end of the last
/// line, whether it has one or not.
pub(crate) fn is_plausible_length(rope: &Rope, bytes: &std::ops::Range<usize>, length: u32) -> bool {
    let text = rope.byte_slice(bytes.clone());
    let lengths = [text.len_bytes(), text.len_utf16_cu(), text.len_chars()];
    let length = length as usize;
    let is_last_line = bytes.end == rope.len_bytes();
    if lengths.contains(&length) || (is_last_line && lengths.iter().any(|count| count + 1 == length)) {
        return true;
    }
    let characters = || text.chars();
    let line_ends = characters().zip(characters().skip(1)).filter(|pair| *pair == ('\r', '\n')).count();
    lengths.iter().any(|count| count.checked_sub(line_ends) == Some(length))
}

/// Returns the lines that a range touches (see [`documents::lines_in_range`]).
pub(crate) fn touched_lines(range: Range) -> Option<LineRange> {
    let line_and_character = |position: Position| (position.line, position.character);
    documents::lines_in_range(line_and_character(range.start)..line_and_character(range.end))
}

/// Returns the start of a line and its text without the terminator, if the line is contiguous in the rope. Scanning a
/// contiguous line takes half the time of querying the rope (see the bench `latency`).
fn contiguous_line(rope: &Rope, line: usize) -> Option<(usize, &str)> {
    let start = rope.line_to_byte(line);
    let end = if line + 1 < rope.len_lines() { rope.line_to_byte(line + 1) } else { rope.len_bytes() };
    let (chunk, chunk_start, ..) = rope.chunk_at_byte(start);
    let line = chunk.get(start - chunk_start..end - chunk_start)?;
    // Within a line, a carriage return can only be part of the terminator.
    Some((start, line.trim_end_matches(['\r', '\n'])))
}

/// Returns the character index of the end of a line, before its terminator.
fn end_of_line(rope: &Rope, line: usize) -> usize {
    let start = rope.line_to_char(line);
    let next = if line + 1 < rope.len_lines() { rope.line_to_char(line + 1) } else { rope.len_chars() };
    let is_char = |index: usize, expected: char| index >= start && rope.get_char(index) == Some(expected);
    match next.checked_sub(1) {
        Some(last) if is_char(last, '\n') => match last.checked_sub(1) {
            Some(before) if is_char(before, '\r') => before,
            _ => last,
        },
        Some(last) if is_char(last, '\r') => last,
        _ => next,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn offset(
        encoding: PositionEncoding,
        text: &str,
        line: u32,
        character: u32,
    ) -> Result<usize, PositionError> {
        encoding.offset(&Rope::from_str(text), Position { line, character })
    }

    #[test]
    fn a_range_covers_the_lines_that_it_touches() {
        let lines = |start: (u32, u32), end: (u32, u32)| {
            let position = |(line, character)| Position { line, character };
            touched_lines(Range { start: position(start), end: position(end) }).map(|lines| lines.to_string())
        };
        for (start, end, expected) in [
            ((2, 0), (9, 0), Some("L3-9")),
            ((2, 4), (8, 1), Some("L3-9")),
            ((8, 1), (2, 4), Some("L3-9")),
            ((2, 1), (2, 2), Some("L3")),
            ((2, 0), (3, 0), Some("L3")),
            ((2, 4), (2, 4), None),
            ((u32::MAX, 0), (u32::MAX, 1), Some("L4294967295")),
        ] {
            assert_eq!(lines(start, end).as_deref(), expected, "{start:?} {end:?}");
        }
    }

    #[test]
    fn characters_are_counted_in_the_negotiated_unit() {
        let text = "é🦀x";
        assert_eq!(offset(PositionEncoding::Utf8, text, 0, 6), Ok(6));
        assert_eq!(offset(PositionEncoding::Utf16, text, 0, 3), Ok(6));
        assert_eq!(offset(PositionEncoding::Utf32, text, 0, 2), Ok(6));
    }

    #[test]
    fn a_position_inside_a_character_is_an_error() {
        assert!(
            offset(PositionEncoding::Utf16, "🦀x", 0, 1).is_err()
                && offset(PositionEncoding::Utf8, "éx", 0, 1).is_err()
        );
        assert!(offset(PositionEncoding::Utf16, "🦀", 0, 1).is_err(), "between surrogates");
        assert!(offset(PositionEncoding::Utf8, "é", 0, 1).is_err(), "between bytes");
    }

    #[test]
    fn a_position_past_the_line_is_its_end_and_past_the_text_is_an_error() {
        for (text, end) in [("ab\ncd", 2), ("ab\r\ncd", 2), ("ab\rcd", 2), ("ab", 2), ("\ncd", 0)] {
            assert_eq!(offset(PositionEncoding::Utf16, text, 0, u32::MAX), Ok(end), "{text:?}");
        }
        assert_eq!(offset(PositionEncoding::Utf16, "ab\n", 2, 0), Ok(3), "the line after the last one");
        assert!(offset(PositionEncoding::Utf16, "ab\n", 3, 0).is_err());
        assert!(offset(PositionEncoding::Utf16, "", u32::MAX, 0).is_err());
    }

    #[test]
    fn lines_end_only_at_the_line_ends_of_the_protocol() {
        // The protocol treats vertical tab, form feed, next line, and line and paragraph separators as ordinary
        // characters.
        let text = "a\u{B}b\u{C}c\u{85}d\u{2028}e\u{2029}f\ng";
        assert_eq!(offset(PositionEncoding::Utf32, text, 0, 10), Ok(text.find('f').unwrap()));
        assert_eq!(offset(PositionEncoding::Utf32, text, 1, 0), Ok(text.len() - 1));
    }

    proptest! {
        /// Positions in a contiguous line equal those in a line that the rope splits.
        #[test]
        fn positions_in_a_contiguous_line_equal_those_in_the_rope(text in "[ab\\r\\n\u{e9}\u{1f980}\u{2028}]{0,40}", character in 0_usize..30) {
            let rope = Rope::from_str(&text);
            for encoding in [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32] {
                for line in 0..rope.len_lines() {
                    let (start, piece) = contiguous_line(&rope, line).unwrap();
                    let from_line = encoding.offset_in_line(piece, character).map(|byte| start + byte);
                    prop_assert_eq!(from_line, encoding.offset_in_rope(&rope, line, character));
                }
            }
        }

        #[test]
        fn an_offset_survives_conversion_to_a_position_and_back(text in "[ab\\r\\n\u{e9}\u{1f980}\u{2028}]{0,40}", byte in 0_usize..60) {
            let rope = Rope::from_str(&text);
            for encoding in [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32] {
                let position = encoding.position(&rope, byte);
                let returned = encoding.offset(&rope, position).unwrap();
                prop_assert!(returned <= byte && text.is_char_boundary(returned));
                prop_assert_eq!(encoding.position(&rope, returned), position);
                let between_cr_and_lf = byte > 0 && text.get(byte - 1..byte + 1) == Some("\r\n");
                if text.is_char_boundary(byte) && byte <= text.len() && !between_cr_and_lf {
                    prop_assert_eq!(returned, byte);
                }
            }
        }
    }

    #[test]
    fn a_length_in_any_unit_is_accepted() {
        let rope = Rope::from_str("x\r\né🦀\r\nx");
        let lengths = |bytes: std::ops::Range<usize>| -> Vec<u32> {
            (0..20).filter(|length| is_plausible_length(&rope, &bytes, *length)).collect()
        };
        assert_eq!(
            lengths(1..11),
            [4, 5, 6, 7, 8, 10],
            "two line ends, and 6 bytes, 3 units or 2 characters"
        );
        assert_eq!((lengths(1..1), lengths(11..12)), (vec![0], vec![1, 2]));
    }

    #[test]
    fn the_best_offered_encoding_is_chosen() {
        let kinds = [PositionEncodingKind::UTF32, PositionEncodingKind::UTF16];
        assert_eq!(PositionEncoding::negotiate(Some(&kinds)), PositionEncoding::Utf16);
        assert_eq!(PositionEncoding::negotiate(Some(&kinds[..1])), PositionEncoding::Utf32);
        assert_eq!(PositionEncoding::negotiate(Some(&[PositionEncodingKind::UTF8])), PositionEncoding::Utf8);
        assert_eq!(PositionEncoding::negotiate(None), PositionEncoding::Utf16);
    }
}
