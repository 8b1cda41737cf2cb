//! Opens regular files inside the roots and nothing else, even if the directory tree changes during the open.
//!
//! On Unix, resolves links first, and then opens the path component by component from the root with `O_NOFOLLOW`, so
//! that a link created in between makes the open fail. Checks the type of the last component before the open, since
//! opening a device can have side effects, and again on the handle. `O_NONBLOCK` prevents blocking on a FIFO. On other
//! systems, compares the real path before and after the open, which a fast attacker could defeat.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use strata_base::key::FileKey;

use super::{ReadError, Stamp};
use crate::roots::{PathError, PathRefusal, Roots};

/// An open regular file and its stamp at the time of opening.
pub(super) struct OpenFile {
    pub(super) file: File,
    pub(super) stamp: Stamp,
}

/// A directory inside a root, opened without following links. Operations apply to this directory even if another
/// directory later takes over its path.
pub(crate) struct RealFolder(system::FolderHandle);

impl RealFolder {
    /// Opens the directory `below`, relative to `root`. All components must be plain names.
    ///
    /// # Errors
    /// The operating system's error, including when a component is a link.
    pub(crate) fn open(root: &Path, below: &Path) -> io::Result<Self> {
        system::FolderHandle::open(root, below).map(Self)
    }

    /// Whether the entry `name` of this directory is the file that `metadata` describes.
    pub(crate) fn contains(&self, name: &OsStr, metadata: &Metadata) -> bool {
        self.0.contains(name, metadata)
    }
}

/// Outcome of one attempt to open a file.
enum OpenAttempt {
    OpenFile(OpenFile),
    /// The tree changed between the check and the open.
    Moved,
}

/// Maximum number of attempts to open a file while the directory tree keeps changing.
const OPEN_ATTEMPTS: usize = 8;

/// Opens the regular file that `key` currently refers to.
pub(super) fn open_regular(roots: &Roots, key: &FileKey) -> Result<OpenFile, ReadError> {
    for _ in 0..OPEN_ATTEMPTS {
        let path = roots.path_of(key)?;
        let rejected = |reason| ReadError::Path(PathError::new(key.as_str(), reason));
        let resolved = match roots.locate_absolute(&path) {
            Ok(resolved) if resolved.exists => resolved,
            Ok(_) => return Err(ReadError::NotFound(key.clone())),
            Err(PathRefusal::Unreachable(kind)) => return Err(ReadError::io(key, &kind.into())),
            Err(reason) => return Err(rejected(reason)),
        };
        let root = roots.get(resolved.root).ok_or_else(|| rejected(PathRefusal::NoRoots))?;
        match system::open(&root.real, &resolved.below, key)? {
            OpenAttempt::OpenFile(file) => return Ok(file),
            OpenAttempt::Moved => {}
        }
    }
    Err(ReadError::Moving(key.clone()))
}

pub(crate) fn stamp_from_metadata(metadata: &Metadata) -> Stamp {
    Stamp { mtime_ns: mtime_ns(metadata), size: metadata.len(), identity: file_identity(metadata) }
}

fn mtime_ns(metadata: &Metadata) -> i64 {
    let Ok(modified) = metadata.modified() else { return 0 };
    match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos),
    }
}

#[cfg(unix)]
fn file_identity(metadata: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    // Odd multipliers keep small changes in several fields from cancelling each other out.
    let seconds = metadata.ctime().cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let nanos = metadata.ctime_nsec().cast_unsigned().wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    metadata.ino() ^ seconds.rotate_left(17) ^ nanos.rotate_left(41)
}

#[cfg(not(unix))]
fn file_identity(_: &Metadata) -> u64 {
    0
}

#[cfg(unix)]
mod system {
    use std::path::Component;

    use rustix::fd::OwnedFd;
    use rustix::fs::{AtFlags, FileType, Mode, OFlags};
    use rustix::io::Errno;

    use super::*;

    /// Flags for opening each directory in a path. With `O_PATH`, where available, the directory need not be readable.
    const FOLDER_OPEN_FLAGS: OFlags = {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let pass_through = OFlags::PATH;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let pass_through = OFlags::RDONLY;
        pass_through.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC)
    };

    const FILE_OPEN_FLAGS: OFlags = OFlags::RDONLY
        .union(OFlags::NOFOLLOW)
        .union(OFlags::NONBLOCK)
        .union(OFlags::NOCTTY)
        .union(OFlags::CLOEXEC);

    pub(super) struct FolderHandle(OwnedFd);

    impl FolderHandle {
        pub(super) fn open(root: &Path, below: &Path) -> io::Result<Self> {
            let mut directory = rustix::fs::open(root, FOLDER_OPEN_FLAGS, Mode::empty())?;
            for component in below.components() {
                let Component::Normal(component) = component else {
                    return Err(io::ErrorKind::InvalidInput.into());
                };
                directory = rustix::fs::openat(&directory, component, FOLDER_OPEN_FLAGS, Mode::empty())?;
            }
            Ok(Self(directory))
        }

        pub(super) fn contains(&self, name: &OsStr, metadata: &Metadata) -> bool {
            use std::os::unix::fs::MetadataExt;
            let entry = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW);
            entry.is_ok_and(|entry| {
                // The types of the fields differ between systems, and `i128` can represent all of them.
                (i128::from(entry.st_dev), i128::from(entry.st_ino))
                    == (metadata.dev().into(), metadata.ino().into())
            })
        }
    }

    pub(super) fn open(root: &Path, below: &str, key: &FileKey) -> Result<OpenAttempt, ReadError> {
        match open_without_links(root, below, key) {
            Ok(result) => result.map(OpenAttempt::OpenFile),
            // The path had no link and no missing component during the check, so the tree has changed.
            Err(Errno::LOOP | Errno::MLINK | Errno::NOTDIR | Errno::NOENT) => Ok(OpenAttempt::Moved),
            Err(error) => Err(ReadError::io(key, &error.into())),
        }
    }

    /// Opens `below`, relative to `root`, component by component. The outer error comes from the operating system; the
    /// inner error is a rejection.
    fn open_without_links(
        root: &Path,
        below: &str,
        key: &FileKey,
    ) -> Result<Result<OpenFile, ReadError>, Errno> {
        let mut directory: OwnedFd = rustix::fs::open(root, FOLDER_OPEN_FLAGS, Mode::empty())?;
        let (folders, name) = below.rsplit_once('/').unwrap_or(("", below));
        for component in folders.split('/').filter(|component| !component.is_empty()) {
            directory = rustix::fs::openat(&directory, component, FOLDER_OPEN_FLAGS, Mode::empty())?;
        }
        let stat = rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Ok(Err(ReadError::Folder(key.clone()))),
            FileType::Symlink => return Err(Errno::LOOP),
            _ => return Ok(Err(ReadError::NotRegular(key.clone()))),
        }
        let file = File::from(rustix::fs::openat(&directory, name, FILE_OPEN_FLAGS, Mode::empty())?);
        Ok(match file.metadata() {
            Ok(metadata) if metadata.is_file() && !is_kernel_interface(&file) => {
                Ok(OpenFile { stamp: stamp_from_metadata(&metadata), file })
            }
            Ok(_) => Err(ReadError::NotRegular(key.clone())),
            Err(error) => Err(ReadError::io(key, &error)),
        })
    }

    /// Detects files of `proc`, `sysfs` and similar file systems, which claim to be regular files. The magic numbers
    /// are from `linux/magic.h`.
    #[cfg(target_os = "linux")]
    fn is_kernel_interface(file: &File) -> bool {
        const PROC: i64 = 0x9fa0;
        const SYSFS: i64 = 0x6265_6572;
        const DEBUGFS: i64 = 0x6462_6720;
        const TRACEFS: i64 = 0x7472_6163;
        const SECURITYFS: i64 = 0x7363_6673;
        const CGROUP: i64 = 0x0027_e0eb;
        const CGROUP2: i64 = 0x6367_7270;
        const KERNEL: [i64; 7] = [PROC, SYSFS, DEBUGFS, TRACEFS, SECURITYFS, CGROUP, CGROUP2];
        rustix::fs::fstatfs(file).is_ok_and(|stat| {
            // The width of the field differs between architectures, and `i128` can represent all of them.
            KERNEL.iter().any(|&kernel| i128::from(stat.f_type) == i128::from(kernel))
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn is_kernel_interface(_: &File) -> bool {
        false
    }
}

#[cfg(not(unix))]
mod system {
    use super::*;
    use crate::roots::canonical;

    /// The directory's canonical path. Every operation checks that the path is still canonical.
    pub(super) struct FolderHandle(std::path::PathBuf);

    impl FolderHandle {
        pub(super) fn open(root: &Path, below: &Path) -> io::Result<Self> {
            let path = root.join(below);
            if canonical(&path)? == path { Ok(Self(path)) } else { Err(io::ErrorKind::NotFound.into()) }
        }

        pub(super) fn contains(&self, name: &OsStr, metadata: &Metadata) -> bool {
            let entry = self.0.join(name).symlink_metadata();
            // Times and sizes may differ: the directory's copy is outdated while a program has the file open.
            canonical(&self.0).is_ok_and(|path| path == self.0)
                && entry.is_ok_and(|entry| entry.file_type() == metadata.file_type())
        }
    }

    pub(super) fn open(root: &Path, below: &str, key: &FileKey) -> Result<OpenAttempt, ReadError> {
        let failed = |error: std::io::Error| ReadError::io(key, &error);
        let mut path = root.to_path_buf();
        path.extend(below.split('/'));
        let before = path.symlink_metadata().map_err(failed)?;
        if before.is_dir() {
            return Err(ReadError::Folder(key.clone()));
        }
        if !before.is_file() {
            return Err(ReadError::NotRegular(key.clone()));
        }
        let file = File::open(&path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let stamp = stamp_from_metadata(&metadata);
        if canonical(&path).map_err(failed)? != path || stamp != stamp_from_metadata(&before) {
            return Ok(OpenAttempt::Moved);
        }
        Ok(OpenAttempt::OpenFile(OpenFile { stamp, file }))
    }
}
