//! The outline of a file, and limits on its size.

use serde::{Deserialize, Serialize};

use super::UnparsedLines;
use super::names::NameList;
use super::symbol::{Symbol, SymbolPurpose};
use super::symbol_list::SymbolList;
use super::unparsed::Unparsed;

/// Maximum number of symbols per file. Further ones, usually in generated code, are omitted.
pub(crate) const MAX_SYMBOLS: usize = 20_000;
/// Maximum number of names per file that refer to other files' definitions.
pub(crate) const MAX_REFERENCES: usize = 50_000;
/// Maximum number of imports per file.
pub(crate) const MAX_IMPORTS: usize = 1_000;

/// The definitions, imports and mentioned names of a file. Compact: contains no positions and no syntax tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outline {
    /// Definitions in source order, each before its members; see [`Symbol::depth`].
    pub symbols: SymbolList,
    /// Imports as written (`os.path`, `strata_base::key::FileKey`, `./a.js`), in order of first mention.
    pub imports: NameList,
    /// Names that the file mentions and that may be defined elsewhere, sorted. Excludes names built into the language,
    /// parameters and local variables.
    pub references: NameList,
    /// Number of tests in the file.
    pub tests: u32,
    /// Whether the file is probably generated, judging by a marker in its text or by its long lines.
    pub generated: bool,
    /// Why the text was not parsed; the outline is then empty.
    pub unparsed: Option<Unparsed>,
    /// Lines with syntax errors, whose definitions may be missing.
    pub unparsed_lines: UnparsedLines,
}

impl Outline {
    /// Creates the outline of a text that was not parsed.
    pub fn unparsed(reason: Unparsed) -> Self {
        Self { unparsed: Some(reason), ..Self::default() }
    }

    /// Whether the outline contains nothing that a map block would show.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
            && self.imports.is_empty()
            && self.tests == 0
            && self.unparsed.is_none()
            && self.unparsed_lines.is_empty()
    }

    /// Returns the symbols that other files can reach by name. Excludes definitions inside functions and
    /// everything in test scopes.
    pub(crate) fn visible_symbols(&self) -> impl Iterator<Item = &Symbol> {
        let mut hidden_depth = None;
        self.symbols.iter().filter(move |symbol| {
            if hidden_depth.is_some_and(|depth| symbol.depth > depth) {
                return false;
            }
            hidden_depth =
                (symbol.kind.is_function() || symbol.scope == SymbolPurpose::Tests).then_some(symbol.depth);
            symbol.scope != SymbolPurpose::Tests
        })
    }
}
