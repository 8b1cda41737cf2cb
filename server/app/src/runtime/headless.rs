//! A workspace with one session and no editor of its own, for the command line and for agents. Runs the server's
//! commands and their jobs one after another on the caller's thread. Open buffers are those of other processes.

mod attached;
mod continuation;
mod foreign_rules;
mod host;
mod loop_file;
mod setting_change;
mod working_folder;

use std::collections::VecDeque;
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use serde::Serialize;
use serde_json::{Map, Value};
use strata_conversation::compaction::{Summariser, SummarizerQuestion, SummaryPurpose};
use strata_conversation::selection::Selection;
use strata_host::config::{SettingLayer, SettingsSource, set_dotted, toml_value, workspace_sources};
use strata_host::roots::canonical;
use strata_host::roots::{PathError, Roots};
use strata_host::store::{StoreError, state_directory};
use strata_prompt::assembly::IndexState;
use strata_prompt::session::Session;

use self::foreign_rules::distrust_foreign_rules;
use self::host::{HeadlessHost, PendingWork};
use self::working_folder::{find_repository, relative_to_workspace};
use crate::clock::now_ms;
use crate::commands::MAIN_SESSION;
use crate::commands::send::{self, SendParams};
use crate::commands::{
    self, Command, CommandDefinition, CommandError, IndexNeed, Invocation, Reply, SendReply, compaction,
};
use crate::jobs::send::{Delta, SendHost, cancel_for};
use crate::jobs::tools::ToolHost;
use crate::model::freshness::{Freshness, ReadLog};
use crate::model::index::{BuildProgress, Index, OutlineProgress, OutlineUpdates, walk_options};
use crate::model::live_view::{EditorViewState, LiveView};
use crate::model::path_reference::FilePart;
use crate::model::redaction::user_secret_redactor;
use crate::model::session_store::{SessionStore, SessionStoreError};
use crate::model::sessions::Sessions;
use crate::model::settings::{self, Configuration};
use crate::model::snapshot::{Snapshot, user_outline_cache};
use crate::runtime::diagnostics::WorkspaceReport;
use crate::runtime::session_runtime::{Caller, CommandCall, ReplySender, SessionRuntime};
use crate::runtime::token_usage::{TokenUsage, count_tokens};
use crate::services::Services;
use crate::services::compaction_notice::CompactionNotice;
use crate::services::provider_client::{ProviderClient, ProviderReport};

pub use self::attached::run_for_client;
pub use self::continuation::SessionToContinue;
pub use self::loop_file::read_loop_file;
pub use self::setting_change::{SettingChangeError, SettingsFile, setting_value};
pub use crate::model::settings::setting_names;
pub use strata_base::cancel::{Cancel, CancelOnDrop, Cancelled};
pub use strata_host::config::value_to_toml;
pub use strata_host::store::SessionAccess;
pub use strata_prompt::settings::Settings;
pub use strata_prompt::trust::Trust;
pub use strata_tokens::models::CacheTtl;

/// The command that lists what has changed since a client asked, which only the client knows.
const CHANGED_FILES_COMMAND: &str = "strata.files.changed";

/// A workspace without an editor of its own, with a single folder and a single session.
pub struct HeadlessWorkspace {
    folder: PathBuf,
    snapshot: Snapshot,
    sessions: Sessions,
    services: Arc<Services>,
    runtime: SessionRuntime,
    /// Work of the running command and of its jobs.
    pending: VecDeque<PendingWork>,
    cancel: Cancel,
    /// Handles of the threads that are writing to disk.
    writing: Vec<JoinHandle<()>>,
    live: LiveView,
    view: EditorViewState,
    read_log: ReadLog,
    /// Time of the last call of [`attach_editors`](Self::attach_editors), in milliseconds since 1970.
    attached_at_ms: u64,
}

/// Where [`HeadlessWorkspace::open_session`] takes a session from.
#[derive(Clone, Copy, Debug)]
pub enum SessionSource<'a> {
    /// A new session, which is stored as soon as it has a message.
    New,
    /// A new session that is never stored. Notes and other sessions are stored as before.
    InMemory,
    /// The stored session with this id, in its current state on disk, which another process may have changed.
    Stored(&'a str, SessionAccess),
    /// Like `Stored`, with the cache state that the last process stored.
    StoredWithCache(&'a str, SessionAccess),
    /// The stored session with this id, opened for writing, or a new one with this id if there is none.
    StoredOrNew(&'a str),
}

/// Why a folder cannot be opened as the workspace.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder does not exist or is not accessible.
    #[error("cannot open `{}`: {error}", folder.display())]
    Unreachable {
        /// The folder as passed by the caller.
        folder: PathBuf,
        error: io::Error,
    },
    #[error("`{}` is not a directory", .0.display())]
    NotAFolder(PathBuf),
    /// The path cannot be used as a workspace folder.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A setting from the command line is invalid.
    #[error("{0}")]
    Options(String),
}

impl Drop for HeadlessWorkspace {
    /// Waits for unfinished writes, which would be lost when the process ends.
    fn drop(&mut self) {
        self.wait_for_writes();
    }
}

/// Returns the current directory of the process, without symbolic links.
fn current_directory() -> io::Result<PathBuf> {
    canonical(&env::current_dir()?)
}

/// Returns whether the current directory is inside `folder`, which must be a real path.
pub fn is_current_directory_in(folder: &Path) -> bool {
    current_directory().is_ok_and(|directory| directory.starts_with(folder))
}

/// Adds settings written as `NAME=VALUE` to those of a command.
fn command_line_settings(set: &[String], options: Map<String, Value>) -> Result<Value, OpenError> {
    let mut options = Value::Object(options);
    for setting in set {
        let (name, value) = setting.split_once('=').ok_or_else(|| {
            OpenError::Options(format!(
                "--set {setting}: expected NAME=VALUE, as in --set files.list_budget=0"
            ))
        })?;
        set_dotted(&mut options, name.trim(), parse_value(value.trim()));
    }
    Ok(options)
}

/// Parses a value as TOML, or otherwise takes it as plain text.
fn parse_value(text: &str) -> Value {
    toml_value(text).unwrap_or_else(|| text.into())
}

/// Whether a command only looks something up in files or their outlines, whatever the conversation.
fn can_run_on_server(command: &CommandDefinition) -> bool {
    let needs_index = matches!(command.index, IndexNeed::Files | IndexNeed::Outlines);
    let is_look_up = ["strata.files.", "strata.symbols."].iter().any(|area| command.name.starts_with(area));
    is_look_up
        && command.access == commands::Access::Reads
        && needs_index
        && command.name != CHANGED_FILES_COMMAND
}

/// Loads a stored session again, even if it is already open in this process.
fn reload_session(
    store: &SessionStore,
    id: &str,
    access: SessionAccess,
) -> Result<Arc<Session>, SessionStoreError> {
    store.release(id);
    store.load(id, access)
}

impl HeadlessWorkspace {
    /// Opens a folder, or by default the repository that contains the current directory, with the settings from the
    /// user, the environment and the folder, and with the outlines of earlier runs. `set` contains settings from the
    /// command line as `NAME=VALUE`, and `options` those of the command, which yield to them. Also returns a message for
    /// each rejected setting.
    ///
    /// Without `folder`, the workspace is not trusted if other users can change its rules, and a message says so.
    ///
    /// # Errors
    /// Returns an [`OpenError`], which is [`OpenError::Options`] for invalid settings from the command line.
    pub fn open_configured(
        folder: Option<&Path>,
        trust: Trust,
        set: &[String],
        options: Map<String, Value>,
    ) -> Result<(Self, Vec<String>), OpenError> {
        let options = command_line_settings(set, options)?;
        let current = Path::new(".");
        let is_named = folder.is_some();
        let folder = folder.map(Path::to_owned).or_else(|| find_repository(current));
        let mut headless = Self::open(folder.as_deref().unwrap_or(current), Settings::default())?;
        let mut configuration = Configuration::default();
        let [user, environment] = settings::user_settings();
        let workspace = (SettingLayer::Workspace, workspace_sources(&headless.snapshot.roots));
        let mut messages: Vec<String> = [user, workspace, environment]
            .into_iter()
            .flat_map(|(layer, sources)| configuration.replace(layer, sources))
            .collect();
        let source = SettingsSource {
            layer: SettingLayer::CommandLine,
            name: "the command line".into(),
            values: options,
        };
        if let Some(problem) = configuration.replace(SettingLayer::CommandLine, vec![Ok(source)]).pop() {
            return Err(OpenError::Options(problem));
        }
        messages.extend(configuration.ignored_setting_messages());
        let snapshot = &mut headless.snapshot;
        snapshot.trust = trust;
        // Tokenizer files are loaded when tokens are first counted, and only then found to contain no tokenizer.
        let tokenizers = snapshot.apply_configuration(configuration);
        messages.extend(tokenizers.iter().filter_map(|file| Some(file.check_metadata().err()?.warning())));
        snapshot.outlines = Arc::new(user_outline_cache());
        if trust == Trust::Trusted && !is_named {
            messages.extend(distrust_foreign_rules(snapshot));
        }
        Ok((headless, messages))
    }

    /// Opens a folder, absolute or relative to the current directory, with only these settings. Reads none of its
    /// files. Commands can resolve directories and patterns after [`list_files`](Self::list_files), and have outlines after
    /// [`index`](Self::index).
    ///
    /// # Errors
    /// Returns an [`OpenError`] if the folder cannot be opened.
    pub fn open(folder: &Path, settings: Settings) -> Result<Self, OpenError> {
        let unreachable = |error| OpenError::Unreachable { folder: folder.to_owned(), error };
        let real = canonical(folder).map_err(unreachable)?;
        if !real.is_dir() {
            return Err(OpenError::NotAFolder(folder.to_owned()));
        }
        let snapshot = Snapshot {
            roots: Arc::new(Roots::single(&real)?),
            screen: Arc::new(user_secret_redactor().with_settings(&settings.redaction)),
            settings: Arc::new(settings),
            // Naming a folder on the command line counts as trusting it.
            trust: Trust::Trusted,
            ..Snapshot::default()
        };
        Ok(Self::new(real, snapshot))
    }

    fn new(folder: PathBuf, snapshot: Snapshot) -> Self {
        Self {
            folder,
            snapshot,
            sessions: Sessions::new(Arc::new(Session::new(MAIN_SESSION))),
            services: Arc::default(),
            runtime: SessionRuntime::default(),
            pending: VecDeque::new(),
            cancel: Cancel::new(),
            writing: Vec::new(),
            live: LiveView::default(),
            view: EditorViewState::default(),
            read_log: ReadLog::default(),
            attached_at_ms: 0,
        }
    }

    /// Returns the path of the folder, absolute and without symbolic links.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Converts a path (with or without lines) or a pattern typed in the current directory to one relative to the
    /// workspace folder.
    pub fn workspace_path(&self, path: &str) -> String {
        match current_directory() {
            Ok(directory) => relative_to_workspace(&self.folder, &directory, path),
            // The current directory no longer exists.
            Err(_) => path.to_owned(),
        }
    }

    /// Whether a path, relative to the workspace folder, names a definition in a file (`src/lib.rs#Type.method`).
    pub fn is_path_to_definition(&self, path: &str) -> bool {
        matches!(self.snapshot.path_reference(path).part, Some(FilePart::Definition(_)))
    }

    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Reads the unsaved text of the user's editors, which then hides the files on disk. Commands see it until the next
    /// call. Returns what is seen.
    pub fn attach_editors(&mut self) -> &EditorViewState {
        self.attached_at_ms = now_ms();
        if let Ok(state) = state_directory(|name| env::var_os(name)) {
            (self.snapshot.documents, self.view) = self.live.refresh(&state, &self.folder, &self.snapshot);
        }
        &self.view
    }

    /// Like `attach`, at the start of a client that gets the state of the view in another way than in a reply.
    pub fn attach_editors_at_start(&mut self) -> &EditorViewState {
        self.attach_editors();
        self.read_log.set_view_baseline(&self.view);
        &self.view
    }

    /// Returns which texts commands see, as of the last call of [`attach_editors`](Self::attach_editors).
    pub fn view(&self) -> &EditorViewState {
        &self.view
    }

    /// Lists the files without reading them, which is fast.
    ///
    /// # Errors
    /// Returns the same errors as [`index`](Self::index).
    pub fn list_files(&mut self) -> Result<(), Cancelled> {
        let options = walk_options(&self.snapshot.settings, self.snapshot.trust);
        let index = Index::list_files(&self.snapshot.roots, &options, &self.cancel)?;
        self.snapshot.index = Arc::new(index);
        Ok(())
    }

    /// Updates the index: lists all files, and outlines those with a grammar the first time, and only changed files after
    /// that. Reports to `progress` at intervals.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if the flag of [`set_cancel`](Self::set_cancel) is raised. The index is then unchanged.
    pub fn index(&mut self, progress: impl FnMut(OutlineProgress)) -> Result<(), Cancelled> {
        if self.snapshot.index.state == IndexState::Building {
            return self.reindex(progress);
        }
        let inputs = self.snapshot.index_inputs(&self.cancel);
        if let Some((index, updates)) = self.snapshot.index.rescan(&inputs)? {
            let index = if index.is_stale { index.with_fresh_references() } else { index };
            self.adopt_index(index, updates);
        }
        Ok(())
    }

    /// Prepares for a command. Without an index of its own, the workspace only lists its files, or leaves the command to the
    /// server of its folder, as of the last call of [`attach_editors`](Self::attach_editors).
    ///
    /// # Errors
    /// Returns the same errors as [`index`](Self::index).
    pub fn prepare(
        &mut self,
        command: &CommandDefinition,
        progress: impl FnMut(OutlineProgress),
    ) -> Result<(), CommandError> {
        if command.index == IndexNeed::Nothing {
            return Ok(());
        }
        let is_indexed = self.snapshot.index.state == IndexState::Ready;
        if !is_indexed && self.live.can_call_server() {
            if can_run_on_server(command) {
                return Ok(());
            }
            if command.index == IndexNeed::Files {
                return Ok(self.list_files()?);
            }
        }
        Ok(self.index(progress)?)
    }

    /// Leaves a command to the server of the folder, if this workspace has no index of its own. Returns `None` if the command
    /// must run here.
    fn call_server(
        &self,
        command: &CommandDefinition,
        arguments: &Value,
    ) -> Option<Result<Value, CommandError>> {
        if !can_run_on_server(command) || self.snapshot.index.state == IndexState::Ready {
            return None;
        }
        let session = self.session().ok()?;
        let has_no_selection = session.selection == Selection::default();
        let id = (!has_no_selection).then(|| session.id.to_string());
        let reply = self.live.call(&self.folder, command.name, arguments, id, self.snapshot.trust)?;
        Some(reply.map_err(CommandError::failed))
    }

    /// Makes the index again, from all files.
    fn reindex(&mut self, mut progress: impl FnMut(OutlineProgress)) -> Result<(), Cancelled> {
        let inputs = self.snapshot.index_inputs(&self.cancel);
        let report = |step| match step {
            BuildProgress::Listed(_) => {}
            BuildProgress::Outlined(progress_so_far) => progress(progress_so_far),
        };
        let (index, updates) = Index::build(&inputs, report)?;
        self.adopt_index(index, updates);
        Ok(())
    }

    /// Sets the flag that cancels all later operations.
    pub fn set_cancel(&mut self, cancel: &Cancel) {
        self.cancel = cancel.clone();
    }

    fn adopt_index(&mut self, index: Index, updates: OutlineUpdates) {
        self.snapshot.index = Arc::new(index);
        let outlines = Arc::clone(&self.snapshot.outlines);
        // Drop the handles of finished writes.
        self.writing.retain(|writing| !writing.is_finished());
        // Store the outlines for the next run on a background thread.
        self.writing.push(thread::spawn(move || updates.save(&outlines)));
    }

    /// Waits until pending writes are on disk.
    fn wait_for_writes(&mut self) {
        for writing in self.writing.drain(..) {
            // The thread has already reported its panic.
            let _ = writing.join();
        }
    }

    /// Runs a command by its name (`strata.files.select`, ...) in the session, with its arguments and reply as JSON, like
    /// [`call`](Self::call).
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the command is unknown or fails.
    pub fn run(&mut self, name: &str, arguments: Value) -> Result<Value, CommandError> {
        let command =
            CommandDefinition::by_name(name).ok_or_else(|| CommandError::Unknown(name.to_owned()))?;
        self.execute(command, arguments)
    }

    pub(crate) fn execute(
        &mut self,
        command: &CommandDefinition,
        arguments: Value,
    ) -> Result<Value, CommandError> {
        if let Some(reply) = self.call_server(command, &arguments) {
            return reply;
        }
        if can_run_on_server(command)
            && self.snapshot.index.state == IndexState::Building
            && self.live.can_call_server()
        {
            // The server has ended, or is busy.
            self.index(|_| ())?;
        }
        self.run_to_end(Invocation::from_json(command, arguments), self.cancel.clone(), &mut |_| ())
    }

    /// Runs a command in the session. A failed command leaves the session unchanged. Its jobs have finished when this
    /// returns. For commands whose reply is that of a job, see [`compact`](Self::compact) and [`send`](Self::send).
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the command fails.
    pub fn call<C: Command<Args: Serialize>>(
        &mut self,
        arguments: C::Args,
    ) -> Result<Reply<C::Reply>, CommandError> {
        let (command, reply) = Invocation::new::<C>(arguments);
        self.run_to_end(command, self.cancel.clone(), &mut |_| ())?;
        reply.take()
    }

    /// Compacts the conversation.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the conversation cannot be compacted.
    pub fn compact(
        &mut self,
        arguments: compaction::RunParams,
    ) -> Result<Reply<CompactionNotice>, CommandError> {
        let (command, _) = Invocation::new::<compaction::RunCompaction>(arguments);
        let notice = self.run_to_end(command, self.cancel.clone(), &mut |_| ())?;
        let notice = serde_json::from_value(notice).map_err(|_| CommandError::Internal)?;
        Ok(Reply::new(notice, self.session()?.cache.revision))
    }

    /// Asks the model like `strata.prompt.send`, and passes the answer to the caller as it arrives. If `cancel` is
    /// raised, records the partial answer.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if there is no answer.
    pub fn send(
        &mut self,
        arguments: SendParams,
        cancel: &Cancel,
        show: &mut dyn FnMut(Delta),
    ) -> Result<Reply<SendReply>, CommandError> {
        let arguments = SendParams { stream: Some("answer".to_owned()), ..arguments };
        let (command, reply) = Invocation::new::<send::SendPrompt>(arguments);
        let result = self.run_to_end(command, cancel.clone(), show);
        self.store_cache_state();
        result?;
        Ok(Reply::new(reply.take()?.into_inner().take()?, self.session()?.cache.revision))
    }

    /// Runs a command of a question to a model.
    pub(crate) fn invoke(&mut self, command: Invocation) -> Result<(), CommandError> {
        let cancel = cancel_for(command.name, &self.cancel);
        self.run_to_end(command, cancel, &mut |_| ()).map(|_| ())
    }

    /// Runs a command in the session, and then the jobs that it starts. Passes the answer of a model to `show`.
    fn run_to_end(
        &mut self,
        command: Invocation,
        cancel: Cancel,
        show: &mut dyn FnMut(Delta),
    ) -> Result<Value, CommandError> {
        let (sender, reply) = ReplySender::channel();
        let caller = Caller { cancel: cancel.clone(), token: None, reply: sender };
        let call = CommandCall::new(MAIN_SESSION, command, caller);
        self.with_runtime(|runtime, host| runtime.enqueue(call, host));
        let mut indexed = Ok(());
        while let Some(pending) = self.pending.pop_front() {
            let event = match pending {
                PendingWork::Work(work) => work(),
                PendingWork::Model(request) => request.run(&mut HeadlessSendHost { workspace: self, show }),
                PendingWork::Reindex => {
                    indexed = self.reindex(|_| ());
                    continue;
                }
            };
            self.with_runtime(|runtime, host| runtime.handle(event, host));
        }
        indexed?;
        // A command that was cancelled before it started gets no reply.
        let no_reply = if cancel.is_cancelled() { CommandError::Cancelled } else { CommandError::Internal };
        reply.try_recv().unwrap_or(Err(no_reply))
    }

    fn with_runtime(&mut self, run: impl FnOnce(&mut SessionRuntime, &mut HeadlessHost<'_>)) {
        let Self { runtime, snapshot, sessions, services, cancel, pending, .. } = self;
        run(runtime, &mut HeadlessHost { snapshot, sessions, services, cancel, pending });
    }

    /// Reports on the configured provider, without connecting to it.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if no provider is configured.
    pub fn provider_report(&self) -> Result<ProviderReport, CommandError> {
        Ok(ProviderClient::from_settings(&self.snapshot.settings, None)?.report())
    }

    /// Reports on the configured provider after checking that it accepts the key.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if no provider is configured.
    pub fn check_provider(&self) -> Result<ProviderReport, CommandError> {
        Ok(ProviderClient::from_settings(&self.snapshot.settings, None)?.check_connection(&self.cancel))
    }

    /// Stores the state of the provider's cache and the pending prompts for the next process that continues the
    /// session.
    fn store_cache_state(&self) {
        let result = self.session().map(|session| self.services.store.store_cache_memory(session));
        if let Ok(Err(error)) = result {
            tracing::warn!(%error, "cannot store the cache state, so the next prompt of the session will be rebuilt");
        }
    }

    pub(crate) fn session(&self) -> Result<&Arc<Session>, CommandError> {
        self.sessions.current().ok_or(CommandError::Internal)
    }

    /// Persists sessions from now on, in the directory that the server uses.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if no state directory is known.
    pub(crate) fn persist_sessions(&self) -> Result<(), CommandError> {
        Ok(self.services.store.enable_persistence(&self.folder)?)
    }

    /// Opens the store for [`persist_sessions`](Self::persist_sessions) if needed. Returns a message for the user if
    /// the store has one, for example that it was damaged.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the store cannot be opened.
    pub fn open_store(&self) -> Result<Option<String>, CommandError> {
        self.persist_sessions()?;
        self.services.store.with_store(|_| Ok(()))?;
        Ok(self.services.store.take_notice())
    }

    /// Returns the id of the most recently used stored session, or `None` if none is stored.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the store cannot be read.
    pub fn newest_session(&self) -> Result<Option<String>, CommandError> {
        Ok(self.services.store.list()?.first().map(|info| info.id.as_str().to_owned()))
    }

    /// Returns the id of the stored session that an editor shows, as of the last call of [`attach_editors`](Self::attach_editors). Of
    /// several, returns the one that was written last.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the sessions cannot be read.
    pub fn editor_session(&self) -> Result<Option<String>, CommandError> {
        let shown = &self.view.sessions;
        let listed = self.services.store.list()?;
        let ids = listed.iter().map(|info| info.id.as_str());
        Ok(ids.filter(|&id| shown.contains(id)).map(str::to_owned).next())
    }

    /// Returns the id of a stored session, given its id or the name that the user gave it. Returns an unknown name
    /// unchanged.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if several sessions have the name, or the store cannot be read.
    pub fn resolve_session_name(&self, text: &str) -> Result<String, CommandError> {
        let listed = self.services.store.list()?;
        if listed.iter().any(|info| info.id.as_str() == text) {
            return Ok(text.to_owned());
        }
        let named: Vec<&str> =
            listed.iter().filter(|info| info.name == text).map(|info| info.id.as_str()).collect();
        match named.as_slice() {
            [] => Ok(text.to_owned()),
            [only] => Ok((*only).to_owned()),
            several => {
                let message =
                    format!("several sessions are named `{text}`; pass one of {}", several.join(", "));
                Err(CommandError::failed(message))
            }
        }
    }

    /// Opens a session, which replaces the current one. [`release_session`](Self::release_session) allows other processes to write to it
    /// again.
    ///
    /// # Errors
    /// Returns a [`SessionStoreError`] if the session does not exist or cannot be read, if it
    /// [is in use](SessionStoreError::is_session_in_use), or if the system provides no randomness for a new id.
    pub fn open_session(&mut self, source: SessionSource<'_>) -> Result<(), SessionStoreError> {
        let store = &self.services.store;
        let session = match source {
            SessionSource::New => Arc::new(Session::new(SessionStore::new_id()?)),
            SessionSource::InMemory => {
                let session = Session::new(SessionStore::new_id()?);
                store.keep_in_memory(&session.id);
                Arc::new(session)
            }
            SessionSource::Stored(id, access) => reload_session(store, id, access)?,
            SessionSource::StoredWithCache(id, access) => {
                store.with_stored_cache_memory(reload_session(store, id, access)?)
            }
            SessionSource::StoredOrNew(id) => match store.load(id, SessionAccess::Write) {
                Err(SessionStoreError::Store(StoreError::NoSession(name))) if name.is_reserved() => {
                    return Err(StoreError::Reserved(name).into());
                }
                Err(SessionStoreError::Store(StoreError::NoSession(_))) => Arc::new(Session::new(id)),
                loaded => loaded?,
            },
        };
        self.sessions = Sessions::new(session);
        Ok(())
    }

    /// Allows other processes to write to the session. This process cannot change it until it is opened again.
    pub fn release_session(&self) {
        self.services.store.release(self.sessions.current_id());
    }

    /// Reports on the workspace and its index, after outlines are on disk.
    pub fn report(&mut self) -> WorkspaceReport {
        self.wait_for_writes();
        WorkspaceReport::new(&self.snapshot)
    }

    /// Checks the store by reading everything in it for the workspace. Returns the number of sessions.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the store cannot be opened or is damaged.
    pub fn verify_store(&self) -> Result<usize, CommandError> {
        self.open_store()?;
        self.services.store.with_store(|store| store.verify())?;
        Ok(self.services.store.list()?.len())
    }

    /// Sends a test question to the model that writes summaries. Returns `None` if no model is configured.
    ///
    /// # Errors
    /// Returns the reason why there is no answer, as a sentence.
    pub fn test_summary_model(&self) -> Option<Result<String, String>> {
        let summarizer = self.services.summarizer(&self.snapshot);
        if let Some(problem) = summarizer.problem() {
            return Some(Err(problem.to_owned()));
        }
        if summarizer.summarizer() == Summariser::Extractive {
            return None;
        }
        let question = SummarizerQuestion {
            purpose: SummaryPurpose::Summarise,
            system: "You are testing a connection.".to_owned(),
            prompt: "Answer with the word: ready".to_owned(),
            max_tokens: 16,
        };
        Some(summarizer.ask(&question, &self.cancel).map(|answer| answer.text))
    }

    /// Stores the session with the cache state and pending prompts, even if it has no messages.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the session cannot be stored.
    pub fn store_session(&self) -> Result<(), CommandError> {
        self.services.store.ensure_stored(self.session()?, now_ms())?;
        self.store_cache_state();
        Ok(())
    }

    pub fn session_id(&self) -> &str {
        self.sessions.current_id()
    }

    /// Counts the tokens of files. See [`count_tokens`]. Needs no index.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if a path matches no file.
    pub fn count_tokens(
        &self,
        paths: &[String],
        model: Option<&str>,
        progress: impl FnMut(OutlineProgress),
    ) -> Result<TokenUsage, CommandError> {
        count_tokens(&self.snapshot, paths, model, &self.cancel, progress)
    }
}

impl ToolHost for HeadlessWorkspace {
    fn run(&mut self, command: &str, arguments: Value) -> Result<Value, CommandError> {
        self.run(command, arguments)
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.snapshot.count_text_tokens(text, None).1
    }

    fn freshness(&mut self, tool: &str, reply: &Value) -> Freshness {
        self.read_log.freshness(tool, reply, &self.view, &self.snapshot, self.attached_at_ms)
    }
}

/// Runs the commands that a question to a model requires in a headless workspace, and passes on the answer.
struct HeadlessSendHost<'a> {
    workspace: &'a mut HeadlessWorkspace,
    show: &'a mut dyn FnMut(Delta),
}

impl ToolHost for HeadlessSendHost<'_> {
    fn run(&mut self, command: &str, arguments: Value) -> Result<Value, CommandError> {
        self.workspace.run(command, arguments)
    }

    fn count_tokens(&self, text: &str) -> usize {
        ToolHost::count_tokens(&*self.workspace, text)
    }
}

impl SendHost for HeadlessSendHost<'_> {
    fn invoke(&mut self, command: Invocation) -> Result<(), CommandError> {
        self.workspace.invoke(command)
    }

    fn show(&mut self, delta: Delta) {
        (self.show)(delta);
    }

    fn progress(&mut self, message: &str) {
        tracing::debug!(message, "asking a model");
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::commands::{NoArguments, memory};

    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.py"), "def alone():\n    return 1\n").unwrap();
        fs::write(folder.path().join("b.txt"), "text\n").unwrap();
        folder
    }

    fn has(headless: &mut HeadlessWorkspace, path: &str) -> bool {
        headless.run("strata.files.has", json!({ "path": path })).unwrap()["has"] == true
    }

    #[test]
    fn values_are_toml_or_text() {
        for (text, value) in [
            ("5", json!(5)),
            ("true", json!(true)),
            ("'a'", json!("a")),
            ("[\"a\", \"b\"]", json!(["a", "b"])),
            ("gpt-4o", json!("gpt-4o")),
            ("", json!("")),
        ] {
            assert_eq!(parse_value(text), value, "{text}");
        }
    }

    #[test]
    fn a_failed_command_does_not_change_the_session() {
        let folder = repository();
        let mut headless = HeadlessWorkspace::open(folder.path(), Settings::default()).unwrap();
        headless.index(|_| ()).unwrap();
        headless.run("strata.files.select", json!({ "paths": ["a.py"] })).unwrap();
        assert!(has(&mut headless, "a.py"));
        // The first path is valid on its own.
        headless.run("strata.files.select", json!({ "paths": ["b.txt", "nowhere"] })).unwrap_err();
        assert!(!has(&mut headless, "b.txt"));
    }

    #[test]
    fn folders_can_be_selected_before_anything_is_outlined() {
        let folder = repository();
        let mut headless = HeadlessWorkspace::open(folder.path(), Settings::default()).unwrap();
        headless.list_files().unwrap();
        let reply = headless.run("strata.files.select", json!({ "paths": ["*.*"] })).unwrap();
        assert_eq!(reply["changed"], json!(["a.py", "b.txt"]));
        let status = headless.run("strata.server.status", json!({})).unwrap();
        assert_eq!(
            (&status["files"], &status["outlined"], &status["index"]),
            (&2.into(), &0.into(), &"building".into())
        );
    }

    #[test]
    fn reindexing_is_done_when_the_command_returns() {
        let folder = repository();
        let mut headless = HeadlessWorkspace::open(folder.path(), Settings::default()).unwrap();
        let outlined = |headless: &mut HeadlessWorkspace| {
            headless.run("strata.server.status", json!({})).unwrap()["outlined"].clone()
        };
        assert_eq!(outlined(&mut headless), 0);
        headless.run("strata.server.reindex", json!({})).unwrap();
        assert_eq!(outlined(&mut headless), 1);
    }

    #[test]
    fn reindexing_finds_changes_on_disk_and_a_cancelled_run_changes_nothing() {
        let folder = repository();
        let mut headless = HeadlessWorkspace::open(folder.path(), Settings::default()).unwrap();
        let cancel = Cancel::new();
        cancel.cancel();
        headless.set_cancel(&cancel);
        assert_eq!(headless.index(|_| ()), Err(Cancelled));
        headless.set_cancel(&Cancel::new());
        headless.index(|_| ()).unwrap();
        let find = |headless: &mut HeadlessWorkspace, query: &str| {
            let reply = headless.run("strata.symbols.find", json!({ "query": query })).unwrap();
            reply["symbols"].as_array().unwrap().len()
        };
        assert_eq!(find(&mut headless, "alone"), 1);
        fs::remove_file(folder.path().join("a.py")).unwrap();
        fs::write(folder.path().join("c.py"), "def later():\n    return 2\n").unwrap();
        headless.index(|_| ()).unwrap();
        assert_eq!((find(&mut headless, "alone"), find(&mut headless, "later")), (0, 1));
    }

    /// Opens a workspace that stores its sessions in the test's own directory.
    fn open_with_store(folder: &Path, state: &Path) -> HeadlessWorkspace {
        let mut headless = HeadlessWorkspace::open(folder, Settings::default()).unwrap();
        headless.services.store.enable_persistence_in(state.to_owned(), folder);
        headless.list_files().unwrap();
        headless
    }

    #[test]
    fn a_session_in_memory_is_not_stored() {
        let (folder, state) = (repository(), tempfile::tempdir().unwrap());
        let mut headless = open_with_store(folder.path(), state.path());
        headless.open_session(SessionSource::InMemory).unwrap();
        headless.run("strata.files.select", json!({ "paths": ["a.py"] })).unwrap();
        headless.run("strata.memory.add", json!({ "text": "a note" })).unwrap();
        assert!(has(&mut headless, "a.py"));
        assert_eq!(headless.newest_session().unwrap(), None);
        let reply = headless.run("strata.memory.search", json!({ "query": "note" })).unwrap();
        assert_eq!(reply["hits"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn arguments_of_typed_calls_are_screened() {
        let (folder, state) = (repository(), tempfile::tempdir().unwrap());
        let mut headless = open_with_store(folder.path(), state.path());
        let text = format!("the key is ghp_{}", "A1b2C3d4E5".repeat(4).get(..36).unwrap());
        let note = memory::AddParams { text: text.clone(), tags: Vec::new() };
        headless.call::<memory::AddNote>(note).unwrap().get().unwrap();
        let notes = headless.call::<memory::ListNotes>(NoArguments {}).unwrap();
        let texts: Vec<&str> = notes.fragments.iter().map(|note| &*note.text).collect();
        assert!(texts[0].starts_with("the key is [secret:") && !texts[0].contains("ghp_"), "{texts:?}");
    }

    #[test]
    fn an_imported_conversation_can_be_read_again() {
        let (folder, state) = (repository(), tempfile::tempdir().unwrap());
        let mut headless = open_with_store(folder.path(), state.path());
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let function = json!({ "name": "f", "arguments": nested(126) });
        let call = json!({ "id": "c", "type": "function", "function": function });
        let messages = json!([
            { "role": "user", "content": "hi" },
            { "role": "assistant", "content": null, "tool_calls": [call] },
        ]);
        let text = json!({ "messages": messages }).to_string();
        let imported = headless.run("strata.session.import", json!({ "text": text })).unwrap();
        let id = imported["id"].as_str().unwrap();
        headless.open_session(SessionSource::Stored(id, SessionAccess::Write)).unwrap();

        // The maximum depth of JSON that is accepted. Storing the message adds a level.
        let text = format!(r#"{{"role":"user","content":[{{"type":"document","x":{}}}]}}"#, nested(124));
        let refused = headless.run("strata.session.import", json!({ "text": text })).unwrap_err();
        assert!(refused.to_string().contains("nested"), "{refused}");
        assert_eq!(headless.newest_session().unwrap().as_deref(), Some(id));
    }

    #[test]
    fn a_session_cannot_be_created_with_the_reserved_name_main() {
        let (folder, state) = (repository(), tempfile::tempdir().unwrap());
        let mut headless = open_with_store(folder.path(), state.path());
        let refused = headless.open_session(SessionSource::StoredOrNew("main")).unwrap_err().to_string();
        assert!(refused.contains("`main`") && refused.contains("another name"), "{refused}");
        headless.run("strata.files.select", json!({ "paths": ["a.py"] })).unwrap_err();
        assert_eq!(headless.newest_session().unwrap(), None);
    }

    #[test]
    fn a_reader_sees_the_changes_of_a_writer_after_reopening() {
        let (folder, state) = (repository(), tempfile::tempdir().unwrap());
        let mut writer = open_with_store(folder.path(), state.path());
        writer.open_session(SessionSource::StoredOrNew("shared")).unwrap();
        writer.run("strata.files.select", json!({ "paths": ["a.py"] })).unwrap();

        let to_read = SessionSource::Stored("shared", SessionAccess::Read);
        let to_write = SessionSource::Stored("shared", SessionAccess::Write);
        let mut reader = open_with_store(folder.path(), state.path());
        assert_eq!(reader.newest_session().unwrap().as_deref(), Some("shared"));
        assert!(reader.open_session(to_write).unwrap_err().is_session_in_use());
        reader.open_session(to_read).unwrap();
        assert_eq!((has(&mut reader, "a.py"), has(&mut reader, "b.txt")), (true, false));
        reader.run("strata.files.select", json!({ "paths": ["b.txt"] })).unwrap_err();

        writer.run("strata.files.set", json!({ "paths": ["b.txt"] })).unwrap();
        reader.open_session(to_read).unwrap();
        assert_eq!((has(&mut reader, "a.py"), has(&mut reader, "b.txt")), (false, true));
        reader.release_session();

        drop(writer);
        reader.open_session(to_read).unwrap();
        // Takes the new access although the session is open for reading.
        reader.open_session(to_write).unwrap();
        reader.run("strata.files.set", json!({ "paths": ["a.py"] })).unwrap();
        reader.release_session();
        let mut third = open_with_store(folder.path(), state.path());
        third.open_session(to_write).unwrap();
        assert!(has(&mut third, "a.py"));
        assert!(third.open_session(SessionSource::Stored("nobody", SessionAccess::Read)).is_err());
    }

    #[test]
    fn only_an_existing_directory_can_be_opened() {
        let folder = repository();
        let open = |path: &Path| HeadlessWorkspace::open(path, Settings::default()).err();
        assert!(matches!(open(&folder.path().join("a.py")), Some(OpenError::NotAFolder(_))));
        assert!(matches!(open(&folder.path().join("c")), Some(OpenError::Unreachable { .. })));
    }
}
