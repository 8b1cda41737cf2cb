//! Exports and imports a session as JSON lines. The first line is a header that identifies the session; each further
//! line is a message. Does not read formats of other programs.

use std::io::{BufRead, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strata_base::json;
use strata_conversation::history::{Message, MessageId};

use super::rows::session_key;
use super::sessions::{NewSession, append_messages, for_each_message, insert_session};
use super::{SessionHandle, SessionId, Store, StoreError};

#[derive(Debug)]
pub struct ImportedSession {
    /// The new session, open for writing.
    pub handle: SessionHandle,
    pub messages: usize,
}

/// The first line of an exported session.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Header {
    strata_session: u32,
    id: SessionId,
    name: String,
    created_ms: u64,
}

const EXPORT_FORMAT_VERSION: u32 = 1;

/// Maximum length of a line, in bytes. Equal to the maximum message size of the protocol.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// Maximum message id to accept in an import. Leaves enough ids for messages appended later.
const MAX_MESSAGE_ID: u64 = u64::MAX / 4;

impl Store {
    /// Writes a consistent snapshot of a session as JSON lines: a header, and then all messages in order, including
    /// hidden ones. The output is deterministic.
    ///
    /// # Errors
    /// [`StoreError::NoSession`] if the session does not exist; [`StoreError::Io`] if writing to `out` fails.
    pub fn export(&self, id: &SessionId, out: &mut impl Write) -> Result<(), StoreError> {
        let transaction = self.begin_read()?;
        let key = session_key(&transaction, id)?;
        let mut session =
            transaction.prepare_cached("SELECT name, created_ms FROM session WHERE key = ?1")?;
        let (name, created_ms): (String, i64) =
            session.query_row([key], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let created_ms = created_ms.cast_unsigned();
        write_line(out, &Header { strata_session: EXPORT_FORMAT_VERSION, id: id.clone(), name, created_ms })?;
        for_each_message(&transaction, key, |message| write_line(out, &message))
    }

    /// Imports the output of [`export`](Self::export) as a new session, completely or not at all. Keeps the id of the
    /// session unless it is reserved or already used, and otherwise generates a new one.
    ///
    /// # Errors
    /// [`StoreError::Line`] with the number of the first invalid line.
    pub fn import(&mut self, mut lines: impl BufRead) -> Result<ImportedSession, StoreError> {
        let header = read_line(&mut lines, 1)?.ok_or_else(|| line_error(1, "the header is missing"))?;
        let header: Header = json::from_slice(&header).map_err(|error| line_error(1, error))?;
        if header.strata_session != EXPORT_FORMAT_VERSION {
            return Err(line_error(1, format!("unknown format version {}", header.strata_session)));
        }
        let id = match session_key(&self.connection, &header.id) {
            Ok(_) => SessionId::random()?,
            Err(StoreError::NoSession(_)) if header.id.is_reserved() => SessionId::random()?,
            Err(StoreError::NoSession(_)) => header.id,
            Err(error) => return Err(error),
        };
        let new = NewSession { id, name: header.name, created_ms: header.created_ms };
        let handle = SessionHandle::for_writing(&self.paths, new.id.clone())?;
        let transaction = self.begin_write()?;
        let session = insert_session(&transaction, &new, &Value::Null, 0)?;
        let (mut messages, mut next_id) = (0, 0);
        while let Some(line) = read_line(&mut lines, messages + 2)? {
            let line_number = messages + 2;
            let message = parse_message(&line).map_err(|problem| line_error(line_number, problem))?;
            next_id = next_id.max(message.id.0.saturating_add(1));
            append_messages(&transaction, session, [&message]).map_err(|error| match error {
                StoreError::MessageExists(_) => line_error(line_number, error),
                other => other,
            })?;
            messages += 1;
        }
        transaction
            .prepare_cached("UPDATE session SET next_id = ?2 WHERE key = ?1")?
            .execute([session, next_id.cast_signed()])?;
        transaction.commit()?;
        Ok(ImportedSession { handle, messages })
    }
}

fn write_line(out: &mut impl Write, value: &impl Serialize) -> Result<(), StoreError> {
    let mut line = serde_json::to_vec(value).map_err(|error| StoreError::Sqlite(error.to_string()))?;
    line.push(b'\n');
    out.write_all(&line).map_err(|error| StoreError::io(Path::new("export"), &error))
}

/// Parses a message and rejects unknown fields, which serde cannot reject in flattened structs.
fn parse_message(line: &[u8]) -> Result<Message, String> {
    let mut fields: serde_json::Map<String, Value> =
        json::from_slice(line).map_err(|error| error.to_string())?;
    let id = fields.shift_remove("id").ok_or("a message needs an `id`")?;
    let id: MessageId = serde_json::from_value(id).map_err(|error| format!("id: {error}"))?;
    if id.0 > MAX_MESSAGE_ID {
        return Err(format!("id: {} is too high; the highest is {MAX_MESSAGE_ID}", id.0));
    }
    let body = serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| error.to_string())?;
    Ok(Message { id, body })
}

/// Reads the next line, or `None` at the end.
fn read_line(lines: &mut impl BufRead, line_number: usize) -> Result<Option<Vec<u8>>, StoreError> {
    let mut line = Vec::new();
    let result = lines.take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut line);
    result.map_err(|error| StoreError::io(Path::new("import"), &error))?;
    if line.len() as u64 > MAX_LINE_BYTES {
        return Err(line_error(line_number, format!("longer than {} MiB", MAX_LINE_BYTES >> 20)));
    }
    if line.is_empty() {
        return Ok(None);
    }
    Ok(Some(line))
}

fn line_error(line: usize, problem: impl ToString) -> StoreError {
    StoreError::Line { line, problem: problem.to_string() }
}
