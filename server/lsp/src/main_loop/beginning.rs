//! The handshake: what the client says of itself, which session it starts with, and what is begun once it is ready.

use std::sync::Arc;

use strata_engine::session::Session;
use strata_host::config::Layer;
use strata_host::roots::Roots;
use strata_host::store::Access;
use tower_lsp::ls_types::{InitializeParams, InitializeResult};

use super::MainLoop;
use crate::capabilities;
use crate::client::{Can, ClientInfo, InitializationOptions};
use crate::faults::carried;
use crate::folders::folders_of;
use crate::keeper::Keeper;
use crate::mail::Answer;
use crate::navigation;
use crate::outgoing::Outgoing;
use crate::settings;
use crate::world::{Action, MAIN_SESSION};

impl MainLoop {
    pub(super) fn initialize(&mut self, params: &InitializeParams, answer: Answer<InitializeResult>) {
        // Of an attempt that failed.
        self.greetings.clear();
        let (options, problems) = InitializationOptions::read(params.initialization_options.as_ref());
        for problem in problems {
            self.greetings
                .push(("options", format!("not all of initializationOptions was taken: {problem}")));
        }
        let client = ClientInfo::new(&params.capabilities, &options);
        let encoding = client.encoding;
        self.folders = folders_of(params);
        let own = options.settings;
        let roots = self.folders.roots();
        let client = Arc::new(client);
        self.services.meet(Arc::clone(&client));
        let session = self.first_session(&client, &roots);
        let [user, environment] = settings::of_user();
        let workspace = (Layer::Workspace, settings::of_workspace(&roots));
        let editor = own.map(|tree| (Layer::Editor, settings::of_editor(tree)));
        let mut told = Vec::new();
        self.transition(|world| {
            world.client = Arc::clone(&client);
            world.snapshot.roots = Arc::new(roots);
            world.begin_with(session);
            world.trusted(client.trust);
            let layers = [user, workspace, environment].into_iter().chain(editor);
            let actions: Vec<Action> =
                layers.flat_map(|(layer, found)| world.configured(layer, found)).collect();
            let mut now = Vec::new();
            for action in actions {
                match action {
                    Action::Warn { code, message, .. } => told.push((code, message)),
                    // The index and the meter are asked for when the client is ready.
                    Action::Reindex | Action::Meter => {}
                    other => now.push(other),
                }
            }
            now
        });
        self.greetings.extend(told);
        // Nobody waits any more when the client cancelled its first request; the state is right all the same.
        let wanted = navigation::features(&self.world.snapshot.settings.lsp);
        let offered = self.offers.begin(&wanted, &self.world.client.registers);
        let _ = answer.send(capabilities::result(encoding, offered));
    }

    /// The session that an editor starts with: a new one, or the one that it wishes to go on with. Nobody waits for
    /// anything else yet, so the disk may be waited for here.
    fn first_session(&mut self, client: &ClientInfo, roots: &Roots) -> Arc<Session> {
        let keeper = &self.services.keeper;
        let folder = roots.iter().next().map(strata_host::roots::Root::path);
        if let Some(Err(error)) = folder.map(|folder| keeper.settle(folder)) {
            self.greetings.push(("store", format!("sessions are not kept: {error}")));
        }
        if let Some(id) = &client.resume {
            match keeper.load(id, Access::Write) {
                Ok(session) => return session,
                Err(error) => {
                    self.greetings.push(("resume", format!("a new session was begun: {error}")));
                }
            }
        }
        let id = Keeper::new_id().unwrap_or_else(|_| MAIN_SESSION.to_owned());
        Arc::new(Session::new(id))
    }

    pub(super) fn initialized(&mut self) {
        for (code, message) in std::mem::take(&mut self.greetings) {
            self.services.warn(code, message);
        }
        let client = Arc::clone(&self.world.client);
        if client.configuration == Can::Yes {
            self.ask_settings();
        }
        if client.watches_files == Can::Yes {
            self.say(Outgoing::WatchFiles);
        } else {
            self.watch_ourselves();
        }
        self.offer();
        let counter = Arc::clone(&self.world.snapshot.counter);
        let model = self.world.snapshot.models.resolve(&self.world.snapshot.settings.model).model;
        let warm_up = carried("warm up", move || counter.warm_up(model.tokenizer));
        self.pool.spawn(warm_up, |_| ());
        self.act(Action::Reindex);
        self.act(Action::Meter);
    }
}
