//! Errors of the store. They do not contain the text of messages.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use strata_conversation::history::MessageId;

use super::{NoteId, SessionId};

/// Why an operation of the store failed. Nothing was changed, unless a variant says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// A newer version wrote the database, which remains unchanged.
    #[error(
        "{} was written by a newer version of Strata (its schema is {found}, and this version supports up to {known})",
        .path.display()
    )]
    Newer {
        path: PathBuf,
        found: i32,
        /// The newest schema version that this version supports.
        known: i32,
    },
    /// Another process, or another handle in this process, has the session open for writing.
    #[error("session `{id}` is in use{}; it can be opened read-only", process_suffix(*pid))]
    InUse {
        id: SessionId,
        /// The process that has the session open, if known.
        pid: Option<u32>,
    },
    #[error("session `{0}` is open read-only")]
    ReadOnly(SessionId),
    #[error("session `{0}` does not exist")]
    NoSession(SessionId),
    #[error("session `{0}` already exists")]
    Exists(SessionId),
    #[error("`{0}` always means the current session; choose another name")]
    Reserved(SessionId),
    /// This text is not a valid session id.
    #[error("`{}` is not a session id; use at most 64 lowercase letters, digits, `-` and `_`", .0.escape_default())]
    BadSessionId(String),
    /// The workspace has no memory fragment with this id.
    #[error("note {0} does not exist")]
    NoFragment(NoteId),
    #[error("a note cannot be empty")]
    EmptyFragment,
    /// A commit, a fork or an import refers to a message that does not exist in the session.
    #[error("the session has no message {}", .0.0)]
    NoMessage(MessageId),
    /// A commit or an import adds a message whose id is already used.
    #[error("the session already has a message {}", .0.0)]
    MessageExists(MessageId),
    /// A message contains values that are nested too deeply to be read back.
    #[error("values nested more than {0} levels deep cannot be stored; convert the innermost ones to text")]
    TooDeep(usize),
    /// The order in a commit does not list each message of the session exactly once.
    #[error("the new order must list each of the session's {existing} messages once, but it lists {listed}")]
    Order { listed: usize, existing: usize },
    /// The search query contains no words.
    #[error("nothing to search for: the query has no letters or digits")]
    EmptyQuery,
    /// An imported file has an invalid line.
    #[error("line {line}: {problem}")]
    Line {
        /// One-based line number.
        line: usize,
        problem: String,
    },
    /// A spilled output alone exceeds the quota for all spilled outputs.
    #[error("an output of {bytes} bytes exceeds the quota of {quota} bytes for outputs in files")]
    OverQuota {
        /// Size of the output, in bytes.
        bytes: u64,
        /// The quota, in bytes.
        quota: u64,
    },
    /// The spilled outputs of a session cannot be hard-linked for a copy of the session, and copying them would exceed
    /// the quota.
    #[error("copies of the session's outputs would exceed the quota of {quota} bytes; delete sessions")]
    NoRoomForCopy {
        /// The quota, in bytes.
        quota: u64,
    },
    /// The session has no spilled output with this name. The output may have been evicted.
    #[error("spilled output `{}` does not exist", .0.escape_default())]
    NoSpill(String),
    /// No environment variable determines the state directory.
    #[error("no state directory: set STRATA_STATE_DIR or HOME")]
    NoStateDirectory,
    /// Another process kept the database locked for too long.
    #[error("another process is using the store")]
    Busy,
    #[error("the disk is full")]
    Full,
    /// The database is damaged. It is checked completely when it is next opened, and replaced if necessary.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    #[error("the system provides no random bytes: {0}")]
    NoRandomness(String),
    /// A directory that must be private is accessible to other users, or is not a directory.
    #[error("{} {problem}, so nothing is stored there", .path.display())]
    NotPrivate { path: PathBuf, problem: &'static str },
    #[error("{}: {kind}", .path.display())]
    Io { path: PathBuf, kind: io::ErrorKind },
    /// Any other error reported by SQLite.
    #[error("the store failed: {0}")]
    Sqlite(String),
}

impl StoreError {
    pub(super) fn io(path: &Path, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            kind => Self::Io { path: path.to_owned(), kind },
        }
    }

    pub(super) fn damaged(reason: impl ToString) -> Self {
        Self::Damaged(reason.to_string())
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match (error.sqlite_error_code(), &error) {
            (Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked), _) => Self::Busy,
            (Some(ErrorCode::DiskFull), _) => Self::Full,
            (Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase), _)
            | (
                None,
                rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::Utf8Error(..)
                | rusqlite::Error::FromSqlConversionFailure(..),
            ) => Self::damaged(error),
            _ => Self::Sqlite(error.to_string()),
        }
    }
}

fn process_suffix(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" by process {pid}")).unwrap_or_default()
}
