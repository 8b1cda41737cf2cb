//! Checks the outlines of constructs as people write them: per language a text, `constructs.*`, and the expected names,
//! kinds, nesting and lines, `constructs.txt`, in the language's directory. Every name that an outline shows must find its
//! definition.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::{ExpectFile, expect_file};
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_base::text::LineStarts;
use strata_grammars::LanguageId;

use super::{
    LocatedSymbol, SyntaxTree, UnparsedLines, find_definitions, locate_symbols, parse, qualified_name,
    with_lead,
};
use crate::symbols::{FileSymbols, SymbolIndex, find_symbols};

/// A language's constructs, outlined.
struct OutlinedConstructs {
    language: LanguageId,
    tree: SyntaxTree,
    places: Vec<LocatedSymbol>,
}

fn all() -> impl Iterator<Item = OutlinedConstructs> {
    LanguageId::all().map(|language| {
        let tree = parse(language, language.constructs, None, &Cancel::new()).unwrap();
        let places = locate_symbols(&tree, language.constructs, &Cancel::new()).unwrap();
        OutlinedConstructs { language, tree, places }
    })
}

fn expected_constructs(language: LanguageId) -> ExpectFile {
    expect_file![format!("../../../../../grammars/{language}/constructs.txt")]
}

impl OutlinedConstructs {
    fn name(&self, index: usize) -> String {
        qualified_name(self.places.iter().map(|place| &place.symbol), index)
    }
}

/// `UPDATE_EXPECT=1` rewrites the expected files.
#[test]
fn constructs_have_their_names_kinds_nesting_and_lines() {
    for constructs in all() {
        let OutlinedConstructs { language, tree, places } = &constructs;
        let source = language.constructs;
        let lines = LineStarts::new(source);
        let mut text = String::new();
        for place in places {
            let (first, last) = lines.line_range(&place.range);
            let (lead, _) = lines.line_range(&with_lead(tree, source, place));
            let lead = if lead < first { format!("{lead}/") } else { String::new() };
            let indent = place.symbol.depth as usize * 2;
            let kind = format!("{:?}", place.symbol.kind).to_lowercase();
            let _ =
                writeln!(text, "{:indent$}{lead}{first}-{last} {kind} {}", "", constructs.name(place.index));
        }
        let unparsed = UnparsedLines::find(tree, source);
        if !unparsed.is_empty() {
            let _ = writeln!(text, "unparsed {unparsed}");
        }
        expected_constructs(*language).assert_eq(&text);
    }
}

#[test]
fn every_shown_name_leads_to_its_definition() {
    for constructs in all() {
        let OutlinedConstructs { language, places, .. } = &constructs;
        let key = FileKey::from("src/constructs");
        let symbols = FileSymbols::read(*language, &key, language.constructs, &Cancel::new()).unwrap();
        let index: SymbolIndex = [(key, Arc::new(symbols))].into_iter().collect();
        for place in places {
            assert!(place.symbol.head.contains(&*place.symbol.name), "{language}: {:?}", place.symbol);
            let name = constructs.name(place.index);
            let found = find_definitions(places, &name);
            let names: BTreeSet<String> = found.iter().map(|found| constructs.name(found.index)).collect();
            assert_eq!(names, BTreeSet::from([name.clone()]), "{language}");
            let is_impl = place.symbol.kind == super::SymbolKind::Impl;
            assert!(is_impl || found.iter().any(|found| found.index == place.index), "{language}: {name}");
            let mut matches = find_symbols(&index, &name, usize::MAX, &Cancel::new()).unwrap().into_iter();
            assert!(is_impl || matches.any(|found| found.symbol_index == place.index), "{language}: {name}");
        }
    }
}
