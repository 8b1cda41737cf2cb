//! Watches the workspace folders for clients that cannot watch files. Collects changed paths until there are no changes
//! for a moment. Reports only changes in scanned directories. Where the system watches single directories, ignored ones
//! cost nothing. Does not follow links or read files; the receiver finds out what changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent {
    /// Paths that were created, deleted or modified.
    Changed(BTreeSet<PathBuf>),
    /// There were too many changes to report, so anything may have changed.
    Everything,
}

/// A file watcher. Dropping it stops watching.
#[derive(Debug)]
pub struct Watcher {
    system: RecommendedWatcher,
    coverage: WatchCoverage,
    /// Directories that the operating system watches for Strata. With [`WatchCoverage::Tree`], these are the topmost of
    /// the watched directories.
    system_watched: BTreeSet<PathBuf>,
    folders: Arc<Mutex<WatchedFolders>>,
    max_folders: usize,
}

/// What one watch of the operating system covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchCoverage {
    /// A directory and its entries.
    Directory,
    /// A directory and everything below it.
    Tree,
}

/// The watched directories, shared with the thread that receives events from the system.
#[derive(Debug, Default)]
struct WatchedFolders {
    watched: BTreeSet<PathBuf>,
    /// Deleted or renamed directories. Their watches do not apply to new directories with the same paths.
    removed: BTreeSet<PathBuf>,
}

/// Why files cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The maximum number of watched directories is reached.
    #[error("there are {requested} directories, but the system can watch only {watched}")]
    TooMany {
        requested: usize,
        /// Number of directories that are watched.
        watched: usize,
    },
    #[error("the system cannot watch files: {0}")]
    System(String),
}

/// Quiet time before changes are reported, so that a program can finish writing many files.
const QUIET_TIME: Duration = Duration::from_millis(50);
/// Maximum time between a change and its report.
const MAX_REPORT_DELAY: Duration = Duration::from_millis(500);
/// Maximum number of queued events. Further events are dropped and reported as `WatchEvent::Everything`.
const QUEUE_CAPACITY: usize = 8_192;
/// Maximum number of paths in a report. Checking more paths takes longer than a full scan. On Windows, `notify` has a
/// buffer of 16 KB, and does not report that it has lost changes because the buffer was full. About 40 new files fill the
/// buffer, so fewer are already followed by a scan.
const MAX_REPORTED_PATHS: usize = if cfg!(windows) { 16 } else { 2_000 };
/// Maximum number of watched directories, regardless of the system's limit. Each takes about a kilobyte of kernel
/// memory.
const MAX_WATCHED_FOLDERS: usize = 100_000;

impl WatchCoverage {
    /// Coverage on the current system. On Windows, a directory cannot be renamed while one below it is watched. On
    /// macOS, every watch restarts the event stream.
    const CURRENT: Self = if cfg!(any(windows, target_os = "macos")) { Self::Tree } else { Self::Directory };

    /// Returns the directories to watch, so that all of `folders` are covered.
    fn covering_folders(self, folders: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        if self == Self::Directory {
            return folders.clone();
        }
        // In this order, a directory is directly followed by those below it.
        let mut tops: Vec<&PathBuf> = Vec::new();
        for folder in folders {
            if !tops.last().is_some_and(|top| folder.starts_with(top)) {
                tops.push(folder);
            }
        }
        tops.into_iter().cloned().collect()
    }

    fn mode(self) -> RecursiveMode {
        match self {
            Self::Directory => RecursiveMode::NonRecursive,
            Self::Tree => RecursiveMode::Recursive,
        }
    }
}

impl Watcher {
    /// Creates a watcher without watched directories. Reports events by calling `on_event` on a dedicated thread.
    ///
    /// # Errors
    /// [`WatchError::System`] if the system cannot watch files.
    pub fn new(on_event: impl FnMut(WatchEvent) + Send + 'static) -> Result<Self, WatchError> {
        Self::with_limit(MAX_WATCHED_FOLDERS, WatchCoverage::CURRENT, on_event)
    }

    fn with_limit(
        max_folders: usize,
        coverage: WatchCoverage,
        mut on_event: impl FnMut(WatchEvent) + Send + 'static,
    ) -> Result<Self, WatchError> {
        let system = |error: &dyn std::fmt::Display| WatchError::System(error.to_string());
        let folders: Arc<Mutex<WatchedFolders>> = Arc::default();
        let (sender, events) = sync_channel(QUEUE_CAPACITY);
        let has_missed = Arc::new(AtomicBool::new(false));
        let collector_has_missed = Arc::clone(&has_missed);
        thread::Builder::new()
            .name("strata-watch".to_owned())
            .spawn(move || collect_changes(&events, &collector_has_missed, &mut on_event))
            .map_err(|error| system(&error))?;
        let handler_folders = Arc::clone(&folders);
        let handler = move |event| forward(event, &handler_folders, &sender, &has_missed);
        let watcher = notify::recommended_watcher(handler).map_err(|error| system(&error))?;
        Ok(Self { system: watcher, coverage, system_watched: BTreeSet::new(), folders, max_folders })
    }

    /// Sets the watched directories, and returns those that were not watched before. Earlier changes in the returned
    /// directories are not reported.
    ///
    /// # Errors
    /// [`WatchError`] if a directory cannot be watched. In this case, only some of the directories are watched.
    pub fn watch(&mut self, folders: &BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, WatchError> {
        let (before, removed) = {
            let mut state = self.lock_folders();
            let before = std::mem::replace(&mut state.watched, folders.clone());
            (before, std::mem::take(&mut state.removed))
        };
        let to_watch = self.coverage.covering_folders(folders);
        let still_watched: BTreeSet<PathBuf> = self
            .system_watched
            .intersection(&to_watch)
            .filter(|folder| !removed.contains(*folder))
            .cloned()
            .collect();
        // Remove watches first, because a renamed directory is still watched under its old path.
        for folder in self.system_watched.difference(&still_watched) {
            // This fails if the directory was deleted, because the system has already removed the watch.
            let _ = self.system.unwatch(folder);
        }
        self.system_watched = still_watched;
        for folder in to_watch {
            if self.system_watched.contains(&folder) {
                continue;
            }
            let too_many =
                WatchError::TooMany { requested: folders.len(), watched: self.system_watched.len() };
            if self.system_watched.len() >= self.max_folders {
                return Err(too_many);
            }
            if let Err(error) = self.system.watch(&folder, self.coverage.mode()) {
                match error.kind {
                    notify::ErrorKind::MaxFilesWatch => return Err(too_many),
                    // The directory was deleted or is not accessible, so there is nothing to watch.
                    _ if is_folder_error(&error) || !folder.is_dir() => {
                        let covers = |other: &Path| match self.coverage {
                            WatchCoverage::Directory => other == folder,
                            WatchCoverage::Tree => other.starts_with(&folder),
                        };
                        self.lock_folders().watched.retain(|other| !covers(other));
                        continue;
                    }
                    _ => return Err(WatchError::System(error.to_string())),
                }
            }
            self.system_watched.insert(folder);
        }
        let state = self.lock_folders();
        Ok(state
            .watched
            .iter()
            .filter(|folder| !before.contains(*folder) || removed.contains(*folder))
            .cloned()
            .collect())
    }

    fn lock_folders(&self) -> MutexGuard<'_, WatchedFolders> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_folder_error(error: &notify::Error) -> bool {
    use std::io::ErrorKind;
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => {
            matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::NotADirectory
            )
        }
        _ => false,
    }
}

/// Forwards an event. Runs on the system's thread, which must not block.
fn forward(
    event: notify::Result<Event>,
    folders: &Mutex<WatchedFolders>,
    sender: &SyncSender<PathBuf>,
    has_missed: &AtomicBool,
) {
    let event = match event {
        Ok(event) if event.need_rescan() => return record_missed_events(sender, has_missed),
        Ok(event) if is_change(&event.kind) => event,
        Ok(_) => return,
        Err(_) => return record_missed_events(sender, has_missed),
    };
    let mut folders = folders.lock().unwrap_or_else(PoisonError::into_inner);
    if matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))) {
        let removed = event.paths.iter().filter(|path| folders.watched.contains(*path));
        let removed: Vec<PathBuf> = removed.cloned().collect();
        folders.removed.extend(removed);
    }
    let watched_folders = &folders.watched;
    // Some systems report events of a whole directory tree.
    let is_watched = |path: &Path| {
        watched_folders.contains(path) || path.parent().is_some_and(|parent| watched_folders.contains(parent))
    };
    for path in event.paths.into_iter().filter(|path| is_watched(path)) {
        if sender.try_send(path).is_err() {
            has_missed.store(true, Ordering::Relaxed);
        }
    }
}

fn record_missed_events(sender: &SyncSender<PathBuf>, has_missed: &AtomicBool) {
    has_missed.store(true, Ordering::Relaxed);
    // Wake the receiver. If the queue is full, the receiver is already awake.
    let _ = sender.try_send(PathBuf::new());
}

/// Returns whether an event is a change. Read accesses are not, because Strata's own reads would cause endless events.
fn is_change(kind: &EventKind) -> bool {
    !matches!(kind, EventKind::Access(access) if *access != AccessKind::Close(AccessMode::Write))
}

/// Collects and reports changes until the watcher is dropped.
fn collect_changes(
    events: &Receiver<PathBuf>,
    has_missed: &AtomicBool,
    on_event: &mut impl FnMut(WatchEvent),
) {
    while let Ok(first) = events.recv() {
        let mut paths = BTreeSet::from([first]);
        let deadline = Instant::now() + MAX_REPORT_DELAY;
        let mut end = None;
        while end.is_none() && Instant::now() < deadline {
            match events.recv_timeout(QUIET_TIME) {
                Ok(path) if paths.len() < MAX_REPORTED_PATHS => {
                    paths.insert(path);
                }
                Ok(_) => has_missed.store(true, Ordering::Relaxed),
                Err(error) => end = Some(error),
            }
        }
        paths.remove(Path::new(""));
        if has_missed.swap(false, Ordering::Relaxed) {
            on_event(WatchEvent::Everything);
        } else if !paths.is_empty() {
            on_event(WatchEvent::Changed(paths));
        }
        if end == Some(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    /// Coverages to test. Linux can do both, so that what other systems use is tested here too.
    const COVERAGES: &[WatchCoverage] = if cfg!(target_os = "linux") {
        &[WatchCoverage::Directory, WatchCoverage::Tree]
    } else {
        &[WatchCoverage::CURRENT]
    };

    fn watch_new(
        max: usize,
        coverage: WatchCoverage,
        folders: &[&str],
    ) -> (tempfile::TempDir, PathBuf, Result<Watcher, WatchError>, Receiver<WatchEvent>) {
        let directory = tempfile::tempdir().unwrap();
        let top = crate::roots::canonical(directory.path()).unwrap();
        folders.iter().for_each(|folder| fs::create_dir_all(top.join(folder)).unwrap());
        let (sender, events) = channel();
        let mut watcher = Watcher::with_limit(max, coverage, move |event| drop(sender.send(event))).unwrap();
        let paths = folders.iter().map(|folder| top.join(folder)).collect();
        let result = watcher.watch(&paths).map(|new| assert_eq!(new.len(), folders.len()));
        (directory, top, result.map(|()| watcher), events)
    }

    /// Returns all reported paths, waiting until `path` is among them.
    fn wait_for_path(events: &Receiver<WatchEvent>, path: &Path) -> BTreeSet<PathBuf> {
        let mut reported = BTreeSet::new();
        while !reported.contains(path) {
            match events.recv_timeout(LIMIT).unwrap() {
                WatchEvent::Changed(paths) => reported.extend(paths),
                WatchEvent::Everything => panic!("events were dropped"),
            }
        }
        reported
    }

    #[test]
    fn writes_renames_and_deletions_are_reported_and_reads_are_not() {
        for &coverage in COVERAGES {
            let (_directory, top, watcher, events) = watch_new(10, coverage, &["a", "b"]);
            fs::write(top.join("a/new.txt"), "new").unwrap();
            wait_for_path(&events, &top.join("a/new.txt"));
            fs::rename(top.join("a/new.txt"), top.join("b/other.txt")).unwrap();
            let reported = wait_for_path(&events, &top.join("b/other.txt"));
            assert!(
                reported.contains(&top.join("a/new.txt"))
                    || !wait_for_path(&events, &top.join("a/new.txt")).is_empty()
            );
            fs::read(top.join("b/other.txt")).unwrap();
            fs::remove_file(top.join("b/other.txt")).unwrap();
            wait_for_path(&events, &top.join("b/other.txt"));
            drop(watcher);
            while let Ok(event) = events.recv_timeout(LIMIT) {
                assert_ne!(event, WatchEvent::Everything);
            }
        }
    }

    #[test]
    fn changes_outside_of_the_watched_directories_are_not_reported() {
        for &coverage in COVERAGES {
            let (_directory, top, watcher, events) = watch_new(10, coverage, &["a"]);
            fs::create_dir_all(top.join("ignored/deep")).unwrap();
            fs::create_dir_all(top.join("a/below")).unwrap();
            fs::write(top.join("ignored/deep/x"), "x").unwrap();
            wait_for_path(&events, &top.join("a/below"));
            fs::write(top.join("a/below/not-watched-yet"), "x").unwrap();
            fs::write(top.join("a/last"), "x").unwrap();
            let reported = wait_for_path(&events, &top.join("a/last"));
            assert!(reported.iter().all(|path| !path.starts_with(top.join("ignored"))), "{reported:?}");
            drop(watcher);
        }
    }

    #[test]
    fn a_renamed_folder_is_watched_under_its_new_name() {
        for &coverage in COVERAGES {
            let (_directory, top, watcher, events) = watch_new(10, coverage, &["top", "top/old"]);
            let mut watcher = watcher.unwrap();
            fs::rename(top.join("top/old"), top.join("top/new")).unwrap();
            wait_for_path(&events, &top.join("top/new"));
            let new = watcher.watch(&BTreeSet::from([top.join("top"), top.join("top/new")])).unwrap();
            assert_eq!(new, [top.join("top/new")]);
            fs::write(top.join("top/new/file"), "x").unwrap();
            wait_for_path(&events, &top.join("top/new/file"));
        }
    }

    #[test]
    fn a_directory_that_replaces_a_deleted_one_is_watched() {
        for &coverage in COVERAGES {
            let (_directory, top, watcher, events) = watch_new(10, coverage, &["top", "top/a"]);
            let mut watcher = watcher.unwrap();
            fs::remove_dir(top.join("top/a")).unwrap();
            fs::create_dir(top.join("top/a")).unwrap();
            wait_for_path(&events, &top.join("top/a"));
            let folders = BTreeSet::from([top.join("top"), top.join("top/a")]);
            let limit = Instant::now() + LIMIT;
            while watcher.watch(&folders).unwrap() != [top.join("top/a")] {
                assert!(Instant::now() < limit, "it is mistaken for the deleted directory");
            }
            fs::write(top.join("top/a/file"), "x").unwrap();
            wait_for_path(&events, &top.join("top/a/file"));
        }
    }

    #[test]
    fn more_folders_than_the_limit_are_an_error() {
        for &coverage in COVERAGES {
            let (_directory, _, watcher, _sights) = watch_new(2, coverage, &["a", "b", "c"]);
            let error = watcher.unwrap_err().to_string();
            assert_eq!(error, "there are 3 directories, but the system can watch only 2");
        }
    }

    #[test]
    fn a_deleted_directory_is_not_an_error() {
        for &coverage in COVERAGES {
            let (_directory, top, watcher, _sights) = watch_new(10, coverage, &["a"]);
            let folders = BTreeSet::from([top.join("a"), top.join("gone")]);
            assert_eq!(watcher.unwrap().watch(&folders).unwrap(), [""; 0].map(PathBuf::from));
        }
    }

    #[test]
    fn a_tree_is_covered_from_its_top() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<BTreeSet<_>>();
        let folders = paths(&["w/a", "w/a/b", "w/a/b/c", "w/a-b", "w/d/e", "x"]);
        assert_eq!(WatchCoverage::Tree.covering_folders(&folders), paths(&["w/a", "w/a-b", "w/d/e", "x"]));
        assert_eq!(WatchCoverage::Directory.covering_folders(&folders), folders);
    }

    #[test]
    fn too_many_changes_are_reported_as_everything() {
        let (sender, events) = sync_channel(QUEUE_CAPACITY);
        let has_missed = AtomicBool::new(false);
        for n in 0..MAX_REPORTED_PATHS + 10 {
            sender.send(PathBuf::from(n.to_string())).unwrap();
        }
        drop(sender);
        let mut reported = Vec::new();
        collect_changes(&events, &has_missed, &mut |event| reported.push(event));
        assert_eq!(reported, [WatchEvent::Everything]);
    }
}
