//! Open documents: the text in the editor, including unsaved changes, and whether it is known to be correct. Offsets
//! are UTF-8 bytes; callers convert other units. A document does not access the disk and never guesses missing text.

use std::fmt;
use std::ops::Range;

use ropey::Rope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::external::ExternalText;

use crate::outline::{TreeEdit, TreePoint};

/// The reason that a document's text may differ from the editor's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OutOfStep {
    /// A change arrived for a document that was not open.
    NeverOpened,
    /// A change did not have a higher version than the previous one.
    VersionWentBack {
        /// Version of the text in Strata.
        have: i32,
        /// Version of the change.
        got: i32,
    },
    /// A change referred to a range outside the text.
    InvalidRange {
        /// Why the range is invalid.
        detail: String,
    },
    /// Another buffer of the same file has different text. Prompts show the one that was edited last.
    OpenTwice {
        /// The other buffer, as the editor names it.
        other: String,
    },
    /// The text of a notebook's cell is missing.
    MissingCell,
    /// Cells of a notebook are open, but not the notebook, so their place in it is unknown.
    StrayCells,
    /// A message about the document was invalid.
    Misread {
        /// Why the message is invalid.
        detail: String,
    },
}

impl fmt::Display for OutOfStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeverOpened => f.write_str("the document was changed before it was opened"),
            Self::VersionWentBack { have, got } => {
                write!(f, "version {got} arrived after version {have}")
            }
            Self::InvalidRange { detail } => write!(f, "a change has an invalid range: {detail}"),
            Self::OpenTwice { other } => {
                write!(
                    f,
                    "the file is also open as `{}`, with different text",
                    ExternalText::new(other).notice()
                )
            }
            Self::MissingCell => f.write_str("the editor did not send the text of a cell"),
            Self::StrayCells => f.write_str(
                "the editor did not report the notebook of open cells, so unsaved changes are missing",
            ),
            Self::Misread { detail } => write!(f, "a message about the document is invalid: {detail}"),
        }
    }
}

/// Whether a document's text matches the editor's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
#[schemars(rename = "DocumentSync")]
pub enum DocumentSync {
    /// The text matches the editor's.
    InStep,
    /// The text may be outdated. The next message with the full text (open, full change, or save with text) repairs it.
    OutOfStep {
        /// The first problem since the text last matched the editor's.
        reason: OutOfStep,
    },
}

/// Error for a replacement that cannot be applied. The text is unchanged.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EditError {
    /// The range ends before it begins.
    #[error("the range ends at byte {end}, before its start at byte {start}")]
    Reversed {
        /// Start of the range, in bytes.
        start: usize,
        /// End of the range, in bytes.
        end: usize,
    },
    /// The range extends past the end of the text.
    #[error("the range ends at byte {end}, but the text has {len} bytes")]
    PastEnd {
        /// End of the range, in bytes.
        end: usize,
        /// Length of the text in bytes.
        len: usize,
    },
    /// The range begins or ends inside a multi-byte character.
    #[error("byte {offset} is inside a character")]
    InsideCharacter {
        /// Byte offset at which the range splits a character.
        offset: usize,
    },
}

/// An open document. Cloning is cheap because clones share the text's storage, so a clone serves as a snapshot.
#[derive(Clone, Debug)]
pub struct Document {
    pub rope: Rope,
    /// The editor's version number for the text.
    pub version: i32,
    language: String,
    /// Whether the text matches the editor's.
    pub sync: DocumentSync,
    /// Whether the last message with this version changed nothing, so that the next change may have this version too.
    is_version_unused: bool,
    lone_cr: LoneCrPresence,
}

/// Whether the text may contain a carriage return without a line feed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LoneCrPresence {
    Absent,
    Possible,
}

impl LoneCrPresence {
    fn detect(text: &str) -> Self {
        let bytes = text.as_bytes();
        let is_lone = |(index, byte): (usize, &u8)| *byte == b'\r' && bytes.get(index + 1) != Some(&b'\n');
        if bytes.iter().enumerate().any(is_lone) { Self::Possible } else { Self::Absent }
    }
}

impl Document {
    /// Creates a document that was opened with its full text. `language` is the editor's identifier for the language.
    pub fn open(text: &str, version: i32, language: impl Into<String>) -> Self {
        Self {
            rope: Rope::from_str(text),
            version,
            language: language.into(),
            sync: DocumentSync::InStep,
            is_version_unused: false,
            lone_cr: LoneCrPresence::detect(text),
        }
    }

    /// Creates a document that was changed before it was opened, so its text is unknown.
    pub fn never_opened(version: i32) -> Self {
        let sync = DocumentSync::OutOfStep { reason: OutOfStep::NeverOpened };
        Self { sync, ..Self::open("", version, "") }
    }

    /// Returns the editor's identifier for the language.
    pub fn language(&self) -> &str {
        &self.language
    }

    /// Whether the text matches the editor's.
    pub fn is_in_step(&self) -> bool {
        self.sync == DocumentSync::InStep
    }

    /// Copies the text to a string.
    pub fn text(&self) -> String {
        self.rope.to_string()
    }

    /// Whether the text is known. It is unknown if the document was changed before it was opened.
    pub fn is_text_known(&self) -> bool {
        self.sync != DocumentSync::OutOfStep { reason: OutOfStep::NeverOpened }
    }

    /// Sets the version that results from the following changes. Versions need not be consecutive (LSP 3.17,
    /// `VersionedTextDocumentIdentifier`), but they must increase.
    ///
    /// # Errors
    /// [`OutOfStep::VersionWentBack`] if `version` is not higher than the current one; the document is unchanged.
    pub(crate) fn advance(&mut self, version: i32) -> Result<(), OutOfStep> {
        let is_next = version > self.version || (version == self.version && self.is_version_unused);
        if !is_next {
            return Err(OutOfStep::VersionWentBack { have: self.version, got: version });
        }
        self.version = version;
        self.is_version_unused = false;
        Ok(())
    }

    /// Sets the version of a message without changes. A version that is not higher does not matter, because nothing can
    /// be lost with it.
    pub(crate) fn advance_unchanged(&mut self, version: i32) {
        if version > self.version {
            self.version = version;
            self.is_version_unused = true;
        }
    }

    /// Replaces the whole text. The document then matches the editor's text again.
    pub(crate) fn replace_all(&mut self, text: &str, version: i32) {
        self.rope = Rope::from_str(text);
        self.lone_cr = LoneCrPresence::detect(text);
        self.version = version;
        self.is_version_unused = false;
        self.sync = DocumentSync::InStep;
    }

    /// Records that the text may differ from the editor's. Only the first reason is kept until the text is replaced.
    pub fn mark_out_of_step(&mut self, reason: OutOfStep) {
        if self.is_in_step() {
            self.sync = DocumentSync::OutOfStep { reason };
        }
    }

    /// Replaces the bytes of `range` with `text` and returns the edit in the form that a syntax tree needs. Takes time
    /// logarithmic in the text's length, unless the text may contain a lone carriage return.
    ///
    /// # Errors
    /// [`EditError`] if the range is not within the text or splits a character; nothing is changed.
    pub(crate) fn replace(&mut self, range: Range<usize>, text: &str) -> Result<TreeEdit, EditError> {
        if range.start > range.end {
            return Err(EditError::Reversed { start: range.start, end: range.end });
        }
        let len = self.rope.len_bytes();
        if range.end > len {
            return Err(EditError::PastEnd { end: range.end, len });
        }
        let start_char = self.char_index(range.start)?;
        let end_char = if range.is_empty() { start_char } else { self.char_index(range.end)? };

        if LoneCrPresence::detect(text) == LoneCrPresence::Possible || self.may_split_crlf(&range) {
            self.lone_cr = LoneCrPresence::Possible;
        }
        let edit = match self.lone_cr {
            LoneCrPresence::Possible => TreeEdit::from_replacement(&self.rope, range, text),
            LoneCrPresence::Absent => {
                let start = self.point(range.start);
                let old_end = if range.is_empty() { start } else { self.point(range.end) };
                TreeEdit { start, old_end, new_end: start.advance(text.as_bytes()) }
            }
        };
        self.rope.remove(start_char..end_char);
        self.rope.insert(start_char, text);
        Ok(edit)
    }

    fn char_index(&self, offset: usize) -> Result<usize, EditError> {
        let index = self.rope.byte_to_char(offset);
        if self.rope.char_to_byte(index) == offset {
            Ok(index)
        } else {
            Err(EditError::InsideCharacter { offset })
        }
    }

    /// Whether an edit of this range starts directly after a carriage return, and may therefore separate it from its
    /// line feed.
    fn may_split_crlf(&self, range: &Range<usize>) -> bool {
        range.start.checked_sub(1).is_some_and(|before| self.rope.get_byte(before) == Some(b'\r'))
    }

    /// Returns a position as tree-sitter counts it: only LF ends a line. It matches the editor's position
    /// unless the text has a lone CR.
    fn point(&self, byte: usize) -> TreePoint {
        let row = self.rope.byte_to_line(byte);
        TreePoint { byte, row, column: byte - self.rope.line_to_byte(row) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_edit_changes_nothing() {
        let mut document = Document::open("a\u{1F980}b", 1, "rust");
        let reversed = Range { start: 3, end: 1 };
        assert_eq!(document.replace(reversed, ""), Err(EditError::Reversed { start: 3, end: 1 }));
        assert_eq!(document.replace(0..9, ""), Err(EditError::PastEnd { end: 9, len: 6 }));
        assert_eq!(document.replace(2..5, ""), Err(EditError::InsideCharacter { offset: 2 }));
        assert_eq!(document.text(), "a\u{1F980}b");
    }

    #[test]
    fn a_tree_edit_is_the_same_however_lines_end() {
        for text in ["one\ntwo\n\nthree", "one\r\ntwo\r\n\r\nthree", "o\rne\ntwo\r", "\r\n\r\r\n"] {
            for start in 0..=text.len() {
                for end in start..=text.len() {
                    for inserted in ["", "x", "é\n", "\r", "\n\n", "\r\n"] {
                        let mut document = Document::open(text, 1, "");
                        let expected = TreeEdit::from_replacement(&document.rope, start..end, inserted);
                        let edit = document.replace(start..end, inserted).unwrap();
                        assert_eq!(edit, expected, "{text:?} {start}..{end} {inserted:?}");
                        // The second edit applies to the result of the first.
                        let expected = TreeEdit::from_replacement(&document.rope, start..start, "y");
                        assert_eq!(document.replace(start..start, "y").unwrap(), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn a_version_without_changes_may_be_reused() {
        let mut document = Document::open("x", 4, "");
        document.advance_unchanged(4);
        assert!(document.advance(4).is_err(), "the text has this version");
        document.advance_unchanged(5);
        document.advance_unchanged(3);
        assert_eq!((document.version, document.is_in_step()), (5, true));
        assert!(document.advance(4).is_err(), "it should have come before the one without changes");
        assert!(document.advance(5).is_ok());
        assert!(document.advance(5).is_err(), "now there is a text with this version");
    }

    #[test]
    fn versions_must_increase_and_the_first_reason_stays_until_the_text_is_replaced() {
        let mut document = Document::open("x", 4, "");
        assert!(document.advance(9).is_ok());
        let error = document.advance(9).unwrap_err();
        assert_eq!(error, OutOfStep::VersionWentBack { have: 9, got: 9 });
        document.mark_out_of_step(error.clone());
        document.mark_out_of_step(OutOfStep::NeverOpened);
        assert_eq!(&document.sync, &DocumentSync::OutOfStep { reason: error });
        document.replace_all("y", 10);
        assert!(document.is_in_step());
        assert_eq!((document.text().as_str(), document.version), ("y", 10));
    }
}
