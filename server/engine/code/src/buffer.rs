//! An open document with its syntax tree and outline. Records edits as they arrive and parses on demand, starting from
//! the last tree and outline. Parsing can be cancelled.
//!
//! Incremental parsing of broken text may give a different tree than a full parse. Such a result is
//! provisional: the next edit starts from its tree, but its outline is that of the last unbroken text. Prompts
//! use [settled](Buffer::symbols) results, for which broken text is fully parsed, once per text. So the same
//! text always gives the same bytes, and no keystroke waits for a full parse.

mod trail;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::document::{Document, DocumentSync, EditError, OutOfStep};
use crate::outline::{
    LiveOutline, Outline, OutlineFreshness, SyntaxTree, TreeEdit, Unparsed, parse_rope, version_hash,
};
use crate::symbols::FileSymbols;

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_grammars::LanguageId;
use trail::EditTrail;

/// Maximum number of edits for an incremental parse. After more edits, the text is parsed from scratch.
const MAX_INCREMENTAL_EDITS: usize = 1_000;

/// The result of parsing a buffer. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ParsedBuffer {
    generation: u64,
    tree: SyntaxTree,
    /// The outline and the map block. While the text has syntax errors, they may belong to an earlier version of the
    /// text.
    pub symbols: Arc<FileSymbols>,
    state: ParseFinality,
}

/// Whether a parse result depends on the text alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ParseFinality {
    Settled,
    /// The tree may depend on the edits that led to the text, and the outline belongs to an earlier version of the
    /// text.
    Provisional,
}

/// The newest parse, from which the next one starts. All clones of a buffer share it, so that one parse serves all
/// of them.
#[derive(Debug)]
struct LiveParse {
    parsed: ParsedBuffer,
    key: FileKey,
    outline: LiveOutline,
}

/// An open document with its syntax tree. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Buffer {
    document: Document,
    language: Option<LanguageId>,
    generation: u64,
    parsed: Option<Arc<ParsedBuffer>>,
    /// The edits since the last parse.
    trail: EditTrail,
    live: Arc<Mutex<Option<LiveParse>>>,
    /// Generation of the last text for which [`Buffer::give_up_parsing`] was called, and why. Shared by all clones, so
    /// that none of them retries.
    given_up: Arc<Mutex<Option<(u64, Unparsed)>>>,
}

impl Buffer {
    /// Creates a buffer for a document. Uses the editor's language if it has an outline, otherwise detects
    /// the language from the name and the first line.
    pub fn new(key: &FileKey, document: Document) -> Self {
        let first_line = document.rope.lines().next().map(|line| line.to_string()).unwrap_or_default();
        let language = LanguageId::by_editor_id(document.language())
            .or_else(|| LanguageId::by_path(key.as_str(), &first_line));
        let generation = next_generation();
        let (trail, live) = (EditTrail::starting_at(generation), Arc::default());
        let given_up = Arc::default();
        Self { document, language, generation, parsed: None, trail, live, given_up }
    }

    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Returns a number that identifies the text. Unique within the process, unlike the editor's version number.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether the text has changed since the last installed parse.
    pub fn is_stale(&self) -> bool {
        self.language.is_some()
            && self.parsed.as_ref().is_none_or(|parsed| parsed.generation != self.generation)
    }

    /// Sets the version that results from the following changes (see [`Document::advance`]).
    ///
    /// # Errors
    /// [`OutOfStep::VersionWentBack`]; the document is unchanged.
    pub fn advance(&mut self, version: i32) -> Result<(), OutOfStep> {
        self.document.advance(version)
    }

    /// Sets the version of a message without changes (see [`Document::advance_unchanged`]).
    pub fn advance_unchanged(&mut self, version: i32) {
        self.document.advance_unchanged(version);
    }

    /// Records that the text may differ from the editor's (see [`Document::mark_out_of_step`]).
    pub fn mark_out_of_step(&mut self, reason: OutOfStep) {
        self.document.mark_out_of_step(reason);
    }

    /// Sets the version of the text, and whether it matches the editor's.
    pub fn set_version_and_sync(&mut self, version: i32, sync: DocumentSync) {
        self.document.version = version;
        self.document.sync = sync;
    }

    /// Replaces the whole text (see [`Document::replace_all`]) and drops the tree.
    pub fn replace_all(&mut self, text: &str, version: i32) {
        self.document.replace_all(text, version);
        self.generation = next_generation();
        self.parsed = None;
        self.live = Arc::default();
        self.trail = EditTrail::starting_at(self.generation);
    }

    /// Replaces a range (see [`Document::replace`]) and records the edit for the next parse.
    ///
    /// # Errors
    /// [`EditError`]; the text is unchanged.
    pub fn replace(&mut self, range: Range<usize>, text: &str) -> Result<(), EditError> {
        let edit = self.document.replace(range, text)?;
        self.generation = next_generation();
        if self.language.is_none() || self.trail.len() >= MAX_INCREMENTAL_EDITS {
            self.trail = EditTrail::starting_at(self.generation);
        } else {
            self.trail.push(self.generation, edit);
        }
        Ok(())
    }

    /// Parses the current text, starting from the last parse. Returns `None` if there is no grammar for the language.
    /// While the text has syntax errors, the outline may belong to an earlier version of the text. The result has no
    /// symbols if [`Buffer::give_up_parsing`] was called for this text.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised before parsing finishes.
    pub fn parse(&self, key: &FileKey, cancel: &Cancel) -> Result<Option<ParsedBuffer>, Cancelled> {
        let Some(language) = self.language else { return Ok(None) };
        let mut live = self.lock_live_parse();
        if let Some(reason) = self.parse_give_up_reason() {
            return self.empty_parse(language, key, reason).map(Some);
        }
        match &mut *live {
            Some(live) if live.parsed.generation == self.generation && live.key == *key => {
                return Ok(Some(live.parsed.clone()));
            }
            Some(live) if live.parsed.generation != self.generation => {
                if let Some(edits) = self.trail.edits_since(live.parsed.generation) {
                    live.apply_edits(self, key, &edits, cancel)?;
                    return Ok(Some(live.parsed.clone()));
                }
            }
            _ => {}
        }
        self.parse_from_scratch(language, key, &mut live, cancel).map(Some)
    }

    /// Gives up on a text that was not parsed for this reason. The buffer has no symbols until its text changes.
    pub fn give_up_parsing(&self, key: &FileKey, reason: Unparsed) -> Option<ParsedBuffer> {
        *self.given_up.lock().unwrap_or_else(PoisonError::into_inner) = Some((self.generation, reason));
        self.empty_parse(self.language?, key, reason).ok()
    }

    /// Returns why [`Buffer::give_up_parsing`] was called for the current text.
    fn parse_give_up_reason(&self) -> Option<Unparsed> {
        let given_up = *self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        given_up.filter(|(generation, _)| *generation == self.generation).map(|(_, reason)| reason)
    }

    /// Whether the next [`Buffer::parse`] runs the parser: the text has a language and was neither parsed nor given up.
    pub fn needs_parsing(&self) -> bool {
        let is_parsed = |parsed: &ParsedBuffer| {
            parsed.generation == self.generation && parsed.state == ParseFinality::Settled
        };
        self.language.is_some()
            && self.parse_give_up_reason().is_none()
            && !self.parsed.as_deref().is_some_and(is_parsed)
            && !self.lock_live_parse().as_ref().is_some_and(|live| is_parsed(&live.parsed))
    }

    /// Returns the hashes of the text and of how this build outlines its language, which identify its outline. `None` if
    /// there is no grammar for the language.
    pub fn outline_hashes(&self) -> Option<(ContentHash, ContentHash)> {
        let text = ContentHash::from_parts(self.document.rope.chunks().map(str::as_bytes));
        Some((text, version_hash(self.language?)))
    }

    fn empty_parse(
        &self,
        language: LanguageId,
        key: &FileKey,
        reason: Unparsed,
    ) -> Result<ParsedBuffer, Cancelled> {
        let tree = SyntaxTree::empty(language, reason)?;
        let symbols = Arc::new(FileSymbols::new(language, key, Outline::unparsed(reason)));
        Ok(ParsedBuffer { generation: self.generation, tree, symbols, state: ParseFinality::Settled })
    }

    /// Returns the last installed parse, which may belong to an earlier version of the text.
    pub fn last_parse(&self) -> Option<&ParsedBuffer> {
        self.parsed.as_deref()
    }

    /// Installs a result of [`Buffer::parse`]. Drops it if the current text does not derive from the parsed text.
    pub fn install_parse(&mut self, parsed: ParsedBuffer) {
        if !self.trail.discard_before(parsed.generation) {
            return;
        }
        self.parsed = Some(Arc::new(parsed));
    }

    /// Returns the syntax tree of the current text, or `None` if there is no grammar for the language. Parses
    /// the text if it changed since the last parse.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised before parsing finishes.
    pub fn tree(&self, key: &FileKey, cancel: &Cancel) -> Result<Option<SyntaxTree>, Cancelled> {
        Ok(self.settled_parse(key, cancel)?.map(|parsed| parsed.tree))
    }

    /// Returns the outline of the current text. Parses the text if it changed since the last parse. The outline
    /// depends only on the text, not on earlier edits.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised before parsing finishes.
    pub fn symbols(&self, key: &FileKey, cancel: &Cancel) -> Result<Option<Arc<FileSymbols>>, Cancelled> {
        Ok(self.settled_parse(key, cancel)?.map(|parsed| parsed.symbols))
    }

    fn settled_parse(&self, key: &FileKey, cancel: &Cancel) -> Result<Option<ParsedBuffer>, Cancelled> {
        if let Some(parsed) = &self.parsed
            && parsed.generation == self.generation
            && parsed.state == ParseFinality::Settled
        {
            return Ok(Some(ParsedBuffer::clone(parsed)));
        }
        match (self.language, self.parse(key, cancel)?) {
            (Some(language), Some(parsed)) if parsed.state == ParseFinality::Provisional => {
                self.parse_from_scratch(language, key, &mut self.lock_live_parse(), cancel).map(Some)
            }
            (_, parsed) => Ok(parsed),
        }
    }

    /// Parses without an old tree. Does not replace the shared state if that belongs to a later version of the text.
    fn parse_from_scratch(
        &self,
        language: LanguageId,
        key: &FileKey,
        live: &mut Option<LiveParse>,
        cancel: &Cancel,
    ) -> Result<ParsedBuffer, Cancelled> {
        let tree = parse_rope(language, &self.document.rope, None, cancel)?;
        let mut outline = LiveOutline::new(&tree, &self.document.rope, cancel)?;
        let symbols = Arc::new(FileSymbols::from_live(&mut outline, key));
        let parsed =
            ParsedBuffer { generation: self.generation, tree, symbols, state: ParseFinality::Settled };
        if live.as_ref().is_none_or(|live| live.parsed.generation <= self.generation) {
            *live = Some(LiveParse { parsed: parsed.clone(), key: key.clone(), outline });
        }
        Ok(parsed)
    }

    fn lock_live_parse(&self) -> MutexGuard<'_, Option<LiveParse>> {
        self.live.lock().unwrap_or_else(|poisoned| {
            // The thread that panicked may have left a half-updated value.
            self.live.clear_poison();
            let mut live = poisoned.into_inner();
            *live = None;
            live
        })
    }
}

impl LiveParse {
    /// Updates the state to the text of `buffer`, which is the previous text after `edits`. On error, the state is
    /// unchanged.
    fn apply_edits(
        &mut self,
        buffer: &Buffer,
        key: &FileKey,
        edits: &[TreeEdit],
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let text = &buffer.document.rope;
        let mut old_tree = self.parsed.tree.clone();
        edits.iter().for_each(|edit| old_tree.edit(edit));
        let tree = parse_rope(old_tree.language, text, Some(&old_tree), cancel)?;
        let state = match self.outline.refresh(&tree, text, edits, cancel)? {
            OutlineFreshness::Current => ParseFinality::Settled,
            OutlineFreshness::Stale => ParseFinality::Provisional,
        };
        let symbols = FileSymbols::from_live(&mut self.outline, key);
        self.parsed = ParsedBuffer { generation: buffer.generation, tree, symbols: Arc::new(symbols), state };
        self.key = key.clone();
        Ok(())
    }
}

/// Returns a number that is unique within the process, used only for comparison. A counter per buffer would
/// repeat numbers, since a document can be closed and opened again under the same name.
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
    fn a_parse_of_another_document_is_dropped() {
        let key = FileKey::from("a.py");
        let first = Buffer::new(&key, Document::open("def first(): pass", 1, "python"));
        let late_parse = first.parse(&key, &Cancel::new()).unwrap().unwrap();
        // Closed and opened again with different text before the result arrived.
        let mut second = Buffer::new(&key, Document::open("def second(): pass", 1, "python"));
        second.install_parse(late_parse);
        assert!(second.is_stale());
        assert!(outlined(&second, &key).contains("second"));
    }

    #[test]
    fn edits_of_a_language_without_a_parser_are_not_recorded() {
        let mut buffer = Buffer::new(&FileKey::from("notes"), Document::open("", 1, "plaintext"));
        for _ in 0..10 {
            buffer.replace(0..0, "x").unwrap();
        }
        assert_eq!((buffer.trail.len(), buffer.document().text().len()), (0, 10));
    }

    #[test]
    fn an_edit_makes_the_last_parse_stale() {
        let key = FileKey::from("a.py");
        let mut buffer = Buffer::new(&key, Document::open("def first(): pass", 1, "python"));
        let parsed = buffer.parse(&key, &Cancel::new()).unwrap().unwrap();
        buffer.install_parse(parsed);
        assert!(!buffer.is_stale());
        buffer.replace(4..9, "other").unwrap();
        assert!(buffer.is_stale() && outlined(&buffer, &key).contains("other"));
    }

    /// An edit that leaves a string open changes the meaning of everything after it, and how the parser recovers may
    /// depend on where it started.
    #[test]
    fn the_symbols_of_broken_text_do_not_depend_on_the_edits_that_led_to_it() {
        let key = FileKey::from("a.py");
        let source = LanguageId::by_name("python").unwrap().fixture.repeat(20);
        let breaks = [(1_000, "\""), (2_000, "'''"), (500, "("), (4_000, "{"), (3_000, "class A(:\n")];
        for (offset, text) in breaks {
            let mut buffer = Buffer::new(&key, Document::open(&source, 1, "python"));
            let parsed = buffer.parse(&key, &Cancel::new()).unwrap().unwrap();
            buffer.install_parse(parsed);
            let offset = (offset..).find(|&at| source.is_char_boundary(at)).unwrap();
            buffer.replace(offset..offset, text).unwrap();
            let provisional = buffer.parse(&key, &Cancel::new()).unwrap().unwrap();
            assert_eq!(provisional.state, ParseFinality::Provisional);
            buffer.install_parse(provisional);
            assert!(!buffer.is_stale());
            let fresh = Buffer::new(&key, Document::open(&buffer.document().text(), 1, "python"));
            let symbols = |buffer: &Buffer| buffer.symbols(&key, &Cancel::new()).unwrap().unwrap();
            assert_eq!(symbols(&buffer), symbols(&fresh));
            // The next edit starts from the settled state.
            buffer.replace(0..0, "brand_new = 1\n").unwrap();
            assert!(symbols(&buffer).block.text.contains("brand_new"));
        }
    }

    #[test]
    fn a_parse_of_an_earlier_text_is_installed_and_shared_by_all_clones() {
        let key = FileKey::from("a.py");
        let mut buffer = Buffer::new(&key, Document::open("def first(): pass\n", 1, "python"));
        let early_parse = buffer.parse(&key, &Cancel::new()).unwrap().unwrap();
        buffer.replace(4..9, "second").unwrap();
        let snapshot = buffer.clone();
        buffer.replace(4..10, "third").unwrap();
        buffer.install_parse(early_parse);
        assert!(buffer.is_stale() && buffer.last_parse().is_some());
        assert!(outlined(&buffer, &key).contains("third"));
        // Another thread reads an earlier text.
        assert!(outlined(&snapshot, &key).contains("second"));
        assert!(outlined(&buffer, &key).contains("third"));
        let renamed = FileKey::from("b.py");
        assert!(outlined(&buffer, &renamed).starts_with("b.py"));
    }

    #[test]
    fn a_text_that_is_given_up_has_no_symbols_until_it_changes() {
        let key = FileKey::from("a.py");
        let mut buffer = Buffer::new(&key, Document::open("def first(): pass\n", 1, "python"));
        let expired = Cancel::new().with_condition(|| true);
        assert!(buffer.parse(&key, &expired).is_err());
        let earlier = buffer.clone();
        buffer.install_parse(buffer.give_up_parsing(&key, Unparsed::TimedOut).unwrap());
        assert!(!buffer.is_stale());
        let placeholder = "a.py (no outline: parsing it took too long)\n";
        assert_eq!(outlined(&buffer, &key), placeholder);
        assert_eq!(outlined(&earlier, &key), placeholder, "no clone retries");
        buffer.replace(4..9, "other").unwrap();
        assert!(outlined(&buffer, &key).contains("other"));
    }
}
