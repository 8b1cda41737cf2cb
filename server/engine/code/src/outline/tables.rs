//! A language's rules as lookup tables by node kind, built once per process from the names in the language's directory.

use std::num::NonZeroU16;
use std::sync::OnceLock;

use strata_grammars::{LanguageId, Position};
use tree_sitter::Query;

use super::SymbolKind;

/// Bit flags for the properties of a node kind that control a walk. Several flags can apply to one kind.
pub(crate) mod flag {
    /// A leaf whose text is a name.
    pub(crate) const NAME_NODE: u8 = 1;
    /// A string literal.
    pub(crate) const STRING_NODE: u8 = 2;
    /// A pattern of the outline query can start here.
    pub(crate) const PATTERN_START: u8 = 4;
    /// The names directly inside the node are classified by their position.
    pub(crate) const NAMES_BY_POSITION: u8 = 8;
    /// A literal that is a name after a colon.
    pub(crate) const SYMBOL_NODE: u8 = 16;
    /// The position of the node applies to the names directly inside it.
    pub(crate) const LIST_AT_OWN_POSITION: u8 = 32;
    /// A leaf whose text is the name of a type.
    pub(crate) const TYPE_NAME_NODE: u8 = 64;
}

/// Bit flags for the ways in which a name is used, judged by its position. Combined over all mentions of the name.
pub(crate) mod usage {
    /// The name is in a position that no rule covers.
    pub(crate) const UNCLASSIFIED_USAGE: u8 = 1;
    /// The name is a member of a value, or the outline query captures it as a reference, so it is not a local
    /// variable.
    pub(crate) const MEMBER_USAGE: u8 = 2;
    /// The name is bound locally somewhere in the file.
    pub(crate) const LOCAL_BINDING_USAGE: u8 = 4;
}

/// The role of a capture in the outline query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutlineRole {
    Definition(SymbolKind),
    Name,
    Body,
    Modifier,
    ModifierOfRest,
    Attribute,
    Omit,
    Opaque,
    Import,
    Instance,
    Reference,
    Test,
    TestScope,
    Clause,
    Container,
    /// One of several names that a definition declares, with its own initial value.
    Declarator,
    /// The whole section of a heading of this level.
    Section(u8),
    /// A heading of this level, whose section ends where the next one of this or a lower level starts.
    Heading(u8),
    /// Belongs to the definition after it, but is not shown with it: documentation, an attribute for the compiler.
    Lead,
    /// Contains source text between its first and last byte, such as the argument of a macro.
    Source,
    Local,
    /// Used only by a predicate of the query.
    Silent,
}

/// The outline rules of one language, as lookup tables indexed by node kind or by capture.
pub(crate) struct OutlineTables {
    /// [`flag`] bits by node kind.
    flags: Vec<u8>,
    /// Rules for the children of each node kind: the field (`None` for any) and the [`usage`] bits.
    positions: Vec<Vec<(Option<NonZeroU16>, u8)>>,
    /// Role of each capture, by capture index.
    roles: Vec<OutlineRole>,
    /// Maximum nesting depth of definitions to keep.
    pub(crate) levels: usize,
    pub(crate) query: Option<&'static Query>,
}

impl OutlineTables {
    /// Returns the tables of a language, built on first use.
    pub(crate) fn for_language(language: LanguageId) -> &'static Self {
        static TABLES: [OnceLock<OutlineTables>; LanguageId::COUNT] =
            [const { OnceLock::new() }; LanguageId::COUNT];
        static EMPTY: OutlineTables = OutlineTables {
            flags: Vec::new(),
            positions: Vec::new(),
            roles: Vec::new(),
            levels: 0,
            query: None,
        };
        TABLES.get(language.index()).map_or(&EMPTY, |cell| cell.get_or_init(|| Self::new(language)))
    }

    /// Returns the [`flag`] bits of a node kind, or 0 for error nodes.
    pub(crate) fn flags(&self, kind: u16) -> u8 {
        self.flags.get(usize::from(kind)).copied().unwrap_or(0)
    }

    /// Returns the [`usage`] bits of a name below a parent of kind `parent`, in the field `field()`.
    pub(crate) fn usage_bits(&self, parent: u16, field: impl FnOnce() -> Option<NonZeroU16>) -> u8 {
        let rules = self.positions.get(usize::from(parent)).map_or(&[][..], Vec::as_slice);
        let field = match rules {
            [] => return usage::UNCLASSIFIED_USAGE,
            [(None, bits)] => return *bits,
            _ => field(),
        };
        let matching = rules.iter().find(|(rule_field, _)| rule_field.is_none() || *rule_field == field);
        matching.map_or(usage::UNCLASSIFIED_USAGE, |(_, bits)| *bits)
    }

    pub(crate) fn role(&self, capture: u32) -> OutlineRole {
        usize::try_from(capture)
            .ok()
            .and_then(|index| self.roles.get(index))
            .copied()
            .unwrap_or(OutlineRole::Silent)
    }

    fn new(language: LanguageId) -> Self {
        let grammar = language.grammar();
        let rules = &language.walk;
        let kinds = grammar.node_kind_count();
        let mut tables = Self {
            flags: vec![0; kinds],
            positions: vec![Vec::new(); kinds],
            roles: Vec::new(),
            levels: rules.levels.map_or(usize::MAX, usize::from),
            query: language.outline_query(),
        };
        for kind in rules.identifiers {
            tables.set_flag(grammar.id_for_node_kind(kind, true), flag::NAME_NODE);
        }
        for kind in rules.symbols {
            tables.set_flag(grammar.id_for_node_kind(kind, true), flag::SYMBOL_NODE);
        }
        for kind in rules.strings {
            tables.set_flag(grammar.id_for_node_kind(kind, true), flag::STRING_NODE);
        }
        for kind in rules.types {
            tables.set_flag(grammar.id_for_node_kind(kind, true), flag::TYPE_NAME_NODE);
        }
        for kind in rules.lists {
            tables.set_flag(grammar.id_for_node_kind(kind, true), flag::LIST_AT_OWN_POSITION);
        }
        for (positions, bits) in
            [(rules.members, usage::MEMBER_USAGE), (rules.locals, usage::LOCAL_BINDING_USAGE)]
        {
            for position in positions.iter().filter_map(|text| Position::resolve(text, &grammar)) {
                tables.set_flag(position.parent, flag::NAMES_BY_POSITION);
                if let Some(rules) = tables.positions.get_mut(usize::from(position.parent)) {
                    rules.push((position.field, bits));
                    // Rules for one field take precedence over rules for any child.
                    rules.sort_by_key(|(field, _)| field.is_none());
                }
            }
        }
        if let Some(query) = tables.query {
            tables.roles = query.capture_names().iter().map(|name| role(name)).collect();
            for pattern in 0..query.pattern_count() {
                let range = query.start_byte_for_pattern(pattern)..query.end_byte_for_pattern(pattern);
                let text = language.outline.get(range).unwrap_or_default();
                if let Some(kind) = root_node_kind(text) {
                    tables.set_flag(grammar.id_for_node_kind(kind, true), flag::PATTERN_START);
                }
            }
        }
        tables
    }

    fn set_flag(&mut self, kind: u16, flag: u8) {
        if let Some(flags) = self.flags.get_mut(usize::from(kind)) {
            *flags |= flag;
        }
    }
}

/// Returns the kind of node at which a pattern starts: `class_definition` for `(class_definition name: ...)`.
fn root_node_kind(pattern: &str) -> Option<&str> {
    let inside = pattern.trim_start().strip_prefix('(')?;
    let end = inside.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    inside.get(..end)
}

fn role(capture: &str) -> OutlineRole {
    match capture {
        "name" => OutlineRole::Name,
        "body" => OutlineRole::Body,
        "modifier" => OutlineRole::Modifier,
        "modifier.rest" => OutlineRole::ModifierOfRest,
        "attribute" => OutlineRole::Attribute,
        "omit" => OutlineRole::Omit,
        "opaque" => OutlineRole::Opaque,
        "import" => OutlineRole::Import,
        "instance" => OutlineRole::Instance,
        "reference" => OutlineRole::Reference,
        "test" => OutlineRole::Test,
        "test.scope" => OutlineRole::TestScope,
        "clause" => OutlineRole::Clause,
        "container" => OutlineRole::Container,
        "declarator" => OutlineRole::Declarator,
        "lead" => OutlineRole::Lead,
        "source" => OutlineRole::Source,
        "local" => OutlineRole::Local,
        other => match other.split_once('.') {
            Some(("definition", kind)) => {
                SymbolKind::from_capture(kind).map_or(OutlineRole::Silent, OutlineRole::Definition)
            }
            Some(("section", level)) => level.parse().map_or(OutlineRole::Silent, OutlineRole::Section),
            Some(("heading", level)) => level.parse().map_or(OutlineRole::Silent, OutlineRole::Heading),
            _ => OutlineRole::Silent,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pattern that starts otherwise would never be tried, and a misspelled kind would never be kept.
    #[test]
    fn every_pattern_starts_at_a_node_of_one_kind_and_every_definition_has_a_kind() {
        for language in LanguageId::all() {
            let query = language.outline_query().unwrap();
            for pattern in 0..query.pattern_count() {
                let range = query.start_byte_for_pattern(pattern)..query.end_byte_for_pattern(pattern);
                let text = &language.outline[range];
                assert!(root_node_kind(text).is_some_and(|kind| !kind.is_empty()), "{language}: {text}");
            }
            for name in query.capture_names().iter().filter(|name| name.starts_with("definition.")) {
                assert_ne!(role(name), OutlineRole::Silent, "{language}: @{name}");
            }
        }
    }
}
