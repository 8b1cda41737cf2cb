//! Resolves Rust imports along the module tree: `crate::a::b`, `super::c`, `name::d`.

use super::super::manifests::{Manifests, of_key};
use super::importer::{Importer, inside, is_in, outward};
use super::table::Table;
use super::tree;

/// Crates that ship with the compiler.
const BUILT_IN: [&str; 5] = ["std", "core", "alloc", "proc_macro", "test"];
/// Directories in which each file is a separate crate.
const CRATE_DIRECTORIES: [&str; 4] = ["tests", "examples", "benches", "bin"];

pub(super) fn resolve(
    table: &Table,
    manifests: &Manifests,
    importer: Importer<'_>,
    import: &str,
) -> Vec<u32> {
    let place = ModulePosition::of(table, importer);
    let mut found = Vec::new();
    for path in tree::paths(import, &[':']) {
        found.extend(place.follow(table, manifests, &path));
    }
    found
}

/// The position of a file in its crate's module tree.
struct ModulePosition<'a> {
    family: &'static str,
    near: &'a str,
    /// The directory of the crate's root file.
    root: String,
    /// The directory of the file's submodules.
    own: String,
}

impl<'a> ModulePosition<'a> {
    fn of(table: &Table, importer: Importer<'a>) -> Self {
        let key = importer.key;
        let family = importer.language.family;
        let directory = key.directory();
        let name = key.file_name();
        let stem = name.split('.').next().unwrap_or(name);
        let is_root = matches!(stem, "lib" | "main" | "build")
            || directory.rsplit('/').next().is_some_and(|last| CRATE_DIRECTORIES.contains(&last));
        let own = if is_root || stem == "mod" { directory.to_owned() } else { inside(directory, stem) };
        let root = if is_root {
            directory.to_owned()
        } else {
            outward(directory)
                .find(|directory| crate_file(table, directory, family).is_some())
                .unwrap_or(directory)
                .to_owned()
        };
        Self { family, near: key.as_str(), root, own }
    }

    fn follow(&self, table: &Table, manifests: &Manifests, path: &[&str]) -> Option<u32> {
        let (&first, rest) = path.split_first()?;
        match first {
            "crate" | "$crate" => self.descend(table, &self.root, rest),
            "self" => self.descend(table, &self.own, rest),
            "super" => {
                let more = rest.iter().take_while(|part| **part == "super").count();
                let directory = outward(&self.own).nth(more + 1)?;
                self.descend(table, directory, rest.get(more..)?)
            }
            name if BUILT_IN.contains(&name) => None,
            name => self.named(table, manifests, name, rest).or_else(|| {
                let child = inside(&self.own, name);
                table.module(&child, self.family).next()?;
                self.descend(table, &self.own, path)
            }),
        }
    }

    /// Resolves a path that starts with the name of a crate in the repository.
    fn named(&self, table: &Table, manifests: &Manifests, name: &str, rest: &[&str]) -> Option<u32> {
        let renamed = of_key(&manifests.renamed_crates, name, |renamed| &renamed.alias).iter();
        let around = renamed.filter(|renamed| is_in(self.near, &renamed.directory));
        let name = around.max_by_key(|renamed| renamed.directory.len()).map_or(name, |renamed| &renamed.name);
        let at = manifests.crates.partition_point(|known| known.name.as_str() < name);
        let known = manifests.crates.get(at).filter(|known| known.name == name);
        let root = known.and_then(|known| table.exact(&known.root)).or_else(|| {
            let fits = |language: strata_grammars::LanguageId| language.family == self.family;
            let by_directory = |name: &str| table.by_stem_end(&format!("{name}/src/lib"), self.near, fits);
            by_directory(name).or_else(|| by_directory(&name.replace('_', "-")))
        })?;
        let directory = table.key(root)?.directory();
        self.descend(table, directory, rest).or(Some(root))
    }

    /// Returns the file of the innermost module that `path` names below a directory of modules.
    fn descend(&self, table: &Table, directory: &str, path: &[&str]) -> Option<u32> {
        let mut at = directory.to_owned();
        let mut found = root_file(table, &at, self.family);
        for part in path {
            at = inside(&at, part);
            match table.module(&at, self.family).next() {
                Some(file) => found = Some(file),
                None => break,
            }
        }
        found
    }
}

/// Returns the file whose submodules are in a directory.
fn root_file(table: &Table, directory: &str, family: &str) -> Option<u32> {
    let own = || (!directory.is_empty()).then(|| table.module(directory, family).next()).flatten();
    crate_file(table, directory, family).or_else(own)
}

/// Returns the root file of a crate, if `directory` contains one.
fn crate_file(table: &Table, directory: &str, family: &str) -> Option<u32> {
    let named = |name: &str| table.module(&inside(directory, name), family).next();
    named("lib").or_else(|| named("main"))
}
