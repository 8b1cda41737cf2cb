//! Sessions, memory and spilled outputs on disk: one SQLite database per workspace, with files next to it. Acknowledged writes
//! are durable. Keeps messages unchanged and never decides which of them a model sees, reads no clock and starts no thread: the
//! owner of a [`Store`] calls it from a thread that may wait for the disk.
//!
//! The order of messages is that of their positions, never of their times: a clock may go backwards.

mod changes;
mod error;
mod id;
mod json_lines;
mod lock;
mod memory;
mod opening;
pub(crate) mod paths;
mod schema;
mod search;
mod sessions;
mod spill;
mod word_index;

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

pub use self::changes::Commit;
pub use self::error::StoreError;
pub use self::id::{FragmentId, SessionId};

pub use self::lock::{Access, SessionHandle};
pub use self::memory::{Fragment, NewFragment};
pub(crate) use self::opening::DamagedDatabase;
pub use self::paths::{WorkspaceKey, state_directory};
pub use self::search::{
    Coverage, Limits, MatchedWords, Scope, SearchHit, SearchResults, Source,
    passages::{FoundPassage, search_passages},
};
#[cfg(test)]
pub(crate) use self::sessions::StoredSession;
pub use self::sessions::{NewSession, SessionInfo, StoredCacheMemory};
pub use self::spill::Quota;
#[cfg(test)]
pub(crate) use self::spill::SpillFile;
pub(crate) use self::spill::Spills;

use self::paths::StorePaths;

/// The sessions and the memory of one workspace. Several processes may have it open; each session has one writer at a time.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    place: StorePaths,
    /// Where this workspace's outputs are spilled to.
    pub spills: Spills,
}

/// A store, and what had to be done to open it.
#[derive(Debug)]
pub struct OpenedStore {
    pub store: Store,
    /// A damaged database that was replaced, to report to the user.
    pub set_aside: Option<DamagedDatabase>,
}

impl Store {
    /// Opens the store of a workspace below the state directory (see [`state_directory`]); makes it if there is none. A
    /// damaged database is set aside and a new one started.
    ///
    /// # Errors
    /// [`StoreError::Newer`] for the database of a newer version, which is not touched; [`StoreError::Busy`];
    /// [`StoreError::Io`] and [`StoreError::Full`].
    pub fn open(state: &Path, workspace: &WorkspaceKey) -> Result<OpenedStore, StoreError> {
        let place = StorePaths::prepare(state, workspace)?;
        let (connection, set_aside) = opening::open(&place)?;
        let spills = Spills::new(place.spills(), place.name(), Quota::default());
        // Sessions in a damaged database, which someone may want to save, have outputs as well.
        if place.aside(1).symlink_metadata().is_err() {
            let is_stored = |id: &SessionId| match sessions::key_of(&connection, id) {
                Err(StoreError::NoSession(_)) => Ok(false),
                found => found.map(|_| true),
            };
            // Those that cannot be removed now can be another time.
            let _ = spills.remove_orphans(is_stored);
        }
        Ok(OpenedStore { store: Self { connection, place, spills }, set_aside })
    }

    /// Checks the whole database, including the index, and reports problems in SQLite's words. Takes a second for 100,000
    /// messages.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] with the first ten findings; [`StoreError::Sqlite`] when the disk cannot be read.
    pub fn verify(&self) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare("PRAGMA integrity_check(10)")?;
        let findings = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
        self.mark_damage(opening::verdict(findings.join("; ")))
    }

    /// Begins a transaction that writes, or fails at once when another process keeps writing.
    fn writing(&mut self) -> Result<Transaction<'_>, StoreError> {
        Ok(Transaction::new(&mut self.connection, TransactionBehavior::Immediate)?)
    }

    /// Leaves a note for the next opening when an operation has met with damage.
    fn mark_damage<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if matches!(result, Err(StoreError::Damaged(_))) {
            // There already, or the disk has other troubles: then the damage is met again.
            let _ = paths::private_file(&self.place.suspicion());
        }
        result
    }

    /// Begins a transaction in which everything is read as of one moment.
    fn reading(&self) -> Result<Transaction<'_>, StoreError> {
        Ok(Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)?)
    }
}

#[cfg(test)]
mod tests;
