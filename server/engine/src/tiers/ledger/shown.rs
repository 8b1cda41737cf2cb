//! What a log says when it is read in order: the version of each file that is in force, the outlines, the file list. Writes
//! nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::hash::ContentHash;
use crate::key::FileKey;
use crate::prompt::{ItemKey, Speaker};

use super::super::Deltas;
use super::edits;
use super::log::{Entry, Listing, Logged, Version};

/// What a log says of one file.
#[derive(Debug)]
pub(super) struct File {
    /// The version in force after all of it.
    pub(super) now: Version,
    /// The last one in full.
    pub(super) base: Version,
    /// Updates since then, and how many of them only the model's own messages spell out.
    pub(super) pending: u32,
    pub(super) implied: u32,
    /// `now` with the edits applied that the model itself wrote down since, where it did and they count.
    pub(super) said: Option<Arc<str>>,
}

impl File {
    fn full(version: &Version) -> Self {
        Self { now: version.clone(), base: version.clone(), pending: 0, implied: 0, said: None }
    }
}

/// What a log says.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) files: BTreeMap<ItemKey, File>,
    pub(super) symbols: BTreeMap<FileKey, ContentHash>,
    pub(super) urls: BTreeSet<ItemKey>,
    pub(super) tree: Option<Arc<Listing>>,
}

impl Shown {
    /// Reads a log from its beginning.
    pub(super) fn read(log: &[Arc<Logged>], deltas: Deltas) -> Self {
        let mut shown = Self::default();
        for logged in log {
            for entry in &logged.entries {
                shown.take(entry);
            }
            if deltas == Deltas::FromHistory && logged.speaker == Speaker::Assistant {
                shown.listen(logged);
            }
        }
        shown
    }

    fn take(&mut self, entry: &Entry) {
        match entry {
            Entry::System(_) | Entry::Legend | Entry::Said(_) => {}
            Entry::Symbol(path, hash) | Entry::SymbolNote(path, hash) => {
                self.symbols.insert(path.clone(), *hash);
            }
            Entry::Full(key, version) => {
                self.files.insert(key.clone(), File::full(version));
            }
            Entry::Delta(key, to) | Entry::Implied(key, to) => {
                if let Some(file) = self.files.get_mut(key) {
                    file.now = to.clone();
                    file.pending += 1;
                    file.implied += u32::from(matches!(entry, Entry::Implied(..)));
                    file.said = None;
                }
            }
            Entry::Net(key, to) => {
                if let Some(file) = self.files.get_mut(key) {
                    file.now = to.clone();
                    (file.pending, file.implied) = (1, 0);
                    file.said = None;
                }
            }
            Entry::Tree(listing) | Entry::TreeNote(listing) => self.tree = Some(Arc::clone(listing)),
            Entry::Url(key, _) => {
                self.urls.insert(key.clone());
            }
        }
    }

    /// Takes in the edits that a message of the model spells out.
    fn listen(&mut self, logged: &Logged) {
        for edit in logged.blocks.iter().flat_map(|block| edits::of(&block.content)) {
            let key = ItemKey::File(FileKey::from(edit.path()));
            let Some(file) = self.files.get_mut(&key) else { continue };
            let before = file.said.as_ref().unwrap_or(&file.now.body);
            if let Some(after) = edit.applied(before) {
                file.said = Some(after.into());
            }
        }
    }
}
