//! Resolves Go imports: `example.com/module/directory` refers to all files of the directory except its tests.

use super::super::manifests::{Manifests, of_key};
use super::importer::{Importer, inside, outward};
use super::table::Table;

pub(super) fn resolve(
    table: &Table,
    manifests: &Manifests,
    importer: Importer<'_>,
    import: &str,
) -> Vec<u32> {
    let in_module = outward(import).find_map(|prefix| {
        let module = of_key(&manifests.go_modules, prefix, |module| &module.path).first()?;
        let below = import.get(prefix.len()..)?.trim_start_matches('/');
        Some(inside(&module.directory, below))
    });
    let directory = in_module.or_else(|| {
        // If the module is unknown, use the longest suffix of at least two parts that names a directory.
        let ends = import.match_indices('/').filter_map(|(at, _)| import.get(at + 1..));
        let long = ends.filter(|end| end.contains('/'));
        long.map(|end| table.directory_by_end(end, importer.key.as_str()))
            .find_map(|found| found)
            .map(str::to_owned)
    });
    let family = importer.language.family;
    let product = |&number: &u32| {
        table
            .key(number)
            .zip(table.language(number))
            .is_some_and(|(key, language)| language.family == family && !language.is_test_file(key.as_str()))
    };
    let files = directory.map(|directory| table.in_directory(&directory)).unwrap_or_default();
    files.iter().copied().filter(product).collect()
}
