//! The text of a syntax tree, for a walk that reads only parts of it: either one contiguous string, or a string
//! for the part being walked and a rope for the rest.

use std::borrow::Cow;
use std::ops::Range;

use ropey::Rope;
use strata_base::text::floor_char_boundary;
use tree_sitter::{Node, TextProvider};

/// A text in a rope, with a contiguous copy of the piece being read. Offsets are bytes from the start of the whole
/// text.
#[derive(Clone, Copy)]
pub(super) struct SourceText<'a> {
    piece: &'a str,
    /// Offset of `piece` in the whole text.
    start: usize,
    rope: Option<&'a Rope>,
}

impl<'a> SourceText<'a> {
    /// Creates a source from a contiguous text.
    pub(super) fn from_text(text: &'a str) -> Self {
        Self { piece: text, start: 0, rope: None }
    }

    /// Creates a source from the part of `rope` that starts at byte `start`. Everything else is read from the rope.
    pub(super) fn from_rope_part(piece: &'a str, start: usize, rope: &'a Rope) -> Self {
        Self { piece, start, rope: Some(rope) }
    }

    /// Returns the text in a range, or an empty string if the range splits a character.
    pub(super) fn text(&self, range: Range<usize>) -> Cow<'a, str> {
        let inside = range.start.checked_sub(self.start).zip(range.end.checked_sub(self.start));
        match (inside.and_then(|(start, end)| self.piece.get(start..end)), self.rope) {
            (Some(text), _) => Cow::Borrowed(text),
            (None, Some(rope)) => {
                rope.get_byte_slice(range).map_or(Cow::Borrowed(""), |slice| Cow::Owned(slice.to_string()))
            }
            (None, None) => Cow::Borrowed(""),
        }
    }

    /// Returns the text in a range whose ends are first moved back to character boundaries.
    pub(super) fn text_at_char_boundaries(&self, range: Range<usize>) -> Cow<'a, str> {
        self.text(self.floor_char_boundary(range.start)..self.floor_char_boundary(range.end))
    }

    fn floor_char_boundary(&self, at: usize) -> usize {
        match (at.checked_sub(self.start).filter(|piece_offset| *piece_offset <= self.piece.len()), self.rope)
        {
            (Some(piece_offset), _) => self.start + floor_char_boundary(self.piece, piece_offset),
            (None, Some(rope)) => {
                let at = at.min(rope.len_bytes());
                rope.char_to_byte(rope.byte_to_char(at))
            }
            (None, None) => self.start + self.piece.len(),
        }
    }
}

/// A part of a text, as bytes for a tree-sitter query.
pub(super) struct TextBytes<'a>(Cow<'a, str>);

impl AsRef<[u8]> for TextBytes<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Provides text for the predicates of a query.
impl<'a> TextProvider<TextBytes<'a>> for SourceText<'a> {
    type I = std::iter::Once<TextBytes<'a>>;

    fn text(&mut self, node: Node<'_>) -> Self::I {
        std::iter::once(TextBytes(SourceText::text(self, node.byte_range())))
    }
}
