//! The index of the outlines of all files.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_grammars::LanguageId;

use crate::outline::{LiveOutline, MapBlock, Outline, map_block};

/// The symbols of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSymbols {
    /// The language that the file was parsed as.
    pub language: LanguageId,
    pub outline: Outline,
    pub block: MapBlock,
}

/// The symbols of every file with a known language. Clones share all data. Changing a clone copies the map
/// once, but not the outlines.
#[derive(Clone, Debug, Default)]
pub struct SymbolIndex {
    files: Arc<BTreeMap<FileKey, Arc<FileSymbols>>>,
}

impl FileSymbols {
    /// Creates the symbols of a file from its outline.
    pub fn new(language: LanguageId, key: &FileKey, outline: Outline) -> Self {
        let block = map_block(language, key, &outline);
        Self { language, outline, block }
    }

    /// Creates the symbols of a file that is being edited.
    pub(crate) fn from_live(outline: &mut LiveOutline, key: &FileKey) -> Self {
        Self { language: outline.language(), outline: outline.outline(), block: outline.block(key) }
    }

    /// Parses a file into the data that the index needs.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised before parsing finishes.
    pub fn read(
        language: LanguageId,
        key: &FileKey,
        source: &str,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        Ok(Self::new(language, key, Outline::read(language, source, cancel)?))
    }
}

impl SymbolIndex {
    #[cfg(test)]
    pub(crate) fn insert(&mut self, key: FileKey, symbols: Arc<FileSymbols>) {
        Arc::make_mut(&mut self.files).insert(key, symbols);
    }

    /// Removes a file. Returns whether it existed.
    pub fn remove(&mut self, key: &FileKey) -> bool {
        self.files.contains_key(key) && Arc::make_mut(&mut self.files).remove(key).is_some()
    }
}

/// Dereferences to the map from file keys to symbols, for reading.
impl Deref for SymbolIndex {
    type Target = BTreeMap<FileKey, Arc<FileSymbols>>;

    fn deref(&self) -> &Self::Target {
        &self.files
    }
}

impl FromIterator<(FileKey, Arc<FileSymbols>)> for SymbolIndex {
    fn from_iter<I: IntoIterator<Item = (FileKey, Arc<FileSymbols>)>>(files: I) -> Self {
        Self { files: Arc::new(files.into_iter().collect()) }
    }
}

impl Extend<(FileKey, Arc<FileSymbols>)> for SymbolIndex {
    fn extend<I: IntoIterator<Item = (FileKey, Arc<FileSymbols>)>>(&mut self, files: I) {
        Arc::make_mut(&mut self.files).extend(files);
    }
}
