//! Finds what belongs to a definition although it stands before it: documentation, decorators, attributes. Determined by
//! syntax, so an attribute may have several lines, and a definition on the line of an attribute is not one.

use std::ops::Range;

use tree_sitter::{Node, QueryCursor, StreamingIterator};

use super::source::SourceText;
use super::tables::{OutlineRole, OutlineTables};
use super::{LocatedSymbol, SyntaxTree};

/// Maximum number of nodes before a definition that belong to it.
const MAX_LEAD_NODES: usize = 200;

/// Extends the range of a definition to the documentation, decorators and attributes before it. `source` must be the
/// text of the tree, and `place` one of its definitions.
pub fn with_lead(tree: &SyntaxTree, source: &str, place: &LocatedSymbol) -> Range<usize> {
    let Range { start, end } = place.range;
    // A node that ends where the definition starts must not be found.
    let first_byte = start..end.min(start + 1);
    let Some(mut node) = tree.root().descendant_for_byte_range(first_byte.start, first_byte.end) else {
        return start..end;
    };
    let lead = LeadMatcher { tables: OutlineTables::for_language(tree.language), source };
    let mut first = start;
    let mut remaining_nodes = MAX_LEAD_NODES;
    // The definition may be the last part of larger nodes: of an export, of a decorated or templated definition.
    while let Some(parent) = node.parent() {
        while let Some(sibling) = node.prev_sibling() {
            remaining_nodes = remaining_nodes.saturating_sub(1);
            if remaining_nodes == 0 || !lead.is_part_of_lead(&sibling, &node, &parent) {
                return first..end;
            }
            first = first.min(sibling.start_byte());
            node = sibling;
        }
        node = parent;
    }
    first..end
}

struct LeadMatcher<'a> {
    tables: &'static OutlineTables,
    source: &'a str,
}

impl LeadMatcher<'_> {
    /// Whether `node` belongs to the definition that continues with `next`, both children of `parent`.
    fn is_part_of_lead(&self, node: &Node<'_>, next: &Node<'_>, parent: &Node<'_>) -> bool {
        let between = self.source.get(node.end_byte()..next.start_byte()).unwrap_or_default();
        let line_breaks = between.matches('\n').count() + usize::from(self.has_trailing_newline(node));
        if !node.is_named() {
            // A word such as `export` or `const`, rather than one that opens a block.
            return line_breaks == 0 && node.kind().starts_with(char::is_alphabetic);
        }
        if node.is_extra() {
            // A comment before an empty line is about more than the definition, and one after code about the code.
            return line_breaks <= 1 && self.starts_line(node);
        }
        let own_roles = [OutlineRole::Attribute, OutlineRole::Lead];
        let parent_roles =
            [OutlineRole::Modifier, OutlineRole::Attribute, OutlineRole::Omit, OutlineRole::Lead];
        self.is_captured_as(node, node, &own_roles) || self.is_captured_as(parent, node, &parent_roles)
    }

    /// Whether the node includes the line break after it.
    fn has_trailing_newline(&self, node: &Node<'_>) -> bool {
        self.source.get(node.byte_range()).is_some_and(|text| text.ends_with('\n'))
    }

    /// Whether only whitespace precedes the node on its line.
    fn starts_line(&self, node: &Node<'_>) -> bool {
        let before = self.source.get(..node.start_byte()).unwrap_or_default();
        before.rsplit(['\n', '\r']).next().is_none_or(|line| line.trim().is_empty())
    }

    /// Whether the outline query, run at `root`, captures a node in one of the roles.
    fn is_captured_as(&self, root: &Node<'_>, node: &Node<'_>, roles: &[OutlineRole]) -> bool {
        let Some(query) = self.tables.query else { return false };
        let mut cursor = QueryCursor::new();
        cursor.set_max_start_depth(Some(0));
        let mut matches = cursor.matches(query, *root, SourceText::from_text(self.source));
        while let Some(query_match) = matches.next() {
            let is_captured = |capture: &tree_sitter::QueryCapture<'_>| {
                capture.node.id() == node.id() && roles.contains(&self.tables.role(capture.index))
            };
            if query_match.captures.iter().any(is_captured) {
                return true;
            }
        }
        false
    }
}
