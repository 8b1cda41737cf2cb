//! Positions in a syntax tree, as written in `language.toml`.

use std::num::NonZeroU16;

use tree_sitter::Language;

/// The position of a node below its parent: any child, or the child in one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Node kind of the parent.
    pub parent: u16,
    /// The parent's field that contains the node; `None` for any child.
    pub field: Option<NonZeroU16>,
}

impl Position {
    /// Resolves `parent_kind` or `parent_kind.field`. Returns `None` if the grammar has no such kind or field.
    pub fn resolve(text: &str, grammar: &Language) -> Option<Self> {
        let (kind, field) = match text.split_once('.') {
            Some((kind, field)) => (kind, Some(grammar.field_id_for_name(field)?)),
            None => (text, None),
        };
        let parent = grammar.id_for_node_kind(kind, true);
        (parent != 0).then_some(Self { parent, field })
    }
}
