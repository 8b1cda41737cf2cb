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
    coverage: Coverage,
    /// Directories that the operating system watches for Strata. With [`Coverage::Tree`], these are the topmost of the
    /// watched directories.
    covered: BTreeSet<PathBuf>,
    known: Arc<Mutex<WatchedFolders>>,
    max_folders: usize,
}

/// What one watch of the operating system covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coverage {
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
    gone: BTreeSet<PathBuf>,
}

/// Why files cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The maximum number of watched directories is reached.
    #[error("there are {wanted} directories, but the system can watch only {watched}")]
    TooMany {
        wanted: usize,
        /// Number of directories that are watched.
        watched: usize,
    },
    #[error("the system cannot watch files: {0}")]
    System(String),
}

/// Quiet time before changes are reported, so that a program can finish writing many files.
const QUIET: Duration = Duration::from_millis(50);
/// Maximum time between a change and its report.
const LONGEST: Duration = Duration::from_millis(500);
/// Maximum number of queued events. Further events are dropped and reported as `WatchEvent::Everything`.
const WAITING: usize = 8_192;
/// Maximum number of paths in a report. Checking more paths takes longer than a full scan. On Windows, `notify` has a
/// buffer of 16 KB, and does not report that it has lost changes because the buffer was full. About 40 new files fill the
/// buffer, so fewer are already followed by a scan.
const MANY: usize = if cfg!(windows) { 16 } else { 2_000 };
/// Maximum number of watched directories, regardless of the system's limit. Each takes about a kilobyte of kernel
/// memory.
const MAX_FOLDERS: usize = 100_000;

impl Coverage {
    /// Coverage on the current system. On Windows, a directory cannot be renamed while one below it is watched. On
    /// macOS, every watch restarts the event stream.
    const HERE: Self = if cfg!(any(windows, target_os = "macos")) { Self::Tree } else { Self::Directory };

    /// Returns the directories to watch, so that all of `wanted` are covered.
    fn of(self, wanted: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        if self == Self::Directory {
            return wanted.clone();
        }
        // In this order, a directory is directly followed by those below it.
        let mut tops: Vec<&PathBuf> = Vec::new();
        for folder in wanted {
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
    /// Creates a watcher without watched directories. Reports events by calling `tell` on a dedicated thread.
    ///
    /// # Errors
    /// [`WatchError::System`] if the system cannot watch files.
    pub fn new(tell: impl FnMut(WatchEvent) + Send + 'static) -> Result<Self, WatchError> {
        Self::with_limit(MAX_FOLDERS, Coverage::HERE, tell)
    }

    fn with_limit(
        max_folders: usize,
        coverage: Coverage,
        mut tell: impl FnMut(WatchEvent) + Send + 'static,
    ) -> Result<Self, WatchError> {
        let system = |error: &dyn std::fmt::Display| WatchError::System(error.to_string());
        let known: Arc<Mutex<WatchedFolders>> = Arc::default();
        let (sender, events) = sync_channel(WAITING);
        let missed = Arc::new(AtomicBool::new(false));
        let gathering = Arc::clone(&missed);
        thread::Builder::new()
            .name("strata-watch".to_owned())
            .spawn(move || gather(&events, &gathering, &mut tell))
            .map_err(|error| system(&error))?;
        let told = Arc::clone(&known);
        let handler = move |event| forward(event, &told, &sender, &missed);
        let watcher = notify::recommended_watcher(handler).map_err(|error| system(&error))?;
        Ok(Self { system: watcher, coverage, covered: BTreeSet::new(), known, max_folders })
    }

    /// Sets the watched directories, and returns those that were not watched before. Earlier changes in the returned
    /// directories are not reported.
    ///
    /// # Errors
    /// [`WatchError`] if a directory cannot be watched. In this case, only some of the directories are watched.
    pub fn watch(&mut self, wanted: &BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, WatchError> {
        let (before, gone) = {
            let mut known = self.known();
            let before = std::mem::replace(&mut known.watched, wanted.clone());
            (before, std::mem::take(&mut known.gone))
        };
        let covering = self.coverage.of(wanted);
        let kept: BTreeSet<PathBuf> =
            self.covered.intersection(&covering).filter(|folder| !gone.contains(*folder)).cloned().collect();
        // Remove watches first, because a renamed directory is still watched under its old path.
        for gone in self.covered.difference(&kept) {
            // This fails if the directory was deleted, because the system has already removed the watch.
            let _ = self.system.unwatch(gone);
        }
        self.covered = kept;
        for folder in covering {
            if self.covered.contains(&folder) {
                continue;
            }
            let too_many = WatchError::TooMany { wanted: wanted.len(), watched: self.covered.len() };
            if self.covered.len() >= self.max_folders {
                return Err(too_many);
            }
            if let Err(error) = self.system.watch(&folder, self.coverage.mode()) {
                match error.kind {
                    notify::ErrorKind::MaxFilesWatch => return Err(too_many),
                    // The directory was deleted or is not accessible, so there is nothing to watch.
                    _ if is_of_the_folder(&error) || !folder.is_dir() => {
                        let covers = |other: &Path| match self.coverage {
                            Coverage::Directory => other == folder,
                            Coverage::Tree => other.starts_with(&folder),
                        };
                        self.known().watched.retain(|other| !covers(other));
                        continue;
                    }
                    _ => return Err(WatchError::System(error.to_string())),
                }
            }
            self.covered.insert(folder);
        }
        let known = self.known();
        Ok(known
            .watched
            .iter()
            .filter(|folder| !before.contains(*folder) || gone.contains(*folder))
            .cloned()
            .collect())
    }

    fn known(&self) -> MutexGuard<'_, WatchedFolders> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_of_the_folder(error: &notify::Error) -> bool {
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
    known: &Mutex<WatchedFolders>,
    sender: &SyncSender<PathBuf>,
    missed: &AtomicBool,
) {
    let event = match event {
        Ok(event) if event.need_rescan() => return mark_missed(sender, missed),
        Ok(event) if is_change(&event.kind) => event,
        Ok(_) => return,
        Err(_) => return mark_missed(sender, missed),
    };
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))) {
        let gone = event.paths.iter().filter(|path| known.watched.contains(*path));
        let gone: Vec<PathBuf> = gone.cloned().collect();
        known.gone.extend(gone);
    }
    let folders = &known.watched;
    // Some systems report events of a whole directory tree.
    let is_watched =
        |path: &Path| folders.contains(path) || path.parent().is_some_and(|parent| folders.contains(parent));
    for path in event.paths.into_iter().filter(|path| is_watched(path)) {
        if sender.try_send(path).is_err() {
            missed.store(true, Ordering::Relaxed);
        }
    }
}

fn mark_missed(sender: &SyncSender<PathBuf>, missed: &AtomicBool) {
    missed.store(true, Ordering::Relaxed);
    // Wake the receiver. If the queue is full, the receiver is already awake.
    let _ = sender.try_send(PathBuf::new());
}

/// Returns whether an event is a change. Read accesses are not, because Strata's own reads would cause endless events.
fn is_change(kind: &EventKind) -> bool {
    !matches!(kind, EventKind::Access(access) if *access != AccessKind::Close(AccessMode::Write))
}

/// Collects and reports changes until the watcher is dropped.
fn gather(events: &Receiver<PathBuf>, missed: &AtomicBool, tell: &mut impl FnMut(WatchEvent)) {
    while let Ok(first) = events.recv() {
        let mut paths = BTreeSet::from([first]);
        let latest = Instant::now() + LONGEST;
        let mut end = None;
        while end.is_none() && Instant::now() < latest {
            match events.recv_timeout(QUIET) {
                Ok(path) if paths.len() < MANY => {
                    paths.insert(path);
                }
                Ok(_) => missed.store(true, Ordering::Relaxed),
                Err(quiet) => end = Some(quiet),
            }
        }
        paths.remove(Path::new(""));
        if missed.swap(false, Ordering::Relaxed) {
            tell(WatchEvent::Everything);
        } else if !paths.is_empty() {
            tell(WatchEvent::Changed(paths));
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
    const COVERAGES: &[Coverage] =
        if cfg!(target_os = "linux") { &[Coverage::Directory, Coverage::Tree] } else { &[Coverage::HERE] };

    fn watched(
        max: usize,
        coverage: Coverage,
        folders: &[&str],
    ) -> (tempfile::TempDir, PathBuf, Result<Watcher, WatchError>, Receiver<WatchEvent>) {
        let directory = tempfile::tempdir().unwrap();
        let top = crate::roots::canonical(directory.path()).unwrap();
        folders.iter().for_each(|folder| fs::create_dir_all(top.join(folder)).unwrap());
        let (sender, sights) = channel();
        let mut watcher = Watcher::with_limit(max, coverage, move |sight| drop(sender.send(sight))).unwrap();
        let wanted = folders.iter().map(|folder| top.join(folder)).collect();
        let result = watcher.watch(&wanted).map(|new| assert_eq!(new.len(), folders.len()));
        (directory, top, result.map(|()| watcher), sights)
    }

    /// Returns all reported paths, waiting until `wanted` is among them.
    fn until(sights: &Receiver<WatchEvent>, wanted: &Path) -> BTreeSet<PathBuf> {
        let mut seen = BTreeSet::new();
        while !seen.contains(wanted) {
            match sights.recv_timeout(LIMIT).unwrap() {
                WatchEvent::Changed(paths) => seen.extend(paths),
                WatchEvent::Everything => panic!("events were dropped"),
            }
        }
        seen
    }

    #[test]
    fn what_is_written_renamed_and_deleted_is_seen_and_what_is_read_is_not() {
        for &coverage in COVERAGES {
            let (_directory, top, watcher, sights) = watched(10, coverage, &["a", "b"]);
            fs::write(top.join("a/new.txt"), "new").unwrap();
            until(&sights, &top.join("a/new.txt"));
            fs::rename(top.join("a/new.txt"), top.join("b/other.txt")).unwrap();
            let seen = until(&sights, &top.join("b/other.txt"));
            assert!(
                seen.contains(&top.join("a/new.txt")) || !until(&sights, &top.join("a/new.txt")).is_empty()
            );
            fs::read(top.join("b/other.txt")).unwrap();
            fs::remove_file(top.join("b/other.txt")).unwrap();
            until(&sights, &top.join("b/other.txt"));
            drop(watcher);
            while let Ok(sight) = sights.recv_timeout(LIMIT) {
                assert_ne!(sight, WatchEvent::Everything);
            }
        }
    }

    #[test]
    fn what_is_beside_the_watched_folders_is_not_seen() {
        for &coverage in COVERAGES {
            let (_directory, top, watcher, sights) = watched(10, coverage, &["a"]);
            fs::create_dir_all(top.join("ignored/deep")).unwrap();
            fs::create_dir_all(top.join("a/below")).unwrap();
            fs::write(top.join("ignored/deep/x"), "x").unwrap();
            until(&sights, &top.join("a/below"));
            fs::write(top.join("a/below/not-watched-yet"), "x").unwrap();
            fs::write(top.join("a/last"), "x").unwrap();
            let seen = until(&sights, &top.join("a/last"));
            assert!(seen.iter().all(|path| !path.starts_with(top.join("ignored"))), "{seen:?}");
            drop(watcher);
        }
    }

    #[test]
    fn a_renamed_folder_is_watched_under_its_new_name() {
        for &coverage in COVERAGES {
            let (_directory, top, watcher, sights) = watched(10, coverage, &["top", "top/old"]);
            let mut watcher = watcher.unwrap();
            fs::rename(top.join("top/old"), top.join("top/new")).unwrap();
            until(&sights, &top.join("top/new"));
            let new = watcher.watch(&BTreeSet::from([top.join("top"), top.join("top/new")])).unwrap();
            assert_eq!(new, [top.join("top/new")]);
            fs::write(top.join("top/new/file"), "x").unwrap();
            until(&sights, &top.join("top/new/file"));
        }
    }

    #[test]
    fn a_folder_that_has_taken_the_place_of_another_is_watched() {
        for &coverage in COVERAGES {
            let (_directory, top, watcher, sights) = watched(10, coverage, &["top", "top/a"]);
            let mut watcher = watcher.unwrap();
            fs::remove_dir(top.join("top/a")).unwrap();
            fs::create_dir(top.join("top/a")).unwrap();
            until(&sights, &top.join("top/a"));
            let wanted = BTreeSet::from([top.join("top"), top.join("top/a")]);
            let limit = Instant::now() + LIMIT;
            while watcher.watch(&wanted).unwrap() != [top.join("top/a")] {
                assert!(Instant::now() < limit, "it is mistaken for the deleted directory");
            }
            fs::write(top.join("top/a/file"), "x").unwrap();
            until(&sights, &top.join("top/a/file"));
        }
    }

    #[test]
    fn more_folders_than_the_limit_are_an_error() {
        for &coverage in COVERAGES {
            let (_directory, _, watcher, _sights) = watched(2, coverage, &["a", "b", "c"]);
            let error = watcher.unwrap_err().to_string();
            assert_eq!(error, "there are 3 directories, but the system can watch only 2");
        }
    }

    #[test]
    fn a_folder_that_is_gone_again_is_no_error() {
        for &coverage in COVERAGES {
            let (_directory, top, watcher, _sights) = watched(10, coverage, &["a"]);
            let wanted = BTreeSet::from([top.join("a"), top.join("gone")]);
            assert_eq!(watcher.unwrap().watch(&wanted).unwrap(), [""; 0].map(PathBuf::from));
        }
    }

    #[test]
    fn a_tree_is_covered_from_its_top() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<BTreeSet<_>>();
        let wanted = paths(&["w/a", "w/a/b", "w/a/b/c", "w/a-b", "w/d/e", "x"]);
        assert_eq!(Coverage::Tree.of(&wanted), paths(&["w/a", "w/a-b", "w/d/e", "x"]));
        assert_eq!(Coverage::Directory.of(&wanted), wanted);
    }

    #[test]
    fn many_changes_are_everything() {
        let (sender, events) = sync_channel(WAITING);
        let missed = AtomicBool::new(false);
        for n in 0..MANY + 10 {
            sender.send(PathBuf::from(n.to_string())).unwrap();
        }
        drop(sender);
        let mut told = Vec::new();
        gather(&events, &missed, &mut |sight| told.push(sight));
        assert_eq!(told, [WatchEvent::Everything]);
    }
}
