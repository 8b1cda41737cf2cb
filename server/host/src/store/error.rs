//! Why the store says no, one sentence each. Holds no text of a message.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use strata_engine::conversation::history::MessageId;

use super::{FragmentId, SessionId};

/// Why something was not stored, read or found. Unless a variant says otherwise nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database was written by a newer version; it was not touched.
    #[error(
        "{} was written by a newer version (its schema is {found}, this version knows up to {known})",
        .path.display()
    )]
    Newer {
        path: PathBuf,
        found: i32,
        /// The newest schema that this version knows.
        known: i32,
    },
    /// Another process, or another handle of this one, writes to the session.
    #[error("session `{id}` is in use{}; it can be opened read-only", process(*pid))]
    InUse {
        id: SessionId,
        /// The process that writes to it, when it is known.
        pid: Option<u32>,
    },
    /// The handle was opened for reading.
    #[error("session `{0}` is open read-only")]
    ReadOnly(SessionId),
    /// No such session in this workspace.
    #[error("session `{0}` does not exist")]
    NoSession(SessionId),
    /// There is one of that name already.
    #[error("session `{0}` already exists")]
    Exists(SessionId),
    /// A reserved name.
    #[error("`{0}` means the current session, so it cannot name a stored one; choose another name")]
    Reserved(SessionId),
    /// No name of a session.
    #[error("`{}` is not a session id: use lowercase letters, digits, `-` and `_`, at most 64", .0.escape_default())]
    BadSessionId(String),
    /// No such memory fragment in this workspace.
    #[error("note {0} does not exist")]
    NoFragment(FragmentId),
    /// A memory fragment without text.
    #[error("a note needs text")]
    EmptyFragment,
    /// A commit, a fork or an import names a message that the session does not hold.
    #[error("the session has no message {}", .0.0)]
    NoMessage(MessageId),
    /// A commit or an import adds a message under a number that is taken.
    #[error("the session already has a message {}", .0.0)]
    MessageExists(MessageId),
    /// Values in a message are nested too deeply to be read back.
    #[error("values nested more than {0} levels deep cannot be stored; convert the innermost to text")]
    TooDeep(usize),
    /// The order of a commit does not name each message of the session once.
    #[error("the new order lists {named} messages instead of each of the session's {held} once")]
    Order { named: usize, held: usize },
    /// A search without a word in it.
    #[error("nothing to search for: the query has no letters or digits")]
    EmptyQuery,
    /// An invalid line of an import.
    #[error("line {line}: {what}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// A spilled output that is larger than all of them together may be.
    #[error("an output of {bytes} bytes exceeds the quota for spilled outputs, {quota} bytes")]
    OverQuota {
        /// Its size in bytes.
        bytes: u64,
        /// The quota in bytes.
        quota: u64,
    },
    /// A copy of a session whose spilled outputs cannot be the same files, and nothing makes room for copies.
    #[error("no room to copy spilled outputs: the quota is {quota} bytes; delete sessions or raise it")]
    NoRoomForCopy {
        /// The quota in bytes.
        quota: u64,
    },
    /// No spilled output of that name in the session; it may have made room for others.
    #[error("spilled output `{}` does not exist", .0.escape_default())]
    NoSpill(String),
    /// No variable names the state directory.
    #[error("no state directory: set STRATA_STATE_DIR or HOME")]
    NoStateDirectory,
    /// Another process kept the database to itself for longer than anything here takes.
    #[error("another process is using the store")]
    Busy,
    /// No room on disk.
    #[error("the disk is full")]
    Full,
    /// The database is corrupt. The next opening checks it completely and replaces it.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// The system gives no random bytes.
    #[error("the system provides no random bytes: {0}")]
    NoRandomness(String),
    /// Something that others could access is instead of a private directory.
    #[error("{} {problem}, so nothing is stored there", .path.display())]
    NotPrivate {
        path: PathBuf,
        /// What is wrong.
        problem: &'static str,
    },
    #[error("{}: {kind}", .path.display())]
    Io { path: PathBuf, kind: io::ErrorKind },
    /// Anything else that SQLite reports.
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

    pub(super) fn damaged(what: impl ToString) -> Self {
        Self::Damaged(what.to_string())
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

fn process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" by process {pid}")).unwrap_or_default()
}
