//! The contents of a file list in the log, and the changes since the list was written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strata_base::key::FileKey;

use crate::layout::FileListCoverage;

/// The files that a file list covers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct ListedFiles {
    /// Files in key order.
    pub(super) files: Vec<FileKey>,
    /// How much of the repository the list covers.
    pub(super) listed: FileListCoverage,
}

/// Files added and removed since a file list was written.
pub(super) type FileListChanges = BTreeMap<FileKey, FileListChange>;

/// Whether a file was added to the file list or removed from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum FileListChange {
    #[serde(rename = "Came")]
    Added,
    #[serde(rename = "Went")]
    Removed,
}
