//! Starts the server's own watcher, and turns what it finds into actions.

use std::collections::BTreeSet;
use std::path::PathBuf;

use strata_base::key::FileKey;

use super::MainLoop;
use super::watch_state::WatchState;
use crate::world::Action;

impl MainLoop {
    pub(super) fn watch_ourselves(&mut self) {
        match WatchState::ourselves(&self.events) {
            Ok(watching) => {
                self.watching = watching;
                self.watching.adjust(&self.world.snapshot.index.folders, &self.background, &self.events);
            }
            Err(error) => self.cannot_watch(&error.to_string()),
        }
    }

    pub(super) fn watched(&mut self, watched: Result<Vec<PathBuf>, String>) {
        match watched {
            Ok(new) if new.is_empty() => {}
            Ok(_) if self.watching.are_first() => self.act(Action::Rescan),
            Ok(new) => {
                let roots = &self.world.snapshot.roots;
                let keys: BTreeSet<FileKey> = new.iter().filter_map(|folder| roots.key_of(folder)).collect();
                if !keys.is_empty() {
                    self.act(Action::Refresh(keys));
                }
            }
            Err(error) => self.cannot_watch(&error),
        }
    }

    fn cannot_watch(&mut self, error: &str) {
        self.watching = WatchState::now_and_then();
        let message = format!("cannot watch files, so Strata scans for changes once a minute: {error}");
        self.services.warn("watch", message);
    }
}
