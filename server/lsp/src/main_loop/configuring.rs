//! Handles changes of workspace folders and settings by the client.

use std::sync::Arc;

use serde_json::Value;
use strata_host::config::{Layer, workspace_sources};
use tower_lsp::ls_types::DidChangeWorkspaceFoldersParams;

use super::MainLoop;
use crate::event::Event;
use crate::outbound::Outbound;
use strata_app::faults::carried;
use strata_app::model::settings::{self, FoundSettings};

impl MainLoop {
    pub(super) fn folders_changed(&mut self, params: &DidChangeWorkspaceFoldersParams) {
        let mut folders = self.folders.clone();
        folders.change(params);
        let roots = folders.roots();
        if let Some(root) = roots.iter().next()
            && let Err(error) = self.services.store.settle(&root.real)
        {
            self.services.warn("store", format!("conversations are not saved: {error}"));
        }
        self.transition(|world| world.folders_changed(roots));
        self.folders = folders;
    }

    /// Asks the client for its settings, or uses `tree` if the client does not support `workspace/configuration`.
    pub(super) fn settings_changed(&mut self, tree: Value) {
        if self.world.client.configuration {
            self.ask_settings();
        } else {
            let tree = tree.get("strata").cloned().unwrap_or(tree);
            self.configured(Layer::Editor, settings::of_editor(tree));
        }
    }

    /// Asks the client for its settings. An answer that arrives after the answer to a later request is ignored.
    pub(super) fn ask_settings(&mut self) {
        self.settings_asked += 1;
        self.say(Outbound::AskSettings(self.settings_asked));
    }

    /// Applies the answer to the settings request with this number, unless a later request has been answered. Answers
    /// to earlier requests are applied too, since later answers may never arrive.
    pub(super) fn settings_received(&mut self, question: u64, tree: Value) {
        if question > self.settings_answered {
            self.configured(Layer::Editor, settings::of_editor(tree));
            self.settings_answered = question;
        }
    }

    pub(super) fn configured(&mut self, layer: Layer, found: Vec<FoundSettings>) {
        self.transition(|world| world.configured(layer, found));
        self.offer();
    }

    /// Reads the workspace's settings files in the background. The result is ignored if a later read has started.
    pub(super) fn read_settings(&mut self) {
        self.settings_looks += 1;
        let (look, roots, events) =
            (self.settings_looks, Arc::clone(&self.world.snapshot.roots), self.events.clone());
        self.pool.spawn(
            carried("read settings", move || workspace_sources(&roots)),
            move |found| match found {
                Ok(found) => drop(events.send(Event::WorkspaceSettings(look, found))),
                Err(panicked) => tracing::error!(%panicked, "reading the settings files panicked"),
            },
        );
    }

    /// Applies the settings from the read with this number, unless a later read has started.
    pub(super) fn workspace_settings(&mut self, look: u64, found: Vec<FoundSettings>) {
        if look == self.settings_looks {
            self.configured(Layer::Workspace, found);
        }
    }
}

#[cfg(test)]
mod tests {

    use serde_json::json;
    use strata_host::config::Source;

    use super::*;

    #[test]
    fn an_answer_to_an_earlier_question_does_not_count() {
        let (mut main_loop, mut said) = MainLoop::with_one_thread(std::sync::mpsc::channel().0);
        let mut ask = |main_loop: &mut MainLoop| {
            main_loop.ask_settings();
            std::iter::from_fn(|| said.try_recv().ok()).find_map(|said| match said {
                Outbound::AskSettings(question) => Some(question),
                _ => None,
            })
        };
        let mut asked = || ask(&mut main_loop).unwrap();
        let questions = [asked(), asked(), asked(), asked()];
        let mut answer = |question: usize, bytes: u64| {
            let tree = json!({ "files": { "max_bytes": bytes } });
            main_loop.settings_received(questions[question], tree);
            main_loop.world.snapshot.settings.files.max_bytes
        };
        assert_eq!(answer(0, 1_000), 1_000, "the others may never be answered");
        assert_eq!(answer(2, 3_000), 3_000);
        assert_eq!(answer(1, 2_000), 3_000);
        assert_eq!(answer(3, 4_000), 4_000);
    }

    #[test]
    fn a_look_at_the_settings_files_that_ends_late_does_not_count() {
        let (mut main_loop, _said) = MainLoop::with_one_thread(std::sync::mpsc::channel().0);
        main_loop.read_settings();
        main_loop.read_settings();
        let found = |tokens: u64| {
            let values = json!({ "files": { "list_budget": tokens } });
            vec![Ok(Source { layer: Layer::Workspace, name: ".strata.toml".into(), values })]
        };
        main_loop.workspace_settings(2, found(2_000));
        main_loop.workspace_settings(1, found(1_000));
        assert_eq!(main_loop.world.snapshot.settings.files.list_budget, 2_000);
    }
}
