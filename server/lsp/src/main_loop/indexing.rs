//! Starts index runs, and installs their results.

use std::sync::Arc;

use strata_app::model::index::Index;

use super::MainLoop;
use crate::event::IndexEnd;
use crate::world::{Action, ServerState};

impl MainLoop {
    pub(super) fn start_indexing(&mut self) {
        let snapshot = self.world.snapshot.clone();
        self.indexing.start(&snapshot, &self.background, &self.events, &self.outbound, &self.world.client);
    }

    /// Handles a partial index of a run.
    pub(super) fn install_partial_index(&mut self, run: u64, index: Index) {
        if self.indexing.is_active(run) {
            self.replace_index(|world| world.install_partial_index(index));
            self.with_sessions(|sessions, host| sessions.start_ready_tasks(host));
        }
    }

    /// Runs a transition that replaces the index. Drops the old index in the background, since this takes a while in a
    /// large repository.
    fn replace_index(&mut self, next: impl FnOnce(&mut ServerState) -> Vec<Action>) {
        let old_index = Arc::clone(&self.world.snapshot.index);
        self.install_next_state(next);
        self.watching.watch_folders(&self.world.snapshot.index.folders, &self.background, &self.events);
        self.background.spawn(move || drop(old_index), |_| ());
    }

    /// Handles the end of a run, and starts the next one if requested.
    pub(super) fn index_run_ended(&mut self, run: u64, end: IndexEnd) {
        let outcome = match &end {
            IndexEnd::Done(_) => "done",
            IndexEnd::Stopped => "stopped",
            IndexEnd::Failed => "failed",
        };
        if self.indexing.end(run, outcome, &self.outbound) {
            match end {
                IndexEnd::Done(index) => self.replace_index(|world| world.install_index(*index)),
                IndexEnd::Stopped => {}
                IndexEnd::Failed => {
                    let message = "an internal error stopped the scan of the workspace, so the index is out of date; run \
                                   strata.server.reindex to scan again. Please report this";
                    self.services.warn("internal", message.to_owned());
                }
            }
        }
        self.start_indexing();
        self.with_sessions(|sessions, host| sessions.start_ready_tasks(host));
    }
}
