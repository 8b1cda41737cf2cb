//! Updates the word index: extracts the searchable text of messages and fragments, and keeps the index consistent with
//! the tables. The module `search` queries the index.

use rusqlite::{Connection, params};
use serde_json::Value;
use strata_conversation::history::{ContentBlock, NewMessage, ResultPart};

use super::rows::{parse_body, read_note};
use super::{StoreError, schema};

/// The word index inside a transaction.
pub(super) struct WordIndex<'c> {
    connection: &'c Connection,
}

impl<'c> WordIndex<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self { connection }
    }

    pub(super) fn add_message(&self, key: i64, message: &NewMessage) -> Result<(), StoreError> {
        self.add_row(key, &searchable_text(message))
    }

    /// Updates a message. Does nothing if the searchable text is unchanged, since most changes concern only visibility.
    pub(super) fn replace_message(
        &self,
        key: i64,
        old: &NewMessage,
        new: &NewMessage,
    ) -> Result<(), StoreError> {
        let text = searchable_text(new);
        if searchable_text(old) == text {
            return Ok(());
        }
        self.remove_row(key)?;
        self.add_row(key, &text)
    }

    pub(super) fn add_note(&self, key: i64, text: &str, tags: &[String]) -> Result<(), StoreError> {
        self.add_row(schema::FIRST_FRAGMENT_ROWID + key, &format!("{text}\n{}", tags.join("\n")))
    }

    pub(super) fn remove_note(&self, key: i64) -> Result<(), StoreError> {
        self.remove_row(schema::FIRST_FRAGMENT_ROWID + key)
    }

    pub(super) fn remove_row(&self, rowid: i64) -> Result<(), StoreError> {
        self.connection.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([rowid])?;
        Ok(())
    }

    pub(super) fn remove_session(&self, session: i64) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("DELETE FROM words WHERE rowid IN (SELECT key FROM message WHERE session = ?1)")?
            .execute([session])?;
        Ok(())
    }

    /// Rebuilds the index from the tables.
    pub(super) fn rebuild(&self) -> Result<(), StoreError> {
        self.connection.execute_batch(&format!("DROP TABLE {};", schema::WORD_INDEX))?;
        self.connection.execute_batch(schema::CREATE_WORD_INDEX)?;
        let mut messages = self.connection.prepare("SELECT key, body FROM message ORDER BY key")?;
        let mut rows = messages.query([])?;
        while let Some(row) = rows.next()? {
            self.add_message(
                row.get(0)?,
                &parse_body(row.get_ref(1)?.as_str().map_err(StoreError::damaged)?)?,
            )?;
        }
        let mut fragments = self
            .connection
            .prepare("SELECT key, session, tags, text, created_ms FROM fragment ORDER BY key")?;
        let mut rows = fragments.query([])?;
        while let Some(row) = rows.next()? {
            let fragment_row = read_note(row)?;
            self.add_note(fragment_row.id.0, &fragment_row.note.text, &fragment_row.note.tags)?;
        }
        Ok(())
    }

    pub(super) fn add_row(&self, rowid: i64, text: &str) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?
            .execute(params![rowid, segment_words(text)])?;
        Ok(())
    }
}

/// Returns the searchable text of a message: text, reasoning, tool arguments and tool results, but no images,
/// signatures or encrypted reasoning.
pub(super) fn searchable_text(message: &NewMessage) -> String {
    let mut text = String::new();
    let mut add = |part: &str| {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(part);
    };
    for block in &message.content {
        match block {
            ContentBlock::Text { text } | ContentBlock::Thinking { text, .. } => add(text),
            ContentBlock::ToolCall { name, input, .. } => {
                add(name);
                for_each_string(input, &mut add);
            }
            ContentBlock::ToolResult { content, .. } => content.iter().for_each(|part| match part {
                ResultPart::Text { text } => add(text),
                ResultPart::Foreign(foreign) => foreign.text().into_iter().for_each(&mut add),
                ResultPart::Image(_) => {}
            }),
            ContentBlock::Foreign(foreign) => foreign.text().into_iter().for_each(&mut add),
            ContentBlock::Image(_) | ContentBlock::RedactedThinking { .. } => {}
        }
    }
    text
}

/// Prepares text for the index. Makes each character a word in scripts without spaces between words, so that a query
/// finds consecutive characters. Otherwise, the index would treat a whole sentence as one word.
pub(super) fn segment_words(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for c in text.chars() {
        if is_word_by_itself(c) {
            spaced.extend([' ', c, ' ']);
        } else {
            spaced.push(c);
        }
    }
    spaced
}

/// Whether a character belongs to a script without spaces between words: Han, Hiragana, Katakana, Thai, Lao, Khmer or
/// Burmese.
pub(super) fn is_word_by_itself(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// Calls `add` for each string and number in a JSON value. Not recursive, since arguments may be nested to any depth.
fn for_each_string(value: &Value, add: &mut impl FnMut(&str)) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::String(text) => add(text),
            Value::Array(items) => pending.extend(items.iter().rev()),
            Value::Object(fields) => pending.extend(fields.values().rev()),
            Value::Number(number) => add(&number.to_string()),
            Value::Null | Value::Bool(_) => {}
        }
    }
}
