//! Syntax trees and what is kept of them: the outline of one file and its text for a model, the map
//! block. Everything here looks at one file alone; what files say about each other is `symbols`. What
//! counts as a definition, a name or an import is data in `grammars/`; this module has no rule for any
//! one language. It never reads a file, and no source text makes it panic or run in quadratic time.

mod block;
mod depth;
mod edition;
mod extract;
mod head;
mod list;
mod live;
mod located;
mod mentions;
mod names;
mod reports;
mod resolve;
mod source;
mod tables;
mod tree;

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_grammars::LanguageId;

pub use block::{LEGEND, MapBlock, map_block};
pub use edition::edition;
pub use list::Symbols;
pub use live::{Currency, LiveOutline};
pub use located::{Located, located, mentions_of, name_at};
pub use names::Names;
pub use reports::{GrammarReport, grammar_reports};
pub use tree::{SyntaxTree, TreeEdit, TreePoint, parse, parse_rope};

use self::source::Source;
use crate::cancel::{Cancel, Cancelled};
use crate::key::FileKey;

/// The most symbols kept of one file; generated code beyond it is left out.
pub const MAX_SYMBOLS: usize = 20_000;
/// The most names of other files' definitions kept of one file.
pub const MAX_REFERENCES: usize = 50_000;
/// The most imports kept of one file.
pub const MAX_IMPORTS: usize = 1_000;

/// The language of a file by its name and, where the name does not tell, its first line.
pub fn language_of(key: &FileKey, first_line: &str) -> Option<LanguageId> {
    LanguageId::by_path(key.as_str(), first_line)
}

/// The names of all languages that have an outline, sorted.
pub fn languages() -> Vec<&'static str> {
    LanguageId::all().map(LanguageId::name).collect()
}

/// What one file defines, imports and mentions. Compact: no positions, no tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outline {
    /// Definitions in the order of the text, each before what it contains; see [`Symbol::depth`].
    pub symbols: Symbols,
    /// What the file imports as it is written (`os.path`, `crate::key::FileKey`, `./a.js`), first
    /// mention first.
    pub imports: Names,
    /// Names the file mentions that may be defined elsewhere, sorted. Neither names the language brings
    /// along nor those of parameters and local variables.
    pub references: Names,
    /// How many tests the file has.
    pub tests: u32,
}

/// One definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symbol {
    /// What it is.
    pub kind: SymbolKind,
    /// How many symbols contain it. Its children are the symbols behind it with a greater depth, up to
    /// the first with the same or a smaller one.
    pub depth: u32,
    /// Whether it holds nothing but tests (`#[cfg(test)] mod tests`).
    pub scope: Scope,
    /// Its name.
    pub name: Box<str>,
    /// Its signature as the language writes it, on one line and without its body: modifiers, name,
    /// parameters, types, bases. At most 200 characters.
    pub head: Box<str>,
    /// Decorators and attributes a caller should know, as written.
    pub attributes: Names,
    /// What its methods set on the instance (`self.width = ...`), first mention first.
    pub instance: Names,
}

/// What a symbol is. The words of the captures in `outline.scm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SymbolKind {
    /// A module or name space inside a file.
    Module,
    /// A class.
    Class,
    /// A structure, record or union.
    Struct,
    /// An enumeration.
    Enum,
    /// One of an enumeration's values.
    Variant,
    /// An interface, trait or protocol.
    Interface,
    /// An implementation block; its name is the type's.
    Impl,
    /// A function outside any type.
    Function,
    /// A function inside a type.
    Method,
    /// A named part of a type.
    Field,
    /// A variable outside any function.
    Variable,
    /// A constant outside any function.
    Constant,
    /// A type alias or associated type.
    Type,
    /// A macro.
    Macro,
    /// A part of a document, under its heading.
    Section,
    /// A key of settings or data.
    Key,
}

/// What a symbol is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Part of the product.
    #[default]
    Product,
    /// It and everything in it is there for tests only.
    Tests,
}

impl Outline {
    /// The outline of a parsed text. `source` is the text the tree was made from; broken parts of it
    /// give what can be recognised.
    ///
    /// # Errors
    /// [`Cancelled`] when the flag went up first.
    pub fn of(tree: &SyntaxTree, source: &str, cancel: &Cancel) -> Result<Self, Cancelled> {
        let findings = extract::findings(tree, Source::whole(source), cancel)?;
        Ok(resolve::outline(tree.language(), findings))
    }

    /// Parses a text and keeps only its outline.
    ///
    /// # Errors
    /// [`Cancelled`] when the flag went up first.
    pub fn read(language: LanguageId, source: &str, cancel: &Cancel) -> Result<Self, Cancelled> {
        Self::of(&parse(language, source, None, cancel)?, source, cancel)
    }

    /// Whether it says nothing beyond the file's name.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty() && self.imports.is_empty() && self.tests == 0
    }

    /// The symbols that other files can reach by name: no local functions, nothing of test scopes.
    pub fn visible(&self) -> impl Iterator<Item = &Symbol> {
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

impl SymbolKind {
    /// Whether what it contains is local to it.
    pub fn is_function(self) -> bool {
        matches!(self, Self::Function | Self::Method)
    }

    /// Whether a function directly in it is a method.
    pub fn is_type(self) -> bool {
        matches!(self, Self::Class | Self::Struct | Self::Enum | Self::Interface | Self::Impl)
    }

    /// Whether it holds or names a value; inside a function it is nobody else's business.
    pub fn is_value(self) -> bool {
        matches!(self, Self::Variant | Self::Field | Self::Variable | Self::Constant | Self::Key)
    }

    /// Whether it is part of a document, which is read and not called.
    pub fn is_document(self) -> bool {
        matches!(self, Self::Section | Self::Key)
    }

    /// Whether another file that mentions the name probably means this definition.
    pub fn is_referable(self) -> bool {
        !matches!(self, Self::Field | Self::Impl | Self::Module) && !self.is_document()
    }

    /// Its word in the captures.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Variant => "variant",
            Self::Interface => "interface",
            Self::Impl => "impl",
            Self::Function => "function",
            Self::Method => "method",
            Self::Field => "field",
            Self::Variable => "variable",
            Self::Constant => "constant",
            Self::Type => "type",
            Self::Macro => "macro",
            Self::Section => "section",
            Self::Key => "key",
        }
    }

    /// The kind behind a capture's name (`definition.` already taken off).
    pub(crate) fn of_capture(name: &str) -> Option<Self> {
        Some(match name {
            "module" => Self::Module,
            "class" => Self::Class,
            "struct" => Self::Struct,
            "enum" => Self::Enum,
            "variant" => Self::Variant,
            "interface" => Self::Interface,
            "impl" => Self::Impl,
            "function" => Self::Function,
            "method" => Self::Method,
            "field" => Self::Field,
            "variable" => Self::Variable,
            "constant" => Self::Constant,
            "type" => Self::Type,
            "macro" => Self::Macro,
            "section" => Self::Section,
            "key" => Self::Key,
            _ => return None,
        })
    }
}
