//! Opens the database file of a workspace. Inspects the file first, rejects newer versions, and sets a damaged database
//! aside.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::paths::{StorePaths, create_private_file, wait_for_lock, with_name_suffix};
use super::word_index::WordIndex;
use super::{StoreError, schema};

/// A damaged database that was set aside and replaced with an empty one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedDatabase {
    pub path: PathBuf,
    /// The damage that was found.
    pub reason: String,
}

/// State of a database file, determined without modifying the file.
enum DatabaseFileState {
    /// The file does not exist or is empty.
    Nothing,
    /// The file is a database with this schema version.
    Tables(i32),
    /// A change was interrupted, so the content is unreliable until the journal is rolled back.
    Unfinished,
}

/// Maximum time that a statement waits for another process to finish writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Suffixes of the files that SQLite creates next to a database.
const SQLITE_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Opens the database of a workspace. If a damaged database had to be set aside, it is returned too.
pub(super) fn open_database(paths: &StorePaths) -> Result<(Connection, Option<DamagedDatabase>), StoreError> {
    let _lock = wait_for_lock(&paths.opening_lock())?;
    match connect(paths) {
        Err(StoreError::Damaged(reason)) => {
            let path = set_aside_database(paths)?;
            Ok((connect(paths)?, Some(DamagedDatabase { path, reason })))
        }
        opened => Ok((opened?, None)),
    }
}

fn connect(paths: &StorePaths) -> Result<Connection, StoreError> {
    let path = paths.database();
    let state = inspect_database(&path)?;
    match &state {
        DatabaseFileState::Tables(version) if *version > schema::NEWEST_VERSION => {
            return Err(StoreError::Newer { path, found: *version, known: schema::NEWEST_VERSION });
        }
        DatabaseFileState::Tables(_) | DatabaseFileState::Unfinished => {}
        DatabaseFileState::Nothing => create_database_file(&path)?,
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let mut connection = Connection::open_with_flags(&path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Skip the checkpoint on close until the file is known to be intact, so that a damaged file remains as it was
    // found.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    for (pragma, value) in [("foreign_keys", "ON"), ("trusted_schema", "OFF"), ("cell_size_check", "ON")] {
        connection.pragma_update(None, pragma, value)?;
    }
    // A commit acknowledges data, so the data must be on disk. On macOS, this requires more than `fsync`.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", "ON")?;
    // SQLite would otherwise write temporary data that exceeds its cache to a directory shared by all users.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    let version = match state {
        // If the interrupted change was the creation of the database, the database is empty.
        DatabaseFileState::Unfinished if page_count(&connection)? > 0 => strata_schema_version(&connection)?,
        _ => schema::schema_version(&connection)?,
    };
    if version > schema::NEWEST_VERSION {
        return Err(StoreError::Newer { path, found: version, known: schema::NEWEST_VERSION });
    }
    schema::migrate(&mut connection)?;
    check_tables(&mut connection, paths)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    let _ = fs::remove_file(paths.damage_marker());
    Ok(connection)
}

/// Inspects a database file without modifying anything. In `immutable` mode, SQLite takes no lock, reads no log and
/// writes nothing.
fn inspect_database(path: &Path) -> Result<DatabaseFileState, StoreError> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(DatabaseFileState::Nothing),
        Err(error) => return Err(StoreError::io(path, &error)),
    };
    if !metadata.is_file() {
        return Err(StoreError::damaged("it is not a regular file"));
    }
    if metadata.len() == 0 {
        return Ok(DatabaseFileState::Nothing);
    }
    if with_name_suffix(path, "-journal").symlink_metadata().is_ok() {
        return Ok(DatabaseFileState::Unfinished);
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(immutable_uri(path), flags)?;
    // A file may be shorter than its header says without being damaged: if a process dies while moving its log into the
    // database, the missing pages are still in the log.
    connection.pragma_update(None, "writable_schema", "ON")?;
    strata_schema_version(&connection).map(DatabaseFileState::Tables)
}

/// Returns the schema version of a Strata database, and fails for any other database.
fn strata_schema_version(connection: &Connection) -> Result<i32, StoreError> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version = schema::schema_version(connection)?;
    if application != schema::APPLICATION_ID {
        return Err(StoreError::damaged("it belongs to another program"));
    }
    if version <= 0 {
        return Err(StoreError::damaged("its tables have no version"));
    }
    Ok(version)
}

fn page_count(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, "page_count", |row| row.get(0))?)
}

/// Creates an empty private file for SQLite. A file created by SQLite itself would be readable by other users.
fn create_database_file(path: &Path) -> Result<(), StoreError> {
    if path.exists() {
        return Ok(());
    }
    create_private_file(path)
        .and_then(|file| file.sync_all())
        .map_err(|error| StoreError::io(path, &error))?;
    #[cfg(unix)]
    if let Some(directory) = path.parent() {
        let result = fs::File::open(directory).and_then(|directory| directory.sync_all());
        result.map_err(|error| StoreError::io(directory, &error))?;
    }
    Ok(())
}

/// Checks the tables, which takes a millisecond per thousand messages. The word index takes ten times as long, so it is
/// checked only if damage was noticed earlier, and rebuilt from the tables if it is damaged.
fn check_tables(connection: &mut Connection, paths: &StorePaths) -> Result<(), StoreError> {
    for table in schema::PRIMARY_TABLES {
        // SQLite does not report a missing table as damage.
        connection.prepare(&format!("SELECT * FROM {table}")).map_err(StoreError::damaged)?;
        check_table(connection, table)?;
    }
    if !paths.damage_marker().exists() {
        return Ok(());
    }
    match check_table(connection, schema::WORD_INDEX) {
        Err(StoreError::Damaged(_)) => {}
        result => return result,
    }
    let transaction = Transaction::new(connection, TransactionBehavior::Exclusive)?;
    WordIndex::new(&transaction).rebuild()?;
    Ok(transaction.commit()?)
}

fn check_table(connection: &Connection, table: &str) -> Result<(), StoreError> {
    interpret_check_findings(
        connection.query_row(&format!("PRAGMA quick_check('{table}')"), [], |row| row.get(0))?,
    )
}

/// Interprets the findings of SQLite's checks. Findings about pages that could not be read do not mean that the
/// database is damaged. They contain the error code, or only a message if a list of pages could not be read
/// (`checkTreePage` and `checkList` in SQLite's `btree.c`).
pub(super) fn interpret_check_findings(findings: String) -> Result<(), StoreError> {
    /// Error codes for pages that could not be read: `SQLITE_NOMEM` and `SQLITE_IOERR`, whose low bytes are shared by
    /// all extended codes (<https://www.sqlite.org/rescode.html>).
    const READ_ERROR_CODES: [u32; 2] = [7, 10];
    let has_read_error_code = findings.split("error code=").skip(1).any(|after_marker| {
        let digits = after_marker.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        digits.parse().is_ok_and(|code: u32| READ_ERROR_CODES.contains(&(code & 0xFF)))
    });
    match &*findings {
        "ok" => Ok(()),
        _ if has_read_error_code || findings.contains("failed to get page") => {
            Err(StoreError::Sqlite(findings))
        }
        _ => Err(StoreError::Damaged(findings)),
    }
}

/// Renames a damaged database together with the files that SQLite created next to it, and returns the new path.
fn set_aside_database(paths: &StorePaths) -> Result<PathBuf, StoreError> {
    let path = paths.database();
    let is_free = |new_path: &PathBuf| new_path.symlink_metadata().is_err();
    let new_path = (1..).map(|nth| paths.damaged_database(nth)).find(is_free).ok_or(StoreError::Full)?;
    fs::rename(&path, &new_path).map_err(|error| StoreError::io(&path, &error))?;
    for suffix in SQLITE_SUFFIXES {
        let (from, to) = (with_name_suffix(&path, suffix), with_name_suffix(&new_path, suffix));
        match fs::rename(&from, &to) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io(&from, &error));
            }
            _ => {}
        }
    }
    Ok(new_path)
}

/// Formats a path as an SQLite URI (<https://www.sqlite.org/uri.html>), percent-encoding special bytes.
fn immutable_uri(path: &Path) -> String {
    const ENCODED: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'/').remove(b':').remove(b'.').remove(b'-').remove(b'_');
    let mut bytes = path.as_os_str().as_encoded_bytes().to_vec();
    if cfg!(windows) {
        bytes.iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
        bytes.insert(0, b'/');
    }
    format!("file://{}?immutable=1", percent_encode(&bytes, ENCODED))
}
