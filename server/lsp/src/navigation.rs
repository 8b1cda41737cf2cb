//! Plain LSP from the index, for editors without a language server at hand: the symbols of a document and of the
//! workspace, hover, definition, references. All of it is off unless the settings say otherwise, so as to double no real
//! language server. Goes by names and imports, as the symbol map does: it knows no types, and changes nothing.

mod feature;
mod meanings;
mod page;
mod symbols;

use serde_json::Value;
use strata_engine::cancel::{Cancel, Cancelled};
use strata_engine::key::FileKey;
use tower_lsp::ls_types::Position;

use crate::client::ClientInfo;
use crate::documents::{Name, name_of};
use crate::snapshot::Snapshot;

pub use feature::{Feature, features};

/// What an editor wants to know.
#[derive(Clone, Debug)]
pub enum Question {
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
}

/// A place in a document.
#[derive(Clone, Debug)]
pub struct Caret {
    /// The document.
    pub uri: String,
    /// The place, in the negotiated unit.
    pub position: Position,
}

/// Whether definitions count as references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declarations {
    /// They do.
    Counted,
    /// They do not.
    LeftOut,
}

impl Question {
    /// What it asks of.
    fn feature(&self) -> Feature {
        match self {
            Self::Document(_) => Feature::DocumentSymbol,
            Self::Workspace(_) => Feature::WorkspaceSymbol,
            Self::Hover(_) => Feature::Hover,
            Self::Definition(_) => Feature::Definition,
            Self::References(..) => Feature::References,
        }
    }

    /// The answer as the protocol has it; null when there is nothing to say, and when the settings do not want it said.
    ///
    /// # Errors
    /// [`Cancelled`] when `cancel` was raised meanwhile.
    pub fn answer(
        &self,
        snapshot: &Snapshot,
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
        };
        Ok(found.unwrap_or_default())
    }
}

fn key(uri: &str, snapshot: &Snapshot) -> Option<FileKey> {
    match name_of(uri, &snapshot.roots) {
        Name::Tracked(key) => Some(key),
        Name::Ignored => None,
    }
}
