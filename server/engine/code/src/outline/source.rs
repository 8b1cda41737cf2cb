//! The text of a syntax tree, for a walk that reads only parts of it: either one contiguous string, or a string
//! for the part being walked and a rope for the rest.

use std::borrow::Cow;
use std::ops::Range;

use ropey::Rope;
use strata_base::text::floor;
use tree_sitter::{Node, TextProvider};

/// A text in a rope, with a contiguous copy of the piece being read. Offsets are bytes from the start of the whole
/// text.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    piece: &'a str,
    /// Offset of `piece` in the whole text.
    start: usize,
    whole: Option<&'a Rope>,
}

impl<'a> Source<'a> {
    /// Creates a source from a contiguous text.
    pub(super) fn whole(text: &'a str) -> Self {
        Self { piece: text, start: 0, whole: None }
    }

    /// Creates a source from the part of `whole` that starts at byte `start`. Everything else is read from the rope.
    pub(super) fn part(piece: &'a str, start: usize, whole: &'a Rope) -> Self {
        Self { piece, start, whole: Some(whole) }
    }

    /// Returns the text in a range, or an empty string if the range splits a character.
    pub(super) fn text(&self, range: Range<usize>) -> Cow<'a, str> {
        let inside = range.start.checked_sub(self.start).zip(range.end.checked_sub(self.start));
        match (inside.and_then(|(start, end)| self.piece.get(start..end)), self.whole) {
            (Some(text), _) => Cow::Borrowed(text),
            (None, Some(whole)) => {
                whole.get_byte_slice(range).map_or(Cow::Borrowed(""), |slice| Cow::Owned(slice.to_string()))
            }
            (None, None) => Cow::Borrowed(""),
        }
    }

    /// Returns the text in a range whose ends are first moved back to character boundaries.
    pub(super) fn nearest(&self, range: Range<usize>) -> Cow<'a, str> {
        self.text(self.boundary(range.start)..self.boundary(range.end))
    }

    fn boundary(&self, at: usize) -> usize {
        match (at.checked_sub(self.start).filter(|inside| *inside <= self.piece.len()), self.whole) {
            (Some(inside), _) => self.start + floor(self.piece, inside),
            (None, Some(whole)) => {
                let at = at.min(whole.len_bytes());
                whole.char_to_byte(whole.byte_to_char(at))
            }
            (None, None) => self.start + self.piece.len(),
        }
    }
}

/// A part of a text, as bytes for a tree-sitter query.
pub(super) struct Bytes<'a>(Cow<'a, str>);

impl AsRef<[u8]> for Bytes<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Provides text for the predicates of a query.
impl<'a> TextProvider<Bytes<'a>> for Source<'a> {
    type I = std::iter::Once<Bytes<'a>>;

    fn text(&mut self, node: Node<'_>) -> Self::I {
        std::iter::once(Bytes(Source::text(self, node.byte_range())))
    }
}
