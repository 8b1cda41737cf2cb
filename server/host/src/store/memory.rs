//! Stores memory fragments, which are short notes that outlast all compactions and sessions of a workspace.

use rusqlite::params;

use super::rows::{NewNote, StoredNote, read_note};
use super::word_index::WordIndex;
use super::{NoteId, SessionId, Store, StoreError};

impl Store {
    /// Stores a note and returns its id.
    ///
    /// # Errors
    /// [`StoreError::EmptyFragment`] if the text is blank.
    pub fn add_note(&mut self, note: &NewNote) -> Result<NoteId, StoreError> {
        if note.text.trim().is_empty() {
            return Err(StoreError::EmptyFragment);
        }
        let transaction = self.begin_write()?;
        let tags = serde_json::to_string(&note.tags).map_err(StoreError::damaged)?;
        transaction
            .prepare_cached("INSERT INTO fragment (session, tags, text, created_ms) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![
                note.session.as_ref().map(SessionId::as_str),
                tags,
                note.text,
                note.created_ms.cast_signed()
            ])?;
        let key = transaction.last_insert_rowid();
        WordIndex::new(&transaction).add_note(key, &note.text, &note.tags)?;
        transaction.commit()?;
        Ok(NoteId(key))
    }

    /// Returns all notes of the workspace, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] or another error of the database.
    pub fn list_notes(&self) -> Result<Vec<StoredNote>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT key, session, tags, text, created_ms FROM fragment ORDER BY key")?;
        let mut rows = statement.query([])?;
        let mut fragments = Vec::new();
        while let Some(row) = rows.next()? {
            fragments.push(read_note(row)?);
        }
        Ok(fragments)
    }

    /// Deletes the note with this id.
    ///
    /// # Errors
    /// [`StoreError::NoFragment`] if the note does not exist.
    pub fn remove_note(&mut self, id: NoteId) -> Result<(), StoreError> {
        let transaction = self.begin_write()?;
        if transaction.prepare_cached("DELETE FROM fragment WHERE key = ?1")?.execute([id.0])? == 0 {
            return Err(StoreError::NoFragment(id));
        }
        WordIndex::new(&transaction).remove_note(id.0)?;
        Ok(transaction.commit()?)
    }
}
