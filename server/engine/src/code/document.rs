//! Open buffers: the text the user sees, including unsaved changes, and whether Strata can still vouch for it. Offsets are UTF-8
//! bytes; other units are converted at the edges. A document knows nothing about files on disk and never guesses at missing text.

use std::fmt;
use std::ops::Range;

use ropey::Rope;
use schemars::JsonSchema;
use serde::Serialize;

use crate::code::outline::{TreeEdit, TreePoint};

/// Why a document's text can no longer be trusted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OutOfStep {
    /// A change arrived for a document that was never opened.
    NeverOpened,
    /// A change did not carry a higher version than the one before it.
    VersionWentBack {
        /// The version Strata has.
        have: i32,
        /// The version the change carried.
        got: i32,
    },
    /// A change named a range that is not in the text.
    InvalidRange {
        /// What is wrong.
        detail: String,
    },
    /// Something was said of it that cannot be read.
    Misread {
        /// What is wrong.
        detail: String,
    },
}

impl fmt::Display for OutOfStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeverOpened => f.write_str("it was changed before it was opened"),
            Self::VersionWentBack { have, got } => {
                write!(f, "version {got} arrived after version {have}")
            }
            Self::InvalidRange { detail } => write!(f, "a change has an invalid range: {detail}"),
            Self::Misread { detail } => write!(f, "a message about it is invalid: {detail}"),
        }
    }
}

/// Whether a document's text is the editor's text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
#[schemars(rename = "DocumentSync")]
pub enum Sync {
    /// The text is current.
    InStep,
    /// The text may be outdated; the next full text (open, full change, or save with text) repairs it.
    OutOfStep {
        /// The first problem.
        reason: OutOfStep,
    },
}

/// A replacement that the text refuses; the text is as before.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EditError {
    /// The range ends before it begins.
    #[error("the range ends at byte {end}, before its start at byte {start}")]
    Reversed {
        /// First byte.
        start: usize,
        /// End byte.
        end: usize,
    },
    /// The range reaches past the text.
    #[error("the range ends at byte {end}, but the text has {len} bytes")]
    PastEnd {
        /// End byte.
        end: usize,
        /// Length of the text in bytes.
        len: usize,
    },
    /// The range begins or ends inside a character.
    #[error("byte {offset} is inside a character")]
    InsideCharacter {
        /// The byte in question.
        offset: usize,
    },
}

/// An open buffer. Cloning is cheap (the rope shares its chunks), so a clone is a snapshot.
#[derive(Clone, Debug)]
pub struct Document {
    /// The text.
    pub rope: Rope,
    /// The editor's version number of the text.
    pub version: i32,
    language: String,
    /// Whether the text is the editor's text.
    pub sync: Sync,
    lone_cr: LoneCr,
}

/// Whether a lone carriage return may be somewhere in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LoneCr {
    Absent,
    Possible,
}

impl LoneCr {
    fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let lone = |(at, byte): (usize, &u8)| *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n');
        if bytes.iter().enumerate().any(lone) { Self::Possible } else { Self::Absent }
    }
}

impl Document {
    /// A buffer that was opened with its full text. `language` is the editor's name for the language.
    pub fn open(text: &str, version: i32, language: impl Into<String>) -> Self {
        Self {
            rope: Rope::from_str(text),
            version,
            language: language.into(),
            sync: Sync::InStep,
            lone_cr: LoneCr::of(text),
        }
    }

    /// A buffer that was changed before it was opened: its text is unknown.
    pub fn never_opened(version: i32) -> Self {
        let sync = Sync::OutOfStep { reason: OutOfStep::NeverOpened };
        Self { sync, ..Self::open("", version, "") }
    }

    /// The language id from the editor.
    pub(crate) fn language(&self) -> &str {
        &self.language
    }

    /// Whether the text is the editor's text, as yes or no.
    pub fn is_in_step(&self) -> bool {
        self.sync == Sync::InStep
    }

    /// The text in one piece.
    pub fn text(&self) -> String {
        self.rope.to_string()
    }

    /// Whether the text is known. It is not if the buffer was changed before it was opened.
    pub fn is_known(&self) -> bool {
        self.sync != Sync::OutOfStep { reason: OutOfStep::NeverOpened }
    }

    /// Takes note of the version that the coming changes lead to. Versions need not be consecutive (LSP
    /// 3.17, `VersionedTextDocumentIdentifier`), but they must rise.
    ///
    /// # Errors
    /// [`OutOfStep::VersionWentBack`] when `version` does not rise; the document is unchanged.
    pub(crate) fn advance(&mut self, version: i32) -> Result<(), OutOfStep> {
        if version <= self.version {
            return Err(OutOfStep::VersionWentBack { have: self.version, got: version });
        }
        self.version = version;
        Ok(())
    }

    /// Replaces the whole text, which also repairs a document that was out of step.
    pub(crate) fn replace_all(&mut self, text: &str, version: i32) {
        self.rope = Rope::from_str(text);
        self.lone_cr = LoneCr::of(text);
        self.version = version;
        self.sync = Sync::InStep;
    }

    /// Marks the text as not to be trusted. The first reason stays until the text is repaired.
    pub(crate) fn lose_step(&mut self, reason: OutOfStep) {
        if self.is_in_step() {
            self.sync = Sync::OutOfStep { reason };
        }
    }

    /// Replaces the bytes of `range` with `text` and says what that means for a syntax tree. Costs a logarithm
    /// of the text's length, unless the text may hold a lone carriage return.
    ///
    /// # Errors
    /// [`EditError`] when the range is not a range of whole characters of the text; nothing is changed.
    pub(crate) fn replace(&mut self, range: Range<usize>, text: &str) -> Result<TreeEdit, EditError> {
        if range.start > range.end {
            return Err(EditError::Reversed { start: range.start, end: range.end });
        }
        let len = self.rope.len_bytes();
        if range.end > len {
            return Err(EditError::PastEnd { end: range.end, len });
        }
        let start_char = self.char_at(range.start)?;
        let end_char = if range.is_empty() { start_char } else { self.char_at(range.end)? };

        if LoneCr::of(text) == LoneCr::Possible || self.parts_a_pair(&range) {
            self.lone_cr = LoneCr::Possible;
        }
        let edit = match self.lone_cr {
            LoneCr::Possible => TreeEdit::in_rope(&self.rope, range, text),
            LoneCr::Absent => {
                let start = self.point(range.start);
                let old_end = if range.is_empty() { start } else { self.point(range.end) };
                TreeEdit { start, old_end, new_end: start.after(text.as_bytes()) }
            }
        };
        self.rope.remove(start_char..end_char);
        self.rope.insert(start_char, text);
        Ok(edit)
    }

    fn char_at(&self, offset: usize) -> Result<usize, EditError> {
        let index = self.rope.byte_to_char(offset);
        if self.rope.char_to_byte(index) == offset {
            Ok(index)
        } else {
            Err(EditError::InsideCharacter { offset })
        }
    }

    /// Whether an edit may leave the CR of a pair without its LF: it begins right after one.
    fn parts_a_pair(&self, range: &Range<usize>) -> bool {
        range.start.checked_sub(1).is_some_and(|before| self.rope.get_byte(before) == Some(b'\r'))
    }

    /// A position as tree-sitter counts it: only LF ends a line. It matches the editor's unless the text has a lone CR.
    fn point(&self, byte: usize) -> TreePoint {
        let row = self.rope.byte_to_line(byte);
        TreePoint { byte, row, column: byte - self.rope.line_to_byte(row) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_edit_changes_nothing() {
        let mut document = Document::open("a\u{1F980}b", 1, "rust");
        let reversed = Range { start: 3, end: 1 };
        assert_eq!(document.replace(reversed, ""), Err(EditError::Reversed { start: 3, end: 1 }));
        assert_eq!(document.replace(0..9, ""), Err(EditError::PastEnd { end: 9, len: 6 }));
        assert_eq!(document.replace(2..5, ""), Err(EditError::InsideCharacter { offset: 2 }));
        assert_eq!(document.text(), "a\u{1F980}b");
    }

    #[test]
    fn an_edit_is_told_the_same_way_with_and_without_carriage_returns() {
        for text in ["one\ntwo\n\nthree", "one\r\ntwo\r\n\r\nthree", "o\rne\ntwo\r", "\r\n\r\r\n"] {
            for start in 0..=text.len() {
                for end in start..=text.len() {
                    for inserted in ["", "x", "é\n", "\r", "\n\n", "\r\n"] {
                        let mut document = Document::open(text, 1, "");
                        let expected = TreeEdit::in_rope(&document.rope, start..end, inserted);
                        let edit = document.replace(start..end, inserted).unwrap();
                        assert_eq!(edit, expected, "{text:?} {start}..{end} {inserted:?}");
                        // A second edit sees what the first one left.
                        let expected = TreeEdit::in_rope(&document.rope, start..start, "y");
                        assert_eq!(document.replace(start..start, "y").unwrap(), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn versions_must_rise_and_the_first_reason_stays_until_mended() {
        let mut document = Document::open("x", 4, "");
        assert!(document.advance(9).is_ok());
        let back = document.advance(9).unwrap_err();
        assert_eq!(back, OutOfStep::VersionWentBack { have: 9, got: 9 });
        document.lose_step(back.clone());
        document.lose_step(OutOfStep::NeverOpened);
        assert_eq!(&document.sync, &Sync::OutOfStep { reason: back });
        document.replace_all("y", 10);
        assert!(document.is_in_step());
        assert_eq!((document.text().as_str(), document.version), ("y", 10));
    }
}
