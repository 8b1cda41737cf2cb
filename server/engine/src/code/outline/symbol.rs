//! A definition in an outline. Compact: no positions, no tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::Names;

/// One definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symbol {
    /// Its kind.
    pub kind: SymbolKind,
    /// How many symbols contain it. Its children are the symbols after it with a greater depth, up to
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
    /// Attributes its methods set on the instance (`self.width = ...`), in order of first mention.
    pub instance: Names,
}

/// The kind of a symbol, named after the captures in `outline.scm`.
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

/// Where a symbol can be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Part of the product.
    #[default]
    Product,
    /// It and everything in it is there for tests only.
    Tests,
}

impl SymbolKind {
    /// Whether its members are local to it.
    pub(crate) fn is_function(self) -> bool {
        matches!(self, Self::Function | Self::Method)
    }

    /// Whether a function directly in it is a method.
    pub(crate) fn is_type(self) -> bool {
        matches!(self, Self::Class | Self::Struct | Self::Enum | Self::Interface | Self::Impl)
    }

    /// Whether it is a value. Inside a function, values are private.
    pub(crate) fn is_value(self) -> bool {
        matches!(self, Self::Variant | Self::Field | Self::Variable | Self::Constant | Self::Key)
    }

    /// Whether it is part of a document, which is read and not called.
    pub(crate) fn is_document(self) -> bool {
        matches!(self, Self::Section | Self::Key)
    }

    /// Whether another file that mentions the name probably means this definition.
    pub(crate) fn is_referable(self) -> bool {
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

    /// The kind after a capture's name (`definition.` already taken off).
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
