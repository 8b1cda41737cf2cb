//! Caches outlines on disk by the hash of the source text, together with the stamps of files, so that unchanged files
//! need not be read. All workspaces share one database (`docs/outlines.md`, "Freshness"), which several processes can
//! use concurrently.
//!
//! The cache is optional. If a lookup fails, the outline is computed again. No call returns an error; damage is logged
//! and the database replaced. This module neither parses nor reads source files.

mod body;
mod entry;
mod parses;
mod table;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use strata_code::outline::Outline;

pub use self::entry::{CacheSize, KnownFile, OutlineKey, OutlineUpdate};
pub use self::parses::{GiveUpReason, delete_parse_records};

use self::parses::ParseRecords;
use self::table::{CacheError, DatabaseFile, OutlineDatabase};

/// The user's outline cache. Threads share it, and each uses its own connection.
#[derive(Debug)]
pub struct OutlineCache {
    /// The cache directory. `None` disables the cache.
    directory: Option<PathBuf>,
    max_bytes: u64,
    state: Mutex<DatabaseState>,
    /// Running parses, opened on first use. `None` inside if there is no directory for them.
    parses: OnceLock<Option<ParseRecords>>,
    /// Whether writing has failed, for example because the disk is full or the files belong to another user.
    is_read_only: AtomicBool,
}

/// Maximum size of the database, in bytes. At about 1.5 KB per outline, the limit allows 200,000 files in one
/// repository, or dozens of typical repositories.
const MAX_DATABASE_BYTES: u64 = 512 << 20;

/// State of the database and its connections.
#[derive(Debug, Default)]
struct DatabaseState {
    idle: Vec<OutlineDatabase>,
    /// Number of connections that threads are using.
    borrowed_count: usize,
    condition: DatabaseCondition,
}

#[derive(Debug, Default)]
enum DatabaseCondition {
    #[default]
    Usable,
    /// The database is damaged, and is deleted when the last connection is returned.
    Damaged(DatabaseFile),
    /// The database cannot be opened, or is damaged and cannot be deleted.
    Unusable,
}

impl Default for OutlineCache {
    /// Creates a cache that stores nothing and finds nothing.
    fn default() -> Self {
        Self {
            directory: None,
            max_bytes: MAX_DATABASE_BYTES,
            state: Mutex::default(),
            parses: OnceLock::new(),
            is_read_only: AtomicBool::new(false),
        }
    }
}

impl OutlineCache {
    /// Creates a cache in `directory`. The directory is created on first use.
    pub fn in_directory(directory: PathBuf) -> Self {
        Self { directory: Some(directory), ..Self::default() }
    }

    /// Returns the known files of a workspace folder. `folder` is the real path of the folder.
    pub fn known_files(&self, folder: &Path) -> HashMap<Box<str>, KnownFile> {
        self.with_database(|table| table.known_files(folder)).unwrap_or_default()
    }

    /// Returns a cached outline. Returns `None` if it is missing or damaged.
    pub fn outline(&self, key: OutlineKey) -> Option<Outline> {
        self.with_database(|table| table.outline(key))?
    }

    /// Calls `parse`, which parses the text with this key. If the process ends meanwhile, the text is given up.
    ///
    /// # Errors
    /// Returns why the text was given up earlier, without calling `parse`.
    pub fn parse<T>(&self, key: OutlineKey, parse: impl FnOnce() -> T) -> Result<T, GiveUpReason> {
        let records = self.parse_records();
        if let Some(reason) = records.and_then(|records| records.give_up_reason(key)) {
            return Err(reason);
        }
        let _running = records.and_then(|records| records.record_parse_start(key));
        Ok(parse())
    }

    /// Gives up a text because parsing it took too long.
    pub fn give_up_parsing(&self, key: OutlineKey) {
        if let Some(records) = self.parse_records() {
            records.give_up_parsing(key);
        }
    }

    /// Forgets the texts that were given up, so that they are parsed again.
    pub fn forget_given_up_texts(&self) {
        if let Some(records) = self.parse_records() {
            records.forget_given_up_texts();
        }
    }

    fn parse_records(&self) -> Option<&ParseRecords> {
        let open = || match ParseRecords::open(self.directory.as_ref()?) {
            Ok(records) => Some(records),
            Err(error) => {
                tracing::debug!(%error, "running parses are not recorded");
                None
            }
        };
        self.parses.get_or_init(open).as_ref()
    }

    /// Stores the results of an index run over a workspace folder. This is slow, so call it on a background thread.
    pub fn save(&self, folder: &Path, update: &OutlineUpdate) {
        if update.is_empty() || self.is_read_only.load(Ordering::Relaxed) {
            return;
        }
        self.with_database(|table| table.save(folder, update, today(), self.max_bytes));
        // Each thread of a run opens a connection with its own page cache. One connection is enough between runs.
        self.lock_state().idle.truncate(1);
    }

    /// Returns the size of the cache, or `None` if the cache is disabled or cannot be read.
    pub fn size(&self) -> Option<CacheSize> {
        self.with_database(|table| table.size())
    }

    /// Calls `work` with a connection. Returns `None` on any error, after handling it.
    fn with_database<T>(&self, work: impl Fn(&mut OutlineDatabase) -> Result<T, CacheError>) -> Option<T> {
        let mut table = self.borrow_database()?;
        match work(&mut table) {
            Ok(result) => {
                self.return_database(table);
                Some(result)
            }
            Err(CacheError::Busy(error)) => {
                tracing::debug!(%error, "the outline cache is busy");
                self.return_database(table);
                None
            }
            Err(CacheError::CannotWrite(error)) => {
                if !self.is_read_only.swap(true, Ordering::Relaxed) {
                    tracing::warn!(%error, "writing to the outline cache has stopped");
                }
                self.return_database(table);
                None
            }
            Err(CacheError::Damaged(error)) => {
                self.discard_database(table, &error);
                None
            }
        }
    }

    fn borrow_database(&self) -> Option<OutlineDatabase> {
        let directory = self.directory.as_ref()?;
        let mut state = self.lock_state();
        let DatabaseCondition::Usable = state.condition else { return None };
        if let Some(table) = state.idle.pop() {
            state.borrowed_count += 1;
            return Some(table);
        }
        // Hold the lock while opening, so that the first thread creates the database and the others open it.
        match OutlineDatabase::open(directory) {
            Ok(table) => {
                state.borrowed_count += 1;
                Some(table)
            }
            Err(trouble) => {
                tracing::warn!(%trouble, directory = %directory.display(), "outlines are not cached on disk");
                state.condition = DatabaseCondition::Unusable;
                None
            }
        }
    }

    fn return_database(&self, table: OutlineDatabase) {
        let mut state = self.lock_state();
        state.borrowed_count = state.borrowed_count.saturating_sub(1);
        if let DatabaseCondition::Usable = state.condition {
            state.idle.push(table);
        } else {
            drop(table);
            state.delete_damaged_if_unused();
        }
    }

    /// Handles a damaged database. Closes all connections, and deletes the database unless another process has already
    /// replaced it. Until the other threads have returned their connections, nothing is found or stored.
    fn discard_database(&self, damaged: OutlineDatabase, error: &str) {
        let mut state = self.lock_state();
        state.borrowed_count = state.borrowed_count.saturating_sub(1);
        state.idle.clear();
        let file = damaged.close();
        if let DatabaseCondition::Usable = state.condition {
            tracing::warn!(%error, "the outline cache was damaged and is being rebuilt");
            state.condition = DatabaseCondition::Damaged(file);
        }
        state.delete_damaged_if_unused();
    }

    fn lock_state(&self) -> MutexGuard<'_, DatabaseState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DatabaseState {
    /// Deletes a damaged database if no thread uses a connection to it.
    fn delete_damaged_if_unused(&mut self) {
        if let DatabaseCondition::Damaged(file) = &self.condition
            && self.borrowed_count == 0
        {
            self.condition = match file.delete_unless_replaced() {
                Ok(()) => DatabaseCondition::Usable,
                Err(trouble) => {
                    tracing::warn!(%trouble, "the outline cache cannot be deleted");
                    DatabaseCondition::Unusable
                }
            };
        }
    }
}

/// Returns the current day as the number of days since 1970.
fn today() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs() / 86_400).unwrap_or(i64::MAX)
}

/// Returns the cache directory: `STRATA_CACHE_DIR` if set, otherwise `~/Library/Caches/strata` on macOS,
/// `%LOCALAPPDATA%\strata\cache` on Windows, and `$XDG_CACHE_HOME/strata` or `~/.cache/strata` on other systems.
/// Relative paths in these variables are ignored, as the XDG Base Directory Specification requires. `variable` looks up
/// an environment variable. Returns `None` if no variable gives a directory.
pub fn cache_directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let directory = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(override_directory) = directory("STRATA_CACHE_DIR") {
        return Some(override_directory);
    }
    if cfg!(windows) {
        directory("LOCALAPPDATA").map(|base| base.join("strata").join("cache"))
    } else if cfg!(target_os = "macos") {
        directory("HOME").map(|home| home.join("Library/Caches/strata"))
    } else {
        let base = directory("XDG_CACHE_HOME").or_else(|| directory("HOME").map(|home| home.join(".cache")));
        base.map(|base| base.join("strata"))
    }
}

#[cfg(test)]
mod tests;
