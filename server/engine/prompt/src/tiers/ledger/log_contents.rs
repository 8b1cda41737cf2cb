//! The effective content of a log: the current versions of files and outlines, and the current file list.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_conversation::providers::Speaker;

use crate::diff;
use crate::layout::ItemKey;

use super::super::DeltaMode;
use super::edits;
use super::listing::{FileListChange, FileListChanges, ListedFiles};
use super::log::{FileVersion, LogBlock, LogEntry, VersionDiff};

/// State of a file according to the log.
#[derive(Debug)]
pub(super) struct LoggedFile {
    /// Last version shown in full.
    pub(super) base: FileVersion,
    /// Hash of the version after all updates.
    pub(super) current_hash: ContentHash,
    /// A known text of the file, if any. Applying `diffs` to it gives the current version.
    text: Option<Arc<str>>,
    diffs: Vec<Arc<str>>,
    /// Number of updates since the full text. `implied` counts those known only from the model's own messages.
    pub(super) pending: u32,
    pub(super) implied: u32,
    /// Whether the current version is known only from the model's own messages, so that no block names it.
    pub(super) is_implied: bool,
    /// Edits that the model has written since the current version.
    pub(super) proposed: ProposedText,
}

/// The edits of a file that the model has written since the version that the log leads to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum ProposedText {
    /// There are none, or edits are not tracked.
    #[default]
    None,
    /// Text of the version after all of them.
    Text(Arc<str>),
    /// At least one edit does not apply, so the text that the model assumes is unknown.
    Unclear,
}

impl ProposedText {
    /// Whether the edits, all of them, lead to `text`.
    pub(super) fn matches_text(&self, text: &str) -> bool {
        matches!(self, Self::Text(proposed) if **proposed == *text)
    }

    /// Whether there are edits that do not lead to `text`.
    pub(super) fn conflicts_with(&self, text: &str) -> bool {
        *self != Self::None && !self.matches_text(text)
    }
}

/// State of the file list according to the log.
#[derive(Debug)]
pub(super) struct LoggedFileList {
    listing: Arc<ListedFiles>,
    changes: FileListChanges,
}

impl LoggedFile {
    fn from_full_text(version: &FileVersion) -> Self {
        let (current_hash, text) = (version.hash, Some(Arc::clone(&version.body)));
        Self {
            base: version.clone(),
            current_hash,
            text,
            diffs: Vec::new(),
            pending: 0,
            implied: 0,
            is_implied: false,
            proposed: ProposedText::None,
        }
    }

    /// Returns the text of the current version. Returns `None` if the version is known only from the model's own edits,
    /// and these are no longer tracked.
    pub(super) fn text(&self) -> Option<Arc<str>> {
        let from = self.text.clone()?;
        self.diffs.iter().try_fold(from, |text, hunks| Some(diff::apply(&text, hunks)?.into()))
    }
}

impl LoggedFileList {
    pub(super) fn new(listing: Arc<ListedFiles>) -> Self {
        Self { listing, changes: FileListChanges::new() }
    }

    pub(super) fn apply_changes(&mut self, changes: &FileListChanges) {
        self.changes.extend(changes.iter().map(|(path, change)| (path.clone(), *change)));
    }

    /// Returns the files on the list after all changes, in key order.
    pub(super) fn files(&self) -> Cow<'_, [FileKey]> {
        if self.changes.is_empty() {
            return Cow::Borrowed(&self.listing.files);
        }
        let unchanged = self.listing.files.iter().filter(|path| !self.changes.contains_key(*path));
        let added =
            self.changes.iter().filter(|(_, change)| **change == FileListChange::Added).map(|(path, _)| path);
        let mut files: Vec<FileKey> = unchanged.chain(added).cloned().collect();
        files.sort();
        Cow::Owned(files)
    }
}

/// The effective content of a log.
#[derive(Debug, Default)]
pub(super) struct LogContents {
    pub(super) files: BTreeMap<ItemKey, LoggedFile>,
    pub(super) symbols: BTreeMap<FileKey, ContentHash>,
    pub(super) urls: BTreeSet<ItemKey>,
    pub(super) tree: Option<LoggedFileList>,
}

impl LogContents {
    pub(super) fn from_log(log: &[Arc<LogBlock>], deltas: DeltaMode) -> Self {
        let mut contents = Self::default();
        for log_block in log {
            for entry in &log_block.entries {
                contents.apply_entry(entry);
            }
            if deltas == DeltaMode::FromHistory && log_block.speaker == Speaker::Assistant {
                contents.apply_model_edits(log_block);
            }
        }
        contents
    }

    fn apply_entry(&mut self, entry: &LogEntry) {
        match entry {
            LogEntry::System(_) | LogEntry::Legend | LogEntry::Message(_) => {}
            LogEntry::Symbol(path, hash) | LogEntry::SymbolNote(path, hash) => {
                self.symbols.insert(path.clone(), *hash);
            }
            LogEntry::Full(key, version) => {
                self.files.insert(key.clone(), LoggedFile::from_full_text(version));
            }
            LogEntry::Delta(key, VersionDiff { to, hunks }) => {
                if let Some(file) = self.files.get_mut(key) {
                    file.current_hash = *to;
                    file.diffs.push(Arc::clone(hunks));
                    file.pending += 1;
                    (file.is_implied, file.proposed) = (false, ProposedText::None);
                }
            }
            LogEntry::Net(key, VersionDiff { to, hunks }) => {
                if let Some(file) = self.files.get_mut(key) {
                    let diffs = vec![Arc::clone(hunks)];
                    *file = LoggedFile {
                        current_hash: *to,
                        diffs,
                        pending: 1,
                        ..LoggedFile::from_full_text(&file.base)
                    };
                }
            }
            LogEntry::Implied(key, to) => {
                if let Some(file) = self.files.get_mut(key) {
                    file.current_hash = *to;
                    file.text = match std::mem::take(&mut file.proposed) {
                        ProposedText::Text(text) => Some(text),
                        ProposedText::None | ProposedText::Unclear => None,
                    };
                    file.diffs.clear();
                    (file.pending, file.implied) = (file.pending + 1, file.implied + 1);
                    file.is_implied = true;
                }
            }
            LogEntry::Tree(listing) => self.tree = Some(LoggedFileList::new(Arc::clone(listing))),
            LogEntry::TreeNote(changes) => {
                if let Some(tree) = &mut self.tree {
                    tree.apply_changes(changes);
                }
            }
            LogEntry::Url(key, _) => {
                self.urls.insert(key.clone());
            }
        }
    }

    /// Applies the edits in a message from the model to the known files.
    fn apply_model_edits(&mut self, log_block: &LogBlock) {
        for edit in log_block.blocks.iter().flat_map(|block| edits::edits_in_answer_block(&block.content)) {
            let key = ItemKey::File(FileKey::from(edit.path.as_str()));
            let Some(file) = self.files.get_mut(&key) else { continue };
            let before = match &file.proposed {
                ProposedText::None => file.text(),
                ProposedText::Text(text) => Some(Arc::clone(text)),
                ProposedText::Unclear => None,
            };
            let after = before.and_then(|before| edit.apply_to(&before));
            file.proposed = after.map_or(ProposedText::Unclear, |after| ProposedText::Text(after.into()));
        }
    }
}
