//! The lines of a text that could not be parsed. Definitions in them may be missing from the outline.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use strata_base::text::LineStarts;
use tree_sitter::{Node, QueryCursor, StreamingIterator};

use super::source::SourceText;
use super::tables::{OutlineRole, OutlineTables, flag};
use super::{SymbolKind, SyntaxTree};

/// Maximum number of ranges listed; the last one extends to the last line that could not be parsed.
const MAX_UNPARSED_RANGES: usize = 8;
/// Maximum number of errors examined.
const MAX_EXAMINED_ERRORS: usize = 200;

/// Ranges of lines that could not be parsed, as first and last line counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnparsedLines(Box<[(u32, u32)]>);

impl UnparsedLines {
    /// Whether the whole text was parsed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the ranges in order: first and last line, counted from 1.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// Finds the lines of a tree's text that could not be parsed. `source` must be the text of the tree. An error on a
    /// single line inside a function does not count, because it hides no definition outside.
    pub fn find(tree: &SyntaxTree, source: &str) -> Self {
        if tree.unparsed.is_some() || !tree.has_error() {
            return Self::default();
        }
        let lines = LineStarts::new(source);
        let tables = OutlineTables::for_language(tree.language);
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        let mut errors = 0;
        // The parts with local definitions only of each node around the current one.
        let mut local_ranges: Vec<Vec<Range<usize>>> = Vec::new();
        let mut cursor = tree.root().walk();
        'tree: loop {
            let node = cursor.node();
            let is_error = node.is_error() || node.is_missing();
            if is_error {
                errors += 1;
                let (mut first, mut last) = lines.line_range(&node.byte_range());
                let function = innermost_local_range(&local_ranges, &node.byte_range());
                if let Some(function) = function.filter(|_| node.is_missing()) {
                    // Without its end, a function may have swallowed what follows.
                    (first, last) = lines.line_range(function);
                }
                let hides_definitions = match function {
                    None => true,
                    Some(_) => last > first && (node.is_error() || is_block_end(&node)),
                };
                if hides_definitions {
                    ranges.push((first, last));
                }
                if errors > MAX_EXAMINED_ERRORS {
                    ranges.push((first, lines.count()));
                    break;
                }
            } else if node.has_error() && cursor.goto_first_child() {
                local_ranges.push(local_definition_ranges(tables, &node, source));
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    break 'tree;
                }
                local_ranges.pop();
            }
        }
        Self(merge_ranges(ranges).into())
    }
}

/// Shows the lines as `3`, `5-8, 12`.
impl fmt::Display for UnparsedLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (first, last)) in self.0.iter().enumerate() {
            let separator = if index > 0 { ", " } else { "" };
            match last > first {
                true => write!(f, "{separator}{first}-{last}")?,
                false => write!(f, "{separator}{first}")?,
            }
        }
        Ok(())
    }
}

/// Sorts ranges, joins those that touch, and keeps at most [`MAX_UNPARSED_RANGES`].
fn merge_ranges(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    let count = ranges.len();
    for (first, last) in ranges {
        let is_full = merged.len() >= MAX_UNPARSED_RANGES && count > MAX_UNPARSED_RANGES;
        match merged.last_mut() {
            Some(previous) if is_full || first <= previous.1.saturating_add(1) => {
                previous.1 = previous.1.max(last);
            }
            _ => merged.push((first, last)),
        }
    }
    merged
}

/// Whether a missing token is the end of a block.
fn is_block_end(node: &Node<'_>) -> bool {
    matches!(node.kind(), "}" | "end")
}

/// Returns the innermost of the parts around a node that contains its range.
fn innermost_local_range<'r>(
    local_ranges: &'r [Vec<Range<usize>>],
    node: &Range<usize>,
) -> Option<&'r Range<usize>> {
    local_ranges.iter().rev().flatten().find(|part| part.start <= node.start && node.end <= part.end)
}

/// Returns the ranges of a node, or of parts of it, that contain only local definitions, such as a function.
fn local_definition_ranges(tables: &OutlineTables, node: &Node<'_>, source: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let Some(query) = tables.query.filter(|_| tables.flags(node.kind_id()) & flag::PATTERN_START != 0) else {
        return parts;
    };
    let mut cursor = QueryCursor::new();
    cursor.set_max_start_depth(Some(0));
    let mut matches = cursor.matches(query, *node, SourceText::from_text(source));
    while let Some(query_match) = matches.next() {
        parts.extend(query_match.captures.iter().filter_map(|capture| match tables.role(capture.index) {
            OutlineRole::Definition(SymbolKind::Function | SymbolKind::Method) | OutlineRole::Local => {
                Some(node.byte_range())
            }
            OutlineRole::Opaque => Some(capture.node.byte_range()),
            _ => None,
        }));
    }
    parts
}
