//! The text a tree was made from, of which a walk wants small parts here and there: all of it in one piece, or one
//! piece for the part that is walked and a rope for what little is asked of the rest. Never changes a text.

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

    /// The text in a range; nothing where that is no range of whole characters.
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

/// What the predicates of a query look at.
impl<'a> TextProvider<Bytes<'a>> for Source<'a> {
    type I = std::iter::Once<Bytes<'a>>;

    fn text(&mut self, node: Node<'_>) -> Self::I {
        std::iter::once(Bytes(Source::text(self, node.byte_range())))
    }
}
