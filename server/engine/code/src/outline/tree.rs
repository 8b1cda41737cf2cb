//! Parses syntax trees, and updates them for edits.

use std::cell::Cell;
use std::ops::{ControlFlow, Range};

use ropey::Rope;
use strata_base::cancel::{Cancel, Cancelled};
use strata_grammars::LanguageId;
use strata_grammars::limits::{self, ExceededLimit};
use tree_sitter::{InputEdit, ParseOptions, Parser, Point, Tree};

use super::depth::has_too_deep_angles;
use super::mask::ParseMask;
use super::unparsed::Unparsed;
use super::work::{WORK_PER_REPORT, WorkBudget, WorkLimit};

/// The syntax tree of one version of a text. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SyntaxTree {
    pub language: LanguageId,
    tree: Tree,
    /// Why the text was not parsed; the tree is then that of an empty text.
    pub unparsed: Option<Unparsed>,
    mask: ParseMask,
}

/// A replacement of bytes, for updating a syntax tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TreeEdit {
    /// Start of the replaced range.
    pub start: TreePoint,
    /// End of the replaced range, in the old text.
    pub old_end: TreePoint,
    /// End of the replacement, in the new text.
    pub new_end: TreePoint,
}

/// A position in a text: byte offset, line, and byte in the line. As in the parsers, only `\n` ends a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TreePoint {
    /// Byte offset from the start of the text.
    pub byte: usize,
    /// Number of `\n` before the position.
    pub row: usize,
    /// Number of bytes since the last `\n`.
    pub column: usize,
}

/// A function that returns the next chunk of the text from an offset, or an empty slice at the end.
type ReadChunkFn<'t> = dyn Fn(usize) -> &'t [u8] + 't;

thread_local! {
    /// Parser kept for the next text, since a parser reuses its buffers.
    static PARSER: Cell<Option<Parser>> = const { Cell::new(None) };
}

/// Parses a text. `old` is the tree of an earlier version, updated with every edit by [`SyntaxTree::edit`]; its
/// unchanged parts are reused. For broken text, the tree may differ from a fresh parse, since error recovery depends
/// on where the parser starts. If equal texts must give equal results, parse a tree that [has
/// errors](SyntaxTree::has_error) again without `old`. Gives up on text that takes far more work or nests deeper
/// than real code: the tree is then empty, says [why](SyntaxTree::unparsed), and counts as having errors.
///
/// # Errors
/// [`Cancelled`] if the flag is raised before parsing finishes, or if the grammar was built for another version of the
/// parser, which tests rule out.
pub fn parse(
    language: LanguageId,
    source: &str,
    old: Option<&SyntaxTree>,
    cancel: &Cancel,
) -> Result<SyntaxTree, Cancelled> {
    parse_masked(WorkLimit::for_text(source.len()), language, source, old, cancel).map(|(tree, _)| tree)
}

/// Like [`parse`], without an earlier tree, but takes the work from `budget`.
///
/// # Errors
/// See [`parse`].
pub(super) fn parse_with_budget(
    budget: &WorkBudget,
    language: LanguageId,
    source: &str,
    cancel: &Cancel,
) -> Result<SyntaxTree, Cancelled> {
    let limit = budget.limit(source.len());
    let (tree, work) = parse_masked(limit, language, source, None, cancel)?;
    budget.spend(source.len(), work);
    Ok(tree)
}

/// Like [`parse`], for a text in a rope.
///
/// # Errors
/// See [`parse`].
pub(crate) fn parse_rope(
    language: LanguageId,
    text: &Rope,
    old: Option<&SyntaxTree>,
    cancel: &Cancel,
) -> Result<SyntaxTree, Cancelled> {
    let chunk_at = |offset| {
        let chunk = text.get_chunk_at_byte(offset);
        chunk.and_then(|(chunk, start, ..)| chunk.as_bytes().get(offset - start..)).unwrap_or_default()
    };
    let limit = WorkLimit::for_text(text.len_bytes());
    let parsed = if ParseMask::may_apply(language, text.chunks()) {
        parse_masked(limit, language, &text.to_string(), old, cancel)
    } else {
        parse_with_limit(limit, language, &chunk_at, old, ParseMask::default(), cancel)
    };
    parsed.map(|(tree, _)| tree)
}

/// Parses a part of a text that starts at byte `start`, as a text of its own whose nodes have the offsets of the whole
/// text. `before` is the position of the byte before the part. Takes no more work than real code does. Returns `None`
/// if the part cannot be parsed.
pub(super) fn parse_part(
    language: LanguageId,
    part: &str,
    start: usize,
    before: Point,
) -> Option<SyntaxTree> {
    if has_too_deep_angles(&text_reader(part)) {
        return None;
    }
    let chunk_at = |offset: usize| {
        offset.checked_sub(start).and_then(|offset| part.as_bytes().get(offset..)).unwrap_or_default()
    };
    let first = TreePoint { byte: start, row: before.row, column: before.column + 1 };
    let last = first.advance(part.as_bytes());
    let range = tree_sitter::Range {
        start_byte: first.byte,
        end_byte: last.byte,
        start_point: first.point(),
        end_point: last.point(),
    };
    let limit = WorkLimit::for_part(part.len());
    let (tree, _) = run_parser(limit, language, &chunk_at, Some(range), None, &Cancel::new()).ok()?;
    Some(SyntaxTree { language, tree: tree.ok()?, unparsed: None, mask: ParseMask::default() })
}

/// Returns a function that reads the text from any offset to its end.
pub(super) fn text_reader<'t>(source: &'t str) -> impl Fn(usize) -> &'t [u8] {
    |offset| source.as_bytes().get(offset..).unwrap_or_default()
}

/// Like [`parse_with_limit`], but hides from the parser what the language's grammar does not understand.
fn parse_masked(
    limit: WorkLimit,
    language: LanguageId,
    source: &str,
    old: Option<&SyntaxTree>,
    cancel: &Cancel,
) -> Result<(SyntaxTree, u64), Cancelled> {
    match ParseMask::mask_source(language, source) {
        Some((text, mask)) => parse_with_limit(limit, language, &text_reader(&text), old, mask, cancel),
        None => parse_with_limit(limit, language, &text_reader(source), old, ParseMask::default(), cancel),
    }
}

/// Parses a text within a limit. Also returns the work that this took.
pub(super) fn parse_with_limit(
    limit: WorkLimit,
    language: LanguageId,
    chunk_at: &ReadChunkFn<'_>,
    old: Option<&SyntaxTree>,
    mask: ParseMask,
    cancel: &Cancel,
) -> Result<(SyntaxTree, u64), Cancelled> {
    cancel.check()?;
    if has_too_deep_angles(&chunk_at) {
        return Ok((SyntaxTree::empty(language, Unparsed::NestedAngles)?, 0));
    }
    let can_reuse = |old: &&SyntaxTree| {
        old.language == language && old.unparsed.is_none() && old.mask.is_reusable_as(&mask)
    };
    let old = old.filter(can_reuse).map(|old| &old.tree);
    let (parsed, work) = run_parser(limit, language, chunk_at, None, old, cancel)?;
    match parsed {
        // The parser reuses tokens of the broken text even where the repaired text has different ones. For
        // example, Java's `class` remains a name. So parse a repaired text from scratch.
        Ok(tree) if !has_error(&tree) && old.is_some_and(has_error) => {
            parse_with_limit(limit, language, chunk_at, None, mask, cancel)
        }
        Ok(tree) => Ok((SyntaxTree { language, tree, unparsed: None, mask }, work)),
        Err(_) if cancel.is_cancelled() => Err(Cancelled),
        Err(Unparsed::TooMuchWork) if limit.is_shared => {
            Ok((SyntaxTree::empty(language, Unparsed::NoWorkLeft)?, work))
        }
        Err(reason) => Ok((SyntaxTree::empty(language, reason)?, work)),
    }
}

fn has_error(tree: &Tree) -> bool {
    tree.root_node().has_error()
}

/// Runs the parser, on the whole text or a part of it. Stops it when `cancel` is raised or a limit is exceeded. Also returns the
/// work.
fn run_parser(
    limit: WorkLimit,
    language: LanguageId,
    chunk_at: &ReadChunkFn<'_>,
    part: Option<tree_sitter::Range>,
    old: Option<&Tree>,
    cancel: &Cancel,
) -> Result<(Result<Tree, Unparsed>, u64), Cancelled> {
    let mut parser = PARSER.take().unwrap_or_default();
    parser.set_language(&language.grammar()).map_err(|_| Cancelled)?;
    parser.set_included_ranges(part.as_slice()).map_err(|_| Cancelled)?;
    let (mut reports, mut is_too_large) = (0_u64, false);
    let mut progress = |_: &_| {
        reports = reports.saturating_add(1);
        let work = total_parse_work(reports, limits::characters_read());
        is_too_large = limits::parser_memory_bytes() > limit.memory;
        if is_too_large || work > limit.work || limits::is_exceeded() || cancel.is_cancelled() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut read = |offset, _| {
        limits::count_chunk();
        chunk_at(offset)
    };
    let limited = limits::limited(limit.work, || parser.parse_with_options(&mut read, old, Some(options)));
    // After an aborted parse, the parser would otherwise treat the next text as the rest of this one.
    parser.reset();
    PARSER.set(Some(parser));
    let tree = match limited.exceeded {
        _ if is_too_large => Err(Unparsed::TooMuchMemory),
        None => limited.result.ok_or(Unparsed::TooMuchWork),
        Some(ExceededLimit::Characters) => Err(Unparsed::TooMuchWork),
        Some(ExceededLimit::Depth) => Err(Unparsed::NestedComments),
    };
    Ok((tree, total_parse_work(reports, limited.characters)))
}

fn total_parse_work(reports: u64, characters: u64) -> u64 {
    reports.saturating_mul(WORK_PER_REPORT).saturating_add(characters)
}

impl SyntaxTree {
    /// Creates an empty tree, for text that was not parsed.
    ///
    /// # Errors
    /// [`Cancelled`] if the grammar was built for another version of the parser, which tests rule out.
    pub fn empty(language: LanguageId, reason: Unparsed) -> Result<Self, Cancelled> {
        let (empty, _) = run_parser(WorkLimit::NONE, language, &|_| &[], None, None, &Cancel::new())?;
        Ok(Self {
            language,
            tree: empty.map_err(|_| Cancelled)?,
            unparsed: Some(reason),
            mask: ParseMask::default(),
        })
    }

    /// Updates the tree for a change to the text, so that it can be passed as `old` to [`parse`].
    pub(crate) fn edit(&mut self, edit: &TreeEdit) {
        if self.unparsed.is_some() {
            return;
        }
        self.mask.edit(edit.start.byte..edit.old_end.byte, edit.new_end.byte);
        self.tree.edit(&InputEdit {
            start_byte: edit.start.byte,
            old_end_byte: edit.old_end.byte,
            new_end_byte: edit.new_end.byte,
            start_position: edit.start.point(),
            old_end_position: edit.old_end.point(),
            new_end_position: edit.new_end.point(),
        });
    }

    /// Whether the text has syntax errors or could not be parsed.
    pub(crate) fn has_error(&self) -> bool {
        self.unparsed.is_some() || has_error(&self.tree)
    }

    pub(super) fn mask(&self) -> &ParseMask {
        &self.mask
    }

    pub(crate) fn root(&self) -> tree_sitter::Node<'_> {
        self.tree.root_node()
    }
}

impl TreeEdit {
    /// Returns the edit that replaces the bytes `range` of `old` with `inserted`. The range is clamped to
    /// the text. Reads the text before the range once.
    pub(crate) fn from_replacement(old: &Rope, range: Range<usize>, inserted: &str) -> Self {
        let start = range.start.min(old.len_bytes());
        let old_end = range.end.clamp(start, old.len_bytes());
        let start_point = TreePoint { byte: 0, row: 0, column: 0 }.advance_in_rope(old, 0..start);
        Self {
            start: start_point,
            old_end: start_point.advance_in_rope(old, start..old_end),
            new_end: start_point.advance(inserted.as_bytes()),
        }
    }
}

impl TreePoint {
    /// Returns the position after `bytes`, starting from this one.
    #[must_use]
    pub(crate) fn advance(self, bytes: &[u8]) -> Self {
        let breaks = bytes.iter().filter(|&&byte| byte == b'\n').count();
        let column = match bytes.iter().rposition(|&byte| byte == b'\n') {
            Some(last) => bytes.len() - last - 1,
            None => self.column + bytes.len(),
        };
        Self { byte: self.byte + bytes.len(), row: self.row + breaks, column }
    }

    fn advance_in_rope(self, rope: &Rope, range: Range<usize>) -> Self {
        let (chunks, first_byte, ..) = rope.chunks_at_byte(range.start);
        let mut chunk_start = first_byte;
        let mut point = self;
        for chunk in chunks {
            if chunk_start >= range.end {
                break;
            }
            let slice_start = range.start.saturating_sub(chunk_start).min(chunk.len());
            let slice_end = (range.end - chunk_start).min(chunk.len());
            point = point.advance(chunk.as_bytes().get(slice_start..slice_end).unwrap_or_default());
            chunk_start += chunk.len();
        }
        point
    }

    fn point(self) -> Point {
        Point::new(self.row, self.column)
    }
}
