//! The importing file, and helpers for paths relative to it.

use strata_base::key::FileKey;
use strata_grammars::LanguageId;

/// The file that contains an import.
#[derive(Clone, Copy)]
pub(super) struct Importer<'a> {
    pub(super) key: &'a FileKey,
    pub(super) language: LanguageId,
}

/// Returns a directory and its parents, innermost first, ending with the top directory (empty).
pub(super) fn self_and_parents(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |directory| {
        (!directory.is_empty()).then(|| directory.rsplit_once('/').map_or("", |(parent, _)| parent))
    })
}

/// Joins `directory` and `name`, either of which may be empty.
pub(super) fn join_names(directory: &str, name: &str) -> String {
    match (directory, name) {
        ("", name) => name.to_owned(),
        (directory, "") => directory.to_owned(),
        (directory, name) => format!("{directory}/{name}"),
    }
}

/// Whether a path is in a directory or below it.
pub(super) fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}
