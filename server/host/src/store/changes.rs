//! Stores changes to a session in one transaction. The cost of appending a message does not depend on the length of the
//! session.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;
use strata_conversation::history::{Message, MessageId};

use super::lock::SessionHandle;
use super::rows::{parse_body, session_key};
use super::sessions::{MessageColumns, append_messages, next_change_number};
use super::word_index::WordIndex;
use super::{Store, StoreError};

/// The difference between a session and its stored state. Fields are applied in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionChange {
    /// Ids of removed messages.
    pub removed: Vec<MessageId>,
    /// Messages whose content, visibility, kind or pin changed. Their positions remain the same.
    pub changed: Vec<Arc<Message>>,
    /// Messages appended to the end.
    pub appended: Vec<Arc<Message>>,
    /// The order of all messages, or `None` if the fields above determine it.
    pub order: Option<Vec<MessageId>>,
    /// State of the session besides its messages, or `None` if unchanged.
    pub state: Option<Value>,
    /// Id of the next message.
    pub next_id: u64,
    /// Time of the change, in milliseconds since 1970. Used only for display, not for ordering.
    pub now_ms: u64,
}

impl Store {
    /// Stores a change durably.
    ///
    /// # Errors
    /// Changes nothing on any error. [`StoreError::ReadOnly`]; [`StoreError::NoMessage`], [`StoreError::MessageExists`]
    /// or [`StoreError::Order`] if the change does not match the stored state; [`StoreError::TooDeep`],
    /// [`StoreError::Full`], [`StoreError::Busy`] or [`StoreError::Damaged`].
    pub fn commit(&mut self, handle: &SessionHandle, commit: &SessionChange) -> Result<(), StoreError> {
        let result = self.apply(handle, commit);
        self.mark_for_check_if_damaged(result)
    }

    fn apply(&mut self, handle: &SessionHandle, commit: &SessionChange) -> Result<(), StoreError> {
        handle.check_writable()?;
        let transaction = self.begin_write()?;
        let session = session_key(&transaction, &handle.id)?;
        remove_messages(&transaction, session, &commit.removed)?;
        update_messages(&transaction, session, &commit.changed)?;
        append_messages(&transaction, session, commit.appended.iter().map(AsRef::as_ref))?;
        if let Some(order) = &commit.order {
            reorder(&transaction, session, order)?;
        }
        let change_number = next_change_number(&transaction)?;
        transaction
            .prepare_cached("UPDATE session SET next_id = ?2, updated_ms = ?3, touched = ?4 WHERE key = ?1")?
            .execute(params![
                session,
                commit.next_id.cast_signed(),
                commit.now_ms.cast_signed(),
                change_number
            ])?;
        if let Some(state) = &commit.state {
            transaction
                .prepare_cached("UPDATE session SET state = ?2 WHERE key = ?1")?
                .execute(params![session, state.to_string()])?;
        }
        Ok(transaction.commit()?)
    }
}

fn remove_messages(connection: &Connection, session: i64, removed: &[MessageId]) -> Result<(), StoreError> {
    let words = WordIndex::new(connection);
    let mut delete_place = connection.prepare_cached("DELETE FROM place WHERE message = ?1")?;
    let mut delete = connection.prepare_cached("DELETE FROM message WHERE key = ?1")?;
    for &id in removed {
        let key = find_message(connection, session, id)?.key;
        delete_place.execute([key])?;
        delete.execute([key])?;
        words.remove_row(key)?;
    }
    Ok(())
}

fn update_messages(
    connection: &Connection,
    session: i64,
    changed: &[Arc<Message>],
) -> Result<(), StoreError> {
    let words = WordIndex::new(connection);
    let mut update =
        connection.prepare_cached("UPDATE message SET role = ?2, kind = ?3, body = ?4 WHERE key = ?1")?;
    for message in changed {
        let stored = find_message(connection, session, message.id)?;
        let columns = MessageColumns::from_message(&message.body)?;
        if columns.body == stored.body {
            continue;
        }
        update.execute(params![stored.key, columns.role, columns.kind, columns.body])?;
        words.replace_message(stored.key, &parse_body(&stored.body)?, &message.body)?;
    }
    Ok(())
}

fn reorder(connection: &Connection, session: i64, order: &[MessageId]) -> Result<(), StoreError> {
    let mut keys = HashMap::new();
    let mut messages = connection.prepare_cached("SELECT id, key FROM message WHERE session = ?1")?;
    let mut rows = messages.query([session])?;
    while let Some(row) = rows.next()? {
        keys.insert(MessageId(row.get::<_, i64>(0)?.cast_unsigned()), row.get::<_, i64>(1)?);
    }
    let order_error = StoreError::Order { listed: order.len(), existing: keys.len() };
    if order.len() != keys.len() {
        return Err(order_error);
    }
    connection.prepare_cached("DELETE FROM place WHERE session = ?1")?.execute([session])?;
    let mut insert_place =
        connection.prepare_cached("INSERT INTO place (session, position, message) VALUES (?1, ?2, ?3)")?;
    for (position, id) in (1_i64..).zip(order) {
        // Remove the key from the map, so that listing a message twice is an error.
        let Some(key) = keys.remove(id) else { return Err(order_error) };
        insert_place.execute([session, position, key])?;
    }
    Ok(())
}

struct StoredMessage {
    key: i64,
    body: String,
}

fn find_message(connection: &Connection, session: i64, id: MessageId) -> Result<StoredMessage, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT key, body FROM message WHERE session = ?1 AND id = ?2")?;
    let row = statement.query_row([session, id.0.cast_signed()], |row| {
        Ok(StoredMessage { key: row.get(0)?, body: row.get(1)? })
    });
    row.optional()?.ok_or(StoreError::NoMessage(id))
}
