//! A file as a model may see it, parsed to locate its definitions. Created for one reply and not cached.

use std::sync::Arc;

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_base::text::{LineStarts, first_line};
use strata_code::outline::{self, LocatedSymbol, MAX_OUTLINE_BYTES, SyntaxTree, Unparsed, UnparsedLines};
use strata_conversation::selection::Selection;

use crate::model::snapshot::Snapshot;

pub(crate) struct ParsedFile {
    /// Text with placeholders instead of secrets. Line numbers refer to this text.
    pub(crate) text: Arc<str>,
    pub(crate) lines: LineStarts,
    /// Definitions, in the order in which they appear in the text.
    pub(crate) places: Vec<LocatedSymbol>,
    /// Lines with syntax errors, whose definitions may be missing.
    pub(crate) unparsed: UnparsedLines,
    pub(crate) language: &'static str,
    tree: SyntaxTree,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoOutline {
    #[error("no grammar recognizes it")]
    UnknownLanguage,
    #[error("it has {bytes} bytes, and files of more than {MAX_OUTLINE_BYTES} bytes have no outline")]
    TooLarge { bytes: usize },
    #[error("{0}")]
    Unparsed(Unparsed),
}

impl ParsedFile {
    /// Reads and parses a file. Returns `None` if the file cannot be read, must not be shown, or has no outline.
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
        Ok(Self::parse(snapshot, key, file.text, cancel)?.ok())
    }

    /// Parses the text of a file that has already been read.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if `cancel` is raised. The inner error says why the file has no outline.
    pub(crate) fn parse(
        snapshot: &Snapshot,
        key: &FileKey,
        text: Arc<str>,
        cancel: &Cancel,
    ) -> Result<Result<Self, NoOutline>, Cancelled> {
        let Some(language) = outline::language_of(key, first_line(&text)) else {
            return Ok(Err(NoOutline::UnknownLanguage));
        };
        if text.len() as u64 > MAX_OUTLINE_BYTES {
            return Ok(Err(NoOutline::TooLarge { bytes: text.len() }));
        }
        let tree = snapshot.parse(language, &text, cancel)?;
        if let Some(reason) = tree.unparsed {
            return Ok(Err(NoOutline::Unparsed(reason)));
        }
        let places = outline::locate_symbols(&tree, &text, cancel)?;
        let lines = LineStarts::new(&text);
        let unparsed = UnparsedLines::find(&tree, &text);
        Ok(Ok(Self { text, lines, places, unparsed, language: language.name, tree }))
    }

    /// Returns the first and last line of a definition with the documentation, decorators and attributes before it.
    pub(crate) fn lines_with_lead(&self, place: &LocatedSymbol) -> (u32, u32) {
        self.lines.line_range(&outline::with_lead(&self.tree, &self.text, place))
    }

    /// Returns the first and last line of a definition, counted from 1.
    pub(crate) fn definition_lines(&self, place: &LocatedSymbol) -> (u32, u32) {
        self.lines.line_range(&place.range)
    }
}
