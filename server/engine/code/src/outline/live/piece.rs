//! One piece of a live outline.

use std::sync::Arc;

use crate::outline::Symbol;
use crate::outline::extract::{Redefinition, WalkAnchor};
use crate::outline::mentions::PackedMention;

/// The symbols, imports and mentioned names between two anchors.
#[derive(Debug)]
pub(super) struct OutlinePiece {
    /// The anchor before the piece; unused for the first piece.
    pub(super) anchor: WalkAnchor,
    /// The symbols as found, before definitions with the same name are compared. Their `depth` is the number of
    /// enclosing definitions.
    pub(super) symbols: Arc<[Symbol]>,
    pub(super) repeats: Box<[Redefinition]>,
    pub(super) instance: Box<[InstanceName]>,
    pub(super) imports: Box<[Box<str>]>,
    pub(super) mentions: Box<[PackedMention]>,
    pub(super) tests: u32,
    /// The symbols that the outline shows, with their depth in it.
    pub(super) shown: Arc<[Symbol]>,
}

/// A name set on an instance.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct InstanceName {
    /// Number of symbols in the piece that precede the name.
    pub(super) preceding_symbols: usize,
    pub(super) owner: u32,
    pub(super) name: Box<str>,
}
