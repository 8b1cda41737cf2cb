//! The side of a language server: answers which documents its editor has open in a folder. Reads the server's current
//! state for each request, and changes nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use strata_base::key::FileKey;
use strata_code::notebook::split_cell;
use strata_host::endpoint::{Endpoint, EndpointError};
use strata_host::store::state_directory;

use super::protocol::{
    CallReply, DocumentsRequest, LiveCall, LiveCell, LiveDocument, LiveNotebook, PROTOCOL, Reply,
    VersionHeader,
};
use crate::model::snapshot::Snapshot;

/// What a server shows to its clients.
#[derive(Clone)]
pub struct ServedView {
    pub snapshot: Snapshot,
    /// Whether a message of the editor was lost that may have been about any file.
    pub are_messages_lost: bool,
    /// Name of the editor.
    pub editor: Option<String>,
    /// Id of the conversation that the editor shows.
    pub session: Arc<str>,
}

/// Opens the endpoint of a language server in the user's state directory. `read` returns the current state, or `None`
/// if the server is ending. `run` runs a client's call on that state. It returns the reply or the error of the command, or
/// `None` if the client must run the call itself.
///
/// # Errors
/// Returns an [`EndpointError`] if no state directory is known, or the endpoint cannot be opened.
pub fn open_live_endpoint(
    read: impl Fn() -> Option<ServedView> + Send + Sync + 'static,
    run: impl Fn(ServedView, LiveCall) -> Option<Result<Value, String>> + Send + Sync + 'static,
) -> Result<Endpoint, EndpointError> {
    let state = state_directory(|name| std::env::var_os(name))?;
    Endpoint::open(&state, move |request| answer_live_request(request, &read, &run))
}

/// Returns an empty answer to a request that is not one.
fn answer_live_request(
    request: &[u8],
    read: &impl Fn() -> Option<ServedView>,
    run: &impl Fn(ServedView, LiveCall) -> Option<Result<Value, String>>,
) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    if let Ok(call) = serde_json::from_slice::<LiveCall>(request)
        && call.protocol == PROTOCOL
    {
        let Some(view) = read() else { return Vec::new() };
        let (result, error) = match run(view, call) {
            Some(Ok(result)) => (Some(result), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        let reply = CallReply { protocol: PROTOCOL, version, result, error };
        return serde_json::to_vec(&reply).unwrap_or_default();
    }
    let reply = match serde_json::from_slice::<DocumentsRequest>(request) {
        Ok(request) if request.protocol == PROTOCOL => match read() {
            Some(view) => serde_json::to_vec(&view.reply(&request, version)),
            None => return Vec::new(),
        },
        // Another version of the protocol may have other fields.
        _ if is_request(request) => serde_json::to_vec(&VersionHeader { protocol: PROTOCOL, version }),
        _ => return Vec::new(),
    };
    reply.unwrap_or_default()
}

fn is_request(request: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(request).is_ok_and(|request| request["protocol"].is_u64())
}

impl ServedView {
    fn reply(&self, request: &DocumentsRequest, version: String) -> Reply {
        let folder = Path::new(&request.folder);
        let documents =
            self.snapshot.documents.documents().filter(|(_, document)| self.is_in(folder, &document.key));
        let documents = documents.map(|(uri, open)| {
            let (document, stamp) = (open.buffer.document(), open.buffer.generation());
            let is_known = request.known.get(uri) == Some(&stamp);
            LiveDocument {
                uri: uri.to_owned(),
                version: document.version,
                stamp,
                language: document.language().to_owned(),
                edited_at: open.edited_at,
                saved_at: open.saved_at,
                sync: document.sync.clone(),
                notebook: open.notebook.as_deref().map(str::to_owned),
                text: (!is_known).then(|| document.text()),
            }
        });
        let notebooks =
            self.snapshot.documents.notebooks().filter(|(_, notebook)| self.is_in(folder, &notebook.key));
        let notebooks = notebooks.map(|(uri, notebook)| LiveNotebook {
            uri: uri.to_owned(),
            version: notebook.version,
            edited_at: self.snapshot.documents.notebook_edited_at(notebook),
            saved_at: notebook.saved_at,
            sync: notebook.sync.clone(),
            cells: notebook
                .cells
                .iter()
                .map(|cell| LiveCell { kind: cell.kind, uri: cell.uri.to_string() })
                .collect(),
        });
        // The store has the conversations of each workspace apart.
        let is_same = matches!(&**self.snapshot.roots, [only] if only.real == folder);
        let overlaps = |root: &Path| folder.starts_with(root) || root.starts_with(folder);
        Reply {
            protocol: PROTOCOL,
            version,
            is_open: self.snapshot.roots.iter().any(|root| overlaps(&root.real)),
            editor: self.editor.clone(),
            session: is_same.then(|| self.session.to_string()),
            are_messages_lost: self.are_messages_lost,
            documents: documents.collect(),
            notebooks: notebooks.collect(),
        }
    }

    /// Whether a document is a file in `folder`. Buffers that were never saved are in no folder.
    fn is_in(&self, folder: &Path, key: &FileKey) -> bool {
        let key = split_cell(key).map_or_else(|| key.clone(), |(notebook, _)| notebook);
        let path: Option<PathBuf> = self.snapshot.roots.path_of(&key).ok();
        !key.is_untitled() && path.is_some_and(|path| path.starts_with(folder))
    }
}
