//! Resolves Python imports: `a.b.c` and `..b.c`.

use super::super::manifests::{Manifests, PYTHON_SOURCES};
use super::importer::{Importer, inside, outward};
use super::table::Table;

pub(super) fn resolve(
    table: &Table,
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
        let Some(directory) = outward(importer.key.directory()).nth(dots - 1) else { return Vec::new() };
        return table.modules(&inside(directory, &path), family);
    }
    for directory in outward(importer.key.directory()) {
        // Absolute imports start outside the package, so skip directories that are packages.
        if !directory.is_empty() && table.module(directory, family).next().is_some() {
            continue;
        }
        for root in PYTHON_SOURCES {
            let found = table.modules(&inside(&inside(directory, root), &path), family);
            if !found.is_empty() {
                return found;
            }
        }
    }
    // Another project of the repository, installed in place.
    let elsewhere =
        manifests.python_sources.iter().map(|source| table.modules(&inside(source, &path), family));
    let mut elsewhere = elsewhere.filter(|found| !found.is_empty());
    if let (Some(found), None) = (elsewhere.next(), elsewhere.next()) {
        return found;
    }
    // A single word usually names a library.
    if path.contains('/') {
        let near = importer.key.as_str();
        return table.by_stem_end(&path, near, |language| language.family == family).into_iter().collect();
    }
    Vec::new()
}
