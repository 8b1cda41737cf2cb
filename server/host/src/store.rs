//! Stores sessions, memory and spilled outputs on disk, in one SQLite database per workspace with files next to it.
//! Acknowledged writes are durable. Messages are stored unchanged; the store does not decide which of them a model
//! sees. Reads no clock and starts no threads. Methods of [`Store`] block on the disk.
//!
//! Messages are ordered by position instead of time, since the clock may go backwards.

mod changes;
mod error;
mod id;
mod json_lines;
mod lock;
mod memory;
mod new_id;
mod opening;
pub(crate) mod paths;
mod rows;
mod schema;
mod search;
mod sessions;
mod spill;
mod word_index;

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

pub use self::changes::SessionChange;
pub use self::error::StoreError;
pub use self::id::{NoteId, SessionId};

pub use self::lock::{SessionAccess, SessionHandle};
pub(crate) use self::opening::DamagedDatabase;
pub use self::paths::{WorkspaceKey, state_directory};
pub use self::rows::{NewNote, StoredNote};
pub use self::search::{
    HitSource, MatchedWords, RankingCoverage, SearchHit, SearchResults,
    passages::{FoundPassage, search_passages},
};
#[cfg(test)]
pub(crate) use self::sessions::StoredSession;
pub use self::sessions::{NewSession, SessionInfo, StoredCacheMemory};
#[cfg(test)]
pub(crate) use self::spill::SpillFile;
pub(crate) use self::spill::Spills;

use self::paths::StorePaths;

/// The sessions and the memory of one workspace. Several processes can open the store concurrently, but each session
/// has only one writer at a time.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    paths: StorePaths,
    /// The spilled tool outputs of this workspace.
    pub spills: Spills,
}

/// An opened store, and the damaged database that had to be replaced, if any.
#[derive(Debug)]
pub struct OpenedStore {
    pub store: Store,
    /// The damaged database that was replaced with an empty one, to be reported to the user.
    pub set_aside: Option<DamagedDatabase>,
}

impl Store {
    /// Opens or creates the store of a workspace in the state directory (see [`state_directory`]). Sets a damaged
    /// database aside and replaces it with an empty one.
    ///
    /// # Errors
    /// [`StoreError::Newer`] for a database of a newer version, which remains unchanged; [`StoreError::Busy`],
    /// [`StoreError::Io`] or [`StoreError::Full`].
    pub fn open(state: &Path, workspace: &WorkspaceKey) -> Result<OpenedStore, StoreError> {
        let paths = StorePaths::prepare(state, workspace)?;
        let (connection, set_aside) = opening::open_database(&paths)?;
        let spills = Spills::new(paths.spills(), paths.directory_name());
        // Keep the outputs of sessions in a database that was set aside, since the user may want to recover these
        // sessions.
        if paths.damaged_database(1).symlink_metadata().is_err() {
            let is_stored = |id: &SessionId| match rows::session_key(&connection, id) {
                Err(StoreError::NoSession(_)) => Ok(false),
                key => key.map(|_| true),
            };
            // Outputs that cannot be removed now are removed when the store is next opened.
            let _ = spills.remove_orphans(is_stored);
        }
        Ok(OpenedStore { store: Self { connection, paths, spills }, set_aside })
    }

    /// Checks the whole database, including the word index. Takes about a second per 100,000 messages.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] with SQLite's first ten findings, or [`StoreError::Sqlite`] if the disk cannot be read.
    pub fn verify(&self) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare("PRAGMA integrity_check(10)")?;
        let findings = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
        self.mark_for_check_if_damaged(opening::interpret_check_findings(findings.join("; ")))
    }

    /// Begins a write transaction. Fails if another process keeps the database locked.
    fn begin_write(&mut self) -> Result<Transaction<'_>, StoreError> {
        Ok(Transaction::new(&mut self.connection, TransactionBehavior::Immediate)?)
    }

    /// If an operation found damage, marks the database for a complete check when it is next opened.
    fn mark_for_check_if_damaged<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if matches!(result, Err(StoreError::Damaged(_))) {
            // If this fails, the marker exists already, or the disk has other problems and the damage will be found
            // again.
            let _ = paths::create_private_file(&self.paths.damage_marker());
        }
        result
    }

    /// Begins a transaction that reads a consistent snapshot.
    fn begin_read(&self) -> Result<Transaction<'_>, StoreError> {
        Ok(Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)?)
    }
}

#[cfg(test)]
mod tests;
