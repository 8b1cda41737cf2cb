//! Syntax trees, and the outlines built from them. Everything here concerns a single file; `symbols` relates files to
//! each other. What counts as a definition, a name or an import is data in `grammars/`, without language-specific rules
//! here. Does not read files. No source text causes a panic or quadratic time.

mod block;
mod contents;
mod depth;

mod extract;
mod generated;
mod head;
mod lead;

mod live;
mod located;
mod mask;
mod mentions;
mod names;
mod places;
mod qualified;
mod resolve;
mod source;
mod symbol;
mod symbol_list;
mod tables;
mod tree;
mod unparsed;
mod unparsed_lines;
mod version_hash;
mod visibility;
mod work;

#[cfg(test)]
mod constructs;
#[cfg(test)]
mod tests;

use ropey::str_utils::byte_to_line_idx;
use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_base::text::floor_char_boundary;
use strata_grammars::LanguageId;

pub use block::{BlockDetail, LEGEND, MapLevel, map_block};
pub(crate) use block::{MapBlock, block_text};
pub use contents::Outline;
pub(crate) use contents::{MAX_IMPORTS, MAX_REFERENCES, MAX_SYMBOLS};
pub use lead::with_lead;
pub(crate) use live::{LiveOutline, OutlineFreshness};
pub(crate) use located::find_mentions;
pub use located::{locate_symbols, name_at};
pub(crate) use names::NameList;
pub use places::{find_definitions, numbered_outline};
pub use qualified::qualified_name;
pub(crate) use qualified::{QualifiedNameTracker, name_parts};
pub use resolve::LocatedSymbol;
pub use symbol::{Symbol, SymbolKind, SymbolPurpose};
pub(crate) use symbol_list::SymbolList;
pub use tree::{SyntaxTree, parse};
pub(crate) use tree::{TreeEdit, TreePoint, parse_rope};
pub use unparsed::{MAX_OUTLINE_BYTES, Unparsed};
pub use unparsed_lines::UnparsedLines;
pub use version_hash::version_hash;
pub(crate) use visibility::VisibilityTracker;
pub use work::WorkBudget;

use self::source::SourceText;

/// Detects a file's language from its name or, if that is not enough, its first line.
pub fn language_of(key: &FileKey, first_line: &str) -> Option<LanguageId> {
    LanguageId::by_path(key.as_str(), first_line)
}

impl Outline {
    /// Builds the outline of a parsed text. `source` must be the text of the tree. In broken text, includes whatever
    /// can be recognized.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised before the walk finishes.
    pub(crate) fn from_tree(tree: &SyntaxTree, source: &str, cancel: &Cancel) -> Result<Self, Cancelled> {
        let findings = extract::walk_tree(tree, SourceText::from_text(source), cancel)?;
        let mut outline = resolve::build_outline(tree.language, findings);
        let head = source.get(..floor_char_boundary(source, generated::HEAD_BYTES)).unwrap_or_default();
        let breaks = byte_to_line_idx(source, source.len());
        outline.generated = generated::is_generated(tree.language, head, source.len(), breaks);
        outline.unparsed = tree.unparsed;
        outline.unparsed_lines = UnparsedLines::find(tree, source);
        Ok(outline)
    }

    /// Parses a text and keeps only its outline.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised before the outline is complete.
    pub fn read(language: LanguageId, source: &str, cancel: &Cancel) -> Result<Self, Cancelled> {
        Self::from_tree(&parse(language, source, None, cancel)?, source, cancel)
    }

    /// Like [`Outline::read`], but takes the work from the budget of an index run.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised before the outline is complete.
    pub fn read_within(
        budget: &WorkBudget,
        language: LanguageId,
        source: &str,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        Self::from_tree(&tree::parse_with_budget(budget, language, source, cancel)?, source, cancel)
    }
}
