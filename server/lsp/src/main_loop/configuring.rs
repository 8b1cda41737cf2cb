//! What the client changes while the server runs: the workspace folders, and settings from all places.

use std::sync::Arc;

use serde_json::Value;
use strata_host::config::Layer;
use tower_lsp::ls_types::DidChangeWorkspaceFoldersParams;

use super::MainLoop;
use crate::client::Can;
use crate::faults::carried;
use crate::mail::Mail;
use crate::outgoing::Outgoing;
use crate::settings::{self, Found};

impl MainLoop {
    pub(super) fn folders_changed(&mut self, params: &DidChangeWorkspaceFoldersParams) {
        let mut folders = self.folders.clone();
        folders.change(params);
        let roots = folders.roots();
        if let Some(root) = roots.iter().next()
            && let Err(error) = self.services.keeper.settle(root.path())
        {
            self.services.warn("store", format!("sessions are not kept: {error}"));
        }
        self.transition(|world| world.folders_changed(roots));
        self.folders = folders;
    }

    /// A client that can be asked is asked; others send their settings along.
    pub(super) fn settings_changed(&mut self, tree: Value) {
        if self.world.client.configuration == Can::Yes {
            self.say(Outgoing::AskSettings);
        } else {
            let tree = tree.get("strata").cloned().unwrap_or(tree);
            self.configured(Layer::Editor, settings::of_editor(tree));
        }
    }

    pub(super) fn configured(&mut self, layer: Layer, found: Vec<Found>) {
        self.transition(|world| world.configured(layer, found));
        self.offer();
    }

    /// Looks at the settings files of the workspace. A look may end after one that began later, and does not count then.
    pub(super) fn read_settings(&mut self) {
        self.settings_looks += 1;
        let (look, roots, mail) =
            (self.settings_looks, Arc::clone(&self.world.snapshot.roots), self.mail.clone());
        self.pool.spawn(carried("read settings", move || settings::of_workspace(&roots)), move |found| {
            match found {
                Ok(found) => drop(mail.send(Mail::WorkspaceSettings(look, found))),
                Err(panicked) => tracing::error!(%panicked, "reading the settings files panicked"),
            }
        });
    }

    /// The settings files were looked at for the time of this number.
    pub(super) fn workspace_settings(&mut self, look: u64, found: Vec<Found>) {
        if look == self.settings_looks {
            self.configured(Layer::Workspace, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use serde_json::json;
    use strata_host::config::Source;
    use strata_host::pool::{Pool, Urgency};
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[test]
    fn a_look_at_the_settings_files_that_ends_late_does_not_count() {
        let (mail, _inbox) = std::sync::mpsc::channel();
        let (outgoing, _said) = unbounded_channel();
        let mut main_loop =
            MainLoop::new(Pool::new(NonZeroUsize::MIN, Urgency::Awaited).unwrap(), mail, outgoing).unwrap();
        main_loop.read_settings();
        main_loop.read_settings();
        let found = |bytes: u64| {
            let values = json!({ "files": { "max_bytes": bytes } });
            vec![Ok(Source { layer: Layer::Workspace, name: ".strata.toml".into(), values })]
        };
        main_loop.workspace_settings(2, found(2_000));
        main_loop.workspace_settings(1, found(1_000));
        assert_eq!(main_loop.world.snapshot.settings.files.max_bytes, 2_000);
    }
}
