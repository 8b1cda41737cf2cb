//! Creates, lists, opens, loads, renames, forks and deletes sessions. The module `changes` stores changes within a
//! session.

use std::fs;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;
use strata_conversation::history::{Message, MessageId, NewMessage};

use super::lock::{SessionAccess, SessionHandle};
use super::rows::{parse_body, session_key};
use super::word_index::WordIndex;
use super::{SessionId, Store, StoreError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Id of the session. Use [`SessionId::random`] to generate one.
    pub id: SessionId,
    /// The user's name for the session, which may be empty.
    pub name: String,
    /// Creation time, in milliseconds since 1970.
    pub created_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    pub id: SessionId,
    /// The user's name for the session, which may be empty.
    pub name: String,
    /// Creation time, in milliseconds since 1970.
    pub created_ms: u64,
    /// Time of the last change, in milliseconds since 1970.
    pub updated_ms: u64,
    /// Number of messages, including hidden ones.
    pub messages: usize,
    /// The beginning of the user's first message with text, on one line of at most [`PREVIEW_CHARS`] characters. Empty
    /// if there is no such message.
    pub preview: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StoredSession {
    /// The user's name for the session, which may be empty.
    pub name: String,
    /// Creation time, in milliseconds since 1970.
    pub created_ms: u64,
    /// All messages in order, including hidden ones.
    pub messages: Vec<Arc<Message>>,
    /// State of the session besides its messages, as last committed.
    pub state: Value,
    /// Id of the next message.
    pub next_id: u64,
}

/// State of the provider's cache, as last stored for a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCacheMemory {
    pub memory: String,
    /// Whether the session is unchanged since the state was stored.
    pub is_current: bool,
}

pub(crate) const PREVIEW_CHARS: usize = 120;

/// Maximum nesting depth that can be read back. `serde_json` rejects deeper nesting.
const MAX_JSON_DEPTH: usize = 127;

/// Maximum number of user messages to read for a preview. More than one, since some messages have no text.
const PREVIEW_MESSAGES: u32 = 3;

impl Store {
    /// Creates an empty session and opens it for writing.
    ///
    /// # Errors
    /// [`StoreError::Exists`] or [`StoreError::Reserved`].
    pub fn create(&mut self, new: &NewSession) -> Result<SessionHandle, StoreError> {
        let handle = SessionHandle::for_writing(&self.paths, new.id.clone())?;
        let transaction = self.begin_write()?;
        insert_session(&transaction, new, &Value::Null, 0)?;
        transaction.commit()?;
        Ok(handle)
    }

    /// Returns all sessions of the workspace, most recently changed first.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] or another error of the database.
    pub fn list(&self) -> Result<Vec<SessionInfo>, StoreError> {
        let transaction = self.begin_read()?;
        let mut statement = transaction.prepare_cached(
            "SELECT key, id, name, created_ms, updated_ms,
                    (SELECT count(*) FROM place WHERE place.session = session.key)
             FROM session ORDER BY touched DESC",
        )?;
        let mut rows = statement.query([])?;
        let mut sessions = Vec::new();
        while let Some(row) = rows.next()? {
            sessions.push(SessionInfo {
                id: row.get::<_, String>(1)?.parse().map_err(StoreError::damaged)?,
                name: row.get(2)?,
                created_ms: row.get::<_, i64>(3)?.cast_unsigned(),
                updated_ms: row.get::<_, i64>(4)?.cast_unsigned(),
                messages: usize::try_from(row.get::<_, i64>(5)?).unwrap_or_default(),
                preview: preview(&transaction, row.get(0)?)?,
            });
        }
        Ok(sessions)
    }

    /// Returns the value of `field` in the state of the most recently changed session in which it is not empty. Returns
    /// `None` if there is no such session.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn newest_state_field(&self, field: &str) -> Result<Option<Value>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT json_extract(state, '$.' || ?1) AS found FROM session
             WHERE found IS NOT NULL AND found <> '{}' ORDER BY touched DESC LIMIT 1",
        )?;
        let value: Option<String> = statement.query_row([field], |row| row.get(0)).optional()?;
        value.map(|value| serde_json::from_str(&value).map_err(StoreError::damaged)).transpose()
    }

    /// Returns the ids of all sessions, each with the value of `field` in its state. Omits sessions without the field.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn state_field_by_session(&self, field: &str) -> Result<Vec<(SessionId, Value)>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, state -> ('$.' || ?1) AS found FROM session WHERE found IS NOT NULL",
        )?;
        let mut rows = statement.query([field])?;
        let mut states = Vec::new();
        while let Some(row) = rows.next()? {
            let id = row.get::<_, String>(0)?.parse().map_err(StoreError::damaged)?;
            let value = row.get_ref(1)?.as_str().map_err(StoreError::damaged)?;
            states.push((id, serde_json::from_str(value).map_err(StoreError::damaged)?));
        }
        Ok(states)
    }

    /// Opens a session for reading or writing.
    ///
    /// # Errors
    /// [`StoreError::NoSession`]; [`StoreError::InUse`], without waiting, if `access` is [`SessionAccess::Write`] and
    /// the session is already open for writing.
    pub fn open_session(&self, id: &SessionId, access: SessionAccess) -> Result<SessionHandle, StoreError> {
        session_key(&self.connection, id)?;
        let handle = match access {
            SessionAccess::Read => return Ok(SessionHandle::for_reading(id.clone())),
            SessionAccess::Write => SessionHandle::for_writing(&self.paths, id.clone())?,
        };
        // The session may have been deleted before the lock was taken, so check again.
        session_key(&self.connection, id)?;
        Ok(handle)
    }

    /// Reads a consistent snapshot of a session.
    ///
    /// # Errors
    /// [`StoreError::NoSession`] or [`StoreError::Damaged`].
    pub fn load_session(&self, id: &SessionId) -> Result<StoredSession, StoreError> {
        let stored = self.read_session_rows(id);
        self.mark_for_check_if_damaged(stored)
    }

    fn read_session_rows(&self, id: &SessionId) -> Result<StoredSession, StoreError> {
        let transaction = self.begin_read()?;
        let key = session_key(&transaction, id)?;
        let mut statement = transaction
            .prepare_cached("SELECT name, created_ms, state, next_id FROM session WHERE key = ?1")?;
        let (name, created_ms, state, next_id) = statement.query_row([key], |row| {
            let numbers = (row.get::<_, i64>(1)?, row.get::<_, i64>(3)?);
            Ok((row.get(0)?, numbers.0, row.get::<_, String>(2)?, numbers.1))
        })?;
        let mut messages = Vec::new();
        for_each_message(&transaction, key, |message| {
            messages.push(Arc::new(message));
            Ok(())
        })?;
        Ok(StoredSession {
            name,
            created_ms: created_ms.cast_unsigned(),
            messages,
            state: serde_json::from_str(&state).map_err(StoreError::damaged)?,
            next_id: next_id.cast_unsigned(),
        })
    }

    /// Stores the state of the provider's cache. This does not count as a change to the session.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] or [`StoreError::NoSession`].
    pub fn keep_cache_memory(&mut self, handle: &SessionHandle, memory: &str) -> Result<(), StoreError> {
        handle.check_writable()?;
        let key = session_key(&self.connection, &handle.id)?;
        self.connection
            .prepare_cached("UPDATE session SET cache_memory = ?2, cache_touched = touched WHERE key = ?1")?
            .execute(params![key, memory])?;
        Ok(())
    }

    /// Returns the state that [`keep_cache_memory`](Self::keep_cache_memory) stored last, or `None` if no state is
    /// stored.
    ///
    /// # Errors
    /// [`StoreError::NoSession`] if the session does not exist.
    pub fn cache_memory(&self, id: &SessionId) -> Result<Option<StoredCacheMemory>, StoreError> {
        let key = session_key(&self.connection, id)?;
        let mut statement = self
            .connection
            .prepare_cached("SELECT cache_memory, cache_touched = touched FROM session WHERE key = ?1")?;
        let (memory, is_current) = statement
            .query_row([key], |row| Ok((row.get::<_, Option<String>>(0)?, row.get::<_, Option<bool>>(1)?)))?;
        Ok(memory.map(|memory| StoredCacheMemory { memory, is_current: is_current == Some(true) }))
    }

    /// Changes the user's name for a session.
    ///
    /// # Errors
    /// [`StoreError::NoSession`] if the session does not exist.
    pub fn rename(&mut self, id: &SessionId, name: &str) -> Result<(), StoreError> {
        let row_count = self
            .connection
            .execute("UPDATE session SET name = ?2 WHERE id = ?1", params![id.as_str(), name])?;
        if row_count == 0 { Err(StoreError::NoSession(id.clone())) } else { Ok(()) }
    }

    /// Deletes a session with its messages and spilled outputs. Keeps memory fragments that were created in the
    /// session.
    ///
    /// # Errors
    /// [`StoreError::NoSession`]; [`StoreError::InUse`] if the session is open for writing, including by this process.
    /// If spilled outputs cannot be removed, the session is deleted nevertheless, and the outputs are removed when the
    /// store is next opened.
    pub fn delete(&mut self, id: &SessionId) -> Result<(), StoreError> {
        let handle = self.open_session(id, SessionAccess::Write)?;
        let transaction = self.begin_write()?;
        let key = session_key(&transaction, id)?;
        WordIndex::new(&transaction).remove_session(key)?;
        for statement in [
            "DELETE FROM place WHERE session = ?1",
            "DELETE FROM message WHERE session = ?1",
            "DELETE FROM session WHERE key = ?1",
        ] {
            transaction.prepare_cached(statement)?.execute([key])?;
        }
        transaction.commit()?;
        // The session is already deleted. Remaining outputs are removed when the store is next opened.
        if let Err(error) = self.spills.remove_session(id) {
            tracing::warn!(%error, "cannot delete the outputs of a deleted session yet");
        }
        // The session can no longer be opened, so a remaining lock file is harmless.
        let _ = std::fs::remove_file(self.paths.session_lock(id));
        drop(handle);
        Ok(())
    }

    /// Copies a session with its spilled outputs, even while the session is open for writing. `until` is the last
    /// message to copy, or `None` to copy all messages. The copy has the same state and message ids.
    ///
    /// # Errors
    /// [`StoreError::NoSession`], [`StoreError::NoMessage`], [`StoreError::Exists`], [`StoreError::Reserved`] or
    /// [`StoreError::NoRoomForCopy`].
    pub fn fork(
        &mut self,
        original_id: &SessionId,
        new: &NewSession,
        until: Option<MessageId>,
    ) -> Result<SessionHandle, StoreError> {
        let handle = SessionHandle::for_writing(&self.paths, new.id.clone())?;
        let spills = self.spills.clone();
        let transaction = self.begin_write()?;
        let original_key = session_key(&transaction, original_id)?;
        let last_position = match until {
            None => i64::MAX,
            Some(id) => message_position(&transaction, original_key, id)?.ok_or(StoreError::NoMessage(id))?,
        };
        let (state, next_id): (String, i64) = transaction
            .prepare_cached("SELECT state, next_id FROM session WHERE key = ?1")?
            .query_row([original_key], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let state = serde_json::from_str(&state).map_err(StoreError::damaged)?;
        let copy_key = insert_session(&transaction, new, &state, next_id.cast_unsigned())?;
        let mut messages = Vec::new();
        let mut statement = transaction.prepare_cached(
            "SELECT message.id, message.body FROM place JOIN message ON message.key = place.message
             WHERE place.session = ?1 AND place.position <= ?2 ORDER BY place.position",
        )?;
        let mut rows = statement.query([original_key, last_position])?;
        while let Some(row) = rows.next()? {
            messages.push(read_message(row)?);
        }
        append_messages(&transaction, copy_key, &messages)?;
        drop(rows);
        drop(statement);
        let spill_copy = spills.copy_session(original_id, &new.id, |old, new| fs::hard_link(old, new))?;
        if let Err(error) = transaction.commit() {
            drop(spill_copy);
            // Remaining outputs are removed when the store is next opened.
            let _ = spills.remove_session(&new.id);
            return Err(error.into());
        }
        Ok(handle)
    }
}

/// Returns the number of the next change in the workspace.
pub(super) fn next_change_number(connection: &Connection) -> Result<i64, StoreError> {
    let mut statement = connection.prepare_cached("SELECT coalesce(max(touched), 0) + 1 FROM session")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

pub(super) fn insert_session(
    connection: &Connection,
    new: &NewSession,
    state: &Value,
    next_id: u64,
) -> Result<i64, StoreError> {
    match session_key(connection, &new.id) {
        Err(StoreError::NoSession(_)) => {}
        // A failed read may have rolled back the transaction, so further statements would run outside of it.
        Err(error) => return Err(error),
        Ok(_) => return Err(StoreError::Exists(new.id.clone())),
    }
    if new.id.is_reserved() {
        return Err(StoreError::Reserved(new.id.clone()));
    }
    let created = new.created_ms.cast_signed();
    connection
        .prepare_cached(
            "INSERT INTO session (id, name, created_ms, updated_ms, touched, next_id, state)
             VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            new.id.as_str(),
            new.name,
            created,
            next_change_number(connection)?,
            next_id.cast_signed(),
            state.to_string()
        ])?;
    Ok(connection.last_insert_rowid())
}

pub(super) fn append_messages<'m>(
    connection: &Connection,
    session: i64,
    messages: impl IntoIterator<Item = &'m Message>,
) -> Result<(), StoreError> {
    let mut insert_message = connection.prepare_cached(
        "INSERT INTO message (session, id, role, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (session, id) DO NOTHING",
    )?;
    let mut insert_place = connection.prepare_cached(
        "INSERT INTO place (session, position, message)
         VALUES (?1, (SELECT coalesce(max(position), 0) + 1 FROM place WHERE session = ?1), ?2)",
    )?;
    let words = WordIndex::new(connection);
    for message in messages {
        let columns = MessageColumns::from_message(&message.body)?;
        let id = message.id.0.cast_signed();
        if insert_message.execute(params![session, id, columns.role, columns.kind, columns.body])? == 0 {
            return Err(StoreError::MessageExists(message.id));
        }
        let key = connection.last_insert_rowid();
        insert_place.execute([session, key])?;
        words.add_message(key, &message.body)?;
    }
    Ok(())
}

/// Calls `visit` for every message of a session, in order.
pub(super) fn for_each_message(
    connection: &Connection,
    session: i64,
    mut visit: impl FnMut(Message) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT message.id, message.body FROM place JOIN message ON message.key = place.message
         WHERE place.session = ?1 ORDER BY place.position",
    )?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        visit(read_message(row)?)?;
    }
    Ok(())
}

/// Column values of a stored message.
pub(super) struct MessageColumns {
    pub(super) role: String,
    pub(super) kind: String,
    pub(super) body: String,
}

impl MessageColumns {
    pub(super) fn from_message(message: &NewMessage) -> Result<Self, StoreError> {
        let json_error = |error: serde_json::Error| StoreError::Sqlite(error.to_string());
        let name = |value: Value| value.as_str().unwrap_or_default().to_owned();
        let body = serde_json::to_string(message).map_err(json_error)?;
        if depth(&body) > MAX_JSON_DEPTH {
            return Err(StoreError::TooDeep(MAX_JSON_DEPTH));
        }
        Ok(Self {
            role: name(serde_json::to_value(message.role).map_err(json_error)?),
            kind: name(serde_json::to_value(message.kind).map_err(json_error)?),
            body,
        })
    }
}

/// Returns the maximum nesting depth of a JSON text.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut is_in_string) = (0_usize, 0, false);
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_in_string = !is_in_string,
            // An escaped quote does not end a string.
            b'\\' => {
                bytes.next();
            }
            b'[' | b'{' if !is_in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !is_in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

fn read_message(row: &rusqlite::Row<'_>) -> Result<Message, StoreError> {
    let text = row.get_ref(1)?.as_str().map_err(StoreError::damaged)?;
    Ok(Message { id: MessageId(row.get::<_, i64>(0)?.cast_unsigned()), body: parse_body(text)? })
}

fn message_position(connection: &Connection, session: i64, id: MessageId) -> Result<Option<i64>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT place.position FROM message JOIN place ON place.message = message.key
         WHERE message.session = ?1 AND message.id = ?2",
    )?;
    Ok(statement.query_row([session, id.0.cast_signed()], |row| row.get(0)).optional()?)
}

/// Returns the beginning of the user's first message with text. Skips unreadable messages, so that the session is
/// listed anyway.
fn preview(connection: &Connection, session: i64) -> Result<String, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT message.body FROM place JOIN message ON message.key = place.message
         WHERE place.session = ?1 AND message.role = 'user' AND message.kind = 'normal'
         ORDER BY place.position LIMIT ?2",
    )?;
    let mut rows = statement.query(params![session, PREVIEW_MESSAGES])?;
    while let Some(row) = rows.next()? {
        let Some(body) = row.get_ref(0)?.as_str().ok().and_then(|text| parse_body(text).ok()) else {
            continue;
        };
        let text = Message { id: MessageId(0), body }.text();
        let mut words = text.split_whitespace().peekable();
        if words.peek().is_some() {
            return Ok(preview_line(words));
        }
    }
    Ok(String::new())
}

/// Joins words to one line of at most `PREVIEW_CHARS` characters.
fn preview_line<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let mut line = String::new();
    let mut chars_left = PREVIEW_CHARS;
    for word in words {
        for c in (!line.is_empty()).then_some(' ').into_iter().chain(word.chars()) {
            if chars_left == 1 {
                line.push('…');
                return line;
            }
            line.push(c);
            chars_left -= 1;
        }
    }
    line
}
