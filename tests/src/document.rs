//! A document as the editor sees it, with the events for its changes. Computes positions independently of the server.

use std::ops::Range;

use serde_json::{Value, json};

/// The unit of positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Bytes.
    Utf8,
    /// UTF-16 code units.
    Utf16,
    /// Unicode scalar values.
    Utf32,
}

/// An open document.
#[derive(Clone, Debug)]
pub struct Document {
    /// URI of the document.
    pub uri: String,
    /// The text as the user sees it.
    pub text: String,
    /// Version number, incremented by every change.
    pub version: i32,
    unit: Unit,
}

impl Unit {
    /// All units.
    pub const ALL: [Self; 3] = [Self::Utf8, Self::Utf16, Self::Utf32];

    /// Returns the unit's name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }

    /// Returns the length of a text in this unit.
    pub fn length(self, text: &str) -> usize {
        match self {
            Self::Utf8 => text.len(),
            Self::Utf16 => text.chars().map(char::len_utf16).sum(),
            Self::Utf32 => text.chars().count(),
        }
    }
}

impl Document {
    /// Creates a document whose positions count in `unit`.
    pub fn new(uri: String, text: String, unit: Unit) -> Self {
        Self { uri, text, version: 1, unit }
    }

    /// Replaces bytes of the text. Returns the change event, of which one notification may contain several.
    pub fn edit(&mut self, range: Range<usize>, new: &str) -> Value {
        let change = json!({
            "range": { "start": self.position(range.start), "end": self.position(range.end) },
            "text": new,
        });
        self.text.replace_range(range, new);
        change
    }

    /// Replaces the whole text, and returns the change event.
    pub fn replace_all(&mut self, new: &str) -> Value {
        new.clone_into(&mut self.text);
        json!({ "text": new })
    }

    /// Returns the range of `needle`, which must occur exactly once.
    pub fn find(&self, needle: &str) -> Range<usize> {
        let found: Vec<usize> = self.text.match_indices(needle).map(|(at, _)| at).collect();
        match found[..] {
            [at] => at..at + needle.len(),
            _ => panic!("{needle:?} occurs {} times in {:?}", found.len(), self.text),
        }
    }

    /// Increments the version, and returns the identifier of the document for `didChange`.
    pub fn next_version(&mut self) -> Value {
        self.version += 1;
        json!({ "uri": self.uri, "version": self.version })
    }

    /// Returns the position of a byte offset. Lines end at LF, CRLF or CR.
    pub fn position(&self, byte: usize) -> Value {
        let before = &self.text[..byte];
        let mut line = 0;
        let mut start = 0;
        let mut rest = before.char_indices().peekable();
        while let Some((at, character)) = rest.next() {
            let ends = match character {
                '\n' => true,
                '\r' => rest.peek().is_none_or(|(_, next)| *next != '\n'),
                _ => false,
            };
            if ends {
                line += 1;
                start = at + 1;
            }
        }
        json!({ "line": line, "character": self.unit.length(&before[start..]) })
    }
}
