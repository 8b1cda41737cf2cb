//! What the cache holds: outlines by key, and the stamps and hashes of files.

use std::sync::Arc;

use serde::Serialize;
use strata_base::hash::ContentHash;
use strata_code::symbols::FileSymbols;

use crate::disk::Stamp;

/// Identifies an outline by the hash of the source text and of everything else that the outline depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutlineKey(ContentHash);

/// The stamp of a file and the hash of its content, as last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    /// Metadata of the file when it was read.
    pub stamp: Stamp,
    pub hash: ContentHash,
}

/// The results of one index run, to be stored for the next run.
#[derive(Debug, Default)]
pub struct OutlineUpdate {
    /// Files that were read, by path relative to the folder.
    pub read_files: Vec<(Box<str>, KnownFile)>,
    /// Previously known files that no longer exist.
    pub deleted: Vec<Box<str>>,
    /// Outlines computed during the run.
    pub outlines: Vec<(OutlineKey, Arc<FileSymbols>)>,
    /// Outlines in use. The cache evicts unused outlines first.
    pub used: Vec<OutlineKey>,
}

/// Size of the cache on disk, for all workspaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CacheSize {
    pub path: String,
    /// Total size of the cache files, in bytes.
    pub bytes: u64,
    pub outlines: u64,
    /// Number of files with a stored stamp.
    pub files: u64,
}

impl OutlineKey {
    /// Combines the hash of a text and the edition of its language
    /// ([`version_hash`](strata_code::outline::version_hash)).
    pub fn new(text: ContentHash, edition: ContentHash) -> Self {
        Self(ContentHash::from_parts([&text.to_bytes()[..], &edition.to_bytes()[..]]))
    }

    pub(super) fn to_bytes(self) -> [u8; 16] {
        self.0.to_bytes()
    }

    /// Returns the row id in the database. Two keys may have the same row id, in which case one outline replaces the
    /// other. This is rare.
    pub(super) fn row_id(self) -> i64 {
        let [a, b, c, d, e, f, g, h, ..] = self.to_bytes();
        i64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

impl OutlineUpdate {
    pub(super) fn is_empty(&self) -> bool {
        self.read_files.is_empty()
            && self.deleted.is_empty()
            && self.outlines.is_empty()
            && self.used.is_empty()
    }
}
