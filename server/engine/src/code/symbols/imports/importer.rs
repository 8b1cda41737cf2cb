//! The importing file, and paths relative to it. Knows no import style.

use strata_grammars::LanguageId;

use crate::key::FileKey;

/// One import: who imports.
#[derive(Clone, Copy)]
pub(super) struct Importer<'a> {
    pub(super) key: &'a FileKey,
    pub(super) language: LanguageId,
}

/// A directory and all those around it, innermost first, the top (empty) last.
pub(super) fn outward(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |directory| {
        (!directory.is_empty()).then(|| directory.rsplit_once('/').map_or("", |(around, _)| around))
    })
}

/// `name` in `directory`.
pub(super) fn inside(directory: &str, name: &str) -> String {
    match (directory, name) {
        ("", name) => name.to_owned(),
        (directory, "") => directory.to_owned(),
        (directory, name) => format!("{directory}/{name}"),
    }
}
