//! Stored outlines, by the hash of their text, with the stamps of the files that had it, so that an unchanged file need not even
//! be read. All workspaces share one database (`docs/outlines.md`, "Freshness"), and several processes may use it at once.
//!
//! It is a cache and nothing else. Whatever is wrong with it, outlines are made again: no call fails, damage is logged
//! and the file replaced. It never makes an outline and never reads a source file.

mod body;
mod directory;
mod table;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use strata_engine::code::outline::Outline;
use strata_engine::code::symbols::FileSymbols;
use strata_engine::hash::ContentHash;

use self::table::{CacheError, Table};
use crate::disk::Stamp;

pub use self::directory::cache_directory;

/// The cache of one user. Shared by threads; each works on a connection of its own.
#[derive(Debug)]
pub struct OutlineCache {
    /// The directory; `None` keeps nothing.
    directory: Option<PathBuf>,
    max_bytes: u64,
    state: Mutex<State>,
    /// Writing is impossible: the disk is full, or the files belong to someone else.
    read_only: AtomicBool,
}

/// Which outline: a text, and everything besides it that its outline depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutlineKey(ContentHash);

/// A file as last seen: its stamp, and the hash of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    /// Its metadata when it was read.
    pub stamp: Stamp,
    /// The hash of its text.
    pub hash: ContentHash,
}

/// The known files of one folder, by relative path.
pub type KnownFiles = HashMap<Box<str>, KnownFile>;

/// The findings of one run for the next.
#[derive(Debug, Default)]
pub struct OutlineUpdate {
    /// Files of the folder that were read, by their paths below it.
    pub seen: Vec<(Box<str>, KnownFile)>,
    /// Files that are known and are there no more.
    pub gone: Vec<Box<str>>,
    /// Outlines that were made.
    pub made: Vec<(OutlineKey, Arc<FileSymbols>)>,
    /// Outlines in use; unused ones are evicted first.
    pub used: Vec<OutlineKey>,
}

/// Size of the cache on disk, for all workspaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CacheSize {
    pub path: String,
    /// Of all its files.
    pub bytes: u64,
    /// How many outlines it holds.
    pub outlines: u64,
    /// How many files it knows by their stamps.
    pub files: u64,
}

/// Maximum size of the database, in bytes. At about 1.5 KB per outline, this fits a repository of 200,000 files, or dozens of
/// usual ones.
const MAX_BYTES: u64 = 512 << 20;

/// The connections that wait for the next thread.
#[derive(Debug, Default)]
enum State {
    /// Not opened yet.
    #[default]
    Closed,
    Open(Vec<Table>),
    /// It cannot be opened, or not be removed.
    Useless,
}

impl OutlineKey {
    /// The key of the outline of a text with this hash, made by this edition of a language
    /// ([`edition`](strata_engine::code::outline::edition)).
    pub fn new(text: ContentHash, edition: ContentHash) -> Self {
        Self(ContentHash::of_parts([&text.to_bytes()[..], &edition.to_bytes()[..]]))
    }

    fn bytes(self) -> [u8; 16] {
        self.0.to_bytes()
    }

    /// The number of its row. Two keys with one number take each other's place, which costs an outline now and then.
    fn row(self) -> i64 {
        let [a, b, c, d, e, f, g, h, ..] = self.bytes();
        i64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

impl Default for OutlineCache {
    fn default() -> Self {
        Self::disabled()
    }
}

impl OutlineCache {
    /// A cache in this directory, which is made when it is needed.
    pub fn at(directory: PathBuf) -> Self {
        Self { directory: Some(directory), ..Self::disabled() }
    }

    /// A cache that keeps nothing.
    pub fn disabled() -> Self {
        Self {
            directory: None,
            max_bytes: MAX_BYTES,
            state: Mutex::default(),
            read_only: AtomicBool::new(false),
        }
    }

    /// The known files of a folder (given by its real path).
    pub fn seen(&self, folder: &Path) -> KnownFiles {
        self.with(|table| table.seen(folder)).unwrap_or_default()
    }

    /// The outline of a text, when it is there and sound.
    pub fn outline(&self, key: OutlineKey) -> Option<Outline> {
        self.with(|table| table.outline(key))?
    }

    /// Stores the findings of a run about a folder. Slow; call it on a thread that no one waits for.
    pub fn save(&self, folder: &Path, findings: &OutlineUpdate) {
        if self.read_only.load(Ordering::Relaxed) {
            return;
        }
        self.with(|table| table.save(folder, findings, today(), self.max_bytes));
        // A run has as many connections as threads, each with pages in memory; what comes until the next one needs one.
        if let State::Open(tables) = &mut *self.state() {
            tables.truncate(1);
        }
    }

    /// Its size; `None` if there is none.
    pub fn extent(&self) -> Option<CacheSize> {
        self.with(|table| table.extent())
    }

    /// Lends a connection to `work`. Trouble of any kind is `None`.
    fn with<T>(&self, work: impl Fn(&mut Table) -> Result<T, CacheError>) -> Option<T> {
        let mut table = self.borrow()?;
        match work(&mut table) {
            Ok(result) => {
                self.return_table(table);
                Some(result)
            }
            Err(CacheError::Passing(error)) => {
                tracing::debug!(%error, "the outline cache is busy");
                self.return_table(table);
                None
            }
            Err(CacheError::CannotWrite(error)) => {
                if !self.read_only.swap(true, Ordering::Relaxed) {
                    tracing::warn!(%error, "the outline cache is no longer written");
                }
                self.return_table(table);
                None
            }
            Err(CacheError::Damaged(error)) => {
                self.replace(table, &error);
                None
            }
        }
    }

    fn borrow(&self) -> Option<Table> {
        let directory = self.directory.as_ref()?;
        let mut state = self.state();
        if let State::Closed = *state {
            *state = State::Open(Vec::new());
        }
        let State::Open(tables) = &mut *state else { return None };
        if let Some(table) = tables.pop() {
            return Some(table);
        }
        // Under the lock: the first of several threads creates what the others then open.
        match Table::open(directory) {
            Ok(table) => Some(table),
            Err(trouble) => {
                tracing::warn!(%trouble, directory = %directory.display(), "outlines are not cached on disk");
                *state = State::Useless;
                None
            }
        }
    }

    fn return_table(&self, table: Table) {
        if let State::Open(tables) = &mut *self.state() {
            tables.push(table);
        }
    }

    /// A table showed damage: all connections are dropped, and the file is removed unless another process did so before.
    fn replace(&self, damaged: Table, error: &str) {
        tracing::warn!(%error, "the outline cache was damaged and is rebuilt");
        let mut state = self.state();
        if let State::Open(tables) = &mut *state {
            tables.clear();
        }
        if let Err(trouble) = damaged.remove() {
            tracing::warn!(%trouble, "the outline cache cannot be deleted");
            *state = State::Useless;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutlineUpdate {
    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty() && self.gone.is_empty() && self.made.is_empty() && self.used.is_empty()
    }
}

/// Days since 1970.
fn today() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs() / 86_400).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
