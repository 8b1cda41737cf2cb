//! Where imports lead: from the text of an import, as an outline keeps it, to files of the repository. One
//! module for each style of the languages; all of them look things up in one table of paths, so that the
//! imports of a repository cost little more than reading them. It reads no file, and an import that leads
//! out of the repository leads nowhere.

mod crates;
mod dotted;
mod file;
mod importer;
mod namespace;
mod package;
mod path;
mod table;
mod tree;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use strata_grammars::{ImportStyle, LanguageId};

use self::importer::Importer;
use self::table::Table;
use super::manifests::Manifests;
use crate::key::FileKey;

/// The most files that one import may mean; a directory with more says nothing about any of them.
const MAX_FILES: usize = 256;

/// Finds the files that imports mean.
#[derive(Debug)]
pub(super) struct Resolver {
    table: Table,
    manifests: Arc<Manifests>,
}

impl Resolver {
    /// A resolver over the files of a repository and their languages, in any order.
    pub(super) fn new(
        files: impl IntoIterator<Item = (FileKey, LanguageId)>,
        manifests: Arc<Manifests>,
    ) -> Self {
        Self { table: Table::new(files), manifests }
    }

    /// The files that `import` means when a file of `language` called `from` says it, by their places among all files, in
    /// key order and never `from` itself.
    pub(super) fn numbers(&self, from: &FileKey, language: LanguageId, import: &str) -> Vec<u32> {
        let importer = Importer { key: from, language };
        let mut found = match language.imports {
            ImportStyle::Dotted => dotted::resolve(&self.table, importer, import),
            ImportStyle::Path => path::resolve(&self.table, &self.manifests, importer, import),
            ImportStyle::Crate => crates::resolve(&self.table, &self.manifests, importer, import),
            ImportStyle::Package => package::resolve(&self.table, &self.manifests, importer, import),
            ImportStyle::File => file::resolve(&self.table, importer, import),
            ImportStyle::Namespace => namespace::resolve(&self.table, importer, import),
            ImportStyle::None => Vec::new(),
        };
        found.sort_unstable();
        found.dedup();
        found.retain(|&number| self.table.key(number) != Some(from));
        if found.len() > MAX_FILES { Vec::new() } else { found }
    }

    /// All files, in key order.
    pub(super) fn files(&self) -> &[FileKey] {
        self.table.files()
    }

    /// Whether a file stands for its directory and may re-export its imports.
    pub(super) fn is_entry(&self, number: u32) -> bool {
        self.table.is_entry(number)
    }

    pub(super) fn manifests(&self) -> &Arc<Manifests> {
        &self.manifests
    }

    /// The files of the same directory, itself among them.
    pub(super) fn beside(&self, number: u32) -> &[u32] {
        self.table.key(number).map_or(&[], |key| self.table.in_directory(key.directory()))
    }
}
