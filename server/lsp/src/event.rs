//! Events of the main loop, in order of arrival: the editor's messages and the results of background work. Contains
//! only data.

use std::path::PathBuf;
use std::sync::mpsc;

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::buffer::ParsedBuffer;
use strata_host::watch::WatchEvent;
use tokio::sync::oneshot;
use tower_lsp::ls_types::{
    DidChangeNotebookDocumentParams, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseNotebookDocumentParams, DidCloseTextDocumentParams,
    DidOpenNotebookDocumentParams, DidSaveNotebookDocumentParams, DidSaveTextDocumentParams,
    InitializeParams, InitializeResult, TextDocumentItem,
};

use crate::invalid_notification::InvalidNotification;
use crate::navigation::LspRequest;
use crate::reply_rendering::UserMessage;
use strata_app::model::index::Index;
use strata_app::model::live_view::ServedView;
use strata_app::model::meter::ContextStatus;
use strata_app::model::settings::FoundSettings;
use strata_app::runtime::session_runtime::{CommandCall, ProgressToken, SessionEvent};

/// Sends the answer to a request. If it is dropped without an answer, because the handler panicked, the client gets an
/// internal error.
pub(crate) type Responder<T> = oneshot::Sender<T>;

/// How an index run ended.
#[derive(Debug)]
pub(crate) enum IndexEnd {
    Done(Box<Index>),
    /// The result was no longer needed, or nothing had changed.
    Stopped,
    Failed,
}

#[derive(Debug)]
pub(crate) enum Event {
    Initialize(Box<InitializeParams>, Responder<InitializeResult>),
    /// A warning about the parameters of `initialize`, with its code, to show once the client is initialized.
    StartupWarning(&'static str, String),
    Initialized,
    Opened(TextDocumentItem),
    Changed(DidChangeTextDocumentParams),
    Saved(DidSaveTextDocumentParams),
    Closed(DidCloseTextDocumentParams),
    NotebookOpened(DidOpenNotebookDocumentParams),
    NotebookChanged(DidChangeNotebookDocumentParams),
    NotebookSaved(DidSaveNotebookDocumentParams),
    NotebookClosed(DidCloseNotebookDocumentParams),
    /// The client sent an invalid notification about a buffer.
    InvalidNotification(InvalidNotification),
    /// A message referred to a different document than the previous one. Contains the URI of the new document.
    DocumentReferenced(String),
    /// The client reported changed files on disk.
    FilesChanged(DidChangeWatchedFilesParams),
    /// The editor created or deleted files, given by their URIs.
    FilesCreatedOrDeleted(Vec<String>),
    /// The editor renamed files or folders, given by their old and new URIs.
    FilesRenamed(Vec<(String, String)>),
    /// The client refused to watch files, or did not answer the request in time.
    ClientCannotWatch,
    /// The server's own watcher reported changes.
    WatcherReported(WatchEvent),
    /// The server's own watcher has started to watch these additional folders, or failed for this reason.
    WatchingStarted(Result<Vec<PathBuf>, String>),
    /// Workspace folders were added or removed.
    FoldersChanged(DidChangeWorkspaceFoldersParams),
    /// The client's settings changed. Clients that do not support `workspace/configuration` send the new settings.
    SettingsChanged(Value),
    /// The client's answer to the settings request with this number.
    Settings(u64, Value),
    /// The result of reading the workspace's settings files, with the number of the read.
    WorkspaceSettings(u64, Vec<FoundSettings>),
    /// The user cancelled the operation with this progress token.
    ProgressCancelled(ProgressToken),
    /// A standard LSP request, such as hover. The flag is raised when the answer is no longer needed.
    LspRequest(LspRequest, Cancel, Responder<Value>),
    Command(CommandCall),
    /// The outcome of a command, as a message to show to the user.
    ShowMessage(UserMessage),
    /// Work of a session has finished.
    Session(SessionEvent),
    /// A buffer was parsed; `None` if parsing was cancelled.
    Parsed(FileKey, Option<ParsedBuffer>),
    /// A partial index from the index run with this number.
    PartialIndex(u64, Index),
    /// The index run with this number ended.
    IndexRunEnded(u64, IndexEnd),
    /// Another process of the user asks for the open documents.
    ViewRequested(mpsc::Sender<ServedView>),
    /// The context meter was read; `None` if the size of the context is unknown.
    MeterRead(Option<ContextStatus>),
    /// Ends the main loop. No further events follow.
    Shutdown,
}
