//! Everything that reaches the main loop, from the editor and from background work, in order. Data only.

use std::path::PathBuf;

use serde_json::Value;
use strata_engine::cancel::Cancel;
use strata_engine::code::buffer::ParsedBuffer;
use strata_engine::conversation::compaction::Draft;
use strata_engine::conversation::tool_result_archival::Archival;
use strata_engine::key::FileKey;
use strata_host::watch::WatchEvent;
use tokio::sync::oneshot;
use tower_lsp::ls_types::{
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidSaveTextDocumentParams, InitializeParams, InitializeResult,
    NumberOrString, TextDocumentItem,
};

use crate::invalid_notification::InvalidNotification;
use crate::navigation::Question;
use crate::reply_rendering::UserMessage;
use strata_app::commands::CommandError;
use strata_app::executor::Outcome;
use strata_app::index::Index;
use strata_app::meter::Status;
use strata_app::settings::FoundSettings;
use strata_app::token_count_client::CountedPrompt;

/// Where the answer to a request goes. Dropped unanswered when a transition failed, which the waiting side
/// reports as an internal error.
pub(crate) type Answer<T> = oneshot::Sender<T>;

/// A command that waits for its turn in its session.
#[derive(Debug)]
pub(crate) struct Call {
    /// Its name, such as `strata.files.select`.
    pub name: String,
    /// Its arguments as received.
    pub arguments: Vec<Value>,
    /// Raised when no one waits for the answer any more.
    pub cancel: Cancel,
    /// The token under which the client wants to be shown its progress.
    pub token: Option<NumberOrString>,
    pub answer: Answer<Result<Value, CommandError>>,
}

/// A task that came back from the pool.
#[derive(Debug)]
pub(crate) struct FinishedTask {
    /// `World::folders_version` when it started.
    pub folders_version: u64,
    pub outcome: Outcome,
    pub waits: Waiter,
}

/// Who waits for the outcome of a task.
#[derive(Debug)]
pub(crate) enum Waiter {
    /// The command's sender, its cancellation flag, and the token of its progress.
    Caller(Answer<Result<Value, CommandError>>, Cancel, Option<NumberOrString>),
    /// The compaction of this number.
    Compaction(u64),
    Nobody,
}

/// How an index run ended.
#[derive(Debug)]
pub(crate) enum IndexEnd {
    FinishedTask(Box<Index>),
    /// No one wanted a result any more, or nothing had changed.
    Stopped,
    Failed,
}

/// Something that the main loop handles.
#[derive(Debug)]
pub(crate) enum Event {
    Initialize(Box<InitializeParams>, Answer<InitializeResult>),
    Initialized,
    Opened(TextDocumentItem),
    Changed(DidChangeTextDocumentParams),
    Saved(DidSaveTextDocumentParams),
    Closed(DidCloseTextDocumentParams),
    /// Something was said of a buffer that cannot be read.
    InvalidNotification(InvalidNotification),
    /// Another document than before was named in any message: its URI.
    Named(String),
    /// Files changed on disk, as far as the client knows.
    FilesChanged(DidChangeWatchedFilesParams),
    /// Files were created or deleted by the editor: their URIs.
    FilesCameOrWent(Vec<String>),
    /// Files or folders were renamed by the editor: their URIs before and after.
    FilesRenamed(Vec<(String, String)>),
    /// The client will not watch files.
    ClientDoesNotWatch,
    /// Our own watcher saw something.
    Seen(WatchEvent),
    /// Our own watcher watches the folders of the index, of which these are new; or the reason that it does not.
    Watched(Result<Vec<PathBuf>, String>),
    /// Workspace folders came or went.
    FoldersChanged(DidChangeWorkspaceFoldersParams),
    /// The client's settings changed; they are sent along by clients that cannot be asked.
    SettingsChanged(Value),
    /// The client's settings, as it answered the question of this number.
    Settings(u64, Value),
    /// The settings files of the workspace were looked at for the time of this number.
    WorkspaceSettings(u64, Vec<FoundSettings>),
    /// The user stopped something that shows its progress.
    ProgressCancelled(NumberOrString),
    /// A question about names and symbols. Its flag is raised when no one waits for the answer any more.
    Asked(Question, Cancel, Answer<Value>),
    Command(Call),
    /// The user is to see the outcome of a command.
    Show(UserMessage),
    /// A command of this session is done.
    CommandDone(String, Box<FinishedTask>),
    /// The draft of a compaction of this session is made, or there is none.
    Drafted(String, u64, Result<Box<Draft>, String>),
    /// The question of this number was answered, or failed.
    Sent(u64, Result<Value, CommandError>),
    /// A model has summarized tool results of this session, or failed to.
    Aged(String, Option<Box<Archival>>),
    /// The client has counted the next request of this session, or has not.
    Measured(String, Option<CountedPrompt>),
    /// A buffer was parsed; `None` when it was cancelled.
    Parsed(FileKey, Option<ParsedBuffer>),
    /// Progress of the index run with this number.
    IndexSoFar(u64, Index),
    /// The index run of this number ended.
    Indexed(u64, IndexEnd),
    /// The context meter was read; `None` when the size of the context is unknown.
    Metered(Option<Status>),
    /// No more event will come.
    Goodbye,
}
