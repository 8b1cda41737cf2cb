//! Watches files on disk through the client or with the server's own watcher. If neither is available, scans all files
//! at intervals. Reports changes as events.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use strata_host::pool::Pool;
use strata_host::watch::{WatchError, Watcher};

use crate::event::Event;
use strata_app::faults::carried;

/// Whether the watcher can silently lose changes. On Windows, the `notify` crate does not report that more changes
/// happened at once than its buffer holds.
const LOSES_CHANGES: bool = cfg!(windows);

/// Interval between scans without a watcher, or with one that can lose changes. A scan of a thousand files takes milliseconds.
const LOOK_EVERY: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(super) enum WatchState {
    /// The client watches the files, or watching has not started yet.
    #[default]
    Others,
    Ours {
        watcher: Arc<Mutex<Watcher>>,
        /// Whether any folder has been watched so far.
        begun: bool,
        /// Time of the last scan of all files.
        last: Instant,
    },
    /// No watcher is available, so all files are scanned at intervals.
    NowAndThen { last: Instant },
}

impl WatchState {
    /// Creates the server's own watcher, without watched folders.
    pub(super) fn ourselves(events: &Sender<Event>) -> Result<Self, WatchError> {
        let events = events.clone();
        // Sending fails only if the main loop has ended.
        let watcher = Watcher::new(move |sight| drop(events.send(Event::Seen(sight))))?;
        Ok(Self::Ours { watcher: Arc::new(Mutex::new(watcher)), begun: false, last: Instant::now() })
    }

    /// Switches to scanning all files at intervals, starting now.
    pub(super) fn now_and_then() -> Self {
        Self::NowAndThen { last: Instant::now() }
    }

    /// Starts watching the folders that a scan found, if the server watches files itself.
    pub(super) fn adjust(&self, folders: &Arc<BTreeSet<PathBuf>>, pool: &Pool, events: &Sender<Event>) {
        let Self::Ours { watcher, .. } = self else { return };
        let (watcher, folders, events) = (Arc::clone(watcher), Arc::clone(folders), events.clone());
        pool.spawn(
            carried("watch", move || watcher.lock().unwrap_or_else(PoisonError::into_inner).watch(&folders)),
            move |watched| {
                let watched = match watched {
                    Ok(Ok(new)) => Ok(new),
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(panicked) => Err(panicked.to_string()),
                };
                let _ = events.send(Event::Watched(watched));
            },
        );
    }

    /// Records that watching has begun. Returns whether these are the first watched folders, in which case earlier
    /// changes were missed and all files must be scanned.
    pub(super) fn are_first(&mut self) -> bool {
        match self {
            Self::Ours { begun, .. } => !std::mem::replace(begun, true),
            _ => false,
        }
    }

    /// Records that all files were scanned, which restarts the interval until the next scan.
    pub(super) fn looked(&mut self) {
        if let Self::Ours { last, .. } | Self::NowAndThen { last } = self {
            *last = Instant::now();
        }
    }

    /// Returns the time until the next scan, or `None` if no change can be missed.
    pub(super) fn time_to_look(&self) -> Option<Duration> {
        match self {
            Self::Ours { last, .. } if LOSES_CHANGES => Some(LOOK_EVERY.saturating_sub(last.elapsed())),
            Self::NowAndThen { last } => Some(LOOK_EVERY.saturating_sub(last.elapsed())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Returns the time to the next scan of a watcher that scanned all files this long ago, and after the scan if it is due.
    fn time_to_look_after(elapsed: Duration) -> Option<(Duration, Duration)> {
        let (events, _receiver) = channel();
        let mut watching = WatchState::ourselves(&events).unwrap();
        let WatchState::Ours { last, .. } = &mut watching else { panic!("not the server's own watcher") };
        *last = last.checked_sub(elapsed).unwrap();
        let wait = watching.time_to_look()?;
        watching.looked();
        Some((wait, watching.time_to_look()?))
    }

    #[test]
    fn where_the_watcher_can_lose_changes_all_files_are_scanned_once_a_minute() {
        if !cfg!(windows) {
            assert_eq!(time_to_look_after(LOOK_EVERY), None);
            return;
        }
        let (wait, again) = time_to_look_after(LOOK_EVERY).unwrap();
        assert_eq!(wait, Duration::ZERO);
        assert!(again > LOOK_EVERY / 2);
        let (wait, _) = time_to_look_after(LOOK_EVERY / 4).unwrap();
        assert!(wait > LOOK_EVERY / 2);
    }
}
