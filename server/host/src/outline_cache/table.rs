//! The outline database on one connection: its schema, its queries, and its size limit. Threads are the caller's
//! concern.
//!
//! SQLite allows several servers to share the file and survives a server that is killed while writing. In write-ahead
//! logging mode, readers never wait for writers. Data is synced to disk only at SQLite checkpoints; if a power failure
//! loses the latest writes, the outlines are computed again.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};
use strata_base::hash::ContentHash;
use strata_code::outline::Outline;

use super::body::{decode, encode};
use super::entry::{CacheSize, KnownFile, OutlineKey, OutlineUpdate};
use crate::disk::Stamp;
use crate::roots::canonical;
use crate::store::paths::{
    create_private_file, ensure_private_directory, ensure_private_top, wait_for_lock, with_name_suffix,
};

#[derive(Debug)]
pub(super) struct OutlineDatabase {
    connection: Connection,
    file: DatabaseFile,
}

/// The database file that this process uses or has used.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    /// Identity of the file, to detect that another process has replaced it.
    identity: u64,
}

/// Database errors, grouped by how to handle them.
#[derive(Debug, thiserror::Error)]
pub(super) enum CacheError {
    /// The database is busy, so the operation may succeed later.
    #[error("{0}")]
    Busy(String),
    /// The disk is full or not writable, so the cache becomes read-only.
    #[error("{0}")]
    CannotWrite(String),
    /// The database is damaged, so it must be rebuilt.
    #[error("{0}")]
    Damaged(String),
}

/// Database schema. Other versions of the schema use other file names, so that two versions of the program can run side by
/// side.
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS outlines (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS uses (id INTEGER PRIMARY KEY, day INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS folders (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, day INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS files (
        folder INTEGER NOT NULL, path TEXT NOT NULL,
        mtime INTEGER NOT NULL, size INTEGER NOT NULL, inode_number INTEGER NOT NULL, hash BLOB NOT NULL,
        PRIMARY KEY (folder, path)
    ) WITHOUT ROWID;
";
const CACHE_DIRECTORY: &str = "outlines";
const DATABASE_FILE_NAME: &str = "outlines-1.db";
const LOCK_FILE_NAME: &str = "lock";

/// Suffixes of the database file and the files that SQLite creates next to it.
const DATABASE_FILE_SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// Maximum time that a statement waits for another process to finish writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// Minimum number of days between two recorded uses of an outline or a folder, so that most starts write nothing.
const MIN_DAYS_BETWEEN_USE_RECORDS: i64 = 7;

/// Number of rows per transaction. Small enough to let other processes write in between, and to lose little if the
/// process is killed.
const ROWS_PER_TRANSACTION: usize = 1_000;

impl OutlineDatabase {
    /// Opens the database in `directory`, creating the directory with access for its owner only. Replaces a file that
    /// is not a valid database.
    pub(super) fn open(directory: &Path) -> Result<Self, CacheError> {
        let directory = create_directory(directory)?;
        let _lock = lock(&directory)?;
        match Self::connect(&directory) {
            Err(CacheError::Damaged(error)) => {
                tracing::warn!(%error, "the outline cache was damaged and is being rebuilt");
                delete_database_files(&directory)?;
                Self::connect(&directory)
            }
            connected => connected,
        }
    }

    /// Closes the connection, and returns the file that it was open on.
    pub(super) fn close(self) -> DatabaseFile {
        self.file
    }

    pub(super) fn known_files(&self, folder: &Path) -> Result<HashMap<Box<str>, KnownFile>, CacheError> {
        let Some((folder, _)) = self.find_folder(folder)? else { return Ok(HashMap::new()) };
        let mut statement = self
            .connection
            .prepare_cached("SELECT path, mtime, size, inode_number, hash FROM files WHERE folder = ?1")?;
        let rows = statement.query_map([folder], |row| {
            let stamp = Stamp {
                mtime_ns: row.get(1)?,
                size: row.get::<_, i64>(2)?.cast_unsigned(),
                identity: row.get::<_, i64>(3)?.cast_unsigned(),
            };
            let hash = ContentHash::from_bytes(row.get(4)?);
            Ok((row.get::<_, Box<str>>(0)?, KnownFile { stamp, hash }))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Reads an outline. Returns `None` for a damaged row, which a later run overwrites.
    pub(super) fn outline(&self, key: OutlineKey) -> Result<Option<Outline>, CacheError> {
        let mut statement = self.connection.prepare_cached("SELECT body FROM outlines WHERE id = ?1")?;
        let mut rows = statement.query([key.row_id()])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        Ok(row.get_ref(0)?.as_blob().ok().and_then(|bytes| decode(key, bytes)))
    }

    /// Writes the results of an index run, and evicts old outlines if the database exceeds `max_bytes`.
    pub(super) fn save(
        &mut self,
        folder: &Path,
        update: &OutlineUpdate,
        today: i64,
        max_bytes: u64,
    ) -> Result<(), CacheError> {
        let (folder, last_day) = self.touch_folder(folder, today)?;
        let mut outlines: Vec<&(OutlineKey, _)> = update.outlines.iter().collect();
        // Insert in row order, which is the order on disk.
        outlines.sort_unstable_by_key(|(key, _)| key.row_id());
        for rows in outlines.chunks(ROWS_PER_TRANSACTION) {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            {
                let mut body = transaction
                    .prepare_cached("INSERT OR REPLACE INTO outlines (id, body) VALUES (?1, ?2)")?;
                let mut day =
                    transaction.prepare_cached("INSERT OR REPLACE INTO uses (id, day) VALUES (?1, ?2)")?;
                for (key, file) in rows {
                    if let Some(bytes) = encode(*key, &file.outline) {
                        body.execute(params![key.row_id(), bytes])?;
                        day.execute(params![key.row_id(), today])?;
                    }
                }
            }
            transaction.commit()?;
        }
        for rows in update.read_files.chunks(ROWS_PER_TRANSACTION) {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            {
                let mut file = transaction.prepare_cached(
                    "INSERT OR REPLACE INTO files (folder, path, mtime, size, inode_number, hash) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?;
                for (path, KnownFile { stamp, hash }) in rows {
                    let (size, inode_number) = (stamp.size.cast_signed(), stamp.identity.cast_signed());
                    file.execute(params![folder, path, stamp.mtime_ns, size, inode_number, hash.to_bytes()])?;
                }
            }
            transaction.commit()?;
        }
        for rows in update.deleted.chunks(ROWS_PER_TRANSACTION) {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            {
                let mut file =
                    transaction.prepare_cached("DELETE FROM files WHERE folder = ?1 AND path = ?2")?;
                for path in rows {
                    file.execute(params![folder, path])?;
                }
            }
            transaction.commit()?;
        }
        if last_day.is_none_or(|last_day| last_day.saturating_add(MIN_DAYS_BETWEEN_USE_RECORDS) <= today) {
            for rows in update.used.chunks(ROWS_PER_TRANSACTION) {
                let transaction =
                    self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                {
                    let mut day =
                        transaction.prepare_cached("UPDATE uses SET day = ?2 WHERE id = ?1 AND day < ?2")?;
                    for key in rows {
                        day.execute(params![key.row_id(), today])?;
                    }
                }
                transaction.commit()?;
            }
        }
        if update.outlines.is_empty() { Ok(()) } else { self.shrink(folder, max_bytes) }
    }

    pub(super) fn size(&self) -> Result<CacheSize, CacheError> {
        let count = |table: &str| {
            let query = format!("SELECT count(*) FROM {table}");
            self.connection.query_row(&query, [], |row| row.get::<_, i64>(0))
        };
        let size = |suffix: &&str| {
            fs::metadata(with_name_suffix(&self.file.path, suffix)).map_or(0, |data| data.len())
        };
        Ok(CacheSize {
            path: self.file.path.display().to_string(),
            bytes: DATABASE_FILE_SUFFIXES.iter().map(size).sum(),
            outlines: count("uses")?.cast_unsigned(),
            files: count("files")?.cast_unsigned(),
        })
    }

    fn connect(directory: &Path) -> Result<Self, CacheError> {
        let path = directory.join(DATABASE_FILE_NAME);
        match create_private_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(CacheError::CannotWrite(error.to_string()));
            }
            _ => {}
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW
            | OpenFlags::SQLITE_OPEN_EXRESCODE;
        let connection = Connection::open_with_flags(&path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        for (pragma, value) in
            [("trusted_schema", "OFF"), ("cell_size_check", "ON"), ("synchronous", "NORMAL")]
        {
            connection.pragma_update(None, pragma, value)?;
        }
        // Allows freed pages to be returned to the file system. Takes effect only in an empty database.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "journal_size_limit", 4 << 20)?;
        // Temporary files would store source paths in a directory shared by all users.
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.execute_batch(SCHEMA)?;
        // If tables with these names have other columns, another program created the database.
        for query in [
            "SELECT id, body FROM outlines",
            "SELECT id, day FROM uses",
            "SELECT id, path, day FROM folders",
            "SELECT folder, path, mtime, size, inode_number, hash FROM files",
        ] {
            connection.prepare(query)?;
        }
        Ok(Self { connection, file: DatabaseFile { identity: inode_number(&path), path } })
    }

    /// Returns the row id of a folder and the recorded day of its last use, or `None` if the folder is not stored.
    fn find_folder(&self, folder: &Path) -> Result<Option<(i64, i64)>, CacheError> {
        let mut statement = self.connection.prepare_cached("SELECT id, day FROM folders WHERE path = ?1")?;
        let path = folder.as_os_str().as_encoded_bytes();
        Ok(statement.query_row([path], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
    }

    /// Records that a folder is used today, unless a use was recorded in the last `MIN_DAYS_BETWEEN_USE_RECORDS` days.
    /// Returns its row id and the previously recorded day, if any.
    fn touch_folder(&self, folder: &Path, today: i64) -> Result<(i64, Option<i64>), CacheError> {
        if let Some((id, last_day)) = self.find_folder(folder)? {
            if last_day.saturating_add(MIN_DAYS_BETWEEN_USE_RECORDS) <= today {
                self.connection
                    .prepare_cached("UPDATE folders SET day = ?2 WHERE id = ?1")?
                    .execute(params![id, today])?;
            }
            return Ok((id, Some(last_day)));
        }
        let path = folder.as_os_str().as_encoded_bytes();
        self.connection
            .prepare_cached("INSERT OR IGNORE INTO folders (path, day) VALUES (?1, ?2)")?
            .execute(params![path, today])?;
        let id =
            self.connection.query_row("SELECT id FROM folders WHERE path = ?1", [path], |row| row.get(0))?;
        Ok((id, None))
    }

    /// Deletes the least recently used outlines. Shrinks well below the limit, so that eviction is rare.
    fn shrink(&mut self, current: i64, max_bytes: u64) -> Result<(), CacheError> {
        if self.bytes_in_use()? <= max_bytes {
            return Ok(());
        }
        let oldest: Vec<(i64, i64)> = {
            let mut statement = self.connection.prepare("SELECT id, day FROM uses ORDER BY day")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<Result<_, _>>()?
        };
        for rows in oldest.chunks(ROWS_PER_TRANSACTION) {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (id, _) in rows {
                transaction.prepare_cached("DELETE FROM outlines WHERE id = ?1")?.execute([id])?;
                transaction.prepare_cached("DELETE FROM uses WHERE id = ?1")?.execute([id])?;
            }
            if let Some((_, day)) = rows.last() {
                // Folders that were last used before these outlines are no longer needed either.
                for query in [
                    "DELETE FROM files WHERE folder IN (SELECT id FROM folders WHERE day < ?1 AND id != ?2)",
                    "DELETE FROM folders WHERE day < ?1 AND id != ?2",
                ] {
                    transaction.prepare_cached(query)?.execute([*day, current])?;
                }
            }
            transaction.commit()?;
            if self.bytes_in_use()? <= max_bytes / 4 * 3 {
                break;
            }
        }
        self.connection.execute_batch("PRAGMA incremental_vacuum")?;
        Ok(())
    }

    fn bytes_in_use(&self) -> Result<u64, CacheError> {
        let value = |pragma| self.connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        let pages = value("page_count")?.saturating_sub(value("freelist_count")?);
        Ok(pages.saturating_mul(value("page_size")?).cast_unsigned())
    }
}

impl DatabaseFile {
    /// Deletes the database, unless another process has already replaced it. All connections of this process must be
    /// closed, since Windows cannot delete open files.
    pub(super) fn delete_unless_replaced(&self) -> Result<(), CacheError> {
        let Some(directory) = self.path.parent() else { return Ok(()) };
        let _lock = lock(directory)?;
        if inode_number(&self.path) == self.identity {
            delete_database_files(directory)?;
        }
        Ok(())
    }
}

impl From<rusqlite::Error> for CacheError {
    fn from(error: rusqlite::Error) -> Self {
        let text = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::OperationInterrupted) => {
                Self::Busy(text)
            }
            Some(
                ErrorCode::ReadOnly
                | ErrorCode::DiskFull
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::SystemIoFailure
                | ErrorCode::NoLargeFileSupport
                | ErrorCode::OutOfMemory,
            ) => Self::CannotWrite(text),
            _ => Self::Damaged(text),
        }
    }
}

/// Creates the database's directory with access for its owner only, and returns its real path.
pub(super) fn create_directory(directory: &Path) -> Result<PathBuf, CacheError> {
    let cache_directory = directory.join(CACHE_DIRECTORY);
    let cannot_write = |error: &dyn std::fmt::Display| CacheError::CannotWrite(error.to_string());
    ensure_private_top(directory).map_err(|error| cannot_write(&error))?;
    ensure_private_directory(&cache_directory).map_err(|error| cannot_write(&error))?;
    // SQLite rejects links in the path of a database, but the user may have linked a parent directory on purpose.
    canonical(&cache_directory).map_err(|error| cannot_write(&error))
}

/// Locks the directory while the database is created, opened or deleted.
pub(super) fn lock(directory: &Path) -> Result<File, CacheError> {
    wait_for_lock(&directory.join(LOCK_FILE_NAME)).map_err(|error| CacheError::CannotWrite(error.to_string()))
}

fn delete_database_files(directory: &Path) -> Result<(), CacheError> {
    for suffix in DATABASE_FILE_SUFFIXES {
        match fs::remove_file(with_name_suffix(&directory.join(DATABASE_FILE_NAME), suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(CacheError::CannotWrite(error.to_string()));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(unix)]
fn inode_number(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).map_or(0, |metadata| metadata.ino())
}

/// Returns 0, because an open file cannot be replaced on this system.
#[cfg(not(unix))]
fn inode_number(_: &Path) -> u64 {
    0
}
