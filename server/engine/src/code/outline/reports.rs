//! Checks that the grammars of this build work, by running each language on its own fixture.

use serde::Serialize;
use strata_grammars::LanguageId;

use super::Outline;
use crate::cancel::Cancel;

/// The state of one language's grammar in this build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GrammarReport {
    pub name: &'static str,
    /// Version of tree-sitter's ABI for which the grammar was generated.
    pub abi: usize,
    /// The reason that the language has no outlines; absent if the grammar works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<&'static str>,
}

/// Checks the grammar of every language, in alphabetical order.
pub fn grammar_reports() -> Vec<GrammarReport> {
    let report = |language: LanguageId| GrammarReport {
        name: language.name,
        abi: language.grammar().abi_version(),
        problem: problem_of(language),
    };
    LanguageId::all().map(report).collect()
}

fn problem_of(language: LanguageId) -> Option<&'static str> {
    if language.outline_query().is_none() {
        return Some("the outline query does not match the grammar");
    }
    match Outline::read(language, language.fixture, &Cancel::new()) {
        Ok(outline) if outline.symbols.is_empty() => {
            Some("the outline query finds no definitions in the sample file")
        }
        Ok(_) => None,
        // The cancel flag is never raised here, so the grammar's version is the only possible cause.
        Err(_) => Some("the grammar was generated for a different version of the parser"),
    }
}
