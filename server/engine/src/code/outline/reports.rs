//! Whether the grammars of this build work: each language against its own fixture. Says nothing about any other text.

use serde::Serialize;
use strata_grammars::LanguageId;

use super::Outline;
use crate::cancel::Cancel;

/// The state of one language in this build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GrammarReport {
    pub name: &'static str,
    /// The version of tree-sitter's interface that its grammar was generated for.
    pub abi: usize,
    /// Why there are no outlines in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<&'static str>,
}

/// Tries every language, by name.
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
        return Some("its outline query does not fit its grammar");
    }
    match Outline::read(language, language.fixture, &Cancel::new()) {
        Ok(outline) if outline.symbols.is_empty() => Some("it finds nothing in text that has definitions"),
        Ok(_) => None,
        // No one raised the flag, so that is what is left.
        Err(_) => Some("its grammar was generated for another version of the parser"),
    }
}
