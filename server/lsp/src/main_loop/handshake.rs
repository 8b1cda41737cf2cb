//! Handles the handshake: the client's capabilities, the first session, and the work to start once the client is
//! initialized.

use std::sync::Arc;

use strata_host::config::{Layer, workspace_sources};
use strata_host::roots::Roots;
use strata_host::store::Access;
use strata_prompt::session::Session;
use tower_lsp::ls_types::{InitializeParams, InitializeResult};

use super::MainLoop;
use super::queue::{AwaitedIndex, QueuedTask, SessionTarget, Task};
use super::tasks::{is_transient, resume_failure};
use crate::capabilities;
use crate::client::{ClientInfo, InitializationOptions};
use crate::event::Answer;
use crate::folders::folders_of;
use crate::navigation;
use crate::outbound::Outbound;
use crate::world::Action;
use strata_app::faults::carried;
use strata_app::model::session_store::SessionStore;
use strata_app::model::sessions::Sessions;
use strata_app::model::settings;

impl MainLoop {
    pub(super) fn initialize(&mut self, params: &InitializeParams, answer: Answer<InitializeResult>) {
        // Discard warnings from a failed attempt.
        self.greetings.clear();
        let (options, problems) = InitializationOptions::read(params.initialization_options.as_ref());
        for problem in problems {
            self.greetings
                .push(("options", format!("invalid value in `initializationOptions`, ignored: {problem}")));
        }
        let name = params.client_info.as_ref().map(|info| info.name.clone());
        let client = ClientInfo { name, ..ClientInfo::new(&params.capabilities, &options) };
        let encoding = client.encoding;
        self.folders = folders_of(params);
        let own = options.settings;
        let roots = self.folders.roots();
        let client = Arc::new(client);
        self.editor.set_abilities(client.abilities);
        let (session, awaited) = self.first_session(&client, &roots);
        let [user, environment] = settings::of_user();
        let workspace = (Layer::Workspace, workspace_sources(&roots));
        let editor = own.map(|tree| (Layer::Editor, settings::of_editor(tree)));
        let mut told = Vec::new();
        self.transition(|world| {
            world.client = Arc::clone(&client);
            world.snapshot.roots = Arc::new(roots);
            world.sessions = Sessions::new(session);
            world.trusted(client.trust);
            let layers = [user, workspace, environment].into_iter().chain(editor);
            let actions: Vec<Action> =
                layers.flat_map(|(layer, found)| world.configured(layer, found)).collect();
            let mut now = Vec::new();
            for action in actions {
                match action {
                    Action::Warn { code, message, .. } => told.push((code, message)),
                    // The index and the meter wait until the client is initialized.
                    Action::Reindex | Action::ReindexNext | Action::Meter => {}
                    other => now.push(other),
                }
            }
            now
        });
        self.greetings.extend(told);
        self.queues.follow(self.world.sessions.current_id());
        if let Some(id) = awaited {
            self.resume_session(id);
        }
        // If the client cancelled the request, the answer is not needed, but the state is correct.
        let wanted = navigation::features(&self.world.snapshot.settings.lsp);
        let offered = self.registrations.begin(&wanted, &self.world.client.registers);
        let _ = answer.send(capabilities::result(encoding, offered));
    }

    /// Returns the first session, which is new or resumed. May access the disk, since nothing else waits yet. Also
    /// returns the id of a session that must be resumed later because another process is writing to it, such as the
    /// server that this one replaces.
    fn first_session(&mut self, client: &ClientInfo, roots: &Roots) -> (Arc<Session>, Option<String>) {
        let store = &self.services.store;
        let folder = roots.iter().next().map(|root| root.real.as_path());
        if let Some(Err(error)) = folder.map(|folder| store.settle(folder)) {
            self.greetings.push(("store", format!("conversations are not saved: {error}")));
        }
        let mut awaited = None;
        if let Some(id) = &client.resume {
            match store.load(id, Access::Write) {
                Ok(session) => return (session, None),
                Err(error) if is_transient(&error) => awaited = Some(id.clone()),
                Err(error) => self.greetings.push(("resume", resume_failure(&error))),
            }
        }
        (Arc::new(Session::new(SessionStore::new_name())), awaited)
    }

    /// Queues the resumption of a session that is not available yet. Only commands for the current session wait for it,
    /// and only for a few seconds.
    fn resume_session(&mut self, id: String) {
        let snapshot = self.world.snapshot.clone();
        let waiting = QueuedTask {
            task: Task::Resume(id),
            snapshot,
            whose: SessionTarget::Named,
            awaits: AwaitedIndex::NOTHING,
        };
        self.queues.push(self.world.sessions.current_id(), waiting);
    }

    pub(super) fn initialized(&mut self) {
        for (code, message) in std::mem::take(&mut self.greetings) {
            self.services.warn(code, message);
        }
        let current = Arc::clone(self.world.sessions.current_id());
        self.start_next(&current);
        let client = Arc::clone(&self.world.client);
        if client.configuration {
            self.ask_settings();
        }
        if client.watches_files {
            self.say(Outbound::WatchFiles);
        } else {
            self.watch_ourselves();
        }
        self.offer();
        self.open_endpoint();
        let counter = Arc::clone(&self.world.snapshot.counter);
        let model = self.world.snapshot.models.resolve(&self.world.snapshot.settings.model).model;
        let warm_up = carried("warm up", move || counter.warm_up(model.tokenizer));
        self.pool.spawn(warm_up, |_| ());
        self.act(Action::Reindex);
        self.act(Action::Meter);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use serde_json::json;
    use strata_base::key::FileKey;
    use strata_conversation::history::{NewMessage, Role};
    use tokio::sync::oneshot;

    use super::*;
    use crate::event::{Call, Event};

    #[test]
    fn a_session_is_gone_on_with_when_its_last_server_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let last = SessionStore::default();
        last.settle_at(folder.path().join("state"), folder.path());
        let mut session = Session::new("s-1");
        session.history.add(NewMessage::text(Role::User, "where we were"));
        session.selection.select(FileKey::from("a.rs"));
        last.commit(&Arc::new(session), 1).unwrap();

        let (events, inbox) = channel();
        let (main_loop, _said) = MainLoop::with_one_thread(events);
        let mut main_loop = main_loop.with_state_below(folder.path(), folder.path());
        let client = ClientInfo { resume: Some("s-1".to_owned()), ..ClientInfo::default() };
        let (session, awaited) = main_loop.first_session(&client, &Roots::single(folder.path()).unwrap());
        assert_eq!((session.history.messages().len(), awaited.as_deref()), (0, Some("s-1")));
        assert!(main_loop.greetings.iter().all(|(code, _)| *code != "resume"));
        main_loop.world.snapshot.roots = Arc::new(Roots::single(folder.path()).unwrap());
        main_loop.queues.follow(&session.id);
        main_loop.world.sessions = Sessions::new(session);
        main_loop.resume_session("s-1".to_owned());

        // Sent to the current session. When the command runs, the resumed session is the current one.
        let (answer, mut waits) = oneshot::channel();
        let arguments = vec![json!({ "role": "user", "content": "on we go" })];
        main_loop.enqueue(Call::new("strata.history.add", arguments, answer));
        let uri = |name: &str| strata_host::uri::from_path(&folder.path().join(name)).unwrap();
        main_loop.files_renamed(&[(uri("a.rs"), uri("b.rs"))]);
        while let Ok(event) = inbox.recv_timeout(Duration::from_millis(200)) {
            assert!(!matches!(event, Event::CommandDone(..)), "another process still has the session open");
            main_loop.take(event);
        }
        main_loop.meter.wanted = true;
        assert_eq!(main_loop.time_to_meter(), None, "the placeholder session is not reported");
        last.release("s-1");
        let is_renamed = |main_loop: &MainLoop| {
            let shown = main_loop.world.sessions.current().unwrap();
            shown.selection.selected.keys().eq(&[FileKey::from("b.rs")])
        };
        let mut is_added = false;
        while !(is_added && is_renamed(&main_loop)) {
            main_loop.take(inbox.recv_timeout(Duration::from_secs(60)).unwrap());
            is_added |= waits.try_recv().is_ok();
        }
        let shown = main_loop.world.sessions.current().unwrap();
        assert_eq!((&*shown.id, shown.history.messages().len()), ("s-1", 2));
        assert!(main_loop.time_to_meter().is_some());
    }
}
