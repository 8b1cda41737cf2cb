//! Reads the client's capabilities and options at startup. They do not change afterwards.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use strata_app::services::front_end::ClientAbilities;
use strata_prompt::settings::LspFeature;
use strata_prompt::settings::Settings;
use strata_prompt::trust::Trust;
use tower_lsp::ls_types::ClientCapabilities;
use tower_lsp::ls_types::request::Request;

use crate::client_requests::{CountTokensRequest, SummarizeRequest};
use crate::position::PositionEncoding;

/// The client's `initializationOptions`. Unknown fields are ignored, since clients may store their own options there.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct InitializationOptions {
    /// The editor's settings. A client that supports `workspace/configuration` is asked for them again once it is
    /// initialized.
    #[schemars(with = "Option<Settings>")]
    pub settings: Option<Value>,
    /// Strata-specific requests that the client answers, by method.
    pub requests: Vec<String>,
    /// Id of the session to resume.
    pub resume: Option<String>,
    /// Whether the user trusts the workspace. Only a trusted workspace adds its rules, skills and memory to the system
    /// prompt.
    pub trusted: bool,
}

impl InitializationOptions {
    /// Reads the options. Returns the readable ones, and a description of the problem for each unreadable field.
    pub(crate) fn read(options: Option<&Value>) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let mut fields = match options {
            None | Some(Value::Null) => return (Self::default(), problems),
            // Lua encodes an empty table as an empty list.
            Some(Value::Array(list)) if list.is_empty() => return (Self::default(), problems),
            Some(Value::Object(fields)) => fields.clone(),
            Some(_) => return (Self::default(), vec!["expected an object".to_owned()]),
        };
        fields.retain(|_, value| !value.is_null());
        loop {
            let error = match serde_path_to_error::deserialize(Value::Object(fields.clone())) {
                Ok(options) => return (options, problems),
                Err(error) => error,
            };
            let path = error.path().to_string();
            problems.push(format!("`{path}`: {}", error.inner()));
            let field = path.split(['.', '[']).next().unwrap_or_default();
            if fields.shift_remove(field).is_none() {
                return (Self::default(), problems);
            }
        }
    }
}

/// The client's capabilities and startup options.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ClientInfo {
    /// Name of the editor, if known.
    pub name: Option<String>,
    pub encoding: PositionEncoding,
    /// Whether the client answers `workspace/configuration`.
    pub configuration: bool,
    /// Whether the client can watch files for the server (`workspace/didChangeWatchedFiles`).
    pub watches_files: bool,
    /// Whether the client shows progress that the server starts (`window/workDoneProgress`).
    pub shows_progress: bool,
    /// Whether the client shows the symbols of a document as a tree.
    pub nests_symbols: bool,
    /// Whether the client supports code action literals. Other clients receive plain commands.
    pub literal_actions: bool,
    /// Whether the client refreshes code lenses on request.
    pub refreshes_lenses: bool,
    /// Whether the client opens a document on request (`window/showDocument`).
    pub shows_documents: bool,
    /// Features that can be registered and unregistered dynamically.
    pub registrable_features: BTreeSet<LspFeature>,
    /// Strata-specific requests that the client answers.
    pub abilities: ClientAbilities,
    /// Id of the session to resume, if any.
    pub resume: Option<String>,
    pub trust: Trust,
}

impl ClientInfo {
    /// Reads the capabilities and options from the parameters of `initialize`.
    pub(crate) fn new(capabilities: &ClientCapabilities, options: &InitializationOptions) -> Self {
        let general = capabilities.general.as_ref();
        let workspace = capabilities.workspace.as_ref();
        let file_watching = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
        let window = capabilities.window.as_ref();
        let text = capabilities.text_document.as_ref();
        let symbols = text.and_then(|text| text.document_symbol.as_ref());
        let actions = text.and_then(|text| text.code_action.as_ref());
        let lenses = workspace.and_then(|workspace| workspace.code_lens.as_ref());
        let documents = window.and_then(|window| window.show_document.as_ref());
        let is_answered = |method: &str| options.requests.iter().any(|request| request == method);
        Self {
            name: None,
            encoding: PositionEncoding::negotiate(
                general.and_then(|general| general.position_encodings.as_deref()),
            ),
            configuration: workspace.and_then(|workspace| workspace.configuration) == Some(true),
            watches_files: file_watching.and_then(|file_watching| file_watching.dynamic_registration)
                == Some(true),
            shows_progress: window.and_then(|window| window.work_done_progress) == Some(true),
            nests_symbols: symbols.and_then(|s| s.hierarchical_document_symbol_support) == Some(true),
            literal_actions: actions.is_some_and(|actions| actions.code_action_literal_support.is_some()),
            refreshes_lenses: lenses.and_then(|lenses| lenses.refresh_support) == Some(true),
            shows_documents: documents.map(|documents| documents.support) == Some(true),
            registrable_features: registrable_features(capabilities),
            abilities: ClientAbilities {
                summarizes: is_answered(SummarizeRequest::METHOD),
                counts_tokens: is_answered(CountTokensRequest::METHOD),
            },
            resume: options.resume.clone(),
            trust: if options.trusted { Trust::Trusted } else { Trust::Untrusted },
        }
    }
}

fn registrable_features(capabilities: &ClientCapabilities) -> BTreeSet<LspFeature> {
    let text = capabilities.text_document.as_ref();
    let symbols = capabilities.workspace.as_ref().and_then(|workspace| workspace.symbol.as_ref());
    let dynamic_registration = |feature: &LspFeature| match feature {
        LspFeature::DocumentSymbol => text?.document_symbol.as_ref()?.dynamic_registration,
        LspFeature::WorkspaceSymbol => symbols?.dynamic_registration,
        LspFeature::Hover => text?.hover.as_ref()?.dynamic_registration,
        LspFeature::Definition => text?.definition.as_ref()?.dynamic_registration,
        LspFeature::References => text?.references.as_ref()?.dynamic_registration,
        LspFeature::CodeAction => text?.code_action.as_ref()?.dynamic_registration,
        LspFeature::CodeLens => text?.code_lens.as_ref()?.dynamic_registration,
    };
    LspFeature::ALL.into_iter().filter(|feature| dynamic_registration(feature) == Some(true)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_unreadable_field_does_not_affect_the_other_fields() {
        let options =
            json!({ "trusted": "yes", "requests": ["strata/summarize", 7], "resume": "s-1", "theme": 1 });
        let (read, problems) = InitializationOptions::read(Some(&options));
        assert_eq!(read, InitializationOptions { resume: Some("s-1".to_owned()), ..Default::default() });
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems.iter().any(|problem| problem.starts_with("`requests[1]`: ")), "{problems:?}");
    }

    #[test]
    fn missing_and_null_options_are_the_defaults() {
        for options in
            [None, Some(json!(null)), Some(json!([])), Some(json!({ "trusted": null, "requests": null }))]
        {
            assert_eq!(InitializationOptions::read(options.as_ref()), Default::default());
        }
        assert_eq!(InitializationOptions::read(Some(&json!([true]))).1.len(), 1);
    }
}
