//! Runs the queued tasks of sessions: commands, and outcomes of outside work. Each task runs on another thread with a
//! copy of the session, and comes back as an event after its changes are persisted.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_host::pool::{Pool, catch_panic};
use strata_host::store::{Access, StoreError};
use strata_prompt::session::Session;

use super::MainLoop;
use super::queue::{AwaitedIndex, QueuedCommand, QueuedTask, SessionTarget, Task};
use crate::event::{Arguments, CommandCall, Event, FinishedTask, Responder, Waiter};
use crate::navigation::Feature;
use crate::outbound::Outbound;
use crate::world::Action;
use strata_app::commands::MAIN_SESSION;
use strata_app::commands::{self, CommandError, Definition, Effect, IndexNeed, Invocation, Job};
use strata_app::faults::{self, Point, carried};
use strata_app::model::session_store::SessionStoreError;
use strata_app::model::snapshot::Snapshot;
use strata_app::runtime::effects;
use strata_app::runtime::executor::{self, CommandOutcome, Environment, change, release_opened, restore};
use strata_app::services::Services;
use strata_app::services::compaction_notice::Reason;
use strata_app::services::token_count_client::CountedPrompt;

/// How long to wait for a session that another process is writing to. A server notices within 3 s that its editor has
/// ended.
const RESUME_TIMEOUT: Duration = Duration::from_millis(3_500);

/// Interval between attempts to open a session that another process is writing to.
const RESUME_PAUSE: Duration = Duration::from_millis(50);

impl MainLoop {
    /// Queues a command in the session that it names.
    pub(super) fn enqueue(&mut self, call: CommandCall) {
        let CommandCall { name, arguments, cancel, token, answer } = call;
        let (session, command) = match arguments {
            Arguments::Typed { session, command } => (session, Ok(command)),
            Arguments::Json(arguments) => match commands::split_arguments(arguments) {
                Ok((session, arguments)) => {
                    let command = Definition::named(&name);
                    let command =
                        command.map(|command| Invocation::from_json(command, arguments)).ok_or(name);
                    (session.unwrap_or_else(|| MAIN_SESSION.to_owned()), command)
                }
                Err(error) => return respond(answer, Err(error)),
            },
        };
        let call = QueuedCommand { command, cancel, token, answer };
        let target = if session == MAIN_SESSION { SessionTarget::Current } else { SessionTarget::Named };
        let Some(session) = self.world.sessions.resolve(&session) else {
            let error = CommandError::invalid(
                "session",
                &format!("session `{session}` is not open; open it with strata.session.load"),
            );
            return respond(call.answer, Err(error));
        };
        let snapshot = self.world.snapshot.clone();
        let need = call.command.as_ref().map_or(IndexNeed::Nothing, |command| command.index);
        let awaited_index = AwaitedIndex { need, since: Some(Instant::now()) };
        let task = Task::Command(call);
        self.queues.push(&session, QueuedTask { task, snapshot, target, awaited_index });
        self.start_next(&session);
    }

    /// Starts the next task of a session, unless a task is running. Skips tasks that cannot start.
    pub(super) fn start_next(&mut self, id: &str) {
        while let Some(queued) = self.next_task(id) {
            let compaction = queued.task.compaction();
            match catch_panic(|| self.start(id, queued)) {
                Ok(true) => return,
                Ok(false) => {}
                Err(panicked) => {
                    tracing::error!(session = id, %panicked, "a task was not started");
                    if let Some(number) = compaction {
                        self.compaction_ended(id, number, Err(CommandError::Internal));
                    }
                }
            }
            self.queues.finished(id);
        }
    }

    /// Returns the next task of a session, unless the task must wait for the index.
    fn next_task(&mut self, id: &str) -> Option<QueuedTask> {
        if self.index_wait(id).is_some_and(|wait| !wait.is_zero()) {
            return None;
        }
        let mut next = self.queues.next(id)?;
        if !matches!(next.awaited_index.need, IndexNeed::Nothing | IndexNeed::Glance) {
            next.snapshot.index = Arc::clone(&self.world.snapshot.index);
        }
        Some(next)
    }

    /// Returns how much longer the next task of a session waits for the index. `None` if it does not wait. The settings
    /// may have arrived after the task.
    fn index_wait(&self, id: &str) -> Option<Duration> {
        let AwaitedIndex { need, since } = self.queues.awaited_index(id)?;
        if need.is_met_by(&self.world.snapshot.index) || !self.indexing.is_pending() {
            return None;
        }
        let limit = Duration::from_millis(self.world.snapshot.settings.context.index_wait_ms);
        Some(limit.saturating_sub(since?.elapsed()))
    }

    /// Returns the time until the first waiting task stops waiting for the index.
    pub(super) fn shortest_index_wait(&self) -> Option<Duration> {
        self.queues.sessions().filter_map(|id| self.index_wait(id)).min()
    }

    /// Starts tasks that no longer have to wait for the index.
    pub(super) fn start_ready_tasks(&mut self) {
        let sessions: Vec<String> = self.queues.sessions().map(str::to_owned).collect();
        for session in sessions {
            self.start_next(&session);
        }
    }

    /// Starts a task. Returns whether it is running.
    fn start(&mut self, id: &str, QueuedTask { task, snapshot, .. }: QueuedTask) -> bool {
        faults::reach("start", Point::Before);
        let Some(before) = self.world.sessions.get(id).cloned() else {
            self.reject_task_of_closed_session(id, task);
            return false;
        };
        if matches!(task, Task::Archive(_)) && self.compactions.is_running(id) {
            // It would invalidate the compaction's draft. The next turn plans the archival again.
            return false;
        }
        let services = Arc::clone(&self.services);
        let (events, session_id, folders_version) =
            (self.events.clone(), id.to_owned(), self.world.folders_version);
        let PreparedTask { name, job, pool, waiter } = self.prepare(id, Arc::clone(&before), task, snapshot);
        pool.spawn(carried(name, job), move |outcome| {
            let outcome = outcome.unwrap_or_else(|panicked| {
                tracing::error!(%panicked, what = name, "a task panicked; its session is unchanged");
                restore(&before, &services);
                CommandOutcome::failed(CommandError::Internal)
            });
            let _ = events.send(Event::TaskFinished(
                session_id,
                Box::new(FinishedTask { folders_version, outcome, waiter }),
            ));
        });
        true
    }

    fn prepare(&self, id: &str, before: Arc<Session>, task: Task, snapshot: Snapshot) -> PreparedTask<'_> {
        let services = Arc::clone(&self.services);
        match task {
            Task::Command(call) => self.command(id, before, call, snapshot),
            Task::Compact(number, draft) => {
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
                    let nothing =
                        CommandOutcome { session: None, effects: Vec::new(), result: Ok(Value::Null) };
                    Box::new(move || nothing)
                } else {
                    Box::new(move || change(&before, &services, compact))
                };
                PreparedTask { name: "compaction", job, pool: &self.pool, waiter: Waiter::Compaction(number) }
            }
            Task::Measure(CountedPrompt { model, estimated, counted }) => {
                let measure = move |session: &mut Session| {
                    session.record_token_counts(&model, estimated, counted);
                    Ok(())
                };
                let job = Box::new(move || change(&before, &services, measure));
                PreparedTask { name: "measuring", job, pool: &self.pool, waiter: Waiter::None }
            }
            Task::Archive(archival) => {
                let archive = move |session: &mut Session| {
                    session.apply_archival(*archival);
                    Ok(())
                };
                let job = Box::new(move || change(&before, &services, archive));
                PreparedTask { name: "ageing", job, pool: &self.pool, waiter: Waiter::None }
            }
            Task::Resume(name) => {
                let job = Box::new(move || resume(&name, &services));
                PreparedTask { name: "resume", job, pool: &self.blocking, waiter: Waiter::None }
            }
        }
    }

    fn command(
        &self,
        id: &str,
        before: Arc<Session>,
        call: QueuedCommand,
        snapshot: Snapshot,
    ) -> PreparedTask<'_> {
        let QueuedCommand { command, cancel, token, answer } = call;
        let services = Arc::clone(&self.services);
        let sessions = self.world.sessions.clone();
        let compaction = self.compactions.for_command(id);
        let waiter = Waiter::Caller(answer, cancel.clone(), token);
        let may_await_reply =
            command.as_ref().is_ok_and(|command| command.may_await_reply(&snapshot, &services));
        let job = move || {
            let command = match command {
                Ok(command) => command,
                Err(name) => return CommandOutcome::failed(CommandError::Unknown(name)),
            };
            let span = tracing::info_span!("command", name = command.name);
            let _inside = span.enter();
            let environment = Environment {
                snapshot: &snapshot,
                sessions: &sessions,
                services: &services,
                compaction: compaction.as_ref(),
                cancel: &cancel,
            };
            executor::execute(command, &before, &environment)
        };
        let pool = if may_await_reply { &self.blocking } else { &self.pool };
        PreparedTask { name: "command", job: Box::new(job), pool, waiter }
    }

    /// Handles a task whose session was closed in the meantime.
    fn reject_task_of_closed_session(&mut self, id: &str, task: Task) {
        let closed_error = || CommandError::failed(format!("session `{id}` was closed in the meantime"));
        match task {
            Task::Command(call) => respond(call.answer, Err(closed_error())),
            Task::Compact(number, _) => self.compaction_ended(id, number, Err(closed_error())),
            Task::Archive(_) | Task::Measure(_) | Task::Resume(_) => {}
        }
    }

    pub(super) fn task_finished(&mut self, id: &str, task: FinishedTask) {
        let before = self.world.sessions.current().cloned();
        self.apply_outcome(id, task);
        self.refresh_lenses_if_changed(before.as_deref());
        // Run this last, because it is also the recovery if anything above panics.
        self.finish_turn(id);
    }

    /// Records that the running task of a session has ended, and starts the next one.
    pub(super) fn finish_turn(&mut self, id: &str) {
        self.queues.finished(id);
        let current = Arc::clone(self.world.sessions.current_id());
        if self.queues.set_current(&current) {
            self.start_next(&current);
        }
        self.start_next(id);
    }

    fn apply_outcome(&mut self, id: &str, task: FinishedTask) {
        let FinishedTask { folders_version, outcome, waiter } = task;
        let CommandOutcome { session, mut effects, mut result } = outcome;
        let mut changed = session;
        if changed.is_some() && folders_version != self.world.folders_version {
            // The changed session contains outdated file names, so restore the previous one. As in the recovery,
            // accessing the disk on the main loop is acceptable in this rare case.
            if let Some(before) = self.world.sessions.get(id) {
                restore(before, &self.services);
            }
            release_opened(&effects, &self.world.sessions, &self.services);
            (changed, effects) = (None, Vec::new());
            result = result.and(Err(CommandError::failed(
                "the workspace folders changed while this command ran, so nothing was changed; run it again",
            )));
        }
        let mut jobs = Vec::new();
        if changed.is_some() || !effects.is_empty() {
            self.transition(|world| {
                if let Some(session) = changed {
                    world.sessions.install(session);
                }
                jobs = effects::apply(&mut world.sessions, effects);
                vec![Action::Meter]
            });
            self.compactions.cancel_closed(&self.world.sessions);
            self.cancel_sends_of_closed_sessions();
        }
        let mut waiter = Some(waiter);
        for job in jobs {
            match job {
                Job::Reindex => self.act(Action::Reindex),
                Job::Notify(notice) => self.services.notify_compaction(*notice),
                Job::Adopted(number) => {
                    if let Some(running) = self.compactions.get_mut(id, number) {
                        running.is_adopted = true;
                    }
                }
                Job::Archive(plan) => self.summarize_tool_results(id, *plan),
                Job::Send(job) => match waiter.take() {
                    Some(Waiter::Caller(answer, cancel, token)) => self.send(*job, cancel, token, answer),
                    queued => waiter = queued,
                },
                Job::Compact(job) => match (&job.reason, waiter.take()) {
                    (Reason::Due(_), queued) => {
                        waiter = queued;
                        self.compact(*job, Cancel::new(), None);
                    }
                    (_, Some(Waiter::Caller(answer, cancel, _))) => self.compact(*job, cancel, Some(answer)),
                    (_, queued) => waiter = queued,
                },
            }
        }
        match waiter {
            Some(Waiter::Caller(answer, ..)) => respond(answer, result),
            Some(Waiter::Compaction(number)) => self.compaction_ended(id, number, result),
            Some(Waiter::None) => {
                if let Err(error) = result {
                    tracing::warn!(%error, session = id, "the result of a background task was discarded");
                }
            }
            None => {}
        }
    }

    /// Refreshes code lenses if the selection of the current session changed.
    fn refresh_lenses_if_changed(&self, before: Option<&Session>) {
        let settings = &self.world.snapshot.settings.lsp;
        if Feature::CodeLens.is_enabled(settings)
            && self.world.client.refreshes_lenses
            && self.world.sessions.current().map(|session| &session.selection)
                != before.map(|session| &session.selection)
        {
            self.send_to_client(Outbound::RefreshLenses);
        }
    }
}

/// A task, prepared to run on another thread.
struct PreparedTask<'a> {
    name: &'static str,
    job: Box<dyn FnOnce() -> CommandOutcome + Send>,
    pool: &'a Pool,
    waiter: Waiter,
}

/// Whether opening a session may succeed soon, because another process is currently writing to it. The store itself
/// already waits for a busy database.
pub(super) fn is_transient(error: &SessionStoreError) -> bool {
    matches!(error, SessionStoreError::Store(StoreError::InUse { .. }))
}

/// Resumes a session once it is available. Warns the user if this fails or takes too long.
fn resume(name: &str, services: &Services) -> CommandOutcome {
    let deadline = Instant::now() + RESUME_TIMEOUT;
    let effects = loop {
        match services.store.load(name, Access::Write) {
            Ok(session) => {
                let id = Arc::clone(&session.id);
                break vec![Effect::Open(session), Effect::Show(id)];
            }
            Err(error) if is_transient(&error) && Instant::now() < deadline => thread::sleep(RESUME_PAUSE),
            Err(error) => {
                services.warn("resume", resume_failure(&error));
                break Vec::new();
            }
        }
    };
    CommandOutcome { session: None, effects, result: Ok(Value::Null) }
}

/// Returns the message for a session that cannot be resumed.
pub(super) fn resume_failure(error: &SessionStoreError) -> String {
    format!("cannot resume the last session, so a new one was started: {error}")
}

pub(super) fn respond(answer: Responder<Result<Value, CommandError>>, result: Result<Value, CommandError>) {
    // The receiver is gone if the request was cancelled.
    let _ = answer.send(result);
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::mpsc::{Sender, channel};

    use serde_json::json;
    use strata_conversation::history::{NewMessage, Role};
    use strata_host::store::{Store, WorkspaceKey};
    use tokio::sync::oneshot;

    use super::*;
    use strata_app::faults::plan::Plan;
    use strata_app::model::sessions::Sessions;

    /// Creates a loop that stores sessions below a folder, with one stored session that has a message.
    fn started(folder: &tempfile::TempDir) -> (MainLoop, Arc<Session>) {
        started_with(folder, channel().0)
    }

    /// Like [`started`], but sends the loop's events to `events`.
    fn started_with(folder: &tempfile::TempDir, events: Sender<Event>) -> (MainLoop, Arc<Session>) {
        let (main_loop, _outbound) = MainLoop::with_one_thread(events);
        let mut main_loop = main_loop.with_state_below(folder.path(), folder.path());
        let session = with_message(&Session::new("s-1"), "one");
        main_loop.services.store.commit(&session, 1).unwrap();
        main_loop.world.sessions = Sessions::new(Arc::clone(&session));
        main_loop.queues.set_current("s-1");
        (main_loop, session)
    }

    fn with_message(before: &Session, text: &str) -> Arc<Session> {
        let mut session = before.clone();
        session.history.add(NewMessage::text(Role::User, text));
        Arc::new(session)
    }

    #[test]
    fn a_deletion_that_was_cancelled_after_its_write_takes_effect() {
        let folder = tempfile::tempdir().unwrap();
        let (events, inbox) = channel();
        let (mut main_loop, _) = started_with(&folder, events);
        let state = folder.path().join("state");
        let workspace = WorkspaceKey::for_folder(folder.path()).unwrap();
        let other = Store::open(&state, &workspace).unwrap().store;
        main_loop.services.store.with(|store| store.spills.write(&"s-1".parse()?, b"output")).unwrap();
        // Lock the spilled outputs, so that the deletion stops between the database and the outputs.
        let lock = File::options().read(true).write(true).open(state.join("spill/lock")).unwrap();
        lock.lock().unwrap();
        let (answer, mut receiver) = oneshot::channel();
        let call = CommandCall::new("strata.session.delete", Vec::new(), answer);
        let cancel = call.cancel.clone();
        main_loop.enqueue(call);
        let deadline = Instant::now() + Duration::from_secs(60);
        while !other.list().unwrap().is_empty() {
            assert!(Instant::now() < deadline, "the session is not deleted");
            thread::sleep(Duration::from_millis(1));
        }
        cancel.cancel();
        drop(lock);
        main_loop.handle_event(inbox.recv_timeout(Duration::from_secs(60)).unwrap());
        assert!(receiver.try_recv().unwrap().is_ok());
        assert!(!main_loop.world.sessions.contains("s-1"));
    }

    #[test]
    fn a_session_changed_before_a_folder_change_is_restored_in_the_store() {
        let folder = tempfile::tempdir().unwrap();
        let (mut main_loop, before) = started(&folder);
        let after = with_message(&before, "two");
        main_loop.services.store.commit(&after, 2).unwrap();
        let (answer, mut receiver) = oneshot::channel();
        let task = FinishedTask {
            folders_version: main_loop.world.folders_version + 1,
            outcome: CommandOutcome { session: Some(after), effects: Vec::new(), result: Ok(Value::Null) },
            waiter: Waiter::Caller(answer, Cancel::new(), None),
        };
        main_loop.task_finished("s-1", task);
        assert!(receiver.try_recv().unwrap().is_err());
        let services = Arc::clone(&main_loop.services);
        let stored = services.store.with(|store| store.load(&"s-1".parse()?)).unwrap();
        assert_eq!(stored.messages.len(), before.history.messages().len());
    }

    #[test]
    fn a_session_opened_by_a_command_that_panics_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let (events, inbox) = channel();
        let (mut main_loop, _) = started_with(&folder, events);
        let services = Arc::clone(&main_loop.services);
        services.store.commit(&with_message(&Session::new("s-2"), "two"), 2).unwrap();
        services.store.release("s-2");
        let workspace = WorkspaceKey::for_folder(folder.path()).unwrap();
        let other = Store::open(&folder.path().join("state"), &workspace).unwrap().store;
        let plan = Arc::new(Plan::default());
        plan.enter();
        let mut load = || {
            let (answer, mut receiver) = oneshot::channel();
            let arguments = vec![json!({ "id": "s-2" })];
            main_loop.enqueue(CommandCall::new("strata.session.load", arguments, answer));
            main_loop.handle_event(inbox.recv_timeout(Duration::from_secs(60)).unwrap());
            let is_free = other.open_session(&"s-2".parse().unwrap(), Access::Write).is_ok();
            (matches!(receiver.try_recv(), Ok(Ok(_))), is_free)
        };
        for (name, point) in [
            ("strata.session.load", Point::Changed),
            ("strata.session.load", Point::After),
            ("command done", Point::Changed),
        ] {
            plan.arm(name, point, 0);
            assert_eq!(load(), (false, true), "{name} {point:?}");
            assert!(!plan.disarm(), "{name} {point:?} was reached");
        }
        assert_eq!(load(), (true, false));
    }
}
