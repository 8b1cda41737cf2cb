//! Runs the queued tasks of sessions: commands, and outcomes of outside work. Each task runs on another thread with a
//! copy of the session, and comes back as an event after its changes are persisted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_host::pool::catch_panic;
use strata_prompt::session::Session;

use super::SessionRuntime;
use super::event::{Caller, CommandCall, FinishedTask, ReplySender, SessionEvent, Waiter};
use super::host::{RuntimeHost, ThreadKind, spawn};
use super::queue::{AwaitedIndex, QueuedTask, SessionTarget, SessionTask};
use super::resume::resume;
use crate::commands::MAIN_SESSION;
use crate::commands::files::{Rename, RenameFiles, Renames};
use crate::commands::{BackgroundJob, CommandError, Effect, IndexNeed, Invocation};
use crate::faults::{self, FaultPoint};
use crate::model::snapshot::Snapshot;
use crate::runtime::executor::{
    self, CommandEnvironment, CommandOutcome, apply_job_result, release_sessions_not_kept_open,
    restore_stored_session,
};
use crate::services::compaction_notice::CompactionReason;
use crate::services::token_count_client::CountedPrompt;

impl SessionRuntime {
    /// Begins with the current session. If `pending` is the id of a session to resume, the commands for the current
    /// session wait for it, but only for a few seconds after [`start_ready_tasks`](Self::start_ready_tasks) is called.
    pub fn start_current_session(&mut self, pending: Option<String>, host: &dyn RuntimeHost) {
        let current = host.sessions().current_id();
        self.queues.set_current(current);
        if let Some(id) = pending {
            self.queues.push(
                current,
                QueuedTask::for_result_installation(SessionTask::Resume(id), host.snapshot().clone()),
            );
        }
    }

    /// Whether a session is only a placeholder until another session is resumed.
    pub fn is_resume_placeholder(&self, session: &str) -> bool {
        self.queues.is_resume_placeholder(session)
    }

    /// Queues a command in the session that it names.
    pub fn enqueue(&mut self, call: CommandCall, host: &mut dyn RuntimeHost) {
        let CommandCall { session, command, caller } = call;
        let command = match command {
            Ok(command) => command,
            Err(error) => return caller.reply.send(Err(error)),
        };
        let target = if session == MAIN_SESSION { SessionTarget::Current } else { SessionTarget::Named };
        let Some(session) = host.sessions().resolve_id(&session) else {
            let error = CommandError::invalid(
                "session",
                &format!("session `{session}` is not open; open it with strata.session.load"),
            );
            return caller.reply.send(Err(error));
        };
        let snapshot = host.snapshot().clone();
        let awaited_index = AwaitedIndex { need: command.index, since: Some(Instant::now()) };
        let task = SessionTask::Command(command, caller);
        self.queues.push(&session, QueuedTask { task, snapshot, target, awaited_index });
        self.start_next_task(&session, host);
    }

    /// Queues a command in every open session that renames these files in its selection.
    pub fn rename_files(&mut self, renames: &[(FileKey, FileKey)], host: &mut dyn RuntimeHost) {
        if renames.is_empty() {
            return;
        }
        let sessions: Vec<Arc<str>> = host.sessions().iter().map(|session| Arc::clone(&session.id)).collect();
        for session in sessions {
            // While the current session is only a placeholder for a session to be resumed, rename the files in the
            // resumed session.
            let is_placeholder =
                session == *host.sessions().current_id() && self.is_resume_placeholder(&session);
            let session = if is_placeholder { MAIN_SESSION } else { &*session };
            let rename = |(from, to): &(FileKey, FileKey)| Rename {
                from: from.as_str().to_owned(),
                to: to.as_str().to_owned(),
            };
            let files = renames.iter().map(rename).collect();
            let (command, _) = Invocation::new::<RenameFiles>(Renames { files });
            // The reply is not needed.
            let caller = Caller { cancel: Cancel::new(), token: None, reply: ReplySender::new(|_| ()) };
            self.enqueue(CommandCall::new(session, command, caller), host);
        }
    }

    /// Queues the outcome of outside work in its session.
    pub(super) fn push(&mut self, session: &str, task: SessionTask, host: &mut dyn RuntimeHost) {
        self.queues.push(session, QueuedTask::for_result_installation(task, host.snapshot().clone()));
        self.start_next_task(session, host);
    }

    /// Starts the next task of a session, unless a task is running. Skips tasks that cannot start.
    pub(super) fn start_next_task(&mut self, id: &str, host: &mut dyn RuntimeHost) {
        while let Some(queued) = self.next_task(id, host) {
            let compaction = queued.task.compaction_number();
            match catch_panic(|| self.start(id, queued, host)) {
                Ok(true) => return,
                Ok(false) => {}
                Err(panicked) => {
                    tracing::error!(session = id, %panicked, "a task was not started");
                    if let Some(number) = compaction {
                        self.handle_compaction_end(id, number, Err(CommandError::Internal), host);
                    }
                }
            }
            self.queues.finish_task(id);
        }
    }

    /// Returns the next task of a session, unless the task must wait for the index.
    fn next_task(&mut self, id: &str, host: &dyn RuntimeHost) -> Option<QueuedTask> {
        if self.index_wait(id, host).is_some_and(|wait| !wait.is_zero()) {
            return None;
        }
        let mut next = self.queues.next(id)?;
        if !matches!(next.awaited_index.need, IndexNeed::Nothing | IndexNeed::Glance) {
            next.snapshot.index = Arc::clone(&host.snapshot().index);
        }
        Some(next)
    }

    /// Returns how much longer the next task of a session waits for the index. `None` if it does not wait. The settings
    /// may have arrived after the task.
    fn index_wait(&self, id: &str, host: &dyn RuntimeHost) -> Option<Duration> {
        let AwaitedIndex { need, since } = self.queues.awaited_index(id)?;
        if need.is_met_by(&host.snapshot().index) || !host.is_indexing() {
            return None;
        }
        let limit = Duration::from_millis(host.snapshot().settings.context.index_wait_ms);
        Some(limit.saturating_sub(since?.elapsed()))
    }

    /// Returns the time until the first waiting task stops waiting for the index.
    pub fn shortest_index_wait(&self, host: &dyn RuntimeHost) -> Option<Duration> {
        self.queues.session_ids().filter_map(|id| self.index_wait(id, host)).min()
    }

    /// Starts tasks that no longer have to wait for the index.
    pub fn start_ready_tasks(&mut self, host: &mut dyn RuntimeHost) {
        let sessions: Vec<String> = self.queues.session_ids().map(str::to_owned).collect();
        for session in sessions {
            self.start_next_task(&session, host);
        }
    }

    /// Starts a task. Returns whether it is running.
    fn start(&mut self, id: &str, queued: QueuedTask, host: &mut dyn RuntimeHost) -> bool {
        let QueuedTask { task, snapshot, .. } = queued;
        faults::reach("start", FaultPoint::Before);
        let Some(before) = host.sessions().get(id).cloned() else {
            self.reject_task_of_closed_session(id, task, host);
            return false;
        };
        if matches!(task, SessionTask::Archive(_)) && self.compactions.is_running(id) {
            // It would invalidate the compaction's draft. The next turn plans the archival again.
            return false;
        }
        let services = Arc::clone(host.services());
        let (session_id, roots) = (id.to_owned(), Arc::clone(&host.snapshot().roots));
        let PreparedTask { name, job, thread, waiter } =
            self.prepare_task(id, Arc::clone(&before), task, snapshot, host);
        spawn(name, thread, host, job, move |outcome| {
            let outcome = outcome.unwrap_or_else(|| {
                restore_stored_session(&before, &services);
                CommandOutcome::from_error(CommandError::Internal)
            });
            SessionEvent::TaskFinished(session_id, Box::new(FinishedTask { roots, outcome, waiter }))
        });
        true
    }

    fn prepare_task(
        &self,
        id: &str,
        before: Arc<Session>,
        task: SessionTask,
        snapshot: Snapshot,
        host: &dyn RuntimeHost,
    ) -> PreparedTask {
        let services = Arc::clone(host.services());
        match task {
            SessionTask::Command(command, caller) => {
                self.prepare_command(id, before, command, caller, snapshot, host)
            }
            SessionTask::Compact(number, draft) => {
                let running = self.compactions.get(id, number);
                let is_adopted = running.is_some_and(|running| running.is_adopted);
                let running = running.map(|running| (running.job.clone(), running.cancel.clone()));
                let compact = move |session: &mut Session| match running {
                    Some((job, cancel)) if !cancel.is_cancelled() => {
                        Ok(job.install(session, *draft, &snapshot)?)
                    }
                    _ => Err(CommandError::Cancelled),
                };
                let job: Box<dyn FnOnce() -> CommandOutcome + Send> = if is_adopted {
                    Box::new(|| CommandOutcome {
                        session: None,
                        effects: Vec::new(),
                        result: Ok(Value::Null),
                    })
                } else {
                    Box::new(move || apply_job_result(&before, &services, compact))
                };
                let waiter = Waiter::Compaction(number);
                PreparedTask { name: "compaction", job, thread: ThreadKind::Short, waiter }
            }
            SessionTask::Measure(CountedPrompt { model, estimated, counted }) => {
                let measure = move |session: &mut Session| {
                    session.record_token_counts(&model, estimated, counted);
                    Ok(())
                };
                let job = Box::new(move || apply_job_result(&before, &services, measure));
                PreparedTask { name: "measuring", job, thread: ThreadKind::Short, waiter: Waiter::None }
            }
            SessionTask::Archive(archival) => {
                let archive = move |session: &mut Session| {
                    session.apply_archival(*archival);
                    Ok(())
                };
                let job = Box::new(move || apply_job_result(&before, &services, archive));
                PreparedTask { name: "ageing", job, thread: ThreadKind::Short, waiter: Waiter::None }
            }
            SessionTask::Resume(name) => {
                let job = Box::new(move || resume(&name, &services));
                PreparedTask { name: "resume", job, thread: ThreadKind::Blocking, waiter: Waiter::None }
            }
        }
    }

    fn prepare_command(
        &self,
        id: &str,
        before: Arc<Session>,
        command: Invocation,
        caller: Caller,
        snapshot: Snapshot,
        host: &dyn RuntimeHost,
    ) -> PreparedTask {
        let services = Arc::clone(host.services());
        let sessions = host.sessions().clone();
        let compaction = self.compactions.running_compaction(id);
        let cancel = caller.cancel.clone();
        let may_await_reply = command.may_await_reply(&snapshot, &services);
        let job = move || {
            let span = tracing::info_span!("command", name = command.name);
            let _inside = span.enter();
            let environment = CommandEnvironment {
                snapshot: &snapshot,
                sessions: &sessions,
                services: &services,
                compaction: compaction.as_ref(),
                cancel: &cancel,
            };
            executor::execute(command, &before, &environment)
        };
        let thread = if may_await_reply { ThreadKind::Blocking } else { ThreadKind::Short };
        PreparedTask { name: "command", job: Box::new(job), thread, waiter: Waiter::Caller(caller) }
    }

    /// Handles a task whose session was closed in the meantime.
    fn reject_task_of_closed_session(&mut self, id: &str, task: SessionTask, host: &mut dyn RuntimeHost) {
        let closed_error = || CommandError::failed(format!("session `{id}` was closed in the meantime"));
        match task {
            SessionTask::Command(_, caller) => caller.reply.send(Err(closed_error())),
            SessionTask::Compact(number, _) => {
                self.handle_compaction_end(id, number, Err(closed_error()), host);
            }
            SessionTask::Archive(_) | SessionTask::Measure(_) | SessionTask::Resume(_) => {}
        }
    }

    pub(super) fn handle_finished_task(&mut self, id: &str, task: FinishedTask, host: &mut dyn RuntimeHost) {
        self.apply_outcome(id, task, host);
        // Run this last, because it is also the recovery if anything above panics.
        self.finish_task(id, host);
    }

    /// Recovers from a panic while the outcome of a task was applied.
    pub(super) fn recover_lost_task(
        &mut self,
        id: &str,
        effects: &[Effect],
        compaction: Option<u64>,
        host: &mut dyn RuntimeHost,
    ) {
        if let Some(before) = host.sessions().get(id) {
            // Accessing the disk here is acceptable in this rare case. It must happen before the next task is stored.
            restore_stored_session(before, host.services());
        }
        // Release sessions that were opened for writing but not installed, so that other processes can write to them.
        release_sessions_not_kept_open(effects, host.sessions(), host.services());
        if let Some(number) = compaction {
            self.handle_compaction_end(id, number, Err(CommandError::Internal), host);
        }
        self.finish_task(id, host);
    }

    /// Records that the running task of a session has ended, and starts the next one.
    fn finish_task(&mut self, id: &str, host: &mut dyn RuntimeHost) {
        self.queues.finish_task(id);
        let current = Arc::clone(host.sessions().current_id());
        if self.queues.set_current(&current) {
            self.start_next_task(&current, host);
        }
        self.start_next_task(id, host);
    }

    fn apply_outcome(&mut self, id: &str, task: FinishedTask, host: &mut dyn RuntimeHost) {
        let FinishedTask { roots, outcome, waiter } = task;
        let CommandOutcome { session, mut effects, mut result } = outcome;
        let mut changed = session;
        if changed.is_some() && !Arc::ptr_eq(&roots, &host.snapshot().roots) {
            // The changed session contains outdated file names, so restore the previous one. As in the recovery,
            // accessing the disk here is acceptable in this rare case.
            if let Some(before) = host.sessions().get(id) {
                restore_stored_session(before, host.services());
            }
            release_sessions_not_kept_open(&effects, host.sessions(), host.services());
            (changed, effects) = (None, Vec::new());
            result = result.and(Err(CommandError::failed(
                "the workspace folders changed while this command ran, so nothing was changed; run it again",
            )));
        }
        let mut jobs = Vec::new();
        if changed.is_some() || !effects.is_empty() {
            jobs = host.update_sessions(changed, effects);
            // A compaction that starts prevents archival.
            jobs.sort_by_key(|job| matches!(job, BackgroundJob::Archive(_)));
            self.compactions.cancel_closed_sessions(host.sessions());
            self.sends.cancel_closed_sessions(host.sessions());
        }
        let mut waiter = Some(waiter);
        for job in jobs {
            match job {
                BackgroundJob::Reindex => host.reindex(),
                BackgroundJob::Notify(notice) => host.services().notify_compaction(*notice),
                BackgroundJob::Adopted(number) => {
                    if let Some(running) = self.compactions.get_mut(id, number) {
                        running.is_adopted = true;
                    }
                }
                BackgroundJob::Archive(plan) => self.summarize_tool_results(id, *plan, host),
                BackgroundJob::Send(job) => match waiter.take() {
                    Some(Waiter::Caller(caller)) => self.send(job, caller, host),
                    queued => waiter = queued,
                },
                BackgroundJob::Compact(job) => match (&job.reason, waiter.take()) {
                    (CompactionReason::Due(_), queued) => {
                        waiter = queued;
                        self.compact(*job, host.background_cancel(), None, host);
                    }
                    (_, Some(Waiter::Caller(Caller { cancel, reply, .. }))) => {
                        self.compact(*job, cancel, Some(reply), host);
                    }
                    (_, queued) => waiter = queued,
                },
            }
        }
        match waiter {
            Some(Waiter::Caller(caller)) => caller.reply.send(result),
            Some(Waiter::Compaction(number)) => self.handle_compaction_end(id, number, result, host),
            Some(Waiter::None) => {
                if let Err(error) = result {
                    tracing::warn!(%error, session = id, "the result of a background task was discarded");
                }
            }
            None => {}
        }
    }
}

/// A task, prepared to run on another thread.
struct PreparedTask {
    name: &'static str,
    job: Box<dyn FnOnce() -> CommandOutcome + Send>,
    thread: ThreadKind,
    waiter: Waiter,
}
