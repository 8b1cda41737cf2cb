//! Checks that a directory contains only files and directories, however deep. A link could lead anywhere, and reading a
//! pipe can take forever. Reads names and types of entries, but no files. Remembers the entries of unchanged
//! directories, since a repository can have 100,000 objects and is checked before every prompt.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::error::NotContainedReason;
use super::limits::{MAX_CHECKED_DIRECTORIES, MAX_CHECKED_ENTRIES};

/// Maximum number of trees to remember. A tree is forgotten if it is not among the last that were checked.
const MAX_REMEMBERED_TREES: usize = 8;

/// Time after which two changes of a directory certainly have different timestamps. The clock of a file system advances
/// every 10 milliseconds or more often.
pub(super) const TIMESTAMP_GRANULARITY: Duration = Duration::from_millis(20);

/// The most recently checked trees, newest first.
static CHECKED_TREES: Mutex<Vec<(PathBuf, Arc<Listings>)>> = Mutex::new(Vec::new());

/// A directory without links, pipes and devices, as of one moment.
pub(super) struct LinkFreeTree {
    /// All directories of the tree, beginning with the top.
    directories: Vec<(PathBuf, DirectoryStamp)>,
    /// Whether any later change would be noticed. A change within [`TIMESTAMP_GRANULARITY`] of an earlier one might not
    /// be.
    pub(super) is_settled: bool,
}

/// The entries of directories, by path relative to the top.
type Listings = BTreeMap<PathBuf, Arc<Listing>>;

/// The entries of one directory without links, pipes and devices.
struct Listing {
    stamp: DirectoryStamp,
    /// Whether the directory's stamp would be different if the directory had changed after it was listed.
    is_settled: bool,
    /// Number of all entries.
    count: usize,
    directories: Vec<OsString>,
}

/// Identifies a directory and the time of its last change. It changes whenever an entry is added, replaced or removed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct DirectoryStamp {
    identity: (u64, u64),
    changed: Option<SystemTime>,
}

impl LinkFreeTree {
    /// Checks all entries below `top`, which must be a directory.
    ///
    /// # Errors
    /// The first entry that is neither a file nor a directory, or the reason why the tree cannot be checked.
    pub(super) fn check(top: &Path) -> Result<Self, NotContainedReason> {
        let remembered_listings = cached_listings(top);
        let mut listings = Listings::new();
        let tree = scan(top, &remembered_listings, &mut listings);
        cache_listings(top, listings);
        tree
    }

    /// Whether no entry was added, replaced or removed since the check. If so, everything that was read below the top
    /// in the meantime came from inside the tree.
    pub(super) fn is_unchanged(&self) -> bool {
        let is_same = |(path, stamp): &(PathBuf, DirectoryStamp)| {
            DirectoryStamp::read(path).is_ok_and(|current| current == Some(*stamp))
        };
        self.directories.iter().all(is_same)
    }
}

fn scan(
    top: &Path,
    remembered_listings: &Listings,
    listings: &mut Listings,
) -> Result<LinkFreeTree, NotContainedReason> {
    let mut tree = LinkFreeTree { directories: Vec::new(), is_settled: true };
    let mut pending = vec![PathBuf::new()];
    let mut count = 0;
    while let Some(relative_path) = pending.pop() {
        let path = top.join(&relative_path);
        let unreadable = |error: io::Error| NotContainedReason::Unlisted(relative_path.clone(), error.kind());
        let stamp = match DirectoryStamp::read(&path).map_err(unreadable)? {
            Some(stamp) => stamp,
            None => return Err(NotContainedReason::Link(relative_path)),
        };
        let listing = match remembered_listings.get(&relative_path) {
            Some(listing) if listing.stamp == stamp => Arc::clone(listing),
            _ => Arc::new(Listing::read(&path, &relative_path, stamp, MAX_CHECKED_ENTRIES - count)?),
        };
        count += listing.count;
        pending.extend(listing.directories.iter().map(|name| relative_path.join(name)));
        tree.directories.push((path, stamp));
        if count > MAX_CHECKED_ENTRIES || tree.directories.len() + pending.len() > MAX_CHECKED_DIRECTORIES {
            return Err(NotContainedReason::TooLarge);
        }
        if listing.is_settled {
            listings.insert(relative_path, listing);
        } else {
            tree.is_settled = false;
        }
    }
    Ok(tree)
}

impl Listing {
    /// Lists a directory. Stops with an error after `max_entries` entries.
    fn read(
        path: &Path,
        relative_path: &Path,
        stamp: DirectoryStamp,
        max_entries: usize,
    ) -> Result<Self, NotContainedReason> {
        let is_settled = stamp.is_reliable(SystemTime::now());
        let unreadable =
            |error: io::Error| NotContainedReason::Unlisted(relative_path.to_owned(), error.kind());
        let mut listing = Self { stamp, is_settled, count: 0, directories: Vec::new() };
        for entry in fs::read_dir(path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let file_type = entry.file_type().map_err(unreadable)?;
            listing.count += 1;
            if listing.count > max_entries {
                return Err(NotContainedReason::TooLarge);
            }
            if file_type.is_dir() {
                listing.directories.push(entry.file_name());
            } else if file_type.is_symlink() {
                return Err(NotContainedReason::Link(relative_path.join(entry.file_name())));
            } else if !is_safe_to_open(file_type) {
                return Err(NotContainedReason::Special(relative_path.join(entry.file_name())));
            }
        }
        Ok(listing)
    }
}

/// Whether an entry that is neither a directory nor a link can be opened without effects. Git itself creates a socket
/// in its directory (`fsmonitor--daemon.ipc`), and opening a socket fails.
#[cfg(unix)]
fn is_safe_to_open(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    kind.is_file() || kind.is_socket()
}

#[cfg(not(unix))]
fn is_safe_to_open(kind: FileType) -> bool {
    kind.is_file()
}

impl DirectoryStamp {
    /// Reads the stamp of a directory. Returns `None` if the path is a link or a file.
    fn read(path: &Path) -> io::Result<Option<Self>> {
        let metadata = path.symlink_metadata()?;
        Ok(metadata.is_dir().then(|| Self::from_metadata(&metadata)))
    }

    /// Uses the change time, which programs cannot set.
    #[cfg(unix)]
    fn from_metadata(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let seconds = u64::try_from(metadata.ctime()).ok().map(Duration::from_secs);
        let nanoseconds = u64::try_from(metadata.ctime_nsec()).ok().map(Duration::from_nanos);
        let since = seconds.zip(nanoseconds).map(|(seconds, nanoseconds)| seconds + nanoseconds);
        let changed = since.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
        Self { identity: (metadata.dev(), metadata.ino()), changed }
    }

    #[cfg(not(unix))]
    fn from_metadata(metadata: &Metadata) -> Self {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        metadata.created().ok().hash(&mut hasher);
        Self { identity: (hasher.finish(), 0), changed: metadata.modified().ok() }
    }

    /// Whether the last change was so long before `now` that a later change has another timestamp.
    fn is_reliable(&self, now: SystemTime) -> bool {
        let age = self.changed.and_then(|changed| now.duration_since(changed).ok());
        age.is_some_and(|age| age >= TIMESTAMP_GRANULARITY)
    }
}

fn cached_listings(top: &Path) -> Arc<Listings> {
    let trees = CHECKED_TREES.lock().unwrap_or_else(PoisonError::into_inner);
    trees
        .iter()
        .find(|(tree_top, _)| tree_top == top)
        .map(|(_, listings)| Arc::clone(listings))
        .unwrap_or_default()
}

fn cache_listings(top: &Path, listings: Listings) {
    let mut trees = CHECKED_TREES.lock().unwrap_or_else(PoisonError::into_inner);
    trees.retain(|(tree_top, _)| tree_top != top);
    trees.insert(0, (top.to_owned(), Arc::new(listings)));
    trees.truncate(MAX_REMEMBERED_TREES);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks until the file system's clock has advanced since the last change.
    fn settled(top: &Path) -> LinkFreeTree {
        loop {
            let tree = LinkFreeTree::check(top).unwrap();
            if tree.is_settled {
                return tree;
            }
            std::thread::sleep(TIMESTAMP_GRANULARITY);
        }
    }

    fn directory() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let top = crate::roots::canonical(directory.path()).unwrap().join("top");
        fs::create_dir_all(top.join("objects/aa")).unwrap();
        fs::create_dir_all(top.join("refs/heads")).unwrap();
        fs::write(top.join("objects/aa/1"), "").unwrap();
        (directory, top)
    }

    #[test]
    fn every_new_entry_is_noticed() {
        let (_directory, top) = directory();
        for (number, below) in ["", "objects", "objects/aa", "refs/heads"].into_iter().enumerate() {
            let tree = settled(&top);
            assert!(tree.is_unchanged());
            fs::write(top.join(below).join(format!("new-{number}")), "").unwrap();
            assert!(!tree.is_unchanged(), "{below}");
        }
        let tree = settled(&top);
        fs::write(top.join("objects/aa/1"), "a file's content is not part of the tree").unwrap();
        assert!(tree.is_unchanged());
        fs::remove_dir_all(&top).unwrap();
        assert!(!tree.is_unchanged());
    }

    /// A directory whose entries are remembered is not listed again, and one that has changed is.
    #[cfg(unix)]
    #[test]
    fn a_link_is_found_although_the_entries_are_remembered() {
        use std::os::unix::fs::symlink;

        let (_directory, top) = directory();
        for below in ["link", "objects/aa/2", "refs/heads/main"] {
            settled(&top);
            symlink("/", top.join(below)).unwrap();
            let result = LinkFreeTree::check(&top).map(drop);
            assert_eq!(result, Err(NotContainedReason::Link(below.into())));
            fs::remove_file(top.join(below)).unwrap();
        }
        settled(&top);
        fs::rename(top.join("objects"), top.join("other")).unwrap();
        symlink("other", top.join("objects")).unwrap();
        assert_eq!(LinkFreeTree::check(&top).map(drop), Err(NotContainedReason::Link("objects".into())));
    }

    /// Without the rule for recent changes, the second listing would be taken for the first.
    #[cfg(unix)]
    #[test]
    fn the_entries_of_a_directory_that_has_just_changed_are_not_remembered() {
        use std::os::unix::fs::symlink;

        for _ in 0..20 {
            let (_directory, top) = directory();
            let tree = LinkFreeTree::check(&top).unwrap();
            assert!(!tree.is_settled);
            symlink("/", top.join("refs/heads/main")).unwrap();
            assert!(LinkFreeTree::check(&top).is_err());
        }
    }

    #[cfg(unix)]
    #[test]
    fn pipes_are_rejected_and_sockets_are_not() {
        use std::os::unix::net::UnixListener;

        let (_directory, top) = directory();
        let _socket = UnixListener::bind(top.join("fsmonitor--daemon.ipc")).unwrap();
        settled(&top);
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, top.join("HEAD"), mode).unwrap();
        assert_eq!(LinkFreeTree::check(&top).map(drop), Err(NotContainedReason::Special("HEAD".into())));
    }

    #[test]
    fn a_tree_that_takes_too_long_to_check_is_rejected() {
        let (_directory, top) = directory();
        let stamp = DirectoryStamp::read(&top).unwrap().unwrap();
        let listing = |most| Listing::read(&top, Path::new(""), stamp, most).map(|listing| listing.count);
        assert_eq!((listing(2), listing(1)), (Ok(2), Err(NotContainedReason::TooLarge)));
    }
}
