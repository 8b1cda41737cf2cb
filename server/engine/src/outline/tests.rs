//! The outline of each language's fixture, and what must hold for any text.

use std::fmt::Write as _;

use expect_test::{ExpectFile, expect_file};
use strata_grammars::LanguageId;

use super::*;
use crate::key::FileKey;

fn outline(language: &str, source: &str) -> Outline {
    Outline::read(LanguageId::by_name(language).unwrap(), source, &Cancel::new()).unwrap()
}

fn describe(outline: &Outline) -> String {
    let mut text = String::new();
    for symbol in &outline.symbols {
        let indent = "  ".repeat(symbol.depth as usize);
        let scope = if symbol.scope == Scope::Tests { " (tests)" } else { "" };
        let _ = writeln!(text, "{indent}{:?} {}{scope}: {}", symbol.kind, symbol.name, symbol.head);
        for attribute in symbol.attributes.iter() {
            let _ = writeln!(text, "{indent}  attribute {attribute}");
        }
        if !symbol.instance.is_empty() {
            let _ = writeln!(text, "{indent}  instance {:?}", symbol.instance);
        }
    }
    let _ = writeln!(text, "imports {:?}", outline.imports);
    let _ = writeln!(text, "references {:?}", outline.references);
    let _ = writeln!(text, "tests {}", outline.tests);
    text
}

fn expected(language: LanguageId) -> ExpectFile {
    expect_file![format!("../../../../grammars/{language}/outline.txt")]
}

/// `UPDATE_EXPECT=1` rewrites the expected files.
#[test]
fn every_fixture_gives_its_expected_outline_and_block() {
    for language in LanguageId::all() {
        let outline = Outline::read(language, language.fixture(), &Cancel::new()).unwrap();
        let block = map_block(language, &FileKey::from("src/fixture"), &outline);
        expected(language).assert_eq(&format!("{}\n{}", describe(&outline), block.text));
    }
}
