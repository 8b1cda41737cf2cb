//! What the client changes while the server runs: the workspace folders, and settings from all places.

use std::sync::Arc;

use serde_json::Value;
use strata_host::config::Layer;
use strata_host::pool::Lane;
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

    /// Looks at the settings files of the workspace.
    pub(super) fn read_settings(&mut self) {
        let (roots, mail) = (Arc::clone(&self.world.snapshot.roots), self.mail.clone());
        self.pool.spawn(
            Lane::Interactive,
            carried("read settings", move || settings::of_workspace(&roots)),
            move |found| match found {
                Ok(found) => drop(mail.send(Mail::WorkspaceSettings(found))),
                Err(panicked) => tracing::error!(%panicked, "reading the settings files panicked"),
            },
        );
    }
}
