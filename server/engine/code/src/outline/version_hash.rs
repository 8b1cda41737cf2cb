//! A hash of everything that outlines depend on besides the text: the sources of this module, the language's directory
//! and its grammar. Caches store it along with outlines.

use std::fmt::Write as _;
use std::sync::OnceLock;

use strata_base::hash::ContentHash;
use strata_grammars::LanguageId;

/// Returns a hash that identifies how this build outlines a language. Builds with the same hash produce the same
/// outline for the same text.
pub fn version_hash(language: LanguageId) -> ContentHash {
    static HASHES: [OnceLock<ContentHash>; LanguageId::COUNT] =
        [const { OnceLock::new() }; LanguageId::COUNT];
    match HASHES.get(language.index()) {
        Some(cell) => *cell.get_or_init(|| compute_version_hash(language)),
        None => compute_version_hash(language),
    }
}

fn compute_version_hash(language: LanguageId) -> ContentHash {
    let grammar = language.grammar();
    let mut inputs = format!(
        "{} {} {language} {} {:?} {:?} {:?} {:?}",
        env!("CARGO_PKG_VERSION"),
        env!("STRATA_OUTLINE_SOURCES"),
        language.outline,
        &language.walk,
        language.masks,
        language.builtins,
        language.imports,
    );
    let _ = write!(inputs, " {} {}", grammar.abi_version(), grammar.parse_state_count());
    for kind in (0..grammar.node_kind_count()).filter_map(|id| u16::try_from(id).ok()) {
        let _ = write!(inputs, " {:?}", grammar.node_kind_for_id(kind));
    }
    for field in (1..=grammar.field_count()).filter_map(|id| u16::try_from(id).ok()) {
        let _ = write!(inputs, " {:?}", grammar.field_name_for_id(field));
    }
    ContentHash::from_text(&inputs)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_language_has_its_own_version_hash() {
        let hashes: BTreeSet<ContentHash> = LanguageId::all().map(version_hash).collect();
        assert_eq!(hashes.len(), LanguageId::COUNT);
        assert!(LanguageId::all().all(|language| compute_version_hash(language) == version_hash(language)));
    }
}
