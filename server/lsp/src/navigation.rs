//! Plain LSP, each part of it switched by a setting. From the index, for editors without a language server at hand: the
//! symbols of a document and of the workspace, hover, definition, references; off unless the settings say otherwise, so as to
//! double no real language server. Goes by names and imports, as the symbol map does, and knows no types. From the session, for
//! editors without a plugin: code actions and a code lens. Changes nothing.

mod choices;
mod feature;
mod meanings;
mod page;
mod symbols;

use serde_json::Value;
use strata_engine::cancel::{Cancel, Cancelled};
use strata_engine::key::FileKey;
use strata_engine::prompt::session::Session;
use tower_lsp::ls_types::{CodeActionParams, Position};

use crate::client::ClientInfo;
use strata_app::documents::key_of;
use strata_app::snapshot::Snapshot;

pub(crate) use feature::{ACTION_KIND, Feature, features};

/// A question of the editor.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// `textDocument/documentSymbol`
    Document(String),
    /// `workspace/symbol`
    Workspace(String),
    /// `textDocument/hover`
    Hover(Caret),
    /// `textDocument/definition`
    Definition(Caret),
    /// `textDocument/references`
    References(Caret, Declarations),
    /// `textDocument/codeAction`
    Actions(Box<CodeActionParams>),
    /// `textDocument/codeLens`
    Lens(String),
}

/// A place in a document.
#[derive(Clone, Debug)]
pub(crate) struct Caret {
    pub uri: String,
    /// The place, in the negotiated unit.
    pub position: Position,
}

/// Whether definitions count as references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declarations {
    Counted,
    LeftOut,
}

impl Question {
    pub(crate) fn feature(&self) -> Feature {
        match self {
            Self::Document(_) => Feature::DocumentSymbol,
            Self::Workspace(_) => Feature::WorkspaceSymbol,
            Self::Hover(_) => Feature::Hover,
            Self::Definition(_) => Feature::Definition,
            Self::References(..) => Feature::References,
            Self::Actions(_) => Feature::CodeAction,
            Self::Lens(_) => Feature::CodeLens,
        }
    }

    /// The answer in protocol form; null if there is none or the settings disable it. `session` is the current one.
    ///
    /// # Errors
    /// [`Cancelled`] when `cancel` was raised meanwhile.
    pub(crate) fn answer(
        &self,
        snapshot: &Snapshot,
        session: &Session,
        client: &ClientInfo,
        cancel: &Cancel,
    ) -> Result<Value, Cancelled> {
        if !self.feature().is_wanted(&snapshot.settings.lsp) {
            return Ok(Value::Null);
        }
        let found = match self {
            Self::Document(uri) => match key(uri, snapshot) {
                Some(key) => symbols::of_document(&key, snapshot, client, cancel)?,
                None => None,
            },
            Self::Workspace(query) => Some(symbols::of_workspace(query, snapshot, client.encoding, cancel)?),
            Self::Hover(caret) => meanings::hover(caret, snapshot, client.encoding, cancel)?,
            Self::Definition(caret) => meanings::definition(caret, snapshot, client.encoding, cancel)?,
            Self::References(caret, declarations) => {
                meanings::references(caret, *declarations, snapshot, client.encoding, cancel)?
            }
            Self::Actions(params) => {
                let key = key(params.text_document.uri.as_str(), snapshot);
                key.map(|key| choices::actions(params, &key, snapshot, session, client))
            }
            Self::Lens(uri) => key(uri, snapshot).map(|key| choices::lens(uri, &key, snapshot, session)),
        };
        Ok(found.unwrap_or_default())
    }
}

fn key(uri: &str, snapshot: &Snapshot) -> Option<FileKey> {
    key_of(uri, &snapshot.roots)
}
