//! Protocol methods of the LSP features that can be enabled.

use serde_json::{Value, json};
use strata_prompt::settings::LspFeature;

/// Kind of Strata's code actions.
pub(crate) const ACTION_KIND: &str = "source.strata";

pub(crate) fn feature_method(feature: LspFeature) -> &'static str {
    match feature {
        LspFeature::DocumentSymbol => "textDocument/documentSymbol",
        LspFeature::WorkspaceSymbol => "workspace/symbol",
        LspFeature::Hover => "textDocument/hover",
        LspFeature::Definition => "textDocument/definition",
        LspFeature::References => "textDocument/references",
        LspFeature::CodeAction => "textDocument/codeAction",
        LspFeature::CodeLens => "textDocument/codeLens",
    }
}

/// Returns the options for registering a feature dynamically.
pub(crate) fn registration_options(feature: LspFeature) -> Option<Value> {
    match feature {
        LspFeature::WorkspaceSymbol => None,
        LspFeature::CodeAction => Some(json!({ "documentSelector": null, "codeActionKinds": [ACTION_KIND] })),
        LspFeature::CodeLens => Some(json!({ "documentSelector": null, "resolveProvider": false })),
        _ => Some(json!({ "documentSelector": null })),
    }
}
