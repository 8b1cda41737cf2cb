//! Resolves Rust imports along the module tree: `crate::a::b`, `super::c`, `name::d`.

use super::super::manifests::{Manifests, items_with_key};
use super::importer::{Importer, is_below, join_names, self_and_parents};
use super::table::PathTable;
use super::tree;

/// Crates that ship with the compiler.
const BUILT_IN_CRATES: [&str; 5] = ["std", "core", "alloc", "proc_macro", "test"];
/// Directories in which each file is a separate crate.
const CRATE_DIRECTORIES: [&str; 4] = ["tests", "examples", "benches", "bin"];

pub(super) fn resolve(
    table: &PathTable,
    manifests: &Manifests,
    importer: Importer<'_>,
    import: &str,
) -> Vec<u32> {
    let position = ModulePosition::new(table, importer);
    let mut files = Vec::new();
    for path in tree::import_paths(import, &[':']) {
        files.extend(position.resolve_module_path(table, manifests, &path));
    }
    files
}

/// The position of a file in its crate's module tree.
struct ModulePosition<'a> {
    family: &'static str,
    importer_path: &'a str,
    /// The directory of the crate's root file.
    root: String,
    /// The directory of the file's submodules.
    module_directory: String,
}

impl<'a> ModulePosition<'a> {
    fn new(table: &PathTable, importer: Importer<'a>) -> Self {
        let key = importer.key;
        let family = importer.language.family;
        let directory = key.directory();
        let name = key.file_name();
        let stem = name.split('.').next().unwrap_or(name);
        let is_root = matches!(stem, "lib" | "main" | "build")
            || directory.rsplit('/').next().is_some_and(|last| CRATE_DIRECTORIES.contains(&last));
        let module_directory =
            if is_root || stem == "mod" { directory.to_owned() } else { join_names(directory, stem) };
        let root = if is_root {
            directory.to_owned()
        } else {
            self_and_parents(directory)
                .find(|directory| crate_root_file(table, directory, family).is_some())
                .unwrap_or(directory)
                .to_owned()
        };
        Self { family, importer_path: key.as_str(), root, module_directory }
    }

    fn resolve_module_path(&self, table: &PathTable, manifests: &Manifests, path: &[&str]) -> Option<u32> {
        let (&first, rest) = path.split_first()?;
        match first {
            "crate" | "$crate" => self.find_submodule(table, &self.root, rest),
            "self" => self.find_submodule(table, &self.module_directory, rest),
            "super" => {
                let supers = rest.iter().take_while(|part| **part == "super").count();
                let directory = self_and_parents(&self.module_directory).nth(supers + 1)?;
                self.find_submodule(table, directory, rest.get(supers..)?)
            }
            name if BUILT_IN_CRATES.contains(&name) => None,
            name => self.resolve_crate(table, manifests, name, rest).or_else(|| {
                let child = join_names(&self.module_directory, name);
                table.module_files(&child, self.family).next()?;
                self.find_submodule(table, &self.module_directory, path)
            }),
        }
    }

    /// Resolves a path that starts with the name of a crate in the repository.
    fn resolve_crate(
        &self,
        table: &PathTable,
        manifests: &Manifests,
        name: &str,
        rest: &[&str],
    ) -> Option<u32> {
        let renamed = items_with_key(&manifests.renamed_crates, name, |renamed| &renamed.alias).iter();
        let applicable = renamed.filter(|renamed| is_below(self.importer_path, &renamed.directory));
        let name =
            applicable.max_by_key(|renamed| renamed.directory.len()).map_or(name, |renamed| &renamed.name);
        let index = manifests.crates.partition_point(|krate| krate.name.as_str() < name);
        let krate = manifests.crates.get(index).filter(|krate| krate.name == name);
        let root = krate.and_then(|krate| table.find_exact(&krate.root)).or_else(|| {
            let fits = |language: strata_grammars::LanguageId| language.family == self.family;
            let by_directory =
                |name: &str| table.find_by_stem_end(&format!("{name}/src/lib"), self.importer_path, fits);
            by_directory(name).or_else(|| by_directory(&name.replace('_', "-")))
        })?;
        let directory = table.key(root)?.directory();
        self.find_submodule(table, directory, rest).or(Some(root))
    }

    /// Returns the file of the innermost module that `path` names below a directory of modules.
    fn find_submodule(&self, table: &PathTable, directory: &str, path: &[&str]) -> Option<u32> {
        let mut module_path = directory.to_owned();
        let mut innermost = parent_module_file(table, &module_path, self.family);
        for part in path {
            module_path = join_names(&module_path, part);
            match table.module_files(&module_path, self.family).next() {
                Some(file) => innermost = Some(file),
                None => break,
            }
        }
        innermost
    }
}

/// Returns the file whose submodules are in a directory.
fn parent_module_file(table: &PathTable, directory: &str, family: &str) -> Option<u32> {
    let module_file =
        || (!directory.is_empty()).then(|| table.module_files(directory, family).next()).flatten();
    crate_root_file(table, directory, family).or_else(module_file)
}

/// Returns the root file of a crate, if `directory` contains one.
fn crate_root_file(table: &PathTable, directory: &str, family: &str) -> Option<u32> {
    let named = |name: &str| table.module_files(&join_names(directory, name), family).next();
    named("lib").or_else(|| named("main"))
}
