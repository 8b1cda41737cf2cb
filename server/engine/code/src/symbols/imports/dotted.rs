//! Resolves Python imports: `a.b.c` and `..b.c`.

use super::super::manifests::{Manifests, PYTHON_SOURCE_DIRECTORIES};
use super::importer::{Importer, join_names, self_and_parents};
use super::table::PathTable;

pub(super) fn resolve(
    table: &PathTable,
    manifests: &Manifests,
    importer: Importer<'_>,
    import: &str,
) -> Vec<u32> {
    let family = importer.language.family;
    let name = import.trim_start_matches('.');
    let dots = import.len() - name.len();
    let path = name.trim_end_matches('.').replace('.', "/");
    if path.is_empty() && dots == 0 {
        return Vec::new();
    }
    if dots > 0 {
        let Some(directory) = self_and_parents(importer.key.directory()).nth(dots - 1) else {
            return Vec::new();
        };
        return table.module_file_list(&join_names(directory, &path), family);
    }
    for directory in self_and_parents(importer.key.directory()) {
        // Absolute imports start outside the package, so skip directories that are packages.
        if !directory.is_empty() && table.module_files(directory, family).next().is_some() {
            continue;
        }
        for root in PYTHON_SOURCE_DIRECTORIES {
            let modules = table.module_file_list(&join_names(&join_names(directory, root), &path), family);
            if !modules.is_empty() {
                return modules;
            }
        }
    }
    // Another project of the repository, installed in place.
    let other_projects = manifests
        .python_sources
        .iter()
        .map(|source| table.module_file_list(&join_names(source, &path), family));
    let mut other_projects = other_projects.filter(|modules| !modules.is_empty());
    if let (Some(modules), None) = (other_projects.next(), other_projects.next()) {
        return modules;
    }
    // A single word usually names a library.
    if path.contains('/') {
        let near = importer.key.as_str();
        return table
            .find_by_stem_end(&path, near, |language| language.family == family)
            .into_iter()
            .collect();
    }
    Vec::new()
}
