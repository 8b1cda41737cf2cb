//! A file with its syntax tree, read from the editor's buffer or from disk.

use std::ops::Range;

use ropey::Rope;
use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_base::text::first_line;
use strata_code::outline::{self, LocatedSymbol, MAX_OUTLINE_BYTES, SyntaxTree};
use strata_conversation::selection::Selection;
use tower_lsp::ls_types::{Location, Uri};

use crate::position::PositionEncoding;
use strata_app::model::snapshot::Snapshot;

pub(super) struct ParsedSource {
    uri: Uri,
    rope: Rope,
    text: String,
    tree: SyntaxTree,
    encoding: PositionEncoding,
}

impl ParsedSource {
    /// Reads and parses a file. Returns `None` if the file cannot be read, has no grammar, is too large for an outline,
    /// or has no URI.
    pub(super) fn open(
        key: &FileKey,
        snapshot: &Snapshot,
        encoding: PositionEncoding,
        cancel: &Cancel,
    ) -> Result<Option<Self>, Cancelled> {
        let address: Option<Uri> = snapshot.editor_uri(key).and_then(|address| address.parse().ok());
        let Some(uri) = address else { return Ok(None) };
        if let Some(buffer) =
            snapshot.documents.buffer(key).filter(|buffer| buffer.document().is_text_known())
        {
            let Some(tree) = snapshot.buffer_tree(key, buffer, cancel)? else { return Ok(None) };
            let document = buffer.document();
            let (rope, text) = (document.rope.clone(), document.text().to_string());
            return Ok(Some(Self { uri, rope, text, tree, encoding }));
        }
        let Ok(text) = snapshot.unscreened_text(key, &Selection::default()) else { return Ok(None) };
        let text = text.text.to_string();
        let Some(language) = outline::language_of(key, first_line(&text)) else { return Ok(None) };
        if text.len() as u64 > MAX_OUTLINE_BYTES {
            return Ok(None);
        }
        let tree = snapshot.parse(language, &text, cancel)?;
        Ok(Some(Self { uri, rope: Rope::from_str(&text), text, tree, encoding }))
    }

    /// Returns the symbols of the file, in the order of its outline.
    pub(super) fn symbols(&self, cancel: &Cancel) -> Result<Vec<LocatedSymbol>, Cancelled> {
        outline::locate_symbols(&self.tree, &self.text, cancel)
    }

    /// Returns the name at a position and its byte range.
    pub(super) fn name_at(&self, position: tower_lsp::ls_types::Position) -> Option<(&str, Range<usize>)> {
        let byte = self.encoding.offset(&self.rope, position).ok()?;
        outline::name_at(&self.tree, &self.text, byte)
    }

    /// Converts a byte range to an editor range.
    pub(super) fn range(&self, bytes: &Range<usize>) -> tower_lsp::ls_types::Range {
        let position = |byte| self.encoding.position(&self.rope, byte);
        tower_lsp::ls_types::Range { start: position(bytes.start), end: position(bytes.end) }
    }

    /// Converts a byte range to an editor location in this file.
    pub(super) fn location(&self, bytes: &Range<usize>) -> Location {
        Location { uri: self.uri.clone(), range: self.range(bytes) }
    }

    /// Returns the name of the file's language.
    pub(super) fn language(&self) -> &'static str {
        self.tree.language.name
    }
}
