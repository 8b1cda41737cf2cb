//! Handles the handshake: the client's capabilities, the first session, and the work to start once the client is
//! initialized.

use std::sync::Arc;

use strata_host::config::{SettingLayer, workspace_sources};
use strata_host::roots::Roots;
use strata_prompt::session::Session;
use tower_lsp::ls_types::{InitializeParams, InitializeResult};

use super::MainLoop;
use crate::capabilities;
use crate::client::{ClientInfo, InitializationOptions};
use crate::event::Responder;
use crate::folders::workspace_folders;
use crate::outbound::OutboundMessage;
use crate::world::Action;
use strata_app::model::sessions::Sessions;
use strata_app::model::settings;
use strata_app::runtime::session_runtime::FirstSession;

impl MainLoop {
    pub(super) fn initialize(&mut self, params: &InitializeParams, answer: Responder<InitializeResult>) {
        // Discard warnings from a failed attempt.
        self.startup_warnings.clear();
        let (options, problems) = InitializationOptions::read(params.initialization_options.as_ref());
        for problem in problems {
            self.startup_warnings
                .push(("options", format!("invalid value in `initializationOptions`, ignored: {problem}")));
        }
        let name = params.client_info.as_ref().map(|info| info.name.clone());
        let client = ClientInfo { name, ..ClientInfo::new(&params.capabilities, &options) };
        let encoding = client.encoding;
        self.folders = workspace_folders(params);
        let startup_settings = options.settings;
        let roots = self.folders.roots();
        let client = Arc::new(client);
        self.editor.set_abilities(client.abilities);
        let (session, pending_session) = self.first_session(&client, &roots);
        let [user, environment] = settings::user_settings();
        let workspace = (SettingLayer::Workspace, workspace_sources(&roots));
        let editor = startup_settings.map(|tree| (SettingLayer::Editor, settings::editor_settings(tree)));
        let mut warnings = Vec::new();
        self.install_next_state(|world| {
            world.client = Arc::clone(&client);
            world.snapshot.roots = Arc::new(roots);
            world.sessions = Sessions::new(session);
            world.set_trust(client.trust);
            let layers = [user, workspace, environment].into_iter().chain(editor);
            let actions: Vec<Action> =
                layers.flat_map(|(layer, sources)| world.apply_settings(layer, sources)).collect();
            let mut immediate = Vec::new();
            for action in actions {
                match action {
                    Action::Warn { code, message, .. } => warnings.push((code, message)),
                    // The index and the meter wait until the client is initialized.
                    Action::Reindex | Action::ReindexNext | Action::Meter => {}
                    action => immediate.push(action),
                }
            }
            immediate
        });
        self.startup_warnings.extend(warnings);
        self.with_sessions(|sessions, host| sessions.start_current_session(pending_session, host));
        // If the client cancelled the request, the answer is not needed, but the state is correct.
        let enabled = &self.world.snapshot.settings.lsp.features;
        let offered = self.registrations.startup_features(enabled, &self.world.client.registrable_features);
        let _ = answer.send(capabilities::initialize_result(encoding, offered));
    }

    /// Returns the first session, which is new or resumed. May access the disk, since nothing else waits yet. Also
    /// returns the id of a session that must be resumed later because another process is writing to it, such as the
    /// server that this one replaces.
    fn first_session(&mut self, client: &ClientInfo, roots: &Roots) -> (Arc<Session>, Option<String>) {
        let store = &self.services.store;
        let folder = roots.iter().next().map(|root| root.real.as_path());
        if let Some(Err(error)) = folder.map(|folder| store.enable_persistence(folder)) {
            self.startup_warnings.push(("store", format!("conversations are not saved: {error}")));
        }
        let FirstSession { session, pending, problem } = FirstSession::open(client.resume.as_deref(), store);
        self.startup_warnings.extend(problem.map(|problem| ("resume", problem)));
        (session, pending)
    }

    pub(super) fn initialized(&mut self) {
        for (code, message) in std::mem::take(&mut self.startup_warnings) {
            self.services.warn(code, message);
        }
        self.with_sessions(|sessions, host| sessions.start_ready_tasks(host));
        let client = Arc::clone(&self.world.client);
        if client.configuration {
            self.request_settings();
        }
        if client.watches_files {
            self.send_to_client(OutboundMessage::WatchFiles);
        } else {
            self.watch_as_server();
        }
        self.update_registrations();
        self.open_endpoint();
        self.perform_action(Action::Reindex);
        self.perform_action(Action::Meter);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use serde_json::json;
    use strata_base::key::FileKey;
    use strata_conversation::history::{NewMessage, Role};

    use super::*;
    use crate::event::Event;
    use strata_app::model::session_store::SessionStore;

    #[test]
    fn a_session_is_resumed_once_its_previous_server_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let previous_store = SessionStore::default();
        previous_store.enable_persistence_in(folder.path().join("state"), folder.path());
        let mut session = Session::new("s-1");
        session.history.add(NewMessage::text(Role::User, "where we were"));
        session.selection.select(FileKey::from("a.rs"));
        previous_store.commit(&Arc::new(session), 1).unwrap();

        let (events, inbox) = channel();
        let (main_loop, _outbound) = MainLoop::with_one_thread(events);
        let mut main_loop = main_loop.with_state_below(folder.path(), folder.path());
        let client = ClientInfo { resume: Some("s-1".to_owned()), ..ClientInfo::default() };
        let (session, pending_session) =
            main_loop.first_session(&client, &Roots::single(folder.path()).unwrap());
        assert_eq!((session.history.messages().len(), pending_session.as_deref()), (0, Some("s-1")));
        assert!(main_loop.startup_warnings.iter().all(|(code, _)| *code != "resume"));
        main_loop.world.snapshot.roots = Arc::new(Roots::single(folder.path()).unwrap());
        main_loop.world.sessions = Sessions::new(session);
        main_loop
            .with_sessions(|sessions, host| sessions.start_current_session(Some("s-1".to_owned()), host));

        // Sent to the current session. When the command runs, the resumed session is the current one.
        let arguments = vec![json!({ "role": "user", "content": "on we go" })];
        let (_, reply) = main_loop.run_command("strata.history.add", arguments);
        let uri = |name: &str| strata_host::uri::file_uri(&folder.path().join(name)).unwrap();
        main_loop.files_renamed(&[(uri("a.rs"), uri("b.rs"))]);
        while let Ok(event) = inbox.recv_timeout(Duration::from_millis(200)) {
            assert!(!matches!(event, Event::Session(_)), "another process still has the session open");
            main_loop.handle_event(event);
        }
        main_loop.meter.is_due = true;
        assert_eq!(main_loop.time_until_meter_reading(), None, "the placeholder session is not reported");
        previous_store.release("s-1");
        let is_renamed = |main_loop: &MainLoop| {
            let current = main_loop.world.sessions.current().unwrap();
            current.selection.selected.keys().eq(&[FileKey::from("b.rs")])
        };
        let mut is_added = false;
        while !(is_added && is_renamed(&main_loop)) {
            main_loop.handle_event(inbox.recv_timeout(Duration::from_secs(60)).unwrap());
            is_added |= reply.try_recv().is_ok();
        }
        let current = main_loop.world.sessions.current().unwrap();
        assert_eq!((&*current.id, current.history.messages().len()), ("s-1", 2));
        assert!(main_loop.time_until_meter_reading().is_some());
    }
}
