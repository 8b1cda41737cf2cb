//! Every directory fits its grammar: the query compiles, and every kind, field and position that it names exists.

use std::collections::BTreeMap;

use strata_grammars::{LanguageId, Position};
use tree_sitter::{Parser, Query};

/// Valid captures in `outline.scm`, apart from `@definition.{kind}`, and `@_anything` for predicates.
const OUTLINE_CAPTURES: [&str; 18] = [
    "name",
    "body",
    "container",
    "declarator",
    "lead",
    "source",
    "clause",
    "modifier",
    "modifier.rest",
    "attribute",
    "omit",
    "local",
    "opaque",
    "import",
    "instance",
    "reference",
    "test",
    "test.scope",
];

#[test]
fn every_outline_query_compiles_and_has_only_known_captures() {
    for id in LanguageId::all() {
        let query = Query::new(&id.grammar(), id.outline).unwrap_or_else(|e| panic!("{id}: {e}"));
        for capture in query.capture_names() {
            let prefixes = ["_", "definition.", "section.", "heading."];
            let has_prefix = prefixes.iter().any(|prefix| capture.starts_with(prefix));
            assert!(has_prefix || OUTLINE_CAPTURES.contains(capture), "{id}: unknown capture @{capture}");
        }
        assert!(id.outline_query().is_some());
    }
}

/// Valid captures in `references.scm`, apart from `@_anything` for predicates.
const REFERENCE_CAPTURES: [&str; 39] = [
    "scope",
    "scope.type",
    "scope.module",
    "define",
    "owner",
    "bind",
    "bind.part",
    "bind.local",
    "outer",
    "alias",
    "record",
    "field",
    "type",
    "value",
    "returns",
    "base",
    "default",
    "import.module",
    "import.from",
    "import.name",
    "import.alias",
    "import.default",
    "import.all",
    "access",
    "object",
    "member",
    "member.quoted",
    "call",
    "callee",
    "pass",
    "same",
    "literal",
    "nothing",
    "self",
    "super",
    "typed",
    "key",
    "label",
    "any",
];

#[test]
fn every_references_query_compiles_and_has_only_known_captures() {
    let mut languages = Vec::new();
    for id in LanguageId::all().filter(|id| !id.references.is_empty()) {
        let query = Query::new(&id.grammar(), id.references).unwrap_or_else(|e| panic!("{id}: {e}"));
        for capture in query.capture_names() {
            assert!(
                capture.starts_with('_') || REFERENCE_CAPTURES.contains(capture),
                "{id}: unknown capture @{capture}"
            );
        }
        assert!(id.references_query().is_some());
        languages.push(id.name);
    }
    assert_eq!(languages, ["javascript", "python", "tsx", "typescript"]);
}

#[test]
fn every_grammar_loads_and_parses_its_fixture_without_errors() {
    for id in LanguageId::all() {
        let mut parser = Parser::new();
        parser.set_language(&id.grammar()).unwrap_or_else(|e| panic!("{id}: {e}"));
        let tree = parser.parse(id.fixture, None).unwrap();
        assert!(!tree.root_node().has_error(), "{id}: {}", tree.root_node().to_sexp());
    }
}

#[test]
fn every_kind_and_position_exists_in_the_grammar() {
    for id in LanguageId::all() {
        let grammar = id.grammar();
        let rules = &id.walk;
        for kind in rules
            .identifiers
            .iter()
            .chain(rules.strings)
            .chain(rules.symbols)
            .chain(rules.types)
            .chain(rules.lists)
        {
            assert_ne!(grammar.id_for_node_kind(kind, true), 0, "{id}: unknown kind {kind}");
        }
        for position in rules.members.iter().chain(rules.locals) {
            assert!(Position::resolve(position, &grammar).is_some(), "{id}: unknown position {position}");
        }
    }
}

#[test]
fn no_two_languages_claim_the_same_file_or_editor_id() {
    let mut claims: BTreeMap<(&str, &str), LanguageId> = BTreeMap::new();
    for id in LanguageId::all() {
        let lists = [
            ("extension", id.extensions),
            ("file name", id.file_names),
            ("interpreter", id.shebangs),
            ("editor id", id.editor_ids),
        ];
        for (kind, claimed) in lists {
            for claim in claimed {
                if let Some(other) = claims.insert((kind, claim), id) {
                    panic!("{id} and {other} both claim the {kind} {claim}");
                }
            }
        }
        assert!(id.builtins.is_sorted());
    }
    assert!(claims.len() > LanguageId::COUNT);
}

#[test]
fn languages_that_share_names_are_one_family() {
    let family = |name| LanguageId::by_name(name).unwrap().family;
    assert_eq!(family("tsx"), family("javascript"));
    assert_ne!(family("python"), family("javascript"));
}
