//! Creates the tables and migrates them from older versions. All migrations are kept permanently.
//!
//! The schema version is in the header of the database file. It changes only while the write-ahead log is not in use,
//! so the version can be read from the file alone. Later versions must preserve this property.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::StoreError;

/// Marks a database as Strata's: `Stra` in ASCII.
pub(super) const APPLICATION_ID: i32 = 0x5374_7261;

/// Migration steps from each version to the next. The first step creates the tables.
const MIGRATIONS: &[&[&str]] = &[&[CREATE_TABLES, CREATE_WORD_INDEX], &[ADD_CACHE_MEMORY]];

pub(super) const NEWEST_VERSION: i32 = {
    assert!(MIGRATIONS.len() < 1_000, "the length fits");
    MIGRATIONS.len() as i32
};

/// Creates the tables of schema version 1. `body` is a message as JSON without its id. Positions of messages are in a
/// separate table with narrow rows, so that inserting a message does not rewrite text. `touched` counts the changes in
/// the workspace and orders the sessions, because the clock may go backwards.
const CREATE_TABLES: &str = "
CREATE TABLE session (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    touched INTEGER NOT NULL,
    next_id INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT;
CREATE INDEX session_touched ON session (touched);
CREATE TABLE message (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES session (key),
    id INTEGER NOT NULL,
    role TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (session, id)
) STRICT;
CREATE TABLE place (
    session INTEGER NOT NULL REFERENCES session (key),
    position INTEGER NOT NULL,
    message INTEGER NOT NULL UNIQUE REFERENCES message (key),
    PRIMARY KEY (session, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE fragment (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT,
    tags TEXT NOT NULL,
    text TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
";

/// The word index of all messages and fragments, which stores no text itself. The rowid of a message is its key. The
/// rowid of a fragment is its key plus [`FIRST_FRAGMENT_ROWID`].
pub(super) const CREATE_WORD_INDEX: &str = "
CREATE VIRTUAL TABLE words USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
";

/// Migrates to schema version 2. `cache_memory` contains the state of the provider's cache that a process needs to
/// continue a session, and `cache_touched` the value of `touched` when it was stored. Storing it does not count as a
/// change to the session.
const ADD_CACHE_MEMORY: &str = "
ALTER TABLE session ADD COLUMN cache_memory TEXT;
ALTER TABLE session ADD COLUMN cache_touched INTEGER;
";

/// Tables with primary data.
pub(super) const PRIMARY_TABLES: [&str; 4] = ["session", "message", "place", "fragment"];

/// Name of the word index, which is derived from the tables.
pub(super) const WORD_INDEX: &str = "words";

/// First rowid of fragments in the word index. Higher than the rowid of any message, so that fragments count as newer.
pub(super) const FIRST_FRAGMENT_ROWID: i64 = 1 << 62;

/// Reads the schema version of a database. An empty database has version 0.
pub(super) fn schema_version(connection: &Connection) -> Result<i32, StoreError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Migrates the tables to the newest version in one transaction.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    run_migrations(connection, MIGRATIONS)
}

/// Runs the steps that have not been applied yet in one transaction.
fn run_migrations(connection: &mut Connection, steps: &[&[&str]]) -> Result<(), StoreError> {
    let current_version = schema_version(connection)?;
    let remaining =
        usize::try_from(current_version).ok().and_then(|current_version| steps.get(current_version..));
    let remaining =
        remaining.ok_or_else(|| StoreError::damaged(format!("its schema is {current_version}")))?;
    if remaining.is_empty() {
        return Ok(());
    }
    connection.pragma_update(None, "journal_mode", "DELETE")?;
    let transaction = Transaction::new(connection, TransactionBehavior::Exclusive)?;
    for statements in remaining.iter().copied().flatten() {
        transaction.execute_batch(statements)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(
        None,
        "user_version",
        i32::try_from(steps.len()).map_err(StoreError::damaged)?,
    )?;
    Ok(transaction.commit()?)
}

/// Migrates to an imaginary next version that changes every table, to test migrations.
#[cfg(test)]
pub(super) fn migrate_to_test_version(connection: &mut Connection) -> Result<(), StoreError> {
    const NEXT: &[&str] = &[
        "ALTER TABLE message ADD COLUMN weight INTEGER NOT NULL DEFAULT 0",
        "UPDATE message SET weight = length(body)",
        "CREATE TABLE label (session INTEGER NOT NULL, text TEXT NOT NULL) STRICT",
        "INSERT INTO label (session, text) SELECT key, name FROM session",
        "UPDATE fragment SET tags = '[\"moved\"]'",
    ];
    let steps: Vec<&[&str]> = MIGRATIONS.iter().copied().chain([NEXT]).collect();
    run_migrations(connection, &steps)
}
