//! What the client said of itself at the start. Read once, never changed.

use std::collections::BTreeSet;

use serde_json::Value;
use strata_host::config::Trust;
use tower_lsp::ls_types::{ClientCapabilities, InitializeParams};

use crate::navigation::Feature;
use crate::position::Encoding;

/// Whether the client can do something.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Can {
    /// It did not say so.
    #[default]
    No,
    /// It did.
    Yes,
}

impl Can {
    fn from(said: Option<bool>) -> Self {
        if said == Some(true) { Self::Yes } else { Self::No }
    }
}

/// What the client can do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClientInfo {
    /// The unit of positions.
    pub encoding: Encoding,
    /// Answers `workspace/configuration`.
    pub configuration: Can,
    /// Watches files when asked to (`workspace/didChangeWatchedFiles`).
    pub watches_files: Can,
    /// Shows progress that the server starts (`window/workDoneProgress`).
    pub shows_progress: Can,
    /// Shows the symbols of a document as a tree.
    pub nests_symbols: Can,
    /// What it can be told to ask for, and not to ask for, while the server runs.
    pub registers: BTreeSet<Feature>,
    /// Answers `strata/summarize`.
    pub summarizes: Can,
    /// Answers `strata/countTokens`.
    pub counts_tokens: Can,
    /// The session that it wishes to go on with.
    pub resume: Option<String>,
    /// Whether the person trusts the workspace.
    pub trust: Trust,
}

impl ClientInfo {
    /// What the parameters of `initialize` say.
    pub fn new(params: &InitializeParams) -> Self {
        let capabilities = &params.capabilities;
        let general = capabilities.general.as_ref();
        let workspace = capabilities.workspace.as_ref();
        let watched = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
        let window = capabilities.window.as_ref();
        let symbols = capabilities.text_document.as_ref().and_then(|text| text.document_symbol.as_ref());
        let options = params.initialization_options.as_ref();
        let option = |name: &str| options.and_then(|options| options.get(name));
        let answers = |method: &str| {
            let requests = option("requests").and_then(Value::as_array);
            Can::from(requests.map(|requests| requests.iter().any(|request| request == method)))
        };
        Self {
            encoding: Encoding::negotiate(general.and_then(|general| general.position_encodings.as_deref())),
            configuration: Can::from(workspace.and_then(|workspace| workspace.configuration)),
            watches_files: Can::from(watched.and_then(|watched| watched.dynamic_registration)),
            shows_progress: Can::from(window.and_then(|window| window.work_done_progress)),
            nests_symbols: Can::from(symbols.and_then(|s| s.hierarchical_document_symbol_support)),
            registers: registers(capabilities),
            summarizes: answers("strata/summarize"),
            counts_tokens: answers("strata/countTokens"),
            resume: option("resume").and_then(Value::as_str).map(str::to_owned),
            trust: match option("trusted").and_then(Value::as_bool) {
                Some(true) => Trust::Trusted,
                _ => Trust::Untrusted,
            },
        }
    }
}

fn registers(capabilities: &ClientCapabilities) -> BTreeSet<Feature> {
    let text = capabilities.text_document.as_ref();
    let symbols = capabilities.workspace.as_ref().and_then(|workspace| workspace.symbol.as_ref());
    let can = |feature: &Feature| match feature {
        Feature::DocumentSymbol => text?.document_symbol.as_ref()?.dynamic_registration,
        Feature::WorkspaceSymbol => symbols?.dynamic_registration,
        Feature::Hover => text?.hover.as_ref()?.dynamic_registration,
        Feature::Definition => text?.definition.as_ref()?.dynamic_registration,
        Feature::References => text?.references.as_ref()?.dynamic_registration,
    };
    Feature::ALL.into_iter().filter(|feature| can(feature) == Some(true)).collect()
}
