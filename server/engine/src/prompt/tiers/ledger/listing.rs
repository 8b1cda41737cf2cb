//! The content of a file list in the log, and changes since. Writes nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::key::FileKey;
use crate::prompt::layout::FileListCoverage;

/// The files that a file list covers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Listing {
    /// All of them, in key order.
    pub(super) files: Vec<FileKey>,
    /// How much of them the list said.
    pub(super) listed: FileListCoverage,
}

/// The files that came and went since a file list.
pub(super) type Changes = BTreeMap<FileKey, Change>;

/// A change of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Change {
    Came,
    Went,
}
