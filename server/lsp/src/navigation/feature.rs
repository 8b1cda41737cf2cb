//! What can be switched on, and under which name the protocol knows it.

use std::collections::BTreeSet;

use strata_engine::settings::LspSettings;

/// Something that editors know to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feature {
    /// The symbols of a document.
    DocumentSymbol,
    /// The symbols of all files.
    WorkspaceSymbol,
    /// What a name is.
    Hover,
    /// Where a name is defined.
    Definition,
    /// Where a name is mentioned.
    References,
}

impl Feature {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::DocumentSymbol, Self::WorkspaceSymbol, Self::Hover, Self::Definition, Self::References];

    /// Whether the settings want it.
    pub fn is_wanted(self, settings: &LspSettings) -> bool {
        match self {
            Self::DocumentSymbol => settings.document_symbol,
            Self::WorkspaceSymbol => settings.workspace_symbol,
            Self::Hover => settings.hover,
            Self::Definition => settings.definition,
            Self::References => settings.references,
        }
    }

    /// The protocol's method.
    pub fn method(self) -> &'static str {
        match self {
            Self::DocumentSymbol => "textDocument/documentSymbol",
            Self::WorkspaceSymbol => "workspace/symbol",
            Self::Hover => "textDocument/hover",
            Self::Definition => "textDocument/definition",
            Self::References => "textDocument/references",
        }
    }
}

/// What the settings want.
pub fn features(settings: &LspSettings) -> BTreeSet<Feature> {
    Feature::ALL.into_iter().filter(|feature| feature.is_wanted(settings)).collect()
}
