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
use strata_app::faults::with_fault_points;

/// Whether the watcher can silently lose changes. On Windows, the `notify` crate does not report that more changes
/// happened at once than its buffer holds.
const WATCHER_LOSES_CHANGES: bool = cfg!(windows);

/// Interval between scans without a watcher, or with one that can lose changes. A scan of a thousand files takes milliseconds.
const SCAN_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(super) enum FileWatchMode {
    /// The client watches the files, or watching has not started yet.
    #[default]
    ByClient,
    ByServer {
        watcher: Arc<Mutex<Watcher>>,
        /// Whether any folder has been watched so far.
        has_begun: bool,
        /// Time of the last scan of all files.
        last_scan: Instant,
    },
    /// No watcher is available, so all files are scanned at intervals.
    Polling { last_scan: Instant },
}

impl FileWatchMode {
    /// Creates the server's own watcher, without watched folders.
    pub(super) fn with_own_watcher(events: &Sender<Event>) -> Result<Self, WatchError> {
        let events = events.clone();
        // Sending fails only if the main loop has ended.
        let watcher = Watcher::new(move |event| drop(events.send(Event::WatcherReported(event))))?;
        Ok(Self::ByServer {
            watcher: Arc::new(Mutex::new(watcher)),
            has_begun: false,
            last_scan: Instant::now(),
        })
    }

    /// Switches to scanning all files at intervals, starting now.
    pub(super) fn with_polling() -> Self {
        Self::Polling { last_scan: Instant::now() }
    }

    /// Starts watching the folders that a scan found, if the server watches files itself.
    pub(super) fn watch_folders(
        &self,
        folders: &Arc<BTreeSet<PathBuf>>,
        pool: &Pool,
        events: &Sender<Event>,
    ) {
        let Self::ByServer { watcher, .. } = self else { return };
        let (watcher, folders, events) = (Arc::clone(watcher), Arc::clone(folders), events.clone());
        pool.spawn(
            with_fault_points("watch", move || {
                watcher.lock().unwrap_or_else(PoisonError::into_inner).watch(&folders)
            }),
            move |watched| {
                let watched = match watched {
                    Ok(Ok(new)) => Ok(new),
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(panicked) => Err(panicked.to_string()),
                };
                let _ = events.send(Event::WatchingStarted(watched));
            },
        );
    }

    /// Records that watching has begun. Returns whether these are the first watched folders, in which case earlier
    /// changes were missed and all files must be scanned.
    pub(super) fn record_watching_start(&mut self) -> bool {
        match self {
            Self::ByServer { has_begun, .. } => !std::mem::replace(has_begun, true),
            _ => false,
        }
    }

    /// Records that all files were scanned, which restarts the interval until the next scan.
    pub(super) fn record_scan(&mut self) {
        if let Self::ByServer { last_scan, .. } | Self::Polling { last_scan } = self {
            *last_scan = Instant::now();
        }
    }

    /// Returns the time until the next scan, or `None` if no change can be missed.
    pub(super) fn time_until_scan(&self) -> Option<Duration> {
        match self {
            Self::ByServer { last_scan, .. } if WATCHER_LOSES_CHANGES => {
                Some(SCAN_INTERVAL.saturating_sub(last_scan.elapsed()))
            }
            Self::Polling { last_scan } => Some(SCAN_INTERVAL.saturating_sub(last_scan.elapsed())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Returns the time to the next scan of a watcher that scanned all files this long ago, and after the scan if it is due.
    fn time_until_scan_after(elapsed: Duration) -> Option<(Duration, Duration)> {
        let (events, _receiver) = channel();
        let mut watching = FileWatchMode::with_own_watcher(&events).unwrap();
        let FileWatchMode::ByServer { last_scan, .. } = &mut watching else {
            panic!("not the server's own watcher")
        };
        *last_scan = last_scan.checked_sub(elapsed).unwrap();
        let wait = watching.time_until_scan()?;
        watching.record_scan();
        Some((wait, watching.time_until_scan()?))
    }

    #[test]
    fn all_files_are_scanned_every_minute_if_the_watcher_can_lose_changes() {
        if !cfg!(windows) {
            assert_eq!(time_until_scan_after(SCAN_INTERVAL), None);
            return;
        }
        let (wait, again) = time_until_scan_after(SCAN_INTERVAL).unwrap();
        assert_eq!(wait, Duration::ZERO);
        assert!(again > SCAN_INTERVAL / 2);
        let (wait, _) = time_until_scan_after(SCAN_INTERVAL / 4).unwrap();
        assert!(wait > SCAN_INTERVAL / 2);
    }
}
