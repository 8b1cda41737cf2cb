//! Resolves qualified names (`a.b.Name`) for Java, Kotlin, C#, PHP and Haskell. Their parts name directories
//! and files below an unknown source directory.

use strata_grammars::{ImportStyle, LanguageId};

use super::importer::Importer;
use super::table::PathTable;
use super::tree;

/// Separators between the parts of an import, in all languages.
const IMPORT_SEPARATORS: [char; 5] = ['.', '\\', ':', '/', ';'];
/// Keywords that may precede the imported name.
const IMPORT_MODIFIERS: [&str; 5] = ["static", "function", "const", "qualified", "global"];
/// Maximum number of parts after a file's name that may refer to something inside the file: a nested type or
/// a member.
const MAX_MEMBERS: usize = 2;

pub(super) fn resolve(table: &PathTable, importer: Importer<'_>, import: &str) -> Vec<u32> {
    let import = import.split(['(', '=']).next_back().filter(|_| import.contains('=')).unwrap_or(import);
    let import = import.split('(').next().unwrap_or(import);
    let mut files = Vec::new();
    for mut path in tree::import_paths(import, &IMPORT_SEPARATORS) {
        path.retain(|part| !IMPORT_MODIFIERS.contains(part));
        let full_length = path.len();
        path.retain(|part| !matches!(*part, "*" | "_"));
        if path.len() == full_length {
            let file = find_file(table, importer, &path);
            if file.is_some() {
                files.extend(file);
                continue;
            }
        }
        files.extend(find_directory_files(table, importer, &path));
    }
    files
}

/// Returns the file that matches the most parts of `path`, ignoring up to [`MAX_MEMBERS`] parts at the end, then
/// parts at the beginning.
fn find_file(table: &PathTable, importer: Importer<'_>, path: &[&str]) -> Option<u32> {
    let has_namespaces = |language: LanguageId| language.imports == ImportStyle::Namespace;
    let near = importer.key.as_str();
    let without_members = |members: usize| path.len().checked_sub(members).and_then(|len| path.get(..len));
    (0..=MAX_MEMBERS).filter_map(without_members).find_map(|path| {
        // Require at least two parts, since a single name is too ambiguous.
        let starts = 0..path.len().saturating_sub(1);
        starts
            .filter_map(|start| path.get(start..))
            .find_map(|parts| table.find_by_stem_end(&parts.join("/"), near, has_namespaces))
    })
}

/// Returns the files of the directory that `path` names, skipping leading components until one matches.
fn find_directory_files<'t>(
    table: &'t PathTable,
    importer: Importer<'_>,
    path: &[&str],
) -> impl Iterator<Item = u32> + 't {
    let near = importer.key.as_str();
    let starts = 0..path.len().saturating_sub(1);
    let directory = starts
        .filter_map(|start| path.get(start..))
        .find_map(|parts| table.find_directory_by_end(&parts.join("/"), near));
    let has_namespaces = |number: &u32| {
        table.language(*number).is_some_and(|language| language.imports == ImportStyle::Namespace)
    };
    directory
        .map(|directory| table.files_in_directory(directory))
        .unwrap_or_default()
        .iter()
        .copied()
        .filter(has_namespaces)
}
