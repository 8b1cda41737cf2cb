//! Standard LSP requests from the editor.

use strata_app::model::snapshot::Snapshot;
use strata_base::key::FileKey;
use strata_prompt::settings::LspFeature;
use tower_lsp::ls_types::{CodeActionParams, Position};

/// A standard LSP request from the editor.
#[derive(Clone, Debug)]
pub(crate) enum LspRequest {
    /// `textDocument/documentSymbol`.
    Document(String),
    /// `workspace/symbol`.
    Workspace(String),
    /// `textDocument/hover`.
    Hover(Caret),
    /// `textDocument/definition`.
    Definition(Caret),
    /// `textDocument/references`.
    References(Caret, DeclarationInclusion),
    /// `textDocument/codeAction`.
    Actions(Box<CodeActionParams>),
    /// `textDocument/codeLens`.
    Lens(String),
}

/// A position in a document.
#[derive(Clone, Debug)]
pub(crate) struct Caret {
    pub uri: String,
    /// Position in the negotiated encoding.
    pub position: Position,
}

/// Whether references include the definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeclarationInclusion {
    Included,
    Excluded,
}

impl LspRequest {
    pub(crate) fn feature(&self) -> LspFeature {
        match self {
            Self::Document(_) => LspFeature::DocumentSymbol,
            Self::Workspace(_) => LspFeature::WorkspaceSymbol,
            Self::Hover(_) => LspFeature::Hover,
            Self::Definition(_) => LspFeature::Definition,
            Self::References(..) => LspFeature::References,
            Self::Actions(_) => LspFeature::CodeAction,
            Self::Lens(_) => LspFeature::CodeLens,
        }
    }
}

pub(super) fn file_key(uri: &str, snapshot: &Snapshot) -> Option<FileKey> {
    snapshot.key_of(uri)
}
