//! The features that can be switched on, with their protocol names.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use strata_engine::prompt::settings::LspSettings;

/// Something that editors know to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Feature {
    DocumentSymbol,
    /// The symbols of all files.
    WorkspaceSymbol,
    Hover,
    /// Where a name is defined.
    Definition,
    /// Where a name is mentioned.
    References,
    /// Actions for a document.
    CodeAction,
    /// A document's state, above its first line.
    CodeLens,
}

/// The kind of our code actions.
pub(crate) const ACTION_KIND: &str = "source.strata";

impl Feature {
    pub(crate) const ALL: [Self; 7] = [
        Self::DocumentSymbol,
        Self::WorkspaceSymbol,
        Self::Hover,
        Self::Definition,
        Self::References,
        Self::CodeAction,
        Self::CodeLens,
    ];

    pub(crate) fn is_wanted(self, settings: &LspSettings) -> bool {
        match self {
            Self::DocumentSymbol => settings.document_symbol,
            Self::WorkspaceSymbol => settings.workspace_symbol,
            Self::Hover => settings.hover,
            Self::Definition => settings.definition,
            Self::References => settings.references,
            Self::CodeAction => settings.code_action,
            Self::CodeLens => settings.code_lens,
        }
    }

    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::DocumentSymbol => "textDocument/documentSymbol",
            Self::WorkspaceSymbol => "workspace/symbol",
            Self::Hover => "textDocument/hover",
            Self::Definition => "textDocument/definition",
            Self::References => "textDocument/references",
            Self::CodeAction => "textDocument/codeAction",
            Self::CodeLens => "textDocument/codeLens",
        }
    }

    /// Registration options for announcing it while the server runs: its documents, and more if necessary.
    pub(crate) fn registration(self) -> Option<Value> {
        match self {
            Self::WorkspaceSymbol => None,
            Self::CodeAction => Some(json!({ "documentSelector": null, "codeActionKinds": [ACTION_KIND] })),
            Self::CodeLens => Some(json!({ "documentSelector": null, "resolveProvider": false })),
            _ => Some(json!({ "documentSelector": null })),
        }
    }
}

pub(crate) fn features(settings: &LspSettings) -> BTreeSet<Feature> {
    Feature::ALL.into_iter().filter(|feature| feature.is_wanted(settings)).collect()
}
