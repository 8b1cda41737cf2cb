//! A file as a model may see it, parsed to locate its definitions. Created for one reply and not cached.

use std::sync::Arc;

use strata_engine::cancel::{Cancel, Cancelled};
use strata_engine::code::outline::{self, Located, SyntaxTree, UnparsedLines};
use strata_engine::conversation::selection::Selection;
use strata_engine::key::FileKey;
use strata_engine::text::{LineStarts, first_line};
use strata_host::deadline::within_outline_time;

use crate::snapshot::Snapshot;

pub(crate) struct ParsedFile {
    /// Text with placeholders instead of secrets. Line numbers refer to this text.
    pub(crate) text: Arc<str>,
    pub(crate) lines: LineStarts,
    /// Definitions, in the order in which they appear in the text.
    pub(crate) places: Vec<Located>,
    /// Lines with syntax errors, whose definitions may be missing.
    pub(crate) unparsed: UnparsedLines,
    pub(crate) language: &'static str,
    tree: SyntaxTree,
}

impl ParsedFile {
    /// Reads and parses a file. Returns `None` if the file cannot be read, must not be shown, has no grammar, or is too
    /// large or takes too long to outline.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if `cancel` is raised.
    pub(crate) fn open(
        snapshot: &Snapshot,
        key: &FileKey,
        selection: &Selection,
        cancel: &Cancel,
    ) -> Result<Option<Self>, Cancelled> {
        let Ok(file) = snapshot.text(key, selection) else { return Ok(None) };
        Self::parse(snapshot, key, file.text, cancel)
    }

    /// Parses the text of a file that has already been read. Returns `None` in the same cases as [`open`](Self::open).
    ///
    /// # Errors
    /// Returns the same errors as [`open`](Self::open).
    pub(crate) fn parse(
        snapshot: &Snapshot,
        key: &FileKey,
        text: Arc<str>,
        cancel: &Cancel,
    ) -> Result<Option<Self>, Cancelled> {
        let Some(language) = outline::language_of(key, first_line(&text)) else { return Ok(None) };
        if text.len() as u64 > snapshot.settings.symbols.max_file_bytes {
            return Ok(None);
        }
        let limited = within_outline_time(cancel);
        let places = outline::parse(language, &text, None, &limited)
            .and_then(|tree| Ok((outline::located(&tree, &text, &limited)?, tree)));
        match places {
            Ok((places, tree)) => {
                let lines = LineStarts::of(&text);
                let unparsed = UnparsedLines::of(&tree, &text);
                Ok(Some(Self { text, lines, places, unparsed, language: language.name, tree }))
            }
            Err(cancelled) if cancel.is_cancelled() => Err(cancelled),
            Err(_) => Ok(None),
        }
    }

    /// Returns the first and last line of a definition with the documentation, decorators and attributes before it.
    pub(crate) fn lines_with_lead(&self, place: &Located) -> (u32, u32) {
        self.lines.of_range(&outline::with_lead(&self.tree, &self.text, place))
    }

    /// Returns the first and last line of a definition, counted from 1.
    pub(crate) fn lines_of(&self, place: &Located) -> (u32, u32) {
        self.lines.of_range(&place.range)
    }
}
