//! The symbols of an outline. Compact: contains no positions and no syntax tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::NameList;

/// A definition in an outline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symbol {
    pub kind: SymbolKind,
    /// Number of symbols that contain this one. A symbol contains those after it, up to the first whose depth
    /// is not greater.
    pub depth: u32,
    /// Whether the symbol contains only tests (`#[cfg(test)] mod tests`).
    pub scope: SymbolPurpose,
    pub name: Box<str>,
    /// Type or module to which the symbol belongs if the source names it next to the symbol instead of enclosing the
    /// symbol: the receiver in `func (b *B) Close()`, or `Till` in `void Till::pay()`. Otherwise empty.
    pub container: Box<str>,
    /// Signature as written in the source, on one line and without the body: modifiers, name, parameters, types, bases.
    /// At most 200 characters.
    pub head: Box<str>,
    /// Decorators and attributes that are relevant to callers, as written.
    pub attributes: NameList,
    /// Attributes that the methods of a type set on the instance (`self.width = ...`), in order of first
    /// mention.
    pub instance: NameList,
}

/// The kind of a symbol, named after the captures in `outline.scm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SymbolKind {
    /// A module or namespace inside a file.
    Module,
    /// A class.
    Class,
    /// A struct, record or union.
    Struct,
    /// An enumeration.
    Enum,
    /// A variant of an enumeration.
    Variant,
    /// An interface, trait or protocol.
    Interface,
    /// An implementation block, named after its type.
    Impl,
    /// A function outside any type.
    Function,
    /// A function inside a type.
    Method,
    /// A field or property of a type.
    Field,
    /// A variable outside any function.
    Variable,
    /// A constant outside any function.
    Constant,
    /// A type alias or associated type.
    Type,
    /// A macro.
    Macro,
    /// A section of a document, named after its heading.
    Section,
    /// A key in a configuration or data file.
    Key,
}

/// The purpose of a symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymbolPurpose {
    /// Anything that does not exist only for tests.
    #[default]
    Product,
    /// A symbol that exists only for tests, along with its members.
    Tests,
}

impl SymbolKind {
    /// Whether the symbol is a function or method, whose contents are local.
    pub(crate) fn is_function(self) -> bool {
        matches!(self, Self::Function | Self::Method)
    }

    /// Whether functions directly inside the symbol are methods.
    pub(crate) fn is_type(self) -> bool {
        matches!(self, Self::Class | Self::Struct | Self::Enum | Self::Interface | Self::Impl)
    }

    /// Whether the symbol is a value. Outlines omit values inside functions.
    pub(crate) fn is_value(self) -> bool {
        matches!(self, Self::Variant | Self::Field | Self::Variable | Self::Constant | Self::Key)
    }

    /// Whether the symbol is part of a document.
    pub(crate) fn is_document(self) -> bool {
        matches!(self, Self::Section | Self::Key)
    }

    /// Whether a mention of the symbol's name in another file probably refers to this definition.
    pub(crate) fn is_referable(self) -> bool {
        !matches!(self, Self::Field | Self::Impl | Self::Module) && !self.is_document()
    }

    /// Parses a capture name without its `definition.` prefix.
    pub(crate) fn from_capture(name: &str) -> Option<Self> {
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
