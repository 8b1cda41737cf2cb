//! What has its turn in a session: commands, and what came of work outside. Each runs on a copy of the session on another thread
//! and comes back as event, by when what it changed is on the disk.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use strata_engine::cancel::Cancel;
use strata_engine::conversation::compaction::Draft;
use strata_engine::prompt::session::Session;
use strata_host::pool::{Panicked, Pool, catch};
use strata_host::store::{Access, StoreError};

use super::MainLoop;
use super::queue::{Task, Waiting, Whose};
use crate::client::Can;
use crate::event::{Answer, Call, Done, Event, Waits};
use crate::navigation::Feature;
use crate::outbound::Outbound;
use crate::world::Action;
use strata_app::clock::now_ms;
use strata_app::commands::MAIN_SESSION;
use strata_app::commands::{self, CommandError, Compacting, Context, Effect, Wrote};
use strata_app::compaction_job::Reason;
use strata_app::faults::{self, Point, carried};
use strata_app::services::Services;
use strata_app::session_store::{SessionStore, SessionStoreError};
use strata_app::snapshot::Snapshot;
use strata_app::token_count_client::Measured;

/// How long a session is waited for that somebody else writes to: a server whose editor is gone has ended 3 s later.
const RESUME_PATIENCE: Duration = Duration::from_millis(3_500);

/// How often it is tried.
const RESUME_PAUSE: Duration = Duration::from_millis(50);

impl MainLoop {
    /// A command waits for its turn in the session that it names.
    pub(super) fn enqueue(&mut self, mut call: Call) {
        let (session, arguments) = match commands::split_arguments(std::mem::take(&mut call.arguments)) {
            Ok((session, arguments)) => (session.unwrap_or_else(|| MAIN_SESSION.to_owned()), arguments),
            Err(error) => return respond(call.answer, Err(error)),
        };
        let whose = if session == MAIN_SESSION { Whose::Shown } else { Whose::Named };
        let Some(session) = self.world.session_id(&session) else {
            let error = CommandError::invalid(
                "session",
                &format!("there is no session `{session}` open; strata.session.load opens a stored one"),
            );
            return respond(call.answer, Err(error));
        };
        let snapshot = self.world.snapshot.clone();
        self.queues.push(&session, Waiting { task: Task::Command(call, arguments), snapshot, whose });
        self.start_next(&session);
    }

    /// Starts what is next in a session unless something is running. What cannot be started is in nobody's way.
    pub(super) fn start_next(&mut self, id: &str) {
        while let Some(waiting) = self.queues.next(id) {
            let compaction = waiting.task.compaction();
            match catch(|| self.start(id, waiting)) {
                Ok(Started::Yes) => return,
                Ok(Started::No) => {}
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

    fn start(&mut self, id: &str, Waiting { task, snapshot, .. }: Waiting) -> Started {
        faults::reach("start", Point::Before);
        let Some(before) = self.world.sessions.get(id).cloned() else {
            self.nobody_there(id, task);
            return Started::No;
        };
        let services = Arc::clone(&self.services);
        let (events, of, folders_version) = (self.events.clone(), id.to_owned(), self.world.folders_version);
        let Work { what, job, pool, waits } = self.work(id, Arc::clone(&before), task, snapshot);
        pool.spawn(carried(what, job), move |outcome| {
            if outcome.is_err() {
                undo(&before, &services);
            }
            let done = done(outcome, what, folders_version, waits);
            let _ = events.send(Event::CommandDone(of, Box::new(done)));
        });
        Started::Yes
    }

    fn work(&self, id: &str, before: Arc<Session>, task: Task, snapshot: Snapshot) -> Work<'_> {
        let services = Arc::clone(&self.services);
        match task {
            Task::Command(call, arguments) => self.command(id, before, call, arguments, snapshot),
            Task::Compact(number, draft) => {
                let running = self.compactions.get(id, number);
                let cancel = running.map(|running| running.cancel.clone());
                let recovers = running.is_some_and(|running| running.job.reason == Reason::ContextLimit);
                let compacted = move |session: &mut Session| {
                    if cancel.is_none_or(|cancel| cancel.is_cancelled()) {
                        return Err(CommandError::Cancelled);
                    }
                    put_in_place(session, *draft, &snapshot)?;
                    if recovers {
                        session.recovered();
                    }
                    Ok(())
                };
                let job = Box::new(move || changed(&before, compacted).stored(&services));
                Work { what: "compaction", job, pool: &self.pool, waits: Waits::Compaction(number) }
            }
            Task::Measure(Measured { model, estimated, counted }) => {
                let measured = move |session: &mut Session| {
                    session.measured(&model, estimated, counted);
                    Ok(())
                };
                let job = Box::new(move || changed(&before, measured).stored(&services));
                Work { what: "measuring", job, pool: &self.pool, waits: Waits::Nobody }
            }
            Task::Age(aged) => {
                let aged = move |session: &mut Session| {
                    session.age(*aged);
                    Ok(())
                };
                let job = Box::new(move || changed(&before, aged).stored(&services));
                Work { what: "ageing", job, pool: &self.pool, waits: Waits::Nobody }
            }
            Task::Resume(name) => {
                let job = Box::new(move || resumed(&name, &services));
                Work { what: "resume", job, pool: &self.blocking, waits: Waits::Nobody }
            }
        }
    }

    fn command(
        &self,
        id: &str,
        before: Arc<Session>,
        call: Call,
        arguments: Value,
        snapshot: Snapshot,
    ) -> Work<'_> {
        let Call { name, cancel, answer, .. } = call;
        let services = Arc::clone(&self.services);
        let sessions = self.world.sessions.clone();
        let current = Arc::clone(&self.world.current);
        let waits = Waits::Caller(answer, cancel.clone());
        let waits_for_count = name == commands::ASSEMBLE && self.services.token_count_client().is_some();
        let may_wait = waits_for_count || commands::may_wait(&name, &snapshot);
        let compacting = if self.compactions.is_running(id) { Compacting::Yes } else { Compacting::No };
        let job = move || {
            let span = tracing::info_span!("command", name);
            let _inside = span.enter();
            let mut session = Session::clone(&before);
            let mark = session.mark();
            let mut context = Context {
                snapshot: &snapshot,
                session: &mut session,
                sessions: &sessions,
                current: &current,
                services: &services,
                compacting,
                now_ms: now_ms(),
                cancel: &cancel,
                effects: Vec::new(),
                write: None,
                wrote: Wrote::No,
            };
            let ran = catch_unwind(AssertUnwindSafe(|| commands::run(&name, arguments, &mut context)));
            let (effects, wrote) = (std::mem::take(&mut context.effects), context.wrote);
            let result = ran.unwrap_or_else(|panic| {
                give_free(&effects, &sessions, &services);
                resume_unwind(panic)
            });
            // What nobody waits for any more did not happen, unless it is written already.
            let keep = result.is_ok() && (wrote == Wrote::Yes || !cancel.is_cancelled());
            let changed = session.mark() != mark;
            let outcome = Outcome { session: changed.then_some(session), effects, result };
            if keep { outcome.stored(&services) } else { outcome.undone(&sessions, &services) }
        };
        let pool = if may_wait { &self.blocking } else { &self.pool };
        Work { what: "command", job: Box::new(job), pool, waits }
    }

    /// The session of a task was deleted meanwhile.
    fn nobody_there(&mut self, id: &str, task: Task) {
        let gone = || CommandError::failed(format!("the session `{id}` was closed meanwhile"));
        match task {
            Task::Command(call, _) => respond(call.answer, Err(gone())),
            Task::Compact(number, _) => self.compaction_ended(id, number, Err(gone())),
            Task::Age(_) | Task::Measure(_) | Task::Resume(_) => {}
        }
    }

    /// A task came back.
    pub(super) fn command_done(&mut self, id: &str, done: Done) {
        let (before, shown) = (self.world.shown().cloned(), Arc::clone(&self.world.current));
        self.take_over(id, done);
        self.lenses_after(before.as_deref());
        // Last: what is owed for this event is exactly this.
        self.turn_over(id, &shown);
    }

    /// The task of a session has ended, and the next one has its turn. `shown` is the session that was shown before.
    pub(super) fn turn_over(&mut self, id: &str, shown: &str) {
        self.queues.finished(id);
        if *shown != *self.world.current {
            let now = self.world.current.to_string();
            self.queues.follow(shown, &now);
            self.start_next(&now);
        }
        self.start_next(id);
    }

    fn take_over(&mut self, id: &str, done: Done) {
        let Done { folders_version, session, mut effects, mut result, waits } = done;
        match session {
            Some(_) if folders_version != self.world.folders_version => {
                // It names files as they are called no more. Here, too, the disk is waited for once in a blue moon.
                if let Some(before) = self.world.sessions.get(id) {
                    undo(before, &self.services);
                }
                give_free(&effects, &self.world.sessions, &self.services);
                effects.clear();
                result = result.and(Err(CommandError::failed(
                    "the workspace folders changed while this command ran, so nothing was changed; run it again",
                )));
            }
            Some(session) => self.transition(|world| world.session_changed(session)),
            None => {}
        }
        let mut waits = Some(waits);
        for effect in effects {
            match effect {
                Effect::Reindex => self.act(Action::Reindex),
                Effect::Open(session) => self.transition(|world| world.session_opened(session)),
                Effect::Show(id) => self.transition(|world| world.session_shown(&id)),
                Effect::Tell(news) => self.services.tell_compaction(*news),
                Effect::Close(id) => {
                    self.compactions.cancel_all_of(&id);
                    let next = Arc::new(Session::new(new_name()));
                    self.transition(|world| world.session_closed(&id, next));
                }
                Effect::Age(ageing) => self.age(id, *ageing),
                Effect::Compact(job) => match (&job.reason, waits.take()) {
                    (Reason::Due(_), waiting) => {
                        waits = waiting;
                        self.compact(*job, Cancel::new(), None);
                    }
                    (_, Some(Waits::Caller(answer, cancel))) => self.compact(*job, cancel, Some(answer)),
                    (_, waiting) => waits = waiting,
                },
            }
        }
        match waits {
            Some(Waits::Caller(answer, _)) => respond(answer, result),
            Some(Waits::Compaction(number)) => self.compaction_ended(id, number, result),
            Some(Waits::Nobody) => {
                if let Err(error) = result {
                    tracing::warn!(%error, session = id, "what was done in the background was not kept");
                }
            }
            None => {}
        }
    }

    /// Has code lenses asked for again when what is selected is not what it was.
    fn lenses_after(&self, before: Option<&Session>) {
        let settings = &self.world.snapshot.settings.lsp;
        if Feature::CodeLens.is_wanted(settings)
            && self.world.client.refreshes_lenses == Can::Yes
            && self.world.shown().map(|session| &session.selection)
                != before.map(|session| &session.selection)
        {
            self.say(Outbound::RefreshLenses);
        }
    }
}

/// Whether a task is under way.
enum Started {
    Yes,
    No,
}

/// A task as work for another thread.
struct Work<'a> {
    what: &'static str,
    job: Box<dyn FnOnce() -> Stored + Send>,
    pool: &'a Pool,
    waits: Waits,
}

/// What a task made of its session.
struct Outcome {
    /// The session when it changed.
    session: Option<Session>,
    effects: Vec<Effect>,
    result: Result<Value, CommandError>,
}

impl Outcome {
    /// The same with the session on disk: what cannot be stored did not happen.
    fn stored(self, services: &Services) -> Stored {
        let Self { session, effects, result } = self;
        let session = session.map(Arc::new);
        let stored = session.as_ref().map_or(Ok(()), |session| services.store.commit(session, now_ms()));
        if let Some(news) = services.store.news() {
            services.warn("store", news);
        }
        match stored {
            Ok(()) => Stored { session, effects, result },
            Err(error) => {
                let message = format!("nothing was changed, because it could not be saved: {error}");
                Stored { session: None, effects: Vec::new(), result: Err(CommandError::failed(message)) }
            }
        }
    }

    /// Only the answer is left.
    fn undone(self, open: &BTreeMap<Arc<str>, Arc<Session>>, services: &Services) -> Stored {
        give_free(&self.effects, open, services);
        Stored { session: None, effects: Vec::new(), result: self.result }
    }
}

/// What a task made of its session, safely on disk.
struct Stored {
    session: Option<Arc<Session>>,
    effects: Vec<Effect>,
    result: Result<Value, CommandError>,
}

/// Sessions that were opened and will not be kept open are given free. Those in `open` were open before.
fn give_free(effects: &[Effect], open: &BTreeMap<Arc<str>, Arc<Session>>, services: &Services) {
    give_free_all(opened(effects), open, services);
}

/// The same, by their names.
pub(super) fn give_free_all(
    opened: impl Iterator<Item = Arc<str>>,
    open: &BTreeMap<Arc<str>, Arc<Session>>,
    services: &Services,
) {
    opened.filter(|id| !open.contains_key(id)).for_each(|id| services.store.give_back(&id));
}

/// The names of the sessions that a task opened.
pub(super) fn opened(effects: &[Effect]) -> impl Iterator<Item = Arc<str>> {
    effects.iter().filter_map(|effect| match effect {
        Effect::Open(session) => Some(Arc::clone(&session.id)),
        _ => None,
    })
}

/// Has the store hold a session as it is again: what came to nothing may have got as far as being stored.
pub(super) fn undo(session: &Arc<Session>, services: &Services) {
    if !matches!(catch(|| services.store.commit(session, now_ms())), Ok(Ok(()))) {
        tracing::error!(session = &*session.id, "what came to nothing is still stored");
    }
}

/// What is told of a task that has ended, by itself or with a panic.
fn done(outcome: Result<Stored, Panicked>, what: &str, folders_version: u64, waits: Waits) -> Done {
    let Stored { session, effects, result } = outcome.unwrap_or_else(|panicked| {
        tracing::error!(%panicked, what, "a task panicked; its session is as before");
        Stored { session: None, effects: Vec::new(), result: Err(CommandError::Internal) }
    });
    Done { folders_version, session, effects, result, waits }
}

/// A name for a session that is begun. Where the system has no randomness, the time makes it one of its own.
pub(super) fn new_name() -> String {
    SessionStore::new_id().unwrap_or_else(|_| format!("s-{}", now_ms()))
}

/// Whether a session may be had in a moment: somebody else writes to it. A store that is busy was waited for already.
pub(super) fn may_pass(error: &SessionStoreError) -> bool {
    matches!(error, SessionStoreError::Store(StoreError::InUse { .. }))
}

/// The session that the client wishes to go on with, as soon as it can be had. After a while the person is told that it cannot.
fn resumed(name: &str, services: &Services) -> Stored {
    let patience = Instant::now() + RESUME_PATIENCE;
    let effects = loop {
        match services.store.load(name, Access::Write) {
            Ok(session) => {
                let id = Arc::clone(&session.id);
                break vec![Effect::Open(session), Effect::Show(id)];
            }
            Err(error) if may_pass(&error) && Instant::now() < patience => thread::sleep(RESUME_PAUSE),
            Err(error) => {
                services.warn("resume", not_resumed(&error));
                break Vec::new();
            }
        }
    };
    Stored { session: None, effects, result: Ok(Value::Null) }
}

/// How the person is told that a session cannot be gone on with.
pub(super) fn not_resumed(error: &SessionStoreError) -> String {
    format!("a new session was begun: {error}")
}

/// A session with a change that belongs to no command.
fn changed(before: &Session, change: impl FnOnce(&mut Session) -> Result<(), CommandError>) -> Outcome {
    let mut session = Session::clone(before);
    let result = change(&mut session).map(|()| Value::Null);
    Outcome { session: result.is_ok().then_some(session), effects: Vec::new(), result }
}

/// Puts a draft in place, unless the profile of its name is another one than when it was made.
fn put_in_place(session: &mut Session, draft: Draft, snapshot: &Snapshot) -> Result<(), CommandError> {
    let settings = &snapshot.settings;
    let profile = settings.compaction.profile_named(&draft.profile.name)?;
    session.compact(draft, &profile, &settings.tools, now_ms())?;
    Ok(())
}

pub(super) fn respond(answer: Answer<Result<Value, CommandError>>, result: Result<Value, CommandError>) {
    // The waiting side is gone when the request was cancelled.
    let _ = answer.send(result);
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::mpsc::{Sender, channel};

    use serde_json::json;
    use strata_engine::conversation::history::{NewMessage, Role};
    use strata_host::store::{Store, WorkspaceKey};
    use tokio::sync::oneshot;

    use super::*;
    use strata_app::faults::plan::Plan;

    /// A loop that keeps sessions below a folder, with one session in which something was said.
    fn started(folder: &tempfile::TempDir) -> (MainLoop, Arc<Session>) {
        started_with(folder, channel().0)
    }

    /// The same, with its events going somewhere.
    fn started_with(folder: &tempfile::TempDir, events: Sender<Event>) -> (MainLoop, Arc<Session>) {
        let (main_loop, _said) = MainLoop::alone(events);
        let mut main_loop = main_loop.keeping_below(folder.path(), folder.path());
        let session = said(&Session::new("s-1"), "one");
        main_loop.services.store.commit(&session, 1).unwrap();
        main_loop.world.begin_with(Arc::clone(&session));
        (main_loop, session)
    }

    fn said(before: &Session, text: &str) -> Arc<Session> {
        let mut session = before.clone();
        session.history.add(NewMessage::text(Role::User, text));
        Arc::new(session)
    }

    #[test]
    fn what_was_written_before_it_was_cancelled_has_happened() {
        let folder = tempfile::tempdir().unwrap();
        let (events, inbox) = channel();
        let (mut main_loop, _) = started_with(&folder, events);
        let state = folder.path().join("state");
        let workspace = WorkspaceKey::of(folder.path()).unwrap();
        let other = Store::open(&state, &workspace).unwrap().store;
        main_loop.services.store.with(|store| store.spills().write(&"s-1".parse()?, b"output")).unwrap();
        // The deletion is in the database then, and has not come to an end.
        let lock = File::options().read(true).write(true).open(state.join("spill/lock")).unwrap();
        lock.lock().unwrap();
        let (answer, mut waits) = oneshot::channel();
        let (name, cancel) = ("strata.session.delete".to_owned(), Cancel::new());
        main_loop.enqueue(Call { name, arguments: Vec::new(), cancel: cancel.clone(), answer });
        let patience = Instant::now() + Duration::from_secs(60);
        while !other.list().unwrap().is_empty() {
            assert!(Instant::now() < patience, "it is not deleted");
            thread::sleep(Duration::from_millis(1));
        }
        cancel.cancel();
        drop(lock);
        main_loop.take(inbox.recv_timeout(Duration::from_secs(60)).unwrap());
        assert!(waits.try_recv().unwrap().is_ok());
        assert!(!main_loop.world.sessions.contains_key("s-1"));
    }

    #[test]
    fn a_session_with_names_of_other_folders_is_not_stored_either() {
        let folder = tempfile::tempdir().unwrap();
        let (mut main_loop, before) = started(&folder);
        let after = said(&before, "two");
        main_loop.services.store.commit(&after, 2).unwrap();
        let (answer, mut waits) = oneshot::channel();
        let done = Done {
            folders_version: main_loop.world.folders_version + 1,
            session: Some(after),
            effects: Vec::new(),
            result: Ok(Value::Null),
            waits: Waits::Caller(answer, Cancel::new()),
        };
        main_loop.command_done("s-1", done);
        assert!(waits.try_recv().unwrap().is_err());
        let services = Arc::clone(&main_loop.services);
        let stored = services.store.with(|store| store.load(&"s-1".parse()?)).unwrap();
        assert_eq!(stored.messages.len(), before.history.len());
    }

    #[test]
    fn a_session_that_was_opened_for_nobody_is_given_free() {
        let folder = tempfile::tempdir().unwrap();
        let (main_loop, session) = started(&folder);
        let (open, services) = (main_loop.world.sessions.clone(), Arc::clone(&main_loop.services));
        let store = &services.store;
        store.commit(&said(&Session::new("s-2"), "two"), 2).unwrap();
        store.release("s-2");
        let opened = store.load("s-2", Access::Write).unwrap();
        let effects = vec![Effect::Open(opened), Effect::Open(Arc::clone(&session))];
        let outcome = Outcome { session: None, effects, result: Ok(Value::Null) };
        let undone = outcome.undone(&open, &services);
        assert!(undone.effects.is_empty());
        assert_eq!((store.access("s-2"), store.access("s-1")), (None, Some(Access::Write)));
    }

    #[test]
    fn a_session_that_two_have_opened_stays_open_for_one() {
        let folder = tempfile::tempdir().unwrap();
        let (main_loop, _) = started(&folder);
        let (open, services) = (main_loop.world.sessions.clone(), Arc::clone(&main_loop.services));
        let store = &services.store;
        store.commit(&said(&Session::new("s-2"), "two"), 2).unwrap();
        store.release("s-2");
        let loads = [(); 2].map(|()| vec![Effect::Open(store.load("s-2", Access::Write).unwrap())]);
        let access = loads.map(|effects| {
            drop(Outcome { session: None, effects, result: Ok(Value::Null) }.undone(&open, &services));
            store.access("s-2")
        });
        assert_eq!(access, [Some(Access::Write), None]);
    }

    #[test]
    fn a_session_that_was_opened_by_a_command_that_panics_is_given_free() {
        let folder = tempfile::tempdir().unwrap();
        let (events, inbox) = channel();
        let (mut main_loop, _) = started_with(&folder, events);
        let services = Arc::clone(&main_loop.services);
        services.store.commit(&said(&Session::new("s-2"), "two"), 2).unwrap();
        services.store.release("s-2");
        let plan = Arc::new(Plan::default());
        plan.enter();
        let mut load = || {
            let (answer, mut waits) = oneshot::channel();
            let (name, arguments) = ("strata.session.load".to_owned(), vec![json!({ "id": "s-2" })]);
            main_loop.enqueue(Call { name, arguments, cancel: Cancel::new(), answer });
            main_loop.take(inbox.recv_timeout(Duration::from_secs(60)).unwrap());
            (matches!(waits.try_recv(), Ok(Ok(_))), services.store.access("s-2"))
        };
        for (what, point) in [
            ("strata.session.load", Point::Changed),
            ("strata.session.load", Point::After),
            ("command done", Point::Changed),
        ] {
            plan.arm(what, point, 0);
            assert_eq!(load(), (false, None), "{what} {point:?}");
            assert!(!plan.disarm(), "{what} {point:?} was reached");
        }
        assert_eq!(load(), (true, Some(Access::Write)));
    }
}
