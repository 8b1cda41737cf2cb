//! Watches the workspace folders, for clients that cannot: collects changed paths until a moment of quiet. Only watches scanned
//! folders, so that ignored ones cost nothing; follows no links and reads no file. Others find out what changed.

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
    /// Something about these paths changed: they came, went, or have another content.
    Changed(BTreeSet<PathBuf>),
    /// Too many changes to see all: anything may be different.
    Everything,
}

/// Watches until it is dropped.
#[derive(Debug)]
pub struct Watcher {
    system: RecommendedWatcher,
    known: Arc<Mutex<WatchedFolders>>,
    max_folders: usize,
}

/// The folders as the system's thread knows them.
#[derive(Debug, Default)]
struct WatchedFolders {
    watched: BTreeSet<PathBuf>,
    /// Removed or renamed folders. Their names may be in use again, but unwatched.
    gone: BTreeSet<PathBuf>,
}

/// Why files are not watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The system watches no more folders for this user.
    #[error("there are {wanted} folders, but the system can watch only {watched}")]
    TooMany {
        wanted: usize,
        /// Folders that were watched until then.
        watched: usize,
    },
    #[error("the system cannot watch files: {0}")]
    System(String),
}

/// Quiet time before changes are reported, so that a program can finish writing many files.
const QUIET: Duration = Duration::from_millis(50);
/// Maximum delay of a report.
const LONGEST: Duration = Duration::from_millis(500);
/// Events that may wait to be gathered. While there are more, something is missed.
const WAITING: usize = 8_192;
/// With more paths than that, looking at each takes longer than looking at everything.
const MANY: usize = 2_000;
/// The most folders watched, whatever the system allows: each takes about a kilobyte of the kernel's memory.
const MAX_FOLDERS: usize = 100_000;

impl Watcher {
    /// Starts without watching anything. Calls `tell` on its own thread.
    ///
    /// # Errors
    /// [`WatchError::System`].
    pub fn new(tell: impl FnMut(WatchEvent) + Send + 'static) -> Result<Self, WatchError> {
        Self::with_limit(MAX_FOLDERS, tell)
    }

    fn with_limit(
        max_folders: usize,
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
        Ok(Self { system: watcher, known, max_folders })
    }

    /// Watches exactly these folders from now on, and returns those not watched before. Earlier changes in them were not seen.
    ///
    /// # Errors
    /// [`WatchError`]; then some of them are watched.
    pub fn watch(&mut self, wanted: &BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, WatchError> {
        let (before, kept) = {
            let mut known = self.known();
            let WatchedFolders { watched, gone } = std::mem::take(&mut *known);
            let kept = watched.iter().filter(|folder| wanted.contains(*folder) && !gone.contains(*folder));
            known.watched = kept.cloned().collect();
            (watched, known.watched.clone())
        };
        // First those that are gone: a folder that was renamed is still watched under its old name.
        for gone in before.difference(&kept) {
            // The system has forgotten it already when it was deleted.
            let _ = self.system.unwatch(gone);
        }
        let mut watched = kept.len();
        let mut new = Vec::new();
        for folder in wanted.difference(&kept) {
            let too_many = WatchError::TooMany { wanted: wanted.len(), watched };
            if watched >= self.max_folders {
                return Err(too_many);
            }
            // Before it is watched, so that nothing is seen of a folder that no one knows.
            self.known().watched.insert(folder.clone());
            if let Err(error) = self.system.watch(folder, RecursiveMode::NonRecursive) {
                self.known().watched.remove(folder);
                match error.kind {
                    notify::ErrorKind::MaxFilesWatch => return Err(too_many),
                    // It is gone again, or closed to us: then nothing in it changes that we could see.
                    _ if is_of_the_folder(&error) => continue,
                    _ => return Err(WatchError::System(error.to_string())),
                }
            }
            watched += 1;
            new.push(folder.clone());
        }
        Ok(new)
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

/// Called by the system's thread, which must not wait.
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
    // Some systems tell of everything below a folder.
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
    // To wake the other side; when it has enough to do, it is awake.
    let _ = sender.try_send(PathBuf::new());
}

/// Reading changes nothing. Our own reading would keep us busy forever.
fn is_change(kind: &EventKind) -> bool {
    !matches!(kind, EventKind::Access(access) if *access != AccessKind::Close(AccessMode::Write))
}

/// Ends when the watcher is dropped.
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

    fn watched(
        max: usize,
        folders: &[&str],
    ) -> (tempfile::TempDir, PathBuf, Result<Watcher, WatchError>, Receiver<WatchEvent>) {
        let directory = tempfile::tempdir().unwrap();
        let top = crate::canonical::canonical(directory.path()).unwrap();
        folders.iter().for_each(|folder| fs::create_dir_all(top.join(folder)).unwrap());
        let (sender, sights) = channel();
        let mut watcher = Watcher::with_limit(max, move |sight| drop(sender.send(sight))).unwrap();
        let wanted = folders.iter().map(|folder| top.join(folder)).collect();
        let result = watcher.watch(&wanted).map(|new| assert_eq!(new.len(), folders.len()));
        (directory, top, result.map(|()| watcher), sights)
    }

    /// All paths that are told until this one is.
    fn until(sights: &Receiver<WatchEvent>, wanted: &Path) -> BTreeSet<PathBuf> {
        let mut seen = BTreeSet::new();
        while !seen.contains(wanted) {
            match sights.recv_timeout(LIMIT).unwrap() {
                WatchEvent::Changed(paths) => seen.extend(paths),
                WatchEvent::Everything => panic!("nothing was missed"),
            }
        }
        seen
    }

    #[test]
    fn what_is_written_renamed_and_deleted_is_seen_and_what_is_read_is_not() {
        let (_directory, top, watcher, sights) = watched(10, &["a", "b"]);
        fs::write(top.join("a/new.txt"), "new").unwrap();
        until(&sights, &top.join("a/new.txt"));
        fs::rename(top.join("a/new.txt"), top.join("b/other.txt")).unwrap();
        let seen = until(&sights, &top.join("b/other.txt"));
        assert!(seen.contains(&top.join("a/new.txt")) || !until(&sights, &top.join("a/new.txt")).is_empty());
        fs::read(top.join("b/other.txt")).unwrap();
        fs::remove_file(top.join("b/other.txt")).unwrap();
        until(&sights, &top.join("b/other.txt"));
        drop(watcher);
        while let Ok(sight) = sights.recv_timeout(LIMIT) {
            assert_ne!(sight, WatchEvent::Everything);
        }
    }

    #[test]
    fn what_is_beside_the_watched_folders_is_not_seen() {
        let (_directory, top, watcher, sights) = watched(10, &["a"]);
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

    #[test]
    fn a_renamed_folder_is_watched_under_its_new_name() {
        let (_directory, top, watcher, sights) = watched(10, &["top", "top/old"]);
        let mut watcher = watcher.unwrap();
        fs::rename(top.join("top/old"), top.join("top/new")).unwrap();
        until(&sights, &top.join("top/new"));
        let new = watcher.watch(&BTreeSet::from([top.join("top"), top.join("top/new")])).unwrap();
        assert_eq!(new, [top.join("top/new")]);
        fs::write(top.join("top/new/file"), "x").unwrap();
        until(&sights, &top.join("top/new/file"));
    }

    #[test]
    fn a_folder_that_has_taken_the_place_of_another_is_watched() {
        let (_directory, top, watcher, sights) = watched(10, &["top", "top/a"]);
        let mut watcher = watcher.unwrap();
        fs::remove_dir(top.join("top/a")).unwrap();
        fs::create_dir(top.join("top/a")).unwrap();
        until(&sights, &top.join("top/a"));
        let wanted = BTreeSet::from([top.join("top"), top.join("top/a")]);
        let limit = Instant::now() + LIMIT;
        while watcher.watch(&wanted).unwrap() != [top.join("top/a")] {
            assert!(Instant::now() < limit, "it is taken for the one before");
        }
        fs::write(top.join("top/a/file"), "x").unwrap();
        until(&sights, &top.join("top/a/file"));
    }

    #[test]
    fn more_folders_than_the_limit_are_an_error() {
        let (_directory, _, watcher, _sights) = watched(2, &["a", "b", "c"]);
        let error = watcher.unwrap_err().to_string();
        assert_eq!(error, "there are 3 folders, but the system can watch only 2");
    }

    #[test]
    fn a_folder_that_is_gone_again_is_no_error() {
        let (_directory, top, watcher, _sights) = watched(10, &["a"]);
        let wanted = BTreeSet::from([top.join("a"), top.join("gone")]);
        assert_eq!(watcher.unwrap().watch(&wanted).unwrap(), [""; 0].map(PathBuf::from));
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
