//! The live view: what an agent or a shell sees of the editors of its user. Asks the language servers that run on this
//! machine for their open documents, and lays those with unsaved text over the files on disk. Nothing is kept running,
//! so an editor can start, end or crash at any time: the next look is correct again.
//!
//! Of several editors with the same file open, the one with the newest edit counts. A text that its editor has saved
//! yields to the disk, which another program may have changed since.

mod protocol;
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use strata_base::external::ExternalText;
use strata_base::key::FileKey;
use strata_base::text::without_byte_order_mark;
use strata_code::buffer::Buffer;
use strata_code::document::{Document, DocumentSync};
use strata_host::endpoint::{AskError, EndpointAddress, ask, endpoints};
use strata_prompt::trust::Trust;

pub use self::protocol::LiveCall;
use self::protocol::{
    CallReply, DocumentsRequest, LiveDocument, LiveNotebook, PROTOCOL, Reply, VersionHeader,
};
pub use self::server::{ServedView, open_live_endpoint};
use crate::format::pluralize;
use crate::model::documents::key_of;
use crate::model::open_documents::{OpenCell, OpenDocuments};
use crate::model::snapshot::Snapshot;

/// Maximum time that a server may take to reply. It needs a few milliseconds.
const REPLY_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum time that a server may take for a call, which is less than a connection may last.
const SERVER_CALL_TIMEOUT: Duration = Duration::from_secs(8);
/// How much earlier than its clock a system may date a change of a file, in milliseconds. Linux counts in ticks of up to
/// 10 ms.
pub(crate) const MAX_MTIME_LAG_MS: i64 = 10;
/// Maximum size of a file that can have unsaved text, in bytes. Larger files are compared neither.
const MAX_UNSAVED_FILE_BYTES: u64 = 64 << 20;

/// The open documents of all editors, as of the last [refresh](LiveView::refresh).
#[derive(Debug, Default)]
pub(crate) struct LiveView {
    /// Texts that each server has sent, by URI.
    known: BTreeMap<EndpointAddress, BTreeMap<String, ReceivedText>>,
    /// The documents that are laid over the disk, and what identifies their texts.
    overlay: (Arc<OpenDocuments>, Vec<OverlayIdentity>),
    /// The only server that has the folder, or files in it, open. Its workspace is this folder.
    owner: Option<EndpointAddress>,
}

/// A text that a server has sent before.
#[derive(Clone, Debug)]
struct ReceivedText {
    stamp: u64,
    buffer: Buffer,
}

/// What identifies the text of a document that is laid over the disk.
#[derive(Clone, PartialEq, Eq, Debug)]
struct OverlayIdentity {
    key: FileKey,
    server: EndpointAddress,
    version: i32,
    /// Identifies the text, together with the version.
    stamp: u64,
    sync: DocumentSync,
}

/// The source of the texts in a workspace that has no editor of its own.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EditorViewState {
    /// Number of editors that have the workspace open.
    pub editors: usize,
    /// Files whose text is unsaved in an editor, and what the editor says about it.
    pub unsaved: BTreeMap<FileKey, UnsavedText>,
    /// Ids of the conversations that editors show, if they have only this workspace open. Some may not be stored yet.
    #[serde(skip)]
    pub(crate) sessions: BTreeSet<String>,
    /// Why texts of an editor may be missing, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// An unsaved text in an editor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnsavedText {
    /// The editor's version of the document.
    pub version: i32,
    /// Name of the editor. Absent if it has not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub editor: Option<String>,
    /// Whether another program changed the file on disk after the editor opened or saved it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disk_changed: bool,
    /// Whether the text may differ from the editor's, because a message of the editor was invalid.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub out_of_sync: bool,
}

impl fmt::Display for EditorViewState {
    /// Describes the view in a few words: `disk`, `editor, 3 unsaved buffers`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.editors {
            0 => return f.write_str("disk"),
            1 => f.write_str("editor")?,
            editors => write!(f, "{editors} editors")?,
        }
        match self.unsaved.len() {
            0 => f.write_str(", no unsaved buffers"),
            unsaved => write!(f, ", {}", pluralize(unsaved, "unsaved buffer")),
        }
    }
}

/// An editor's document or notebook that may be laid over the disk.
struct OverlayCandidate {
    key: FileKey,
    uri: String,
    server: EndpointAddress,
    editor: Option<String>,
    edited_at: u64,
    saved_at: u64,
    version: i32,
    sync: DocumentSync,
    /// The text as files on disk are shown. `None` if it is not known.
    text: Option<String>,
    content: CandidateContent,
}

enum CandidateContent {
    Document(Buffer),
    Notebook(LiveNotebook, Vec<(String, Document)>),
}

impl LiveView {
    /// Asks all servers below a state directory for their documents in `folder`, and returns the snapshot's documents and
    /// the state of the view. Returns the same documents as before if nothing changed, so that their parses are kept.
    pub(crate) fn refresh(
        &mut self,
        state: &Path,
        folder: &Path,
        snapshot: &Snapshot,
    ) -> (Arc<OpenDocuments>, EditorViewState) {
        let mut view = EditorViewState::default();
        let mut candidates: BTreeMap<FileKey, OverlayCandidate> = BTreeMap::new();
        let servers = endpoints(state);
        let mut owner = None;
        let alive: BTreeSet<&EndpointAddress> = servers.iter().collect();
        self.known.retain(|server, _| alive.contains(server));
        for server in &servers {
            let reply = match self.request_documents(server, folder) {
                Ok(Some(reply)) => reply,
                Ok(None) => continue,
                Err(problem) => {
                    view.problems.push(problem);
                    continue;
                }
            };
            view.editors += usize::from(reply.is_open);
            if reply.session.is_some() {
                owner = Some(server.clone());
            }
            view.sessions.extend(reply.session.clone());
            if reply.are_messages_lost {
                view.problems.push(
                    "an editor sent an invalid message, so any file may be out of sync with it".to_owned(),
                );
            }
            for candidate in self.candidates(server, reply, snapshot) {
                match candidates.get(&candidate.key) {
                    Some(other) if other.edited_at >= candidate.edited_at => {}
                    _ => drop(candidates.insert(candidate.key.clone(), candidate)),
                }
            }
        }
        self.owner = owner.filter(|_| view.editors == 1 && view.problems.is_empty());
        candidates.retain(|_, candidate| candidate.is_shown_over_disk(snapshot));
        for candidate in candidates.values() {
            view.unsaved.insert(candidate.key.clone(), candidate.unsaved(snapshot));
        }
        let identities: Vec<OverlayIdentity> =
            candidates.values().map(OverlayCandidate::overlay_identity).collect();
        if identities != self.overlay.1 {
            let mut documents = OpenDocuments::default();
            for candidate in candidates.into_values() {
                candidate.open(&mut documents);
            }
            self.overlay = (Arc::new(documents), identities);
        }
        (Arc::clone(&self.overlay.0), view)
    }

    /// Whether a server can run calls for this folder, as of the last look.
    pub(crate) fn can_call_server(&self) -> bool {
        self.owner.is_some()
    }

    /// Asks the server of the folder to run a command. Returns the reply or the error of the command. Returns `None` if
    /// there is no server, or it cannot run the command now.
    pub(crate) fn call(
        &self,
        folder: &Path,
        command: &str,
        arguments: &Value,
        session: Option<String>,
        trust: Trust,
    ) -> Option<Result<Value, String>> {
        let owner = self.owner.as_ref()?;
        let call = LiveCall {
            protocol: PROTOCOL,
            folder: folder.to_str()?.to_owned(),
            command: command.to_owned(),
            arguments: arguments.clone(),
            session,
            is_trusted: trust == Trust::Trusted,
        };
        let request = serde_json::to_vec(&call).ok()?;
        let reply = ask(owner, &request, SERVER_CALL_TIMEOUT);
        let reply = reply.inspect_err(|error| tracing::debug!(%error, "a server did not run a call")).ok()?;
        let reply: CallReply = serde_json::from_slice(&reply).ok()?;
        if reply.protocol != PROTOCOL {
            return None;
        }
        reply.result.map(Ok).or(reply.error.map(Err))
    }

    /// Asks one server. Returns `None` if it has ended.
    ///
    /// # Errors
    /// Returns a sentence if the server has documents that cannot be shown.
    fn request_documents(&self, server: &EndpointAddress, folder: &Path) -> Result<Option<Reply>, String> {
        // File names are Unicode everywhere in Strata, so no file below another folder could be named.
        let Some(folder) = folder.to_str() else { return Ok(None) };
        let known = self.known.get(server).into_iter().flatten();
        let known = known.map(|(uri, known)| (uri.clone(), known.stamp)).collect();
        let request = DocumentsRequest { protocol: PROTOCOL, folder: folder.to_owned(), known };
        let request = serde_json::to_vec(&request).map_err(|error| error.to_string())?;
        let missing = |reason: &str| format!("an editor's unsaved text may be missing, because {reason}");
        let reply = match ask(server, &request, REPLY_TIMEOUT) {
            Ok(reply) => reply,
            Err(AskError::Ended) => return Ok(None),
            Err(error) => return Err(missing(&error.to_string())),
        };
        let header: VersionHeader =
            serde_json::from_slice(&reply).map_err(|_| missing("its server sent an invalid reply"))?;
        if header.protocol != PROTOCOL {
            return Err(missing(&format!(
                "its server runs another version of Strata ({}); restart the older of the editor and this program",
                ExternalText::new(&header.version).line()
            )));
        }
        let reply =
            serde_json::from_slice(&reply).map_err(|_| missing("its server sent an invalid reply"))?;
        Ok(Some(reply))
    }

    /// Converts a server's documents, and remembers their texts.
    fn candidates(
        &mut self,
        server: &EndpointAddress,
        reply: Reply,
        snapshot: &Snapshot,
    ) -> Vec<OverlayCandidate> {
        let known_before = self.known.remove(server).unwrap_or_default();
        let editor = reply.editor.map(|name| ExternalText::new(&name).line().to_string());
        let mut known = BTreeMap::new();
        let mut cells: BTreeMap<String, Vec<(LiveDocument, Buffer)>> = BTreeMap::new();
        let mut candidates = Vec::new();
        for document in reply.documents {
            let is_cell = document.notebook.is_some();
            let key = key_of(&document.uri, &snapshot.roots);
            let Some(key) = key.or_else(|| is_cell.then(|| FileKey::new(document.uri.as_str()))) else {
                continue;
            };
            let buffer = match (&document.text, known_before.get(&document.uri)) {
                (Some(text), _) => Buffer::new(&key, document.to_document(text)),
                (None, Some(known)) if known.stamp == document.stamp => {
                    let mut buffer = known.buffer.clone();
                    buffer.set_version_and_sync(document.version, document.sync.clone());
                    buffer
                }
                // The server sends every text that was not known.
                (None, _) => continue,
            };
            known
                .insert(document.uri.clone(), ReceivedText { stamp: document.stamp, buffer: buffer.clone() });
            if let Some(notebook) = &document.notebook {
                cells.entry(notebook.clone()).or_default().push((document, buffer));
                continue;
            }
            let open = buffer.document();
            let text = open.is_text_known().then(|| without_byte_order_mark(&open.text()).to_owned());
            candidates.push(OverlayCandidate {
                key,
                uri: document.uri,
                server: server.clone(),
                editor: editor.clone(),
                edited_at: document.edited_at,
                saved_at: document.saved_at,
                version: document.version,
                sync: document.sync,
                text,
                content: CandidateContent::Document(buffer),
            });
        }
        for notebook in reply.notebooks {
            let Some(key) = key_of(&notebook.uri, &snapshot.roots) else { continue };
            let notebook_cells = cells.remove(&notebook.uri).unwrap_or_default();
            let notebook_cells = notebook_cells
                .into_iter()
                .map(|(cell, buffer)| (cell.uri, buffer.document().clone()))
                .collect();
            let content = CandidateContent::Notebook(notebook.clone(), notebook_cells);
            let mut candidate = OverlayCandidate {
                key,
                uri: notebook.uri,
                server: server.clone(),
                editor: editor.clone(),
                edited_at: notebook.edited_at,
                saved_at: notebook.saved_at,
                version: notebook.version,
                sync: notebook.sync,
                text: None,
                content,
            };
            candidate.text = candidate.notebook_text();
            candidates.push(candidate);
        }
        self.known.insert(server.clone(), known);
        candidates
    }
}

impl OverlayCandidate {
    /// Whether the text is shown instead of that on disk.
    fn is_shown_over_disk(&self, snapshot: &Snapshot) -> bool {
        if self.sync != DocumentSync::InStep {
            return true;
        }
        let is_edited = self.edited_at > self.saved_at;
        let Some(text) = &self.text else { return false };
        match snapshot.disk.text(&snapshot.roots, &self.key, MAX_UNSAVED_FILE_BYTES) {
            Ok(disk) if is_same_text(&disk.text, text) => false,
            Ok(disk) => {
                // An editor may save one version while the next one is being typed.
                let last_tick = disk.stamp.mtime_ns / 1_000_000 + MAX_MTIME_LAG_MS;
                is_edited || last_tick < to_i64_ms(self.saved_at) || last_tick < to_i64_ms(self.edited_at)
            }
            // Also if the file was deleted, or never saved.
            Err(_) => is_edited,
        }
    }

    fn unsaved(&self, snapshot: &Snapshot) -> UnsavedText {
        let disk = snapshot.disk.text(&snapshot.roots, &self.key, MAX_UNSAVED_FILE_BYTES);
        let disk_changed = disk.is_ok_and(|disk| disk.stamp.mtime_ns / 1_000_000 > to_i64_ms(self.saved_at));
        let out_of_sync = self.sync != DocumentSync::InStep;
        UnsavedText { version: self.version, editor: self.editor.clone(), disk_changed, out_of_sync }
    }

    fn overlay_identity(&self) -> OverlayIdentity {
        let stamp = match &self.content {
            CandidateContent::Document(buffer) => buffer.generation(),
            CandidateContent::Notebook(notebook, _) => notebook.edited_at,
        };
        let (key, server, sync) = (self.key.clone(), self.server.clone(), self.sync.clone());
        OverlayIdentity { key, server, version: self.version, stamp, sync }
    }

    fn open(self, documents: &mut OpenDocuments) {
        match self.content {
            CandidateContent::Document(buffer) => documents.replace_buffer(&self.uri, self.key, buffer),
            CandidateContent::Notebook(notebook, cells) => {
                open_notebook(&self.uri, self.key, &notebook, &cells, documents);
            }
        }
    }

    /// Returns the text of a notebook. `None` for other documents.
    fn notebook_text(&self) -> Option<String> {
        let CandidateContent::Notebook(notebook, cells) = &self.content else { return None };
        let mut documents = OpenDocuments::default();
        open_notebook(&self.uri, self.key.clone(), notebook, cells, &mut documents);
        documents.text(&self.key).map(|file| file.text.to_string())
    }
}

fn open_notebook(
    uri: &str,
    key: FileKey,
    notebook: &LiveNotebook,
    cells: &[(String, Document)],
    documents: &mut OpenDocuments,
) {
    let open_cells =
        notebook.cells.iter().map(|cell| OpenCell { kind: cell.kind, uri: cell.uri.as_str().into() });
    documents.open_notebook(uri, key, notebook.version, open_cells.collect());
    for (cell, document) in cells {
        documents.open_cell(uri, cell, document.clone());
    }
    if let (DocumentSync::OutOfStep { reason }, Some(open)) = (&notebook.sync, documents.notebook_mut(uri)) {
        open.mark_out_of_step(reason.clone());
    }
}

/// Returns the text of an open document that differs from the file on disk. `None` if it does not, or is not open.
pub(crate) fn unsaved_text(key: &FileKey, snapshot: &Snapshot) -> Option<Arc<str>> {
    let text = snapshot.documents.text(key)?.text;
    let disk = snapshot.disk.text(&snapshot.roots, key, MAX_UNSAVED_FILE_BYTES);
    disk.map_or(true, |disk| !is_same_text(&disk.text, &text)).then_some(text)
}

/// Whether two texts differ at most in their line endings, which some editors change before they send a text.
fn is_same_text(one: &str, other: &str) -> bool {
    let lines = |text: &str| text.contains("\r\n").then(|| text.replace("\r\n", "\n"));
    match (lines(one), lines(other)) {
        (None, None) => one == other,
        (one_lines, other_lines) => {
            one_lines.as_deref().unwrap_or(one) == other_lines.as_deref().unwrap_or(other)
        }
    }
}

fn to_i64_ms(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}
