//! What the session runtime needs from its front end: the state that sessions work on, threads, and messages to the
//! client.

use std::sync::Arc;

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_host::pool::catch_panic;
use strata_prompt::session::Session;

use super::event::{ReplySender, SessionEvent};
use super::progress::{ProgressToken, TrackedWork};
use crate::commands::{BackgroundJob, CommandError, Effect, ModelJob};
use crate::faults::with_fault_points;
use crate::jobs::send::SendHost;
use crate::model::sessions::Sessions;
use crate::model::snapshot::Snapshot;
use crate::services::Services;

/// Work of a session. The host passes its result to [`SessionRuntime::handle`](super::SessionRuntime::handle).
pub type SessionWork = Box<dyn FnOnce() -> SessionEvent + Send>;

/// The kind of thread that work needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadKind {
    /// For work that computes, and waits for nothing but the disk.
    Short,
    /// For work that may wait a long time for outside events.
    Blocking,
}

/// The front end that a session runtime runs in.
pub trait RuntimeHost {
    /// Returns the current state of the workspace.
    fn snapshot(&self) -> &Snapshot;

    /// Returns the open sessions.
    fn sessions(&self) -> &Sessions;

    fn services(&self) -> &Arc<Services>;

    /// Installs a changed session and applies the effects of a command, completely or not at all. Returns the jobs to
    /// start.
    fn update_sessions(&mut self, changed: Option<Arc<Session>>, effects: Vec<Effect>) -> Vec<BackgroundJob>;

    /// Runs work on a thread of this kind.
    fn spawn(&mut self, thread: ThreadKind, work: SessionWork);

    /// Runs a request to a model on a thread of its own, since it takes up to minutes and runs commands itself. Its
    /// result is an event like that of other work.
    fn ask_model(&mut self, request: ModelRequest);

    /// Starts to index the workspace again.
    fn reindex(&mut self);

    /// Whether an index run is active or requested, for which commands wait. Never by default.
    fn is_indexing(&self) -> bool {
        false
    }

    /// Returns the flag that cancels work for which no caller waits. By default, each work has its own.
    fn background_cancel(&self) -> Cancel {
        Cancel::new()
    }

    /// Starts to show the progress of this work. By default, no progress is shown.
    fn begin_progress(&mut self, _: TrackedWork) {}

    /// Ends the display that `begin_progress` started, if any.
    fn end_progress(&mut self, _: TrackedWork, _outcome: &str) {}

    /// Sends a reply after all messages that were sent to the client before, such as the pieces of an answer.
    fn reply_after_messages(&mut self, reply: ReplySender, result: Result<Value, CommandError>) {
        reply.send(result);
    }
}

/// Runs work on a thread of the host. `finish` receives its result there, or `None` if the work panicked.
pub(super) fn spawn<T: 'static>(
    name: &'static str,
    thread: ThreadKind,
    host: &mut dyn RuntimeHost,
    work: impl FnOnce() -> T + Send + 'static,
    finish: impl FnOnce(Option<T>) -> SessionEvent + Send + 'static,
) {
    let work = with_fault_points(name, work);
    host.spawn(
        thread,
        Box::new(move || {
            let result = catch_panic(work);
            if let Err(panicked) = &result {
                tracing::error!(%panicked, what = name, "work of a session panicked; the session is unchanged");
            }
            finish(result.ok())
        }),
    );
}

/// A request to a model, ready to run.
#[derive(Debug)]
pub struct ModelRequest {
    pub number: u64,
    pub(super) job: Box<ModelJob>,
    pub cancel: Cancel,
    /// Token for reporting progress, if the client gave one.
    pub token: Option<ProgressToken>,
}

impl ModelRequest {
    pub fn session_id(&self) -> &str {
        self.job.session()
    }

    /// Runs the request on this thread.
    pub fn run(self, host: &mut dyn SendHost) -> SessionEvent {
        let result = catch_panic(|| self.job.answer(host, &self.cancel)).unwrap_or_else(|panicked| {
            tracing::error!(%panicked, "a request to a model panicked");
            Err(CommandError::Internal)
        });
        SessionEvent::ModelAnswered(self.number, result)
    }
}
