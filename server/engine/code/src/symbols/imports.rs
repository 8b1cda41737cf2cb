//! Resolves the text of an import, as stored in an outline, to files of the repository. Each import style has
//! a module. All of them use one table of paths, so that resolving the imports of a repository costs little
//! more than reading them. Does not read files. Imports from outside the repository resolve to no files.

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

use strata_base::key::FileKey;
use strata_grammars::{ImportStyle, LanguageId};

use self::importer::Importer;
use self::table::PathTable;
use super::manifests::Manifests;

/// Maximum number of files that one import may refer to. An import of a larger directory says little about
/// any of its files.
const MAX_FILES_PER_IMPORT: usize = 256;

#[derive(Debug)]
pub(super) struct Resolver {
    table: PathTable,
    manifests: Arc<Manifests>,
}

impl Resolver {
    /// Creates a resolver for the files of a repository and their languages, in any order.
    pub(super) fn new(
        files: impl IntoIterator<Item = (FileKey, LanguageId)>,
        manifests: Arc<Manifests>,
    ) -> Self {
        Self { table: PathTable::new(files), manifests }
    }

    /// Returns the numbers of the files that `import` refers to in the file `from`, in key order, excluding
    /// `from` itself. `language` is the language of `from`.
    pub(super) fn imported_file_numbers(
        &self,
        from: &FileKey,
        language: LanguageId,
        import: &str,
    ) -> Vec<u32> {
        let importer = Importer { key: from, language };
        let mut files = match language.imports {
            ImportStyle::Dotted => dotted::resolve(&self.table, &self.manifests, importer, import),
            ImportStyle::Path => path::resolve(&self.table, &self.manifests, importer, import),
            ImportStyle::Crate => crates::resolve(&self.table, &self.manifests, importer, import),
            ImportStyle::Package => package::resolve(&self.table, &self.manifests, importer, import),
            ImportStyle::File => file::resolve(&self.table, importer, import),
            ImportStyle::Namespace => namespace::resolve(&self.table, importer, import),
            ImportStyle::None => Vec::new(),
        };
        files.sort_unstable();
        files.dedup();
        files.retain(|&number| self.table.key(number) != Some(from));
        if files.len() > MAX_FILES_PER_IMPORT { Vec::new() } else { files }
    }

    /// Returns all files, in key order.
    pub(super) fn files(&self) -> &[FileKey] {
        self.table.files()
    }

    /// Whether a file represents its directory and may re-export its imports.
    pub(super) fn is_entry(&self, number: u32) -> bool {
        self.table.is_entry_file(number)
    }

    pub(super) fn manifests(&self) -> &Arc<Manifests> {
        &self.manifests
    }

    /// Returns the files in the same directory as the file `number`, including the file itself.
    pub(super) fn files_in_same_directory(&self, number: u32) -> &[u32] {
        self.table.key(number).map_or(&[], |key| self.table.files_in_directory(key.directory()))
    }
}
