//! The main loop as the host of the session runtime: the world, thread pools, and messages to the client.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;

use serde_json::Value;
use strata_app::commands::{BackgroundJob, CommandError, Effect};
use strata_app::model::sessions::Sessions;
use strata_app::model::snapshot::Snapshot;
use strata_app::runtime::effects;
use strata_app::runtime::session_runtime::{
    ModelRequest, ReplySender, RuntimeHost, SessionEvent, SessionRuntime, SessionWork, ThreadKind,
    TrackedWork,
};
use strata_app::services::Services;
use strata_host::pool::Pool;
use strata_prompt::session::Session;
use strata_prompt::settings::LspFeature;
use tokio::sync::mpsc::UnboundedSender;

use super::MainLoop;
use super::index_runs::IndexRuns;
use super::meter_state::ContextMeterState;
use super::send_host::LoopSendHost;
use crate::event::Event;
use crate::outbound::OutboundMessage;
use crate::world::ServerState;

/// The parts of the main loop that the session runtime uses.
pub(super) struct SessionHost<'a> {
    world: &'a mut ServerState,
    indexing: &'a mut IndexRuns,
    meter: &'a mut ContextMeterState,
    pool: &'a Pool,
    background: &'a Pool,
    blocking: &'a Pool,
    services: &'a Arc<Services>,
    events: &'a Sender<Event>,
    outbound: &'a UnboundedSender<OutboundMessage>,
}

impl MainLoop {
    /// Calls the session runtime, with the rest of the main loop as its host.
    pub(super) fn with_sessions<T>(
        &mut self,
        run: impl FnOnce(&mut SessionRuntime, &mut SessionHost<'_>) -> T,
    ) -> T {
        let mut host = SessionHost {
            world: &mut self.world,
            indexing: &mut self.indexing,
            meter: &mut self.meter,
            pool: &self.pool,
            background: &self.background,
            blocking: &self.blocking,
            services: &self.services,
            events: &self.events,
            outbound: &self.outbound,
        };
        run(&mut self.sessions, &mut host)
    }
}

impl SessionHost<'_> {
    fn send_to_client(&self, outbound: OutboundMessage) {
        // The sending task ends with the connection, so the message can no longer be delivered.
        let _ = self.outbound.send(outbound);
    }
}

impl RuntimeHost for SessionHost<'_> {
    fn snapshot(&self) -> &Snapshot {
        &self.world.snapshot
    }

    fn sessions(&self) -> &Sessions {
        &self.world.sessions
    }

    fn services(&self) -> &Arc<Services> {
        self.services
    }

    fn update_sessions(&mut self, changed: Option<Arc<Session>>, effects: Vec<Effect>) -> Vec<BackgroundJob> {
        let before = self.world.sessions.current().cloned();
        let jobs =
            self.world.transition(|world| effects::apply_effects(&mut world.sessions, changed, effects));
        self.meter.is_due = true;
        let current = self.world.sessions.current();
        if self.world.snapshot.settings.lsp.features.contains(&LspFeature::CodeLens)
            && self.world.client.refreshes_lenses
            && current.map(|session| &session.selection) != before.as_ref().map(|session| &session.selection)
        {
            self.send_to_client(OutboundMessage::RefreshLenses);
        }
        jobs
    }

    fn spawn(&mut self, thread: ThreadKind, work: SessionWork) {
        let events = self.events.clone();
        let pool = match thread {
            ThreadKind::Short => self.pool,
            ThreadKind::Blocking => self.blocking,
        };
        pool.spawn(work, move |event| match event {
            // Sending fails only if the main loop has ended.
            Ok(event) => drop(events.send(Event::Session(event))),
            Err(panicked) => tracing::error!(%panicked, "the result of work of a session was lost"),
        });
    }

    fn ask_model(&mut self, request: ModelRequest) {
        let (number, events) = (request.number, self.events.clone());
        let mut send_host =
            LoopSendHost::new(&request, self.world.snapshot.clone(), self.events, self.outbound);
        send_host.begin_progress();
        let started = thread::Builder::new().name("strata-send".to_owned()).spawn(move || {
            let event = request.run(&mut send_host);
            send_host.end_progress();
            let _ = events.send(Event::Session(event));
        });
        if let Err(error) = started {
            let error = CommandError::failed(format!("cannot start a thread to ask the model: {error}"));
            let _ = self.events.send(Event::Session(SessionEvent::ModelAnswered(number, Err(error))));
        }
    }

    fn reindex(&mut self) {
        self.indexing.cancel_and_reindex();
        let ServerState { snapshot, client, .. } = &*self.world;
        self.indexing.start(snapshot, self.background, self.events, self.outbound, client);
    }

    fn is_indexing(&self) -> bool {
        self.indexing.is_run_pending()
    }

    fn begin_progress(&mut self, work: TrackedWork) {
        if self.world.client.shows_progress {
            self.send_to_client(OutboundMessage::Begin(work));
        }
    }

    fn end_progress(&mut self, work: TrackedWork, outcome: &str) {
        self.send_to_client(OutboundMessage::End(work, outcome.to_owned()));
    }

    fn reply_after_messages(&mut self, reply: ReplySender, result: Result<Value, CommandError>) {
        self.send_to_client(OutboundMessage::Reply(reply, result));
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::mpsc::{Receiver, channel};
    use std::time::{Duration, Instant};

    use serde_json::json;
    use strata_app::faults::FaultPoint;
    use strata_app::faults::plan::FaultPlan;
    use strata_conversation::history::{NewMessage, Role};
    use strata_host::roots::Roots;
    use strata_host::store::{SessionAccess, Store, WorkspaceKey};

    use super::*;

    /// Creates a loop that stores sessions below a folder, with one stored session that has a message. Also returns the
    /// loop's events.
    fn started(folder: &tempfile::TempDir) -> (MainLoop, Receiver<Event>) {
        let (events, inbox) = channel();
        let (main_loop, _outbound) = MainLoop::with_one_thread(events);
        let mut main_loop = main_loop.with_state_below(folder.path(), folder.path());
        let session = with_message("s-1");
        main_loop.services.store.commit(&session, 1).unwrap();
        main_loop.world.sessions = Sessions::new(session);
        main_loop.with_sessions(|sessions, host| sessions.start_current_session(None, host));
        (main_loop, inbox)
    }

    fn with_message(id: &str) -> Arc<Session> {
        let mut session = Session::new(id);
        session.history.add(NewMessage::text(Role::User, "one"));
        Arc::new(session)
    }

    #[test]
    fn a_deletion_that_was_cancelled_after_its_write_takes_effect() {
        let folder = tempfile::tempdir().unwrap();
        let (mut main_loop, inbox) = started(&folder);
        let state = folder.path().join("state");
        let workspace = WorkspaceKey::for_folder(folder.path()).unwrap();
        let other = Store::open(&state, &workspace).unwrap().store;
        main_loop.services.store.with_store(|store| store.spills.write(&"s-1".parse()?, b"output")).unwrap();
        // Lock the spilled outputs, so that the deletion stops between the database and the outputs.
        let lock = File::options().read(true).write(true).open(state.join("spill/lock")).unwrap();
        lock.lock().unwrap();
        let (cancel, reply) = main_loop.run_command("strata.session.delete", Vec::new());
        let deadline = Instant::now() + Duration::from_secs(60);
        while !other.list().unwrap().is_empty() {
            assert!(Instant::now() < deadline, "the session is not deleted");
            thread::sleep(Duration::from_millis(1));
        }
        cancel.cancel();
        drop(lock);
        main_loop.handle_event(inbox.recv_timeout(Duration::from_secs(60)).unwrap());
        assert!(reply.try_recv().unwrap().is_ok());
        assert!(!main_loop.world.sessions.contains("s-1"));
    }

    #[test]
    fn a_session_changed_before_a_folder_change_is_restored_in_the_store() {
        let folder = tempfile::tempdir().unwrap();
        let (mut main_loop, inbox) = started(&folder);
        let message = json!({ "role": "user", "content": "two" });
        let (_, reply) = main_loop.run_command("strata.history.add", vec![message]);
        let finished = inbox.recv_timeout(Duration::from_secs(60)).unwrap();
        let stored_messages = |main_loop: &MainLoop| {
            let stored =
                main_loop.services.store.with_store(|store| store.load_session(&"s-1".parse()?)).unwrap();
            stored.messages.len()
        };
        assert_eq!(stored_messages(&main_loop), 2);
        main_loop.install_next_state(|world| world.folders_changed(Roots::default()));
        main_loop.handle_event(finished);
        assert!(reply.try_recv().unwrap().is_err());
        assert_eq!(stored_messages(&main_loop), 1);
    }

    #[test]
    fn a_session_opened_by_a_command_that_panics_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let (mut main_loop, inbox) = started(&folder);
        let services = Arc::clone(&main_loop.services);
        services.store.commit(&with_message("s-2"), 2).unwrap();
        services.store.release("s-2");
        let workspace = WorkspaceKey::for_folder(folder.path()).unwrap();
        let other = Store::open(&folder.path().join("state"), &workspace).unwrap().store;
        let plan = Arc::new(FaultPlan::default());
        plan.apply_to_thread();
        let mut load = || {
            let (_, reply) = main_loop.run_command("strata.session.load", vec![json!({ "id": "s-2" })]);
            main_loop.handle_event(inbox.recv_timeout(Duration::from_secs(60)).unwrap());
            let is_free = other.open_session(&"s-2".parse().unwrap(), SessionAccess::Write).is_ok();
            (matches!(reply.try_recv(), Ok(Ok(_))), is_free)
        };
        for (name, point) in [
            ("strata.session.load", FaultPoint::Changed),
            ("strata.session.load", FaultPoint::After),
            ("command done", FaultPoint::Changed),
        ] {
            plan.arm(name, point, 0);
            assert_eq!(load(), (false, true), "{name} {point:?}");
            assert!(!plan.disarm(), "{name} {point:?} was reached");
        }
        assert_eq!(load(), (true, false));
    }
}
