//! The content of a file list in the log, and the changes since it was written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::key::FileKey;
use crate::prompt::layout::FileListCoverage;

/// The files that a file list covers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Listing {
    /// Files in key order.
    pub(super) files: Vec<FileKey>,
    /// How much of the repository the list covers.
    pub(super) listed: FileListCoverage,
}

/// Files added and removed since a file list was written.
pub(super) type Changes = BTreeMap<FileKey, Change>;

/// An addition or a removal of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Change {
    Came,
    Went,
}
