//! Opening a regular file inside the roots and nothing else, however the tree changes in the meantime.
//!
//! On Unix, resolves links first and then opens the path part by part from the root with `O_NOFOLLOW`: a link that appears in
//! between fails the open. Checks the type of the last part before opening (opening a device can have effects) and again on the
//! handle; `O_NONBLOCK` keeps a FIFO from blocking. Elsewhere compares the real path before and after the open, which a very fast
//! attacker could defeat.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use strata_engine::key::FileKey;

use super::{ReadError, Stamp};
use crate::roots::{PathError, Refusal, Roots};

/// An open regular file and its stamp at that moment.
pub(super) struct OpenFile {
    pub(super) file: File,
    pub(super) stamp: Stamp,
}

/// A folder inside a root, reached without links. Requests apply to this folder, whatever its name leads to later.
pub(crate) struct RealFolder(system::Folder);

impl RealFolder {
    /// The folder at this path below a root, by the names of folders alone.
    ///
    /// # Errors
    /// The system's; one of them is that a part of the path is a link.
    pub(crate) fn open(root: &Path, below: &Path) -> io::Result<Self> {
        system::Folder::open(root, below).map(Self)
    }

    /// Whether it contains an entry with this name that matches `found`.
    pub(crate) fn holds(&self, name: &OsStr, found: &Metadata) -> bool {
        self.0.holds(name, found)
    }
}

/// The result of one attempt to open.
enum OpenAttempt {
    OpenFile(OpenFile),
    /// The tree changed between looking and opening.
    Moved,
}

/// How often an open that met a changing tree is tried again.
const OPEN_ATTEMPTS: usize = 8;

/// Opens the file that a key names at this moment.
pub(super) fn open_regular(roots: &Roots, key: &FileKey) -> Result<OpenFile, ReadError> {
    for _ in 0..OPEN_ATTEMPTS {
        let path = roots.path_of(key)?;
        let refused = |reason| ReadError::Path(PathError::new(key.as_str(), reason));
        let place = match roots.locate_absolute(&path) {
            Ok(place) if place.exists => place,
            Ok(_) => return Err(ReadError::NotFound(key.clone())),
            Err(Refusal::Unreachable(kind)) => return Err(ReadError::io(key, &kind.into())),
            Err(reason) => return Err(refused(reason)),
        };
        let root = roots.get(place.root).ok_or_else(|| refused(Refusal::NoRoots))?;
        match system::open(&root.real, &place.below, key)? {
            OpenAttempt::OpenFile(opened) => return Ok(opened),
            OpenAttempt::Moved => {}
        }
    }
    Err(ReadError::Moving(key.clone()))
}

/// The stamp in some metadata.
pub(crate) fn stamp_in(metadata: &Metadata) -> Stamp {
    Stamp { mtime_ns: mtime_ns(metadata), size: metadata.len(), identity: identity(metadata) }
}

fn mtime_ns(metadata: &Metadata) -> i64 {
    let Ok(modified) = metadata.modified() else { return 0 };
    match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos),
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    // Odd multipliers keep small changes of the parts from cancelling out.
    let seconds = metadata.ctime().cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let nanos = metadata.ctime_nsec().cast_unsigned().wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    metadata.ino() ^ seconds.rotate_left(17) ^ nanos.rotate_left(41)
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> u64 {
    0
}

#[cfg(unix)]
mod system {
    use std::path::Component;

    use rustix::fd::OwnedFd;
    use rustix::fs::{AtFlags, FileType, Mode, OFlags};
    use rustix::io::Errno;

    use super::*;

    /// A folder on the way. Where the system can open it for passing through only, it need not be readable.
    const FOLDER: OFlags = {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let pass_through = OFlags::PATH;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let pass_through = OFlags::RDONLY;
        pass_through.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC)
    };

    const FILE: OFlags = OFlags::RDONLY
        .union(OFlags::NOFOLLOW)
        .union(OFlags::NONBLOCK)
        .union(OFlags::NOCTTY)
        .union(OFlags::CLOEXEC);

    pub(super) struct Folder(OwnedFd);

    impl Folder {
        pub(super) fn open(root: &Path, below: &Path) -> io::Result<Self> {
            let mut at = rustix::fs::open(root, FOLDER, Mode::empty())?;
            for part in below.components() {
                let Component::Normal(part) = part else { return Err(io::ErrorKind::InvalidInput.into()) };
                at = rustix::fs::openat(&at, part, FOLDER, Mode::empty())?;
            }
            Ok(Self(at))
        }

        pub(super) fn holds(&self, name: &OsStr, found: &Metadata) -> bool {
            use std::os::unix::fs::MetadataExt;
            let here = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW);
            here.is_ok_and(|here| {
                // The fields' types differ between systems; the numbers fit all of them.
                (i128::from(here.st_dev), i128::from(here.st_ino)) == (found.dev().into(), found.ino().into())
            })
        }
    }

    pub(super) fn open(root: &Path, below: &str, key: &FileKey) -> Result<OpenAttempt, ReadError> {
        match descend(root, below, key) {
            Ok(result) => result.map(OpenAttempt::OpenFile),
            // A link or a hole where a moment ago there was none: the tree moved.
            Err(Errno::LOOP | Errno::MLINK | Errno::NOTDIR | Errno::NOENT) => Ok(OpenAttempt::Moved),
            Err(error) => Err(ReadError::io(key, &error.into())),
        }
    }

    /// The outer error is the system's, the inner one is ours.
    fn descend(root: &Path, below: &str, key: &FileKey) -> Result<Result<OpenFile, ReadError>, Errno> {
        let mut at: OwnedFd = rustix::fs::open(root, FOLDER, Mode::empty())?;
        let (folders, name) = below.rsplit_once('/').unwrap_or(("", below));
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            at = rustix::fs::openat(&at, part, FOLDER, Mode::empty())?;
        }
        let found = rustix::fs::statat(&at, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Ok(Err(ReadError::Folder(key.clone()))),
            FileType::Symlink => return Err(Errno::LOOP),
            _ => return Ok(Err(ReadError::NotRegular(key.clone()))),
        }
        let file = File::from(rustix::fs::openat(&at, name, FILE, Mode::empty())?);
        Ok(match file.metadata() {
            Ok(metadata) if metadata.is_file() && !is_kernel_interface(&file) => {
                Ok(OpenFile { stamp: stamp_in(&metadata), file })
            }
            Ok(_) => Err(ReadError::NotRegular(key.clone())),
            Err(error) => Err(ReadError::io(key, &error)),
        })
    }

    /// Detects files of `proc`, `sysfs` and the like, which claim to be regular. The numbers are from `linux/magic.h`.
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
            // The field's width differs between architectures; the numbers fit all of them.
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
    use crate::canonical::canonical;

    /// A folder's own path, compared at each question.
    pub(super) struct Folder(std::path::PathBuf);

    impl Folder {
        pub(super) fn open(root: &Path, below: &Path) -> io::Result<Self> {
            let path = root.join(below);
            if canonical(&path)? == path { Ok(Self(path)) } else { Err(io::ErrorKind::NotFound.into()) }
        }

        pub(super) fn holds(&self, name: &OsStr, found: &Metadata) -> bool {
            let here = self.0.join(name).symlink_metadata();
            canonical(&self.0).is_ok_and(|path| path == self.0)
                && here.is_ok_and(|here| stamp_in(&here) == stamp_in(found))
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
        let stamp = stamp_in(&metadata);
        if canonical(&path).map_err(failed)? != path || stamp != stamp_in(&before) {
            return Ok(OpenAttempt::Moved);
        }
        Ok(OpenAttempt::OpenFile(OpenFile { stamp, file }))
    }
}
