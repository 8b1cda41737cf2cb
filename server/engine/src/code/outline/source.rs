//! The text of a tree, of which a walk reads small parts: one contiguous text, or a contiguous part for the walk and a rope for
//! the rest. Never changes a text.

use std::borrow::Cow;
use std::ops::Range;

use ropey::Rope;
use tree_sitter::{Node, TextProvider};

use crate::text::floor;

/// A text. Offsets are bytes from the start of the whole.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    piece: &'a str,
    /// Where the piece starts.
    start: usize,
    whole: Option<&'a Rope>,
}

impl<'a> Source<'a> {
    /// A text in one piece.
    pub(super) fn whole(text: &'a str) -> Self {
        Self { piece: text, start: 0, whole: None }
    }

    /// The part of `whole` that starts at byte `start`, and everything else from the rope.
    pub(super) fn part(piece: &'a str, start: usize, whole: &'a Rope) -> Self {
        Self { piece, start, whole: Some(whole) }
    }

    /// The text in a range, or an empty text if the range splits a character.
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

    /// The text in a range, which is moved to the nearest starts of characters before its ends.
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

/// A part of a text as bytes.
pub(super) struct Bytes<'a>(Cow<'a, str>);

impl AsRef<[u8]> for Bytes<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Text for the predicates of a query.
impl<'a> TextProvider<Bytes<'a>> for Source<'a> {
    type I = std::iter::Once<Bytes<'a>>;

    fn text(&mut self, node: Node<'_>) -> Self::I {
        std::iter::once(Bytes(Source::text(self, node.byte_range())))
    }
}
