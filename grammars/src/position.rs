//! Positions in a syntax tree as `language.toml` writes them. Only splits and resolves the text.

use std::num::NonZeroU16;

use tree_sitter::Language;

/// The place of a node below its parent: any child of a kind of parent, or the one in a field of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The parent's kind.
    pub parent: u16,
    /// The field of the parent, or any child.
    pub field: Option<NonZeroU16>,
}

impl Position {
    /// Resolves `parent_kind` or `parent_kind.field`; `None` when the grammar has no such kind or field.
    pub fn resolve(text: &str, grammar: &Language) -> Option<Self> {
        let (kind, field) = match text.split_once('.') {
            Some((kind, field)) => (kind, Some(grammar.field_id_for_name(field)?)),
            None => (text, None),
        };
        let parent = grammar.id_for_node_kind(kind, true);
        (parent != 0).then_some(Self { parent, field })
    }
}
