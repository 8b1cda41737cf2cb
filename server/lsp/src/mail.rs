//! What reaches the main loop: everything an editor says and everything that finished in the background,
//! in the order it happened. Carries data only.

use serde_json::Value;
use strata_engine::buffer::Parsed;
use strata_engine::cancel::Cancel;
use strata_engine::key::FileKey;
use strata_engine::session::Session;
use tokio::sync::oneshot;
use tower_lsp::ls_types::{
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidSaveTextDocumentParams, InitializeParams, InitializeResult,
    NumberOrString, TextDocumentItem,
};

use crate::commands::{CommandError, Effect};
use crate::index::Index;
use crate::misread::Misread;

/// Where the answer to a request goes. Dropped unanswered when a transition failed, which the waiting side
/// reports as an internal error.
pub type Answer<T> = oneshot::Sender<T>;

/// A command that waits for its turn in its session.
#[derive(Debug)]
pub struct Call {
    /// Its name, such as `strata.files.select`.
    pub name: String,
    /// Its arguments as they came.
    pub arguments: Vec<Value>,
    /// Raised when nobody waits for the answer any more.
    pub cancel: Cancel,
    /// Where the answer goes.
    pub answer: Answer<Result<Value, CommandError>>,
}

/// A command that came back from the pool.
#[derive(Debug)]
pub struct Done {
    /// `World::folders_version` when it started.
    pub folders_version: u64,
    /// The session as the command left it; `None` when it changed nothing.
    pub session: Option<Session>,
    /// What else it wants done.
    pub effects: Vec<Effect>,
    /// The answer.
    pub result: Result<Value, CommandError>,
    /// Where it goes.
    pub answer: Answer<Result<Value, CommandError>>,
}

/// One piece of mail.
#[derive(Debug)]
pub enum Mail {
    /// The first request.
    Initialize(Box<InitializeParams>, Answer<Result<InitializeResult, String>>),
    /// The client is ready.
    Initialized,
    /// A buffer was opened.
    Opened(TextDocumentItem),
    /// A buffer was changed.
    Changed(DidChangeTextDocumentParams),
    /// A buffer was saved.
    Saved(DidSaveTextDocumentParams),
    /// A buffer was closed.
    Closed(DidCloseTextDocumentParams),
    /// Something was said of a buffer that cannot be read.
    Misread(Misread),
    /// Files changed on disk, as far as the client knows.
    FilesChanged(DidChangeWatchedFilesParams),
    /// Workspace folders came or went.
    FoldersChanged(DidChangeWorkspaceFoldersParams),
    /// The client's settings changed; they are sent along by clients that cannot be asked.
    SettingsChanged(Value),
    /// The client's settings, as it answered.
    Settings(Value),
    /// The person stopped something that shows its progress.
    ProgressCancelled(NumberOrString),
    /// A command.
    Command(Call),
    /// A command of this session is done.
    CommandDone(String, Box<Done>),
    /// A buffer was parsed; `None` when it was cancelled.
    Parsed(FileKey, Option<Parsed>),
    /// The index run of this number ended; `None` when it was cancelled.
    Indexed(u64, Option<Index>),
    /// The context meter was read.
    Metered(Value),
    /// No more mail will come.
    Goodbye,
}
