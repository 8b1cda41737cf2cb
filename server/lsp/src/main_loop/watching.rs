//! Starts the server's own watcher, and turns what it finds into actions.

use std::collections::BTreeSet;
use std::path::PathBuf;

use strata_base::key::FileKey;

use super::MainLoop;
use super::watch_state::FileWatchMode;
use crate::world::Action;

impl MainLoop {
    pub(super) fn watch_as_server(&mut self) {
        match FileWatchMode::with_own_watcher(&self.events) {
            Ok(watching) => {
                self.watching = watching;
                self.watching.watch_folders(
                    &self.world.snapshot.index.folders,
                    &self.background,
                    &self.events,
                );
            }
            Err(error) => self.fall_back_to_polling(&error.to_string()),
        }
    }

    pub(super) fn handle_watch_result(&mut self, folders: Result<Vec<PathBuf>, String>) {
        match folders {
            Ok(new_folders) if new_folders.is_empty() => {}
            Ok(_) if self.watching.record_watching_start() => self.perform_action(Action::Rescan),
            Ok(new_folders) => {
                let roots = &self.world.snapshot.roots;
                let keys: BTreeSet<FileKey> =
                    new_folders.iter().filter_map(|folder| roots.key_of(folder)).collect();
                if !keys.is_empty() {
                    self.perform_action(Action::Refresh(keys));
                }
            }
            Err(error) => self.fall_back_to_polling(&error),
        }
    }

    fn fall_back_to_polling(&mut self, error: &str) {
        self.watching = FileWatchMode::with_polling();
        let message = format!("cannot watch files, so Strata scans for changes once a minute: {error}");
        self.services.warn("watch", message);
    }
}
