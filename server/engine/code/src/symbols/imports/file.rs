//! Resolves imports that are the path of one file: C's `#include`, Ruby's `require`, a shell's `source`,
//! Lua's dotted `require`, and links.

use super::super::manifests::resolve_relative_path;
use super::importer::Importer;
use super::table::PathTable;

pub(super) fn resolve(table: &PathTable, importer: Importer<'_>, import: &str) -> Vec<u32> {
    let path = import.trim().trim_matches(['<', '>', '"', '\'']);
    let path = path.split(['#', '?']).next().unwrap_or(path);
    if path.is_empty() || path.contains("://") {
        return Vec::new();
    }
    let file = find_by_path(table, importer, path);
    if file.is_none() && !path.contains('/') && path.contains('.') {
        return find_by_path(table, importer, &path.replace('.', "/")).into_iter().collect();
    }
    file.into_iter().collect()
}

/// Looks up a path relative to the file, then relative to the top of the repository, then as the end of any file's
/// path.
fn find_by_path(table: &PathTable, importer: Importer<'_>, path: &str) -> Option<u32> {
    let family = importer.language.family;
    let relative = resolve_relative_path(importer.key.directory(), path);
    let top = resolve_relative_path("", path);
    let candidates = || relative.iter().chain(&top);
    let near = importer.key.as_str();
    let end = path.trim_start_matches(['.', '/']);
    candidates()
        .find_map(|path| table.find_exact(path))
        .or_else(|| candidates().find_map(|path| table.module_files(path, family).next()))
        .or_else(|| table.find_by_path_suffix(end, near))
        // A single word without an extension usually names a library.
        .or_else(|| {
            let is_same_family = |language: strata_grammars::LanguageId| language.family == family;
            end.contains('/').then(|| table.find_by_stem_end(end, near, is_same_family)).flatten()
        })
}
