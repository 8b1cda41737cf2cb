//! Rows of the tables as values, and the key of a session's row.

use rusqlite::{Connection, OptionalExtension};
use strata_conversation::history::NewMessage;

use super::error::StoreError;
use super::id::{NoteId, SessionId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNote {
    pub text: String,
    /// Tags to file the note under. Searches match them too.
    pub tags: Vec<String>,
    /// The session in which the note was created.
    pub session: Option<SessionId>,
    /// Creation time, in milliseconds since 1970.
    pub created_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredNote {
    pub id: NoteId,
    pub note: NewNote,
}

/// Reads a note from a row with the columns `key, session, tags, text, created_ms`.
pub(super) fn read_note(row: &rusqlite::Row<'_>) -> Result<StoredNote, StoreError> {
    let session = row.get::<_, Option<String>>(1)?.map(|id| id.parse().map_err(StoreError::damaged));
    let tags: String = row.get(2)?;
    Ok(StoredNote {
        id: NoteId(row.get(0)?),
        note: NewNote {
            session: session.transpose()?,
            tags: serde_json::from_str(&tags).map_err(StoreError::damaged)?,
            text: row.get(3)?,
            created_ms: row.get::<_, i64>(4)?.cast_unsigned(),
        },
    })
}

pub(super) fn session_key(connection: &Connection, id: &SessionId) -> Result<i64, StoreError> {
    let mut statement = connection.prepare_cached("SELECT key FROM session WHERE id = ?1")?;
    let key = statement.query_row([id.as_str()], |row| row.get(0)).optional()?;
    key.ok_or_else(|| StoreError::NoSession(id.clone()))
}

pub(super) fn parse_body(text: &str) -> Result<NewMessage, StoreError> {
    serde_json::from_str(text).map_err(StoreError::damaged)
}
