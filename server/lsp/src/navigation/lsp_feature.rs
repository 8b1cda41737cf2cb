//! LSP features that can be enabled, with their protocol methods.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use strata_prompt::settings::LspSettings;

/// An LSP feature that can be enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Feature {
    DocumentSymbol,
    /// Symbols of all files.
    WorkspaceSymbol,
    Hover,
    /// Definitions of a name.
    Definition,
    /// References to a name.
    References,
    /// Code actions for a document.
    CodeAction,
    /// A code lens above the first line of a document that shows its state in the session.
    CodeLens,
}

/// Kind of Strata's code actions.
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

    pub(crate) fn is_enabled(self, settings: &LspSettings) -> bool {
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

    /// Returns the options for registering the feature dynamically.
    pub(crate) fn registration_options(self) -> Option<Value> {
        match self {
            Self::WorkspaceSymbol => None,
            Self::CodeAction => Some(json!({ "documentSelector": null, "codeActionKinds": [ACTION_KIND] })),
            Self::CodeLens => Some(json!({ "documentSelector": null, "resolveProvider": false })),
            _ => Some(json!({ "documentSelector": null })),
        }
    }
}

pub(crate) fn enabled_features(settings: &LspSettings) -> BTreeSet<Feature> {
    Feature::ALL.into_iter().filter(|feature| feature.is_enabled(settings)).collect()
}
