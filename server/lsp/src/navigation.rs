//! Implements standard LSP features, each enabled by the setting `lsp.features`. Symbols, hover, definition and references come from the
//! index, for editors that have no language server for a file. They are off by default, to avoid duplicating the
//! results of another server. They resolve names by scopes and imports, and know no types. Code actions and a code lens
//! come from the session, for editors without a plugin. Changes no state.

mod code_actions;
mod definitions;
mod lsp_feature;
mod lsp_request;
mod page;
mod symbols;

use serde_json::Value;
use strata_base::cancel::{Cancel, Cancelled};
use strata_prompt::session::Session;

use crate::client::ClientInfo;
use strata_app::model::snapshot::Snapshot;

pub(crate) use lsp_feature::{ACTION_KIND, feature_method, registration_options};
pub(crate) use lsp_request::{Caret, DeclarationInclusion, LspRequest};

use lsp_request::file_key;

impl LspRequest {
    /// Returns the answer in protocol form, or null if there is none or the settings disable the feature. `session` is
    /// the current session.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` is raised in the meantime.
    pub(crate) fn answer(
        &self,
        snapshot: &Snapshot,
        session: &Session,
        client: &ClientInfo,
        cancel: &Cancel,
    ) -> Result<Value, Cancelled> {
        if !snapshot.settings.lsp.features.contains(&self.feature()) {
            return Ok(Value::Null);
        }
        let result = match self {
            Self::Document(uri) => match file_key(uri, snapshot) {
                Some(key) => symbols::document_symbols(&key, snapshot, client, cancel)?,
                None => None,
            },
            Self::Workspace(query) => {
                Some(symbols::workspace_symbols(query, snapshot, client.encoding, cancel)?)
            }
            Self::Hover(caret) => definitions::hover(caret, snapshot, client.encoding, cancel)?,
            Self::Definition(caret) => {
                definitions::definition_locations(caret, snapshot, client.encoding, cancel)?
            }
            Self::References(caret, declarations) => {
                definitions::references(caret, *declarations, snapshot, client.encoding, cancel)?
            }
            Self::Actions(params) => {
                let key = file_key(params.text_document.uri.as_str(), snapshot);
                key.map(|key| code_actions::code_actions(params, &key, snapshot, session, client))
            }
            Self::Lens(uri) => {
                file_key(uri, snapshot).map(|key| code_actions::code_lens(uri, &key, snapshot, session))
            }
        };
        Ok(result.unwrap_or_default())
    }
}
