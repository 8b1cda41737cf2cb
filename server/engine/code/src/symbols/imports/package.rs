//! Resolves Go imports: `example.com/module/directory` refers to all files of the directory except its tests.

use super::super::manifests::{Manifests, items_with_key};
use super::importer::{Importer, join_names, self_and_parents};
use super::table::PathTable;

pub(super) fn resolve(
    table: &PathTable,
    manifests: &Manifests,
    importer: Importer<'_>,
    import: &str,
) -> Vec<u32> {
    let in_module = self_and_parents(import).find_map(|prefix| {
        let module = items_with_key(&manifests.go_modules, prefix, |module| &module.path).first()?;
        let subpath = import.get(prefix.len()..)?.trim_start_matches('/');
        Some(join_names(&module.directory, subpath))
    });
    let directory = in_module.or_else(|| {
        // If the module is unknown, use the longest suffix of at least two parts that names a directory.
        let suffixes = import.match_indices('/').filter_map(|(slash, _)| import.get(slash + 1..));
        let long_suffixes = suffixes.filter(|end| end.contains('/'));
        long_suffixes
            .map(|end| table.find_directory_by_end(end, importer.key.as_str()))
            .find_map(|found| found)
            .map(str::to_owned)
    });
    let family = importer.language.family;
    let is_product_file = |&number: &u32| {
        table
            .key(number)
            .zip(table.language(number))
            .is_some_and(|(key, language)| language.family == family && !language.is_test_file(key.as_str()))
    };
    let files = directory.map(|directory| table.files_in_directory(&directory)).unwrap_or_default();
    files.iter().copied().filter(is_product_file).collect()
}
