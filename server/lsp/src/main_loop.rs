//! The only code that changes the server's state. Takes events in order, computes the next world, installs it
//! completely or not at all, and starts background work. Never computes for long, and waits only for events: parsing,
//! indexing and commands run on thread pools, and their results come back as events. A panic leaves the world
//! unchanged, and recovery releases everything that waits for the event.
//!
//! The session runtime of the application runs commands and their jobs. Documents do not wait for them.

mod configuring;
mod endpoint;
mod endpoint_state;
mod handling;
mod handshake;
mod index_runs;
mod indexing;
mod meter_state;
mod metering;
mod offering;
mod parsing;
mod registrations;
mod running;
mod send_host;
mod session_host;
mod watch_state;
mod watching;

use std::collections::BTreeSet;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_host::pool::{Pool, Urgency};
use strata_host::uri;
use tokio::sync::mpsc::UnboundedSender;

use crate::event::{Event, Responder};
use crate::folders::WorkspaceFolders;
use crate::navigation::{LspRequest, feature_method};
use crate::outbound::{LspFrontEnd, OutboundMessage};
use crate::reply_rendering::UserMessage;
use crate::world::{Action, ServerState};
use strata_app::faults::with_fault_points;
use strata_app::model::snapshot::user_outline_cache;
use strata_app::runtime::session_runtime::SessionRuntime;
use strata_app::services::Services;
use strata_app::services::front_end::{FrontEnd, Warning};
#[cfg(test)]
use strata_app::{
    commands::CommandError,
    runtime::session_runtime::{Caller, CommandCall, ReplySender},
};

use endpoint_state::EndpointState;
use index_runs::IndexRuns;
use meter_state::ContextMeterState;
use registrations::Registrations;
use watch_state::FileWatchMode;

/// Maximum number of jobs that wait for outside events at the same time.
const BLOCKING_THREADS: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// Number of background threads: one for index runs, and one for shorter work in the meantime.
const BACKGROUND_THREADS: NonZeroUsize = NonZeroUsize::new(2).unwrap();

/// The main loop. Owns the [`ServerState`], and the session runtime, running work and thread pools that are not part of
/// it.
pub(crate) struct MainLoop {
    world: ServerState,
    folders: WorkspaceFolders,
    /// Number of times that the workspace's settings files were read, which is also the number of the latest read.
    settings_reads: u64,
    /// Number of settings requests sent to the client, which is also the number of the latest request.
    settings_requests: u64,
    /// Number of the latest settings request whose answer is in effect.
    latest_settings_answer: u64,
    sessions: SessionRuntime,
    indexing: IndexRuns,
    watching: FileWatchMode,
    registrations: Registrations,
    parsing: BTreeSet<FileKey>,
    meter: ContextMeterState,
    /// Runs work that a request waits for.
    pool: Pool,
    /// Runs work that no request waits for, at a lower priority.
    background: Pool,
    /// Warnings to send once the client is initialized.
    startup_warnings: Vec<(&'static str, String)>,
    /// Runs work that may wait a long time for outside events.
    blocking: Pool,
    services: Arc<Services>,
    events: Sender<Event>,
    outbound: UnboundedSender<OutboundMessage>,
    /// The interface through which the application sends messages to the client.
    editor: Arc<LspFrontEnd>,
    endpoint: EndpointState,
}

impl MainLoop {
    /// Creates a loop with an empty world. `events` must send to the channel that [`run`](Self::run) reads.
    ///
    /// # Errors
    /// Returns an error if the system cannot start threads.
    pub(crate) fn new(
        pool: Pool,
        events: Sender<Event>,
        outbound: UnboundedSender<OutboundMessage>,
    ) -> io::Result<Self> {
        let editor = Arc::new(LspFrontEnd::new(outbound.clone()));
        let services = Arc::new(Services::new(Arc::clone(&editor) as Arc<dyn FrontEnd>));
        let blocking = Pool::new(BLOCKING_THREADS, Urgency::Awaited)?;
        let background = Pool::new(BACKGROUND_THREADS, Urgency::Background)?;
        let mut world = ServerState::new();
        world.snapshot.outlines = Arc::new(user_outline_cache());
        Ok(Self {
            world,
            folders: WorkspaceFolders::default(),
            settings_reads: 0,
            settings_requests: 0,
            latest_settings_answer: 0,
            sessions: SessionRuntime::default(),
            indexing: IndexRuns::default(),
            watching: FileWatchMode::default(),
            registrations: Registrations::default(),
            parsing: BTreeSet::new(),
            meter: ContextMeterState::default(),
            pool,
            background,
            startup_warnings: Vec::new(),
            blocking,
            services,
            events,
            outbound,
            editor,
            endpoint: EndpointState::default(),
        })
    }

    /// Creates a loop with a single foreground thread. Also returns the receiver of its messages.
    #[cfg(test)]
    pub(crate) fn with_one_thread(
        events: Sender<Event>,
    ) -> (Self, tokio::sync::mpsc::UnboundedReceiver<OutboundMessage>) {
        let (outbound, messages) = tokio::sync::mpsc::unbounded_channel();
        let pool = Pool::new(NonZeroUsize::MIN, Urgency::Awaited).unwrap();
        (Self::new(pool, events, outbound).unwrap(), messages)
    }

    /// Stores sessions of `folder` and previews below `directory`.
    #[cfg(test)]
    pub(crate) fn with_state_below(mut self, directory: &std::path::Path, folder: &std::path::Path) -> Self {
        let mut services = Services::new(Arc::clone(&self.editor) as Arc<dyn FrontEnd>);
        services.store.enable_persistence_in(directory.join("state"), folder);
        services.previews = strata_host::preview_file::PreviewFiles::in_cache(Some(directory.join("cache")));
        self.services = Arc::new(services);
        self.world.snapshot.outlines = Arc::default();
        self
    }

    /// Runs a command. Returns the flag that cancels it, and the receiver of its reply.
    #[cfg(test)]
    pub(crate) fn run_command(
        &mut self,
        name: &str,
        arguments: Vec<Value>,
    ) -> (Cancel, std::sync::mpsc::Receiver<Result<Value, CommandError>>) {
        let (sender, reply) = ReplySender::channel();
        let cancel = Cancel::new();
        let caller = Caller { cancel: cancel.clone(), token: None, reply: sender };
        let call = CommandCall::from_json(name, arguments, caller);
        self.with_sessions(|sessions, host| sessions.enqueue(call, host));
        (cancel, reply)
    }

    /// Computes the next world and installs it. Leaves the world unchanged if this panics.
    fn install_next_state(&mut self, next: impl FnOnce(&mut ServerState) -> Vec<Action>) {
        let actions = self.world.transition(next);
        actions.into_iter().for_each(|action| self.perform_action(action));
    }

    /// Queues a command in every session that renames the files in its selection, and refreshes the index.
    fn files_renamed(&mut self, renamed: &[(String, String)]) {
        let key = |uri: &str| self.world.snapshot.key_of(uri);
        let renames: Vec<(FileKey, FileKey)> =
            renamed.iter().filter_map(|(from, to)| Some((key(from)?, key(to)?))).collect();
        self.with_sessions(|sessions, host| sessions.rename_files(&renames, host));
        let uris: Vec<String> = renamed.iter().flat_map(|(from, to)| [from.clone(), to.clone()]).collect();
        self.install_next_state(|world| world.files_created_or_deleted(&uris));
    }

    fn perform_action(&mut self, action: Action) {
        match action {
            Action::Parse(key) => self.parse(key),
            Action::Refresh(keys) => {
                self.indexing.request_refresh(keys);
                self.start_indexing();
            }
            Action::Rescan => {
                self.indexing.request_rescan();
                self.start_indexing();
            }
            Action::Reindex => {
                self.indexing.cancel_and_reindex();
                self.start_indexing();
            }
            Action::ReindexNext => {
                self.indexing.request_reindex();
                self.start_indexing();
            }
            Action::ReadSettings => self.read_settings(),
            Action::Warn { code, message, path } => {
                tracing::warn!(code, "{message}");
                self.send_to_client(OutboundMessage::Warning(Warning {
                    code: code.to_owned(),
                    message,
                    path,
                }));
            }
            Action::Meter => self.meter.is_due = true,
            Action::ReadTokenizer(file) => {
                let services = Arc::clone(&self.services);
                let read = move || {
                    if let Err(error) = file.check() {
                        services.warn("tokenizer", error.warning());
                    }
                };
                self.background.spawn(with_fault_points("read tokenizer", read), |_| ());
            }
        }
    }

    /// Answers a standard LSP request from the session's last state, without waiting for the session's commands.
    fn answer_lsp_request(&mut self, request: LspRequest, cancel: Cancel, answer: Responder<Value>) {
        let Some(session) = self.world.sessions.current().cloned() else { return };
        let snapshot = self.world.snapshot.clone();
        let client = Arc::clone(&self.world.client);
        let method = feature_method(request.feature());
        let work = with_fault_points(method, move || {
            request.answer(&snapshot, &snapshot.with_relocated_lines(&session), &client, &cancel)
        });
        self.pool.spawn(work, move |result| match result {
            // The receiver is gone if the request was cancelled.
            Ok(result) => drop(answer.send(result.unwrap_or_default())),
            Err(panicked) => tracing::error!(%panicked, "answering a standard LSP request panicked"),
        });
    }

    /// Records `uri` as the current document, unless it is a prompt preview.
    fn set_current_document(&mut self, uri: &str) {
        let is_preview = uri::to_path(uri).is_ok_and(|path| self.services.previews.contains(&path));
        if !is_preview {
            self.install_next_state(|world| world.document_referenced(uri));
        }
    }

    fn show_message(&self, message: UserMessage) {
        let UserMessage { kind, message, document } = message;
        self.send_to_client(match document.filter(|_| self.world.client.shows_documents) {
            Some(uri) => OutboundMessage::Document { uri, fallback: message },
            None => OutboundMessage::Message(kind, message),
        });
    }

    fn send_to_client(&self, outbound: OutboundMessage) {
        // The sending task ends with the connection, so the message can no longer be delivered.
        let _ = self.outbound.send(outbound);
    }
}
