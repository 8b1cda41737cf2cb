//! An open document together with its syntax tree and outline. Edits are noted as they come; parsing happens
//! when somebody asks, starts from the last tree, and can be cancelled. Says nothing about which buffers there
//! are.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use strata_grammars::LanguageId;

use crate::cancel::{Cancel, Cancelled};
use crate::document::{Document, EditError, OutOfStep};
use crate::key::FileKey;
use crate::outline::{Outline, SyntaxTree, TreeEdit, parse};
use crate::symbols::FileSymbols;

/// A tree that lags further behind than this many edits is not worth bringing up to date.
const MAX_TRAIL: usize = 1_000;

/// What parsing a buffer gave.
#[derive(Clone, Debug)]
pub struct Parsed {
    generation: u64,
    tree: SyntaxTree,
    symbols: Arc<FileSymbols>,
}

/// An open document, cheap to clone.
#[derive(Clone, Debug)]
pub struct Buffer {
    document: Document,
    language: Option<LanguageId>,
    /// Names the text: no two texts of this process share a number, whatever the editor's versions do.
    generation: u64,
    parsed: Option<Arc<Parsed>>,
    /// The edits since `parsed`.
    trail: Vec<TreeEdit>,
}

impl Buffer {
    /// A document as it was opened or first heard of. Its language is the editor's if there is an outline for
    /// it, else what its name and first line say.
    pub fn new(key: &FileKey, document: Document) -> Self {
        let first_line = document.rope().lines().next().map(|line| line.to_string()).unwrap_or_default();
        let language = LanguageId::by_editor_id(document.language())
            .or_else(|| LanguageId::by_path(key.as_str(), &first_line));
        Self { document, language, generation: next_generation(), parsed: None, trail: Vec::new() }
    }

    /// The document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Whether [`Buffer::parse`] would find something new.
    pub fn is_stale(&self) -> bool {
        self.language.is_some()
            && self.parsed.as_ref().is_none_or(|parsed| parsed.generation != self.generation)
    }

    /// As [`Document::advance`].
    ///
    /// # Errors
    /// [`OutOfStep::VersionWentBack`]; nothing was changed.
    pub fn advance(&mut self, version: i32) -> Result<(), OutOfStep> {
        self.document.advance(version)
    }

    /// As [`Document::lose_step`].
    pub fn lose_step(&mut self, reason: OutOfStep) {
        self.document.lose_step(reason);
    }

    /// As [`Document::replace_all`]; the tree starts anew.
    pub fn replace_all(&mut self, text: &str, version: i32) {
        self.document.replace_all(text, version);
        self.generation = next_generation();
        self.parsed = None;
        self.trail.clear();
    }

    /// As [`Document::replace`]; the edit is noted for the tree.
    ///
    /// # Errors
    /// [`EditError`]; nothing was changed.
    pub fn replace(&mut self, range: Range<usize>, text: &str) -> Result<(), EditError> {
        let edit = self.document.replace(range, text)?;
        self.generation = next_generation();
        if self.parsed.is_some() {
            self.trail.push(edit);
        }
        if self.trail.len() > MAX_TRAIL {
            self.parsed = None;
            self.trail.clear();
        }
        Ok(())
    }

    /// Parses the text as it is now, starting from the last tree. `None` without a grammar.
    ///
    /// # Errors
    /// [`Cancelled`] when the flag went up.
    pub fn parse(&self, key: &FileKey, cancel: &Cancel) -> Result<Option<Parsed>, Cancelled> {
        let Some(language) = self.language else { return Ok(None) };
        let text = self.document.text();
        let old = self.parsed.as_ref().map(|parsed| {
            let mut tree = parsed.tree.clone();
            self.trail.iter().for_each(|edit| tree.edit(edit));
            tree
        });
        let tree = parse(language, &text, old.as_ref(), cancel)?;
        let outline = Outline::of(&tree, &text, cancel)?;
        let symbols = Arc::new(FileSymbols::new(language, key, outline));
        Ok(Some(Parsed { generation: self.generation, tree, symbols }))
    }

    /// Takes over a result of [`Buffer::parse`], unless the text has changed since: then it is dropped.
    pub fn adopt(&mut self, parsed: Parsed) {
        if parsed.generation == self.generation {
            self.parsed = Some(Arc::new(parsed));
            self.trail.clear();
        }
    }

    /// The syntax tree of the text as it is now: from the last parse when nothing changed since, else parsed here.
    /// `None` without a grammar.
    ///
    /// # Errors
    /// [`Cancelled`] when the flag went up.
    pub fn tree(&self, key: &FileKey, cancel: &Cancel) -> Result<Option<SyntaxTree>, Cancelled> {
        match &self.parsed {
            Some(parsed) if parsed.generation == self.generation => Ok(Some(parsed.tree.clone())),
            _ => Ok(self.parse(key, cancel)?.map(|parsed| parsed.tree)),
        }
    }

    /// The outline of the text as it is now: from the last parse when nothing changed since, else parsed here.
    ///
    /// # Errors
    /// [`Cancelled`] when the flag went up.
    pub fn symbols(&self, key: &FileKey, cancel: &Cancel) -> Result<Option<Arc<FileSymbols>>, Cancelled> {
        match &self.parsed {
            Some(parsed) if parsed.generation == self.generation => Ok(Some(parsed.symbols.clone())),
            _ => Ok(self.parse(key, cancel)?.map(|parsed| parsed.symbols)),
        }
    }
}

/// Buffers are closed and opened again under one name, so a count of their own would repeat. The numbers are only
/// compared; none of them is ever shown.
fn next_generation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlined(buffer: &Buffer, key: &FileKey) -> String {
        buffer.symbols(key, &Cancel::new()).unwrap().unwrap().block.text.to_string()
    }

    #[test]
    fn a_result_for_another_text_is_dropped() {
        let key = FileKey::from("a.py");
        let first = Buffer::new(&key, Document::open("def first(): pass", 1, "python"));
        let late = first.parse(&key, &Cancel::new()).unwrap().unwrap();
        // Closed and opened again with another text before the result came.
        let mut second = Buffer::new(&key, Document::open("def second(): pass", 1, "python"));
        second.adopt(late);
        assert!(second.is_stale());
        assert!(outlined(&second, &key).contains("second"));
    }

    #[test]
    fn edits_since_the_last_parse_count() {
        let key = FileKey::from("a.py");
        let mut buffer = Buffer::new(&key, Document::open("def first(): pass", 1, "python"));
        let parsed = buffer.parse(&key, &Cancel::new()).unwrap().unwrap();
        buffer.adopt(parsed);
        assert!(!buffer.is_stale());
        buffer.replace(4..9, "other").unwrap();
        assert!(buffer.is_stale() && outlined(&buffer, &key).contains("other"));
    }
}
