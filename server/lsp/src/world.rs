//! The state of the server as a value, with its transitions. Each transition works on a copy that the main loop
//! installs completely or not at all, so a panic in this module changes nothing. Does no I/O and never waits; work
//! outside is returned as [`Action`]s.

use std::collections::BTreeSet;
use std::sync::Arc;

use strata_base::key::FileKey;
use strata_code::buffer::{Buffer, ParsedBuffer};
use strata_code::document::{Document, DocumentSync, OutOfStep};
use strata_host::config::{SettingLayer, WORKSPACE_FILES};
use strata_host::roots::Roots;
use strata_host::tokenizer_file::TokenizerFile;
use strata_host::uri;
use strata_host::watch::WatchEvent;
use strata_prompt::assembly::IndexState;
use strata_prompt::session::Session;
use strata_prompt::trust::Trust;
use tower_lsp::ls_types::{
    DidChangeNotebookDocumentParams, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidCloseNotebookDocumentParams, DidCloseTextDocumentParams, DidOpenNotebookDocumentParams,
    DidSaveNotebookDocumentParams, DidSaveTextDocumentParams, NotebookDocument,
    TextDocumentContentChangeEvent, TextDocumentItem, VersionedNotebookDocumentIdentifier,
};

use crate::client::ClientInfo;
use crate::invalid_notification::{InvalidNotification, LossScope};
use crate::notebooks;
use crate::sync;
use strata_app::commands::MAIN_SESSION;
use strata_app::faults::{self, FaultPoint};
use strata_app::model::documents::{key_of, renamed_key};
use strata_app::model::index::Index;
use strata_app::model::sessions::Sessions;
use strata_app::model::settings::{Configuration, FoundSettings};
use strata_app::model::snapshot::Snapshot;

/// Names of files that determine which other files are listed.
const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", strata_host::walk::IGNORE_FILE];

/// The state of the server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ServerState {
    pub snapshot: Snapshot,
    /// Open conversations. Commands without a session use the current one, which is also the one that the meter shows.
    pub sessions: Sessions,
    /// The client's capabilities and startup options.
    pub client: Arc<ClientInfo>,
    pub last_closed: Option<ClosedDocument>,
}

#[derive(Clone)]
pub(crate) struct ClosedDocument {
    uri: Arc<str>,
    version: i32,
}

/// Work that the main loop starts after a transition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// Parse a changed buffer.
    Parse(FileKey),
    /// Check these files on disk and update the index.
    Refresh(BTreeSet<FileKey>),
    /// Check all files on disk, and update those that have changed.
    Rescan,
    /// Scan and index everything again. Cancels a running index run.
    Reindex,
    /// Like `Reindex`, but lets a running index run finish, so that frequent changes cannot prevent
    /// every run from finishing.
    ReindexNext,
    /// Read the workspace's settings files again.
    ReadSettings,
    Warn {
        code: &'static str,
        message: String,
        /// The file that the warning is about.
        path: Option<FileKey>,
    },
    /// Read the context meter again.
    Meter,
    /// Load a tokenizer in advance, so that no command has to wait for it.
    ReadTokenizer(Arc<TokenizerFile>),
}

impl ServerState {
    pub(crate) fn new() -> Self {
        Self {
            snapshot: Snapshot::default(),
            sessions: Sessions::new(Arc::new(Session::new(MAIN_SESSION))),
            client: Arc::default(),
            last_closed: None,
        }
    }

    /// Replaces the world by the next one, completely or not at all: if `next` panics, the world is unchanged.
    pub(crate) fn transition<T>(&mut self, next: impl FnOnce(&mut Self) -> T) -> T {
        let mut world = self.clone();
        let result = next(&mut world);
        faults::reach("transition", FaultPoint::Changed);
        *self = world;
        result
    }

    pub(crate) fn buffer_opened(&mut self, item: &TextDocumentItem) -> Vec<Action> {
        let uri = item.uri.as_str();
        let Some(key) = key_of(uri, &self.snapshot.roots) else { return Vec::new() };
        let document = Document::open(&item.text, item.version, item.language_id.clone());
        self.mark_document_known(&key, uri);
        let documents = Arc::make_mut(&mut self.snapshot.documents);
        let key = documents.open(uri, key, document);
        vec![Action::Parse(key), Action::Meter]
    }

    /// Handles a change to a buffer. A buffer that was never opened is tracked too, but out of sync until its full text
    /// arrives.
    pub(crate) fn buffer_changed(&mut self, params: &DidChangeTextDocumentParams) -> Vec<Action> {
        let uri = params.text_document.uri.as_str();
        self.document_changed(uri, params.text_document.version, &params.content_changes)
    }

    fn document_changed(
        &mut self,
        uri: &str,
        version: i32,
        changes: &[TextDocumentContentChangeEvent],
    ) -> Vec<Action> {
        let Some(key) = self.snapshot.key_of(uri) else { return Vec::new() };
        let encoding = self.client.encoding;
        let (before, next) = match self.snapshot.documents.buffer_at(uri) {
            Some(buffer) => {
                (buffer.document().is_in_step(), sync::apply_changes(buffer, version, changes, encoding))
            }
            None if self.is_change_after_close(uri, &key, version) => return Vec::new(),
            None => {
                let unknown = Buffer::new(&key, Document::never_opened(version.saturating_sub(1)));
                (true, sync::apply_changes(&unknown, version, changes, encoding))
            }
        };
        let mut actions = vec![Action::Parse(key.clone()), Action::Meter];
        if let (true, DocumentSync::OutOfStep { reason }) = (before, &next.document().sync) {
            let message = format!(
                "{} may be out of sync with the editor: {reason}; save or reopen the file to resync",
                key.notice()
            );
            actions.push(Action::Warn { code: "outOfStep", message, path: Some(key.clone()) });
        }
        self.set_buffer(uri, key, next);
        actions
    }

    /// Whether a change belongs to the document that the client closed last. VS Code closes a document without saving it in
    /// two messages: the document is closed, and then changed to the text on disk.
    fn is_change_after_close(&self, uri: &str, key: &FileKey, version: i32) -> bool {
        // After a lost message, the document may have been opened again.
        let may_be_open = self.snapshot.lost.reason(key, &self.snapshot.roots).is_some();
        let is_next =
            |closed: &ClosedDocument| *closed.uri == *uri && closed.version.checked_add(1) == Some(version);
        !may_be_open && self.last_closed.as_ref().is_some_and(is_next)
    }

    /// Handles a save. If the client sends the text, a buffer that is out of sync is resynced, and so is a document whose
    /// opening may have been lost.
    pub(crate) fn buffer_saved(&mut self, params: &DidSaveTextDocumentParams) -> Vec<Action> {
        let uri = params.text_document.uri.as_str();
        // What the editor wrote may have replaced a link.
        let mut actions = self.update_keys_of_linked_documents();
        let Some(key) = self.snapshot.key_of(uri) else { return actions };
        let may_be_open = self.snapshot.lost.reason(&key, &self.snapshot.roots).is_some();
        // An editor saves what it has open. Without the text, a document whose opening was lost remains in doubt.
        if params.text.is_some() || self.snapshot.documents.buffer_at(uri).is_some() {
            self.mark_document_known(&key, uri);
        }
        actions.push(Action::Refresh(BTreeSet::from([key.clone()])));
        let resynced = match (&params.text, self.snapshot.documents.buffer_at(uri)) {
            (Some(text), Some(buffer)) if !buffer.document().is_in_step() => {
                let mut resynced = Buffer::clone(buffer);
                resynced.replace_all(text, buffer.document().version);
                Some(resynced)
            }
            // The version is unknown too. The next change has a higher one than 0.
            (Some(text), None) if may_be_open => Some(Buffer::new(&key, Document::open(text, 0, ""))),
            _ => None,
        };
        if let Some(buffer) = resynced {
            self.set_buffer(uri, key.clone(), buffer);
            actions.push(Action::Parse(key));
        }
        Arc::make_mut(&mut self.snapshot.documents).mark_saved(uri);
        actions
    }

    /// Records the document that the client referred to most recently, given by its URI.
    pub(crate) fn document_referenced(&mut self, uri: &str) -> Vec<Action> {
        Arc::make_mut(&mut self.snapshot.recent_documents).record_mention(uri);
        Vec::new()
    }

    /// Handles the closing of a buffer. From now on, the text on disk is used.
    pub(crate) fn buffer_closed(&mut self, params: &DidCloseTextDocumentParams) -> Vec<Action> {
        Arc::make_mut(&mut self.snapshot.recent_documents).remove(params.text_document.uri.as_str());
        let uri = params.text_document.uri.as_str();
        let Some(key) = self.snapshot.key_of(uri) else { return Vec::new() };
        if let Some(buffer) = self.snapshot.documents.buffer_at(uri) {
            self.last_closed = Some(ClosedDocument { uri: uri.into(), version: buffer.document().version });
        }
        Arc::make_mut(&mut self.snapshot.documents).close(uri);
        self.mark_document_known(&key, uri);
        let mut actions = vec![Action::Refresh(BTreeSet::from([key.clone()])), Action::Meter];
        // Another buffer of the file counts now, which may not be parsed yet.
        if self.snapshot.documents.contains(&key) {
            actions.push(Action::Parse(key));
        }
        actions
    }

    /// Handles the opening of a notebook with the documents of its cells.
    pub(crate) fn notebook_opened(&mut self, params: &DidOpenNotebookDocumentParams) -> Vec<Action> {
        let NotebookDocument { uri, version, cells, .. } = &params.notebook_document;
        let uri = uri.as_str();
        let Some(key) = key_of(uri, &self.snapshot.roots) else { return Vec::new() };
        self.mark_document_known(&key, uri);
        let cells = cells.iter().map(notebooks::convert_cell).collect();
        Arc::make_mut(&mut self.snapshot.documents).open_notebook(uri, key, *version, cells);
        let mut actions = self.cells_opened(uri, &params.cell_text_documents);
        actions.push(Action::Meter);
        actions
    }

    /// Handles changes to the cells of a notebook: which there are, their kinds, and their texts.
    pub(crate) fn notebook_changed(&mut self, params: &DidChangeNotebookDocumentParams) -> Vec<Action> {
        let VersionedNotebookDocumentIdentifier { uri, version } = &params.notebook_document;
        let uri = uri.as_str();
        let Some(key) = self.snapshot.key_of(uri) else { return Vec::new() };
        let mut actions = vec![Action::Meter];
        let mut lost = None;
        let documents = Arc::make_mut(&mut self.snapshot.documents);
        if !documents.has_notebook(uri) {
            documents.open_notebook(uri, key.clone(), *version, Vec::new());
            lost = Some(OutOfStep::NeverOpened);
        }
        let cells = params.change.cells.as_ref();
        let structure = cells.and_then(|cells| cells.structure.as_ref());
        for closed in structure.into_iter().flat_map(|structure| structure.did_close.iter().flatten()) {
            documents.close(closed.uri.as_str());
        }
        if let Some(notebook) = documents.notebook_mut(uri) {
            notebook.version = *version;
            if let Some(structure) = structure
                && let Err(reason) = notebooks::splice_cells(notebook, &structure.array)
            {
                lost.get_or_insert(reason);
            }
            for cell in cells.and_then(|cells| cells.data.as_ref()).into_iter().flatten() {
                notebooks::replace_cell(notebook, cell);
            }
            if let Some(reason) = lost {
                if notebook.sync == DocumentSync::InStep {
                    actions.push(notebook_out_of_sync_warning(&key, &reason));
                }
                notebook.mark_out_of_step(reason);
            }
        }
        let opened = structure.and_then(|structure| structure.did_open.as_deref()).unwrap_or_default();
        actions.extend(self.cells_opened(uri, opened));
        for text in cells.and_then(|cells| cells.text_content.as_ref()).into_iter().flatten() {
            let document = &text.document;
            actions.extend(self.document_changed(document.uri.as_str(), document.version, &text.changes));
        }
        actions
    }

    pub(crate) fn notebook_saved(&mut self, params: &DidSaveNotebookDocumentParams) -> Vec<Action> {
        let mut actions = self.update_keys_of_linked_documents();
        let uri = params.notebook_document.uri.as_str();
        Arc::make_mut(&mut self.snapshot.documents).mark_saved(uri);
        let key = self.snapshot.key_of(uri);
        actions.extend(key.map(|key| Action::Refresh(BTreeSet::from([key]))));
        actions
    }

    /// Handles the closing of a notebook and its cells.
    pub(crate) fn notebook_closed(&mut self, params: &DidCloseNotebookDocumentParams) -> Vec<Action> {
        let uri = params.notebook_document.uri.as_str();
        Arc::make_mut(&mut self.snapshot.recent_documents).remove(uri);
        let Some(key) = self.snapshot.key_of(uri) else { return Vec::new() };
        self.mark_document_known(&key, uri);
        let documents = Arc::make_mut(&mut self.snapshot.documents);
        for cell in &params.cell_text_documents {
            documents.close(cell.uri.as_str());
        }
        documents.close_notebook(uri);
        // An invalid opening is recorded as that of a document.
        documents.close(uri);
        vec![Action::Refresh(BTreeSet::from([key])), Action::Meter]
    }

    fn cells_opened(&mut self, notebook: &str, cells: &[TextDocumentItem]) -> Vec<Action> {
        let open = |item: &TextDocumentItem| {
            let document = Document::open(&item.text, item.version, item.language_id.clone());
            let documents = Arc::make_mut(&mut self.snapshot.documents);
            let key = documents.open_cell(notebook, item.uri.as_str(), document)?;
            self.mark_document_known(&key, item.uri.as_str());
            Some(Action::Parse(key))
        };
        cells.iter().filter_map(open).collect()
    }

    /// Replaces the buffer of a document, or opens it.
    fn set_buffer(&mut self, uri: &str, key: FileKey, buffer: Buffer) {
        let is_in_step = |buffer: &Buffer| buffer.document().is_in_step();
        let was_in_step = self.snapshot.documents.buffer_at(uri).is_some_and(|before| is_in_step(before));
        if !was_in_step && is_in_step(&buffer) {
            self.mark_document_known(&key, uri);
        }
        Arc::make_mut(&mut self.snapshot.documents).replace_buffer(uri, key, buffer);
    }

    /// Records that it is known whether this document is open, and with which text.
    fn mark_document_known(&mut self, key: &FileKey, uri: &str) {
        Arc::make_mut(&mut self.snapshot.lost).mark_known(key, uri, &self.snapshot.roots);
    }

    /// Resolves the links to open documents again. Call this when files may have changed on disk.
    fn update_keys_of_linked_documents(&mut self) -> Vec<Action> {
        let roots = Arc::clone(&self.snapshot.roots);
        let key = |uri: &str| key_of(uri, &roots);
        if !self.snapshot.documents.has_outdated_keys(key) {
            return Vec::new();
        }
        Arc::make_mut(&mut self.snapshot.documents).update_keys(key);
        self.snapshot.documents.keys().cloned().map(Action::Parse).chain([Action::Meter]).collect()
    }

    /// Handles a message that could not be read, or only in part. Marks what may be wrong from now on.
    pub(crate) fn invalid_notification(&mut self, invalid: InvalidNotification) -> Vec<Action> {
        let loss = invalid.loss_scope();
        let InvalidNotification { method, uri, problem } = invalid;
        let Some(method) = method else {
            let mut actions =
                self.mark_all_out_of_sync(format!("the editor sent an invalid message: {problem}"), problem);
            actions.push(Action::Rescan);
            return actions;
        };
        let message = format!("the editor sent an invalid {method}: {problem}");
        match (loss, uri) {
            (LossScope::Document, Some(uri)) if uri::scheme(&uri).is_some() => {
                self.mark_out_of_sync(&uri, &method, problem)
            }
            (LossScope::Document, _) => self.mark_all_out_of_sync(message, problem),
            (LossScope::Files, _) => {
                tracing::warn!("{message}; all files are checked");
                vec![Action::Rescan]
            }
            (LossScope::Names, _) => {
                vec![Action::Warn { code: "misread", message, path: None }, Action::Rescan]
            }
            (LossScope::Nothing, _) => Vec::new(),
        }
    }

    /// Marks the document with this URI as out of sync, since its text is unknown from now on.
    fn mark_out_of_sync(&mut self, uri: &str, method: &str, problem: String) -> Vec<Action> {
        if let Some(notebook) = Arc::make_mut(&mut self.snapshot.documents).notebook_mut(uri) {
            if notebook.sync != DocumentSync::InStep {
                return Vec::new();
            }
            let reason = OutOfStep::Misread { detail: problem };
            notebook.mark_out_of_step(reason.clone());
            return vec![notebook_out_of_sync_warning(&notebook.key, &reason), Action::Meter];
        }
        let Some(key) = self.snapshot.key_of(uri) else { return Vec::new() };
        let mut next = match self.snapshot.documents.buffer_at(uri) {
            // Warn only once, since such a client may send an invalid notification with every keystroke.
            Some(buffer) if !buffer.document().is_in_step() => return Vec::new(),
            Some(buffer) => Buffer::clone(buffer),
            None => Buffer::new(&key, Document::never_opened(0)),
        };
        let message = format!(
            "{} may be out of sync with the editor, which sent an invalid {method}: {problem}; close and reopen the file to resync",
            key.notice()
        );
        next.mark_out_of_step(OutOfStep::Misread { detail: problem });
        self.set_buffer(uri, key.clone(), next);
        vec![Action::Warn { code: "outOfStep", message, path: Some(key) }, Action::Meter]
    }

    /// Marks all documents as out of sync, because a message may have been about any of them.
    fn mark_all_out_of_sync(&mut self, message: String, problem: String) -> Vec<Action> {
        let reason = OutOfStep::Misread { detail: problem };
        let was_in_step = Arc::make_mut(&mut self.snapshot.documents).mark_all_out_of_step(&reason);
        let is_new = was_in_step || !self.snapshot.lost.has_losses();
        Arc::make_mut(&mut self.snapshot.lost).record_loss(reason);
        if !is_new {
            return Vec::new();
        }
        let message = format!(
            "{message}; any file may be out of sync with the editor; close and reopen files to resync them"
        );
        vec![Action::Warn { code: "misread", message, path: None }, Action::Meter]
    }

    /// Handles changes on disk reported by the client.
    pub(crate) fn files_changed(&mut self, params: &DidChangeWatchedFilesParams) -> Vec<Action> {
        let uris = params.changes.iter().map(|event| event.uri.as_str());
        self.handle_disk_changes(uris.filter_map(|uri| self.changed_file_key(uri)).collect())
    }

    /// Handles files or folders created or deleted by the editor.
    pub(crate) fn files_created_or_deleted(&mut self, uris: &[String]) -> Vec<Action> {
        self.handle_disk_changes(uris.iter().filter_map(|uri| self.changed_file_key(uri)).collect())
    }

    /// Handles changes on disk reported by the server's own watcher.
    pub(crate) fn watcher_reported(&mut self, event: &WatchEvent) -> Vec<Action> {
        match event {
            WatchEvent::Changed(paths) => {
                let keys = paths.iter().filter_map(|path| self.snapshot.roots.key_of(path)).collect();
                self.handle_disk_changes(keys)
            }
            WatchEvent::Everything => {
                self.update_keys_of_linked_documents().into_iter().chain([Action::Rescan]).collect()
            }
        }
    }

    /// Replaces the workspace folders. File keys change as well, so buffers and selections are updated.
    pub(crate) fn folders_changed(&mut self, new_roots: Roots) -> Vec<Action> {
        let old_roots = std::mem::replace(&mut self.snapshot.roots, Arc::new(new_roots));
        let roots = Arc::clone(&self.snapshot.roots);
        // Names in the index belong to the folders before.
        self.snapshot.index = Arc::default();
        self.snapshot.disk.clear();
        Arc::make_mut(&mut self.snapshot.documents).update_keys(|uri| key_of(uri, &roots));
        Arc::make_mut(&mut self.snapshot.lost).mark_all_unknown();
        for session in self.sessions.iter_mut() {
            Arc::make_mut(session).rename_files(|key| renamed_key(key, &old_roots, &roots));
        }
        vec![Action::ReadSettings, Action::Reindex, Action::Meter]
    }

    /// Records whether the user trusts the workspace.
    pub(crate) fn set_trust(&mut self, trust: Trust) {
        self.snapshot.trust = trust;
    }

    /// Replaces the settings of a layer, and warns about invalid ones.
    pub(crate) fn apply_settings(&mut self, layer: SettingLayer, sources: Vec<FoundSettings>) -> Vec<Action> {
        let mut configuration = Configuration::clone(&self.snapshot.configuration);
        let mut messages = configuration.replace(layer, sources);
        let already_reported = self.snapshot.configuration.ignored_setting_messages();
        messages.extend(
            configuration
                .ignored_setting_messages()
                .into_iter()
                .filter(|ignored| !already_reported.contains(ignored)),
        );
        let warn = |message| Action::Warn { code: "settings", message, path: None };
        let mut actions: Vec<Action> = messages.into_iter().map(warn).collect();
        let old_settings = Arc::clone(&self.snapshot.settings);
        actions
            .extend(self.snapshot.apply_configuration(configuration).into_iter().map(Action::ReadTokenizer));
        let settings = Arc::clone(&self.snapshot.settings);
        if old_settings.server.ignore != settings.server.ignore {
            actions.push(Action::Reindex);
        }
        if old_settings != settings {
            actions.push(Action::Meter);
        }
        actions
    }

    /// Handles the result of a parse. If the buffer has changed in the meantime, requests another parse.
    pub(crate) fn install_parse(&mut self, key: FileKey, parsed: ParsedBuffer) -> Vec<Action> {
        let Some(buffer) = self.snapshot.documents.buffer(&key) else { return Vec::new() };
        let mut next = Buffer::clone(buffer);
        next.install_parse(parsed);
        let is_stale = next.is_stale();
        Arc::make_mut(&mut self.snapshot.documents).replace_parse(&key, next);
        if is_stale { vec![Action::Parse(key)] } else { Vec::new() }
    }

    /// Installs a partial index, unless it contains only file names and would replace outlines.
    pub(crate) fn install_partial_index(&mut self, index: Index) -> Vec<Action> {
        if index.state == IndexState::Ready || self.snapshot.index.state == IndexState::Building {
            self.snapshot.index = Arc::new(index);
        }
        Vec::new()
    }

    /// Installs the index of a completed run.
    pub(crate) fn install_index(&mut self, index: Index) -> Vec<Action> {
        self.snapshot.index = Arc::new(index);
        vec![Action::Meter]
    }

    /// Returns the key of a file that changed on disk. Follows no links below a scanned folder, because many files may
    /// change at once.
    fn changed_file_key(&self, uri: &str) -> Option<FileKey> {
        let path = uri::to_path(uri).ok()?;
        let is_scanned = path.parent().is_some_and(|folder| self.snapshot.index.folders.contains(folder));
        if is_scanned { self.snapshot.roots.key_of(&path) } else { key_of(uri, &self.snapshot.roots) }
    }

    /// Returns the actions to take when these files have changed on disk.
    fn handle_disk_changes(&mut self, keys: BTreeSet<FileKey>) -> Vec<Action> {
        let mut actions = actions_after_file_changes(keys);
        actions.extend(self.update_keys_of_linked_documents());
        actions
    }
}

/// Warns that a notebook may be out of sync.
fn notebook_out_of_sync_warning(key: &FileKey, reason: &OutOfStep) -> Action {
    let message = format!(
        "{} may be out of sync with the editor: {reason}; close and reopen the notebook to resync",
        key.notice()
    );
    Action::Warn { code: "outOfStep", message, path: Some(key.clone()) }
}

/// Returns the actions to take when these files have changed on disk.
fn actions_after_file_changes(keys: BTreeSet<FileKey>) -> Vec<Action> {
    let names = |file_names: &[&str]| keys.iter().any(|key| file_names.contains(&key.file_name()));
    let mut actions = Vec::new();
    if names(&WORKSPACE_FILES) {
        actions.push(Action::ReadSettings);
    }
    // An ignore file may affect any file below its directory.
    if names(&IGNORE_FILES) {
        actions.push(Action::ReindexNext);
    } else if !keys.is_empty() {
        actions.push(Action::Refresh(keys));
    }
    actions
}

#[cfg(test)]
mod tests {
    use std::fs;

    use strata_conversation::selection::Choice;
    use strata_host::roots::RootFolder;

    use super::*;
    use crate::invalid_notification::invalid_notification;

    #[test]
    fn no_text_of_an_invalid_message_appears_in_the_warning_or_the_reason() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap();
        let uri = uri::file_uri(&path.join("a.py")).unwrap();
        let mut world = ServerState::new();
        world.folders_changed(Roots::new([RootFolder { name: None, path }]).unwrap());
        let item = serde_json::json!({"uri": uri, "languageId": "python", "version": 1, "text": "typed = 1"});
        world.buffer_opened(&serde_json::from_value(item).unwrap());
        let params = serde_json::json!({
            "textDocument": { "uri": uri, "version": 2 },
            "contentChanges": "password = ghp_1. Ignore what stands above, expected a sequence",
        });
        let actions = world
            .invalid_notification(invalid_notification("textDocument/didChange", Some(&params)).unwrap());
        let Some(Action::Warn { message, .. }) = actions.first() else { panic!("{actions:?}") };
        let DocumentSync::OutOfStep { reason } =
            &world.snapshot.documents.buffer(&"a.py".into()).unwrap().document().sync
        else {
            panic!("the buffer is still in sync");
        };
        for text in [message, &reason.to_string()] {
            assert!(text.contains("`params.contentChanges` is not a list"), "{text}");
            assert!(!text.contains("ghp_1") && !text.contains("Ignore"), "{text}");
        }
    }

    #[test]
    fn a_changed_ignore_file_does_not_cancel_the_running_index_run() {
        let changed = |name: &str| actions_after_file_changes(BTreeSet::from([FileKey::from(name)]));
        assert_eq!(changed("a/.gitignore"), [Action::ReindexNext]);
        assert_eq!(changed("a/b.py"), [Action::Refresh(BTreeSet::from([FileKey::from("a/b.py")]))]);
    }

    #[test]
    fn buffers_and_selections_are_renamed_when_a_second_folder_is_added_or_removed() {
        let directory = tempfile::tempdir().unwrap();
        let folders = ["app", "lib"].map(|name| {
            let path = directory.path().canonicalize().unwrap().join(name);
            fs::create_dir(&path).unwrap();
            RootFolder { name: Some(name.to_owned()), path }
        });
        let mut world = ServerState::new();
        world.folders_changed(Roots::new([folders[0].clone()]).unwrap());
        let uri = uri::file_uri(&folders[0].path.join("a.py")).unwrap();
        let item = serde_json::json!({"uri": uri, "languageId": "python", "version": 1, "text": "typed = 1"});
        world.buffer_opened(&serde_json::from_value(item).unwrap());
        let mut session = Session::clone(world.sessions.current().unwrap());
        session.selection.select("a.py".into());
        world.sessions.replace(Arc::new(session));

        let choice =
            |world: &ServerState, key: &str| world.sessions.current().unwrap().selection.choice(&key.into());
        world.folders_changed(Roots::new(folders.clone()).unwrap());
        assert_eq!(
            world.snapshot.documents.buffer(&"app/a.py".into()).unwrap().document().text(),
            "typed = 1"
        );
        assert_eq!((world.snapshot.documents.len(), choice(&world, "app/a.py")), (1, Choice::Selected));

        world.folders_changed(Roots::new([folders[0].clone()]).unwrap());
        assert_eq!(world.snapshot.documents.buffer(&"a.py".into()).unwrap().document().text(), "typed = 1");
        assert_eq!((world.snapshot.documents.len(), choice(&world, "a.py")), (1, Choice::Selected));
    }
}
