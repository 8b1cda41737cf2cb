//! Paths of stored state, which is accessible only to its owner. Does not handle the content of files.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use strata_base::hash::ContentHash;

use super::{SessionId, StoreError};
use crate::roots::canonical;

/// Identifies a workspace by the real path of its first folder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WorkspaceKey {
    folder: PathBuf,
}

/// Paths of the stored state of one workspace.
#[derive(Clone, Debug)]
pub(super) struct StorePaths {
    state: PathBuf,
    workspace: PathBuf,
    name: String,
}

/// How to treat a link where a directory is expected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkPolicy {
    Follow,
    Refuse,
}

/// Maximum wait for a lock. Processes normally hold a lock for milliseconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

const LOCK_PAUSE: Duration = Duration::from_millis(5);

impl WorkspaceKey {
    /// Creates the key of the workspace whose first folder is `first_root`. Resolves symbolic links.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the folder cannot be resolved.
    pub fn for_folder(first_root: &Path) -> Result<Self, StoreError> {
        let folder = canonical(first_root).map_err(|error| StoreError::io(first_root, &error))?;
        Ok(Self { folder })
    }

    fn name(&self) -> String {
        ContentHash::from_parts([self.folder.as_os_str().as_encoded_bytes()]).to_string()
    }
}

impl StorePaths {
    /// Returns the paths of a workspace, creating missing directories.
    pub(super) fn prepare(state: &Path, workspace: &WorkspaceKey) -> Result<Self, StoreError> {
        ensure_private_top(state)?;
        let state = real_directory(state)?;
        let name = workspace.name();
        let paths = Self { workspace: state.join("workspaces").join(&name), state, name };
        for directory in [&paths.state.join("workspaces"), &paths.workspace, &paths.locks()] {
            ensure_private_directory(directory)?;
        }
        let note = paths.workspace.join("folder.txt");
        if !note.exists() {
            let text = format!("{}\n", workspace.folder.display());
            match create_private_file(&note).and_then(|mut file| file.write_all(text.as_bytes())) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(StoreError::io(&note, &error));
                }
                _ => {}
            }
        }
        Ok(paths)
    }

    pub(super) fn database(&self) -> PathBuf {
        self.workspace.join("sessions.db")
    }

    /// Returns the path to which a damaged database is moved. `number` distinguishes several of them.
    pub(super) fn damaged_database(&self, number: u32) -> PathBuf {
        self.workspace.join(format!("sessions.damaged-{number}.db"))
    }

    /// Returns the path of a marker file. The file exists if an operation noticed damage, so that the database is
    /// checked completely when it is next opened.
    pub(super) fn damage_marker(&self) -> PathBuf {
        self.workspace.join("sessions.suspect")
    }

    /// Returns the path of the file that is locked while the database is opened, created, migrated or set aside.
    pub(super) fn opening_lock(&self) -> PathBuf {
        self.locks().join("opening")
    }

    /// Returns the path of the file that is locked while a session is open for writing.
    pub(super) fn session_lock(&self, id: &SessionId) -> PathBuf {
        self.locks().join(format!("session-{id}"))
    }

    /// Returns the directory of the spilled outputs of all workspaces.
    pub(super) fn spills(&self) -> PathBuf {
        self.state.join("spill")
    }

    /// Returns the name of the directories that belong to this workspace, which is a hash of its first folder's path.
    pub(super) fn directory_name(&self) -> &str {
        &self.name
    }

    fn locks(&self) -> PathBuf {
        self.workspace.join("locks")
    }
}

/// Returns the directory for the user's state: `STRATA_STATE_DIR` if set, otherwise `~/Library/Application
/// Support/strata` on macOS, `%LOCALAPPDATA%\strata` on Windows, and `$XDG_STATE_HOME/strata` or
/// `~/.local/state/strata` on other systems. Relative paths in these variables are ignored, as the XDG Base Directory
/// Specification requires. `variable` looks up an environment variable.
///
/// # Errors
/// [`StoreError::NoStateDirectory`] if no variable gives a directory.
pub fn state_directory(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, StoreError> {
    let directory = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(override_directory) = directory("STRATA_STATE_DIR") {
        return Ok(override_directory);
    }
    let base = if cfg!(windows) {
        directory("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        directory("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        directory("XDG_STATE_HOME").or_else(|| directory("HOME").map(|home| home.join(".local/state")))
    };
    base.map(|base| base.join("strata")).ok_or(StoreError::NoStateDirectory)
}

/// Creates the private top-level directory, or makes an existing one private. The path may be a link that the user
/// created, for example to keep the state on another disk.
///
/// # Errors
/// [`StoreError::NotPrivate`] if the directory belongs to another user, or is a shared directory for temporary files.
pub(crate) fn ensure_private_top(path: &Path) -> Result<(), StoreError> {
    create_private_directory(path, LinkPolicy::Follow)
}

/// Creates a private directory, or makes an existing one private. Rejects links, which have no legitimate use below the
/// top-level directory.
///
/// # Errors
/// [`StoreError::NotPrivate`] if the path is a link or belongs to another user.
pub(crate) fn ensure_private_directory(path: &Path) -> Result<(), StoreError> {
    create_private_directory(path, LinkPolicy::Refuse)
}

/// Opens a stored file for reading. Rejects links and anything other than a regular file.
pub(crate) fn open_own_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        open_flags_to_sqlite(rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK),
    );
    #[cfg(not(unix))]
    if path.symlink_metadata()?.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a symbolic link"));
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

/// Creates a file that only its owner can read. Fails if the path exists, even as a link.
pub(crate) fn create_private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Opens a lock file, creating it if necessary.
pub(super) fn open_lock_file(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(open_flags_to_sqlite(rustix::fs::OFlags::NOFOLLOW));
    }
    options.open(path).map_err(|error| StoreError::io(path, &error))
}

/// Waits for a lock that is only held briefly. The lock is released when the file is dropped or the process ends.
pub(crate) fn wait_for_lock(path: &Path) -> Result<File, StoreError> {
    let file = open_lock_file(path)?;
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(LOCK_PAUSE),
            Err(fs::TryLockError::WouldBlock) => return Err(StoreError::Busy),
            Err(fs::TryLockError::Error(error)) => return Err(StoreError::io(path, &error)),
        }
    }
}

/// Resolves the symbolic links in a path. SQLite rejects links in the path of a database, but the user may have linked
/// a directory above the state directory on purpose.
fn real_directory(path: &Path) -> Result<PathBuf, StoreError> {
    canonical(path).map_err(|error| StoreError::io(path, &error))
}

fn create_private_directory(path: &Path, links: LinkPolicy) -> Result<(), StoreError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let is_link = || path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    if links == LinkPolicy::Refuse && is_link() {
        return Err(not_private_error(path, "is a symbolic link"));
    }
    builder.create(path).map_err(|error| StoreError::io(path, &error))?;
    restrict_access(path, links)
}

fn not_private_error(path: &Path, problem: &'static str) -> StoreError {
    StoreError::NotPrivate { path: path.to_owned(), problem }
}

/// Makes a directory private. Works on the open directory, so that the directory that is changed is the one that was
/// checked.
#[cfg(unix)]
fn restrict_access(path: &Path, links: LinkPolicy) -> Result<(), StoreError> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};

    const OTHERS: u32 = 0o077;
    const SHARED: u32 = 0o1002;
    let io_error = |error: io::Error| StoreError::io(path, &error);
    let current_user = rustix::process::geteuid().as_raw();
    let mut open_flags = rustix::fs::OFlags::DIRECTORY;
    match links {
        LinkPolicy::Refuse => open_flags |= rustix::fs::OFlags::NOFOLLOW,
        // A link created by another user would let that user choose which directory is made private and written to.
        LinkPolicy::Follow
            if ![current_user, 0].contains(&path.symlink_metadata().map_err(io_error)?.uid()) =>
        {
            return Err(not_private_error(path, "belongs to another user"));
        }
        LinkPolicy::Follow => {}
    }
    let directory = OpenOptions::new()
        .read(true)
        .custom_flags(open_flags_to_sqlite(open_flags))
        .open(path)
        .map_err(io_error)?;
    let metadata = directory.metadata().map_err(io_error)?;
    if metadata.uid() != current_user {
        return Err(not_private_error(path, "belongs to another user"));
    }
    if metadata.mode() & SHARED == SHARED {
        // A shared directory for temporary files must remain accessible to other users.
        return Err(not_private_error(path, "is shared by all users"));
    }
    if metadata.mode() & OTHERS != 0 {
        directory.set_permissions(fs::Permissions::from_mode(0o700)).map_err(io_error)?;
    }
    Ok(())
}

/// Does nothing, because other users cannot access directories in a user profile on this system.
#[cfg(not(unix))]
fn restrict_access(_: &Path, _: LinkPolicy) -> Result<(), StoreError> {
    Ok(())
}

#[cfg(unix)]
fn open_flags_to_sqlite(flags: rustix::fs::OFlags) -> i32 {
    flags.bits().cast_signed()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_private_file_is_never_an_existing_file() {
        use std::io::Write as _;
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        create_private_file(&path("new")).unwrap().write_all(b"ours").unwrap();
        assert_eq!(path("new").metadata().unwrap().permissions().mode() & 0o777, 0o600);
        symlink(path("nowhere"), path("dangling")).unwrap();
        symlink(path("new"), path("link")).unwrap();
        for name in ["new", "dangling", "link"] {
            assert_eq!(
                create_private_file(&path(name)).unwrap_err().kind(),
                io::ErrorKind::AlreadyExists,
                "{name}"
            );
        }
        assert!(!path("nowhere").exists());
        assert_eq!(fs::read(path("new")).unwrap(), b"ours");
    }

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn the_state_directory_follows_the_variables() {
        let directory = |variables: &[(&str, &str)]| {
            state_directory(|name| {
                variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).into())
            })
        };
        let (own, xdg, home) =
            (("STRATA_STATE_DIR", "/own"), ("XDG_STATE_HOME", "/xdg"), ("HOME", "/home/me"));
        assert_eq!(directory(&[own, xdg, home]), Ok("/own".into()));
        assert_eq!(directory(&[xdg, home]), Ok("/xdg/strata".into()));
        assert_eq!(directory(&[("XDG_STATE_HOME", "here"), home]), Ok("/home/me/.local/state/strata".into()));
        assert_eq!(directory(&[home]), Ok("/home/me/.local/state/strata".into()));
        assert_eq!(directory(&[("HOME", "")]), Err(StoreError::NoStateDirectory));
    }
}

/// Appends `suffix` to the name of a file.
pub(crate) fn with_name_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
