//! Which files have changed since a client asked before. Compares the texts when a client asks, so it costs nothing until
//! then. Knows unsaved texts as well as files on disk, and no content.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_host::disk::Stamp;

use crate::clock::now_ms;

/// What happened to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    Created,
    Changed,
    Deleted,
}

/// The states of the files at which clients asked, shared by all snapshots of a workspace.
#[derive(Debug)]
pub struct ChangeLog {
    /// Distinguishes the states of this process from those of others.
    process: u64,
    inner: Mutex<FileStates>,
}

#[derive(Debug, Default)]
struct FileStates {
    /// Number of the current state. 0 before the first.
    state: u64,
    texts: BTreeMap<FileKey, TextVersion>,
    /// The last change of each file, with the number of the state that it led to.
    changes: BTreeMap<FileKey, (u64, FileChange)>,
}

/// The text of a file at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TextVersion {
    Unsaved(ContentHash),
    Disk(Stamp),
}

/// The files of a workspace at one moment, as the log compares them.
pub(crate) trait CurrentTexts {
    /// Returns all files with the versions of their texts.
    fn versions(&self) -> BTreeMap<FileKey, TextVersion>;

    /// Returns the hash of the current text of a file. `None` if it cannot be read.
    fn hash(&self, key: &FileKey) -> Option<ContentHash>;
}

impl Default for ChangeLog {
    fn default() -> Self {
        Self { process: now_ms(), inner: Mutex::default() }
    }
}

impl ChangeLog {
    /// Returns the current state, and what changed since an earlier one. `None` if `since` is not a state of this process.
    pub(crate) fn changes(
        &self,
        since: Option<&str>,
        current: &impl CurrentTexts,
    ) -> Option<(String, Vec<(FileKey, FileChange)>)> {
        let mut states = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let since = match since {
            None => None,
            Some(since) => {
                let (process, state) = since.split_once('-')?;
                let is_own = process == self.process.to_string();
                let state = state.parse::<u64>().ok().filter(|state| (1..=states.state).contains(state));
                Some(state.filter(|_| is_own)?)
            }
        };
        states.record_changes(current);
        let changes =
            states.changes.iter().filter(|(_, (state, _))| since.is_some_and(|since| *state > since));
        let changes = changes.map(|(key, (_, change))| (key.clone(), *change)).collect();
        Some((format!("{}-{}", self.process, states.state), changes))
    }
}

impl FileStates {
    /// Compares the files with those of the last state, and begins a new state if any differs.
    fn record_changes(&mut self, current: &impl CurrentTexts) {
        let is_first = self.state == 0;
        let previous = std::mem::replace(&mut self.texts, current.versions());
        let mut changes = Vec::new();
        for (key, version) in &self.texts {
            match previous.get(key) {
                None => changes.push((key.clone(), FileChange::Created)),
                Some(previous) if previous != version && !is_saved(key, *previous, *version, current) => {
                    changes.push((key.clone(), FileChange::Changed));
                }
                Some(_) => {}
            }
        }
        let deleted = previous.into_keys().filter(|key| !self.texts.contains_key(key));
        changes.extend(deleted.map(|key| (key, FileChange::Deleted)));
        if is_first || !changes.is_empty() {
            self.state += 1;
        }
        if !is_first {
            let state = self.state;
            self.changes.extend(changes.into_iter().map(|(key, change)| (key, (state, change))));
        }
    }
}

/// Whether a file has the text on disk now that was unsaved before.
fn is_saved(key: &FileKey, previous: TextVersion, version: TextVersion, current: &impl CurrentTexts) -> bool {
    let (TextVersion::Unsaved(previous), TextVersion::Disk(_)) = (previous, version) else { return false };
    current.hash(key) == Some(previous)
}
