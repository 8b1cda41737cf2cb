//! The outline of a file as a value, and how much of a file it keeps. Reads no text.

use serde::{Deserialize, Serialize};

use super::list::Symbols;
use super::names::Names;
use super::symbol::{Scope, Symbol};

/// The most symbols kept of one file; generated code beyond it is left out.
pub(crate) const MAX_SYMBOLS: usize = 20_000;
/// The most names of other files' definitions kept of one file.
pub(crate) const MAX_REFERENCES: usize = 50_000;
/// The most imports kept of one file.
pub(crate) const MAX_IMPORTS: usize = 1_000;

/// What one file defines, imports and mentions. Compact: no positions, no tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outline {
    /// Definitions in source order, each before its members; see [`Symbol::depth`].
    pub symbols: Symbols,
    /// Imports as written (`os.path`, `crate::key::FileKey`, `./a.js`), in order of first mention.
    pub imports: Names,
    /// Names the file mentions that may be defined elsewhere, sorted. Excludes names built into the language, parameters and
    /// local variables.
    pub references: Names,
    /// How many tests the file has.
    pub tests: u32,
    /// Whether the text says that a tool wrote it, or looks like it.
    pub generated: bool,
}

impl Outline {
    /// Whether it says nothing beyond the file's name.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty() && self.imports.is_empty() && self.tests == 0
    }

    /// The symbols that other files can reach by name: no local functions, nothing of test scopes.
    pub(crate) fn visible(&self) -> impl Iterator<Item = &Symbol> {
        let mut hidden_below = None;
        self.symbols.iter().filter(move |symbol| {
            if hidden_below.is_some_and(|depth| symbol.depth > depth) {
                return false;
            }
            hidden_below =
                (symbol.kind.is_function() || symbol.scope == Scope::Tests).then_some(symbol.depth);
            symbol.scope != Scope::Tests
        })
    }
}
