//! Handles changes of workspace folders and settings by the client.

use std::sync::Arc;

use serde_json::Value;
use strata_host::config::{SettingLayer, workspace_sources};
use tower_lsp::ls_types::DidChangeWorkspaceFoldersParams;

use super::MainLoop;
use crate::event::Event;
use crate::outbound::OutboundMessage;
use strata_app::faults::with_fault_points;
use strata_app::model::settings::{self, FoundSettings};

impl MainLoop {
    pub(super) fn folders_changed(&mut self, params: &DidChangeWorkspaceFoldersParams) {
        let mut folders = self.folders.clone();
        folders.change(params);
        let roots = folders.roots();
        if let Some(root) = roots.iter().next()
            && let Err(error) = self.services.store.enable_persistence(&root.real)
        {
            self.services.warn("store", format!("conversations are not saved: {error}"));
        }
        self.install_next_state(|world| world.folders_changed(roots));
        self.folders = folders;
    }

    /// Asks the client for its settings, or uses `tree` if the client does not support `workspace/configuration`.
    pub(super) fn settings_changed(&mut self, tree: Value) {
        if self.world.client.configuration {
            self.request_settings();
        } else {
            let tree = tree.get("strata").cloned().unwrap_or(tree);
            self.apply_settings(SettingLayer::Editor, settings::editor_settings(tree));
        }
    }

    /// Asks the client for its settings. An answer that arrives after the answer to a later request is ignored.
    pub(super) fn request_settings(&mut self) {
        self.settings_requests += 1;
        self.send_to_client(OutboundMessage::RequestSettings(self.settings_requests));
    }

    /// Applies the answer to the settings request with this number, unless a later request has been answered. Answers
    /// to earlier requests are applied too, since later answers may never arrive.
    pub(super) fn settings_received(&mut self, request: u64, tree: Value) {
        if request > self.latest_settings_answer {
            self.apply_settings(SettingLayer::Editor, settings::editor_settings(tree));
            self.latest_settings_answer = request;
        }
    }

    pub(super) fn apply_settings(&mut self, layer: SettingLayer, sources: Vec<FoundSettings>) {
        self.install_next_state(|world| world.apply_settings(layer, sources));
        self.update_registrations();
    }

    /// Reads the workspace's settings files in the background. The result is ignored if a later read has started.
    pub(super) fn read_settings(&mut self) {
        self.settings_reads += 1;
        let (read, roots, events) =
            (self.settings_reads, Arc::clone(&self.world.snapshot.roots), self.events.clone());
        self.pool.spawn(
            with_fault_points("read settings", move || workspace_sources(&roots)),
            move |sources| match sources {
                Ok(sources) => drop(events.send(Event::WorkspaceSettings(read, sources))),
                Err(panicked) => tracing::error!(%panicked, "reading the settings files panicked"),
            },
        );
    }

    /// Applies the settings from the read with this number, unless a later read has started.
    pub(super) fn workspace_settings_read(&mut self, read: u64, sources: Vec<FoundSettings>) {
        if read == self.settings_reads {
            self.apply_settings(SettingLayer::Workspace, sources);
        }
    }
}

#[cfg(test)]
mod tests {

    use serde_json::json;
    use strata_host::config::SettingsSource;

    use super::*;

    #[test]
    fn an_answer_to_an_earlier_request_is_ignored_after_a_later_answer() {
        let (mut main_loop, mut outbound) = MainLoop::with_one_thread(std::sync::mpsc::channel().0);
        let mut send_settings_request = |main_loop: &mut MainLoop| {
            main_loop.request_settings();
            std::iter::from_fn(|| outbound.try_recv().ok()).find_map(|message| match message {
                OutboundMessage::RequestSettings(request) => Some(request),
                _ => None,
            })
        };
        let mut send_request = || send_settings_request(&mut main_loop).unwrap();
        let requests = [send_request(), send_request(), send_request(), send_request()];
        let mut answer = |request: usize, bytes: u64| {
            let tree = json!({ "files": { "max_bytes": bytes } });
            main_loop.settings_received(requests[request], tree);
            main_loop.world.snapshot.settings.files.max_bytes
        };
        assert_eq!(answer(0, 1_000), 1_000, "the others may never be answered");
        assert_eq!(answer(2, 3_000), 3_000);
        assert_eq!(answer(1, 2_000), 3_000);
        assert_eq!(answer(3, 4_000), 4_000);
    }

    #[test]
    fn an_outdated_read_of_the_settings_files_is_ignored() {
        let (mut main_loop, _outbound) = MainLoop::with_one_thread(std::sync::mpsc::channel().0);
        main_loop.read_settings();
        main_loop.read_settings();
        let sources = |tokens: u64| {
            let values = json!({ "files": { "list_budget": tokens } });
            vec![Ok(SettingsSource { layer: SettingLayer::Workspace, name: ".strata.toml".into(), values })]
        };
        main_loop.workspace_settings_read(2, sources(2_000));
        main_loop.workspace_settings_read(1, sources(1_000));
        assert_eq!(main_loop.world.snapshot.settings.files.list_budget, 2_000);
    }
}
