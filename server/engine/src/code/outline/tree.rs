//! Parses syntax trees, and updates them for edits.

use std::cell::Cell;
use std::ops::{ControlFlow, Range};

use ropey::Rope;
use strata_grammars::LanguageId;
use tree_sitter::{InputEdit, ParseOptions, Parser, Point, Tree};

use super::depth::is_too_deep;
use super::mask::Mask;
use crate::cancel::{Cancel, Cancelled};

/// The syntax tree of one version of a text. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SyntaxTree {
    pub language: LanguageId,
    tree: Tree,
    complete: bool,
    mask: Mask,
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
type Rest<'t> = dyn Fn(usize) -> &'t [u8] + 't;

thread_local! {
    /// Parser kept for the next text, since a parser reuses its buffers.
    static PARSER: Cell<Option<Parser>> = const { Cell::new(None) };
}

/// Base limit on the number of progress reports from a parser, which makes one every hundred steps. Parsing stops
/// when the limit is exceeded.
const PATIENCE: usize = 2_000;
/// Progress reports added to the limit for each KiB of text. Real code needs 6 to 25 reports per KiB; the highest
/// values are from minified or generated code. Random punctuation in an ambiguous language needs hundreds and may
/// never finish.
const PATIENCE_PER_KIB: usize = 64;

/// Parses a text. `old` is the tree of an earlier version, updated with every edit by [`SyntaxTree::edit`]; its
/// unchanged parts are reused. For broken text, the tree may differ from a fresh parse, since error recovery depends
/// on where the parser starts. If equal texts must give equal results, parse a tree that [has
/// errors](SyntaxTree::has_error) again without `old`. Gives up on text that takes far more steps or nests deeper
/// than real code: the tree is then empty and counts as having errors.
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
    parse_within(patience_for(source.len()), language, source, old, cancel)
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
    let rest = |offset| {
        let chunk = text.get_chunk_at_byte(offset);
        chunk.and_then(|(chunk, start, ..)| chunk.as_bytes().get(offset - start..)).unwrap_or_default()
    };
    let patience = patience_for(text.len_bytes());
    if !Mask::may_apply(language, text.chunks()) {
        return parse_with(patience, language, &rest, old, Mask::default(), cancel);
    }
    parse_within(patience, language, &text.to_string(), old, cancel)
}

/// Parses a part of a text that starts at byte `start`, as a text of its own whose nodes have the offsets of the whole
/// text. `before` is the position of the byte before the part. Returns `None` if the part cannot be parsed.
pub(super) fn parse_part(
    language: LanguageId,
    part: &str,
    start: usize,
    before: Point,
) -> Option<SyntaxTree> {
    let rest = |offset: usize| {
        offset.checked_sub(start).and_then(|offset| part.as_bytes().get(offset..)).unwrap_or_default()
    };
    if is_too_deep(&|offset| part.as_bytes().get(offset..).unwrap_or_default()) {
        return None;
    }
    let first = TreePoint { byte: start, row: before.row, column: before.column + 1 };
    let last = first.after(part.as_bytes());
    let range = tree_sitter::Range {
        start_byte: first.byte,
        end_byte: last.byte,
        start_point: first.point(),
        end_point: last.point(),
    };
    let mut left = patience_for(part.len());
    let mut stop = || {
        left = left.saturating_sub(1);
        left == 0
    };
    let tree = parse_text(language, &rest, None, Some(range), &mut stop).ok()??;
    Some(SyntaxTree { language, tree, complete: true, mask: Mask::default() })
}

/// Like [`parse`], with a maximum number of progress reports. The parser makes one every hundred steps.
pub(super) fn parse_within(
    patience: usize,
    language: LanguageId,
    source: &str,
    old: Option<&SyntaxTree>,
    cancel: &Cancel,
) -> Result<SyntaxTree, Cancelled> {
    let masked = Mask::of(language, source);
    let (text, mask) =
        masked.as_ref().map_or((source, Mask::default()), |(text, mask)| (&**text, mask.clone()));
    let rest = |offset| text.as_bytes().get(offset..).unwrap_or_default();
    parse_with(patience, language, &rest, old, mask, cancel)
}

fn parse_with(
    patience: usize,
    language: LanguageId,
    rest: &Rest<'_>,
    old: Option<&SyntaxTree>,
    mask: Mask,
    cancel: &Cancel,
) -> Result<SyntaxTree, Cancelled> {
    cancel.check()?;
    let can_reuse = |old: &&SyntaxTree| old.language == language && old.complete && old.mask.stays_as(&mask);
    let old = old.filter(can_reuse).map(|old| &old.tree);
    let mut left = patience;
    let mut stop = || {
        left = left.saturating_sub(1);
        left == 0 || cancel.is_cancelled()
    };
    let tree = match is_too_deep(&rest) {
        true => None,
        false => parse_text(language, rest, old, None, &mut stop)?,
    };
    match tree {
        // The parser reuses tokens of the broken text even where the repaired text has different ones. For
        // example, Java's `class` remains a name. So parse a repaired text from scratch.
        Some(tree) if !has_error(&tree) && old.is_some_and(has_error) => {
            parse_with(patience, language, rest, None, mask, cancel)
        }
        Some(tree) => Ok(SyntaxTree { language, tree, complete: true, mask }),
        None if cancel.is_cancelled() => Err(Cancelled),
        None => {
            let tree = parse_text(language, &|_| &[], None, None, &mut || false)?;
            tree.map(|tree| SyntaxTree { language, tree, complete: false, mask }).ok_or(Cancelled)
        }
    }
}

fn has_error(tree: &Tree) -> bool {
    tree.root_node().has_error()
}

fn parse_text(
    language: LanguageId,
    rest: &Rest<'_>,
    old: Option<&Tree>,
    part: Option<tree_sitter::Range>,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Option<Tree>, Cancelled> {
    let mut parser = PARSER.take().unwrap_or_default();
    parser.set_language(&language.grammar()).map_err(|_| Cancelled)?;
    parser.set_included_ranges(part.as_slice()).map_err(|_| Cancelled)?;
    let mut progress = |_: &_| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree = parser.parse_with_options(&mut |offset, _| rest(offset), old, Some(options));
    // After an aborted parse, the parser would otherwise treat the next text as the rest of this one.
    parser.reset();
    PARSER.set(Some(parser));
    Ok(tree)
}

fn patience_for(bytes: usize) -> usize {
    PATIENCE.saturating_add((bytes / 1024).saturating_mul(PATIENCE_PER_KIB))
}

impl SyntaxTree {
    /// Creates an empty tree, for text that could not be parsed. Returns `None` if the grammar was built for another
    /// version of the parser, which tests rule out.
    pub(crate) fn none(language: LanguageId) -> Option<Self> {
        let mut tree = parse(language, "", None, &Cancel::new()).ok()?;
        tree.complete = false;
        Some(tree)
    }

    /// Updates the tree for a change to the text, so that it can be passed as `old` to [`parse`].
    pub(crate) fn edit(&mut self, edit: &TreeEdit) {
        if !self.complete {
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

    /// Whether the whole text was parsed. If not, the tree is that of an empty text.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether the text has syntax errors or could not be parsed.
    pub(crate) fn has_error(&self) -> bool {
        !self.complete || has_error(&self.tree)
    }

    pub(crate) fn root(&self) -> tree_sitter::Node<'_> {
        self.tree.root_node()
    }
}

impl TreeEdit {
    /// Returns the edit that replaces the bytes `range` of `before` with `inserted`. The range is clamped to
    /// the text. Reads the text before the range once.
    pub(crate) fn in_rope(before: &Rope, range: Range<usize>, inserted: &str) -> Self {
        let start = range.start.min(before.len_bytes());
        let old_end = range.end.clamp(start, before.len_bytes());
        let start_point = TreePoint { byte: 0, row: 0, column: 0 }.after_rope(before, 0..start);
        Self {
            start: start_point,
            old_end: start_point.after_rope(before, start..old_end),
            new_end: start_point.after(inserted.as_bytes()),
        }
    }
}

impl TreePoint {
    /// Returns the position after `bytes`, starting from this one.
    #[must_use]
    pub(crate) fn after(self, bytes: &[u8]) -> Self {
        let breaks = bytes.iter().filter(|&&byte| byte == b'\n').count();
        let column = match bytes.iter().rposition(|&byte| byte == b'\n') {
            Some(last) => bytes.len() - last - 1,
            None => self.column + bytes.len(),
        };
        Self { byte: self.byte + bytes.len(), row: self.row + breaks, column }
    }

    fn after_rope(self, rope: &Rope, range: Range<usize>) -> Self {
        let (chunks, first_byte, ..) = rope.chunks_at_byte(range.start);
        let mut at = first_byte;
        let mut point = self;
        for chunk in chunks {
            if at >= range.end {
                break;
            }
            let from = range.start.saturating_sub(at).min(chunk.len());
            let to = (range.end - at).min(chunk.len());
            point = point.after(chunk.as_bytes().get(from..to).unwrap_or_default());
            at += chunk.len();
        }
        point
    }

    fn point(self) -> Point {
        Point::new(self.row, self.column)
    }
}
