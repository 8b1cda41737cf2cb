//! `files.changed`: which files changed since an earlier call, in an editor or on disk.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_conversation::selection::Choice;

use super::{Access, Command, CommandError, Context, IndexNeed};
use crate::model::change_log::{CurrentTexts, FileChange, TextVersion};
use crate::model::live_view::unsaved_text;
use crate::model::snapshot::Snapshot;

/// The state to compare with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangesParams {
    /// `state` of an earlier reply. Without it, the reply only has the current `state`.
    since: Option<String>,
}

/// Files that changed, and the current state.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChangesReply {
    /// The current state of all files. Valid as `since` until the server ends.
    state: String,
    /// Files that changed since `since`, sorted by path.
    files: Vec<ChangedFile>,
}

/// A file that changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChangedFile {
    /// Path of the file, relative to the workspace folder.
    path: FileKey,
    /// What happened to the file. Only the last change counts.
    change: FileChange,
    /// Whether an editor has unsaved text of the file.
    unsaved: bool,
}

pub(super) struct ListChangedFiles;

impl Command for ListChangedFiles {
    const NAME: &str = "strata.files.changed";
    const SUMMARY: &str =
        "Lists files that changed since an earlier call: on disk, or as unsaved text in an editor.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Files;
    type Args = ChangesParams;
    type Reply = ChangesReply;

    fn run(params: ChangesParams, context: &mut Context<'_>) -> Result<ChangesReply, CommandError> {
        let snapshot = context.snapshot;
        snapshot.index.listed_entries()?;
        let Some((state, changed)) = snapshot.changes.changes(params.since.as_deref(), snapshot) else {
            let problem = "this is not a state of this server, so any file may have changed; call without `since`, and read the \
                           files again that you need";
            return Err(CommandError::invalid("since", problem));
        };
        let is_shown = |key: &FileKey| context.session.selection.choice(key) != Choice::Excluded;
        let files = changed.into_iter().filter(|(key, _)| is_shown(key)).map(|(path, change)| {
            let unsaved = unsaved_text(&path, snapshot).is_some();
            ChangedFile { path, change, unsaved }
        });
        Ok(ChangesReply { state, files: files.collect() })
    }
}

impl CurrentTexts for Snapshot {
    fn versions(&self) -> BTreeMap<FileKey, TextVersion> {
        let on_disk = self.index.entries.iter();
        let mut texts: BTreeMap<FileKey, TextVersion> =
            on_disk.map(|entry| (entry.key.clone(), TextVersion::Disk(entry.stamp))).collect();
        for key in self.documents.document_keys() {
            if let Some(text) = unsaved_text(key, self) {
                texts.insert(key.clone(), TextVersion::Unsaved(ContentHash::from_text(&text)));
            }
        }
        texts
    }

    fn hash(&self, key: &FileKey) -> Option<ContentHash> {
        self.text_hash(key)
    }
}
