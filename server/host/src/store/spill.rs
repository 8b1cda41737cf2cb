//! Stores large tool outputs in separate files, so that a model can page through outputs that do not fit in a prompt.
//! The files are private, have unguessable names, and are limited by a quota.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirEntry, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use strata_conversation::tool_output::ResultPage;

use super::new_id::{is_base32, random_base32};
use super::paths::{create_private_file, ensure_private_directory, open_own_file, wait_for_lock};
use super::{SessionId, StoreError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpillFile {
    /// Name of the output, unique in its session. Encodes 130 random bits.
    pub id: String,
    pub path: PathBuf,
    /// Size of the output, in bytes.
    pub bytes: u64,
    /// SHA-256 of the content in hexadecimal digits, as `sha256sum` prints it.
    pub sha256: String,
}

/// The spilled outputs of one workspace. Does not use the database. Several processes may access the outputs
/// concurrently.
#[derive(Debug, Clone)]
pub struct Spills {
    all_workspaces: PathBuf,
    workspace: PathBuf,
    /// Maximum total size of the outputs of all workspaces, in bytes.
    quota: u64,
}

/// Spilled outputs copied to a new session. While this value exists, no outputs can be added or removed.
#[derive(Debug)]
#[must_use = "dropping the lock allows the outputs of a session that is not stored yet to be removed"]
pub(super) struct SpillCopyGuard {
    _lock: File,
}

/// A spilled output on disk, as counted by the quota.
struct StoredOutput {
    path: PathBuf,
    bytes: u64,
    modified: SystemTime,
    is_in_session: bool,
    file: FileIdentity,
}

/// Identifies a file, to detect several hard links to the same file.
#[derive(Clone, PartialEq, Eq, Hash)]
enum FileIdentity {
    #[cfg(unix)]
    Number(u64, u64),
    /// The random name, size and modification time, because the standard library cannot identify files on this system.
    /// Hard links have them in common, and a copy is newer.
    #[cfg(not(unix))]
    Output(std::ffi::OsString, u64, Option<SystemTime>),
}

/// Number of digits in the name of an output.
const ID_DIGITS: usize = 26;

/// Minimum difference between the modification times of a new output and the newest existing one. Keeps the order of
/// outputs if the clock goes backwards, on file systems with a resolution of 100 ns or better.
const MIN_MTIME_STEP: Duration = Duration::from_micros(1);

/// Default quota in bytes, enough for more than a thousand outputs at the default `tool_output.large_output_threshold`.
const DEFAULT_QUOTA: u64 = 256 << 20;

impl Spills {
    pub(super) fn new(all_workspaces: PathBuf, workspace: &str) -> Self {
        Self { workspace: all_workspaces.join(workspace), all_workspaces, quota: DEFAULT_QUOTA }
    }

    /// Returns the same outputs with another quota, in bytes.
    #[must_use]
    pub fn with_quota(&self, quota: u64) -> Self {
        Self { quota, ..self.clone() }
    }

    /// Stores an output of a stored session. If this would exceed the quota, deletes the oldest outputs of other
    /// sessions first, and then those of the same session.
    ///
    /// # Errors
    /// [`StoreError::OverQuota`] if the output alone exceeds the quota; [`StoreError::Full`], [`StoreError::Io`] or
    /// [`StoreError::NotPrivate`].
    pub fn write(&self, session: &SessionId, output: &[u8]) -> Result<SpillFile, StoreError> {
        let bytes = output.len() as u64;
        if bytes > self.quota {
            return Err(StoreError::OverQuota { bytes, quota: self.quota });
        }
        let _lock = self.lock()?;
        let folder = self.session_folder(session);
        ensure_private_directory(&self.workspace)?;
        ensure_private_directory(&folder)?;
        let id = random_base32::<ID_DIGITS>()?;
        let path = folder.join(&id);
        self.write_evicting(&path, output)?;
        let sha256 = Sha256::digest(output).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(SpillFile { id, path, bytes, sha256 })
    }

    /// Reads up to `count` lines of an output, starting at the one-based line `from`. Replaces invalid UTF-8.
    ///
    /// # Errors
    /// [`StoreError::NoSpill`] if the output does not exist.
    pub fn read_lines(
        &self,
        session: &SessionId,
        id: &str,
        from: usize,
        count: usize,
    ) -> Result<ResultPage, StoreError> {
        let missing = || StoreError::NoSpill(id.to_owned());
        if id.len() != ID_DIGITS || !is_base32(id) {
            return Err(missing());
        }
        let folder = self.session_folder(session);
        if ![&self.all_workspaces, &self.workspace, &folder].into_iter().all(|folder| is_directory(folder)) {
            return Err(missing());
        }
        let path = folder.join(id);
        let file = open_own_file(&path).map_err(|_| missing())?;
        let from = from.max(1);
        let mut reader = BufReader::new(file);
        let (mut content, mut line, mut total) = (Vec::new(), Vec::new(), 0);
        let mut line_count = 0;
        loop {
            line.clear();
            let result = reader.by_ref().read_until(b'\n', &mut line);
            if result.map_err(|error| StoreError::io(&path, &error))? == 0 {
                break;
            }
            total += 1;
            if total >= from && line_count < count {
                content.extend_from_slice(&line);
                line_count += 1;
            }
        }
        let text = String::from_utf8_lossy(&content).into_owned();
        Ok(ResultPage { text, from, to: from - 1 + line_count, total })
    }

    pub(super) fn remove_session(&self, session: &SessionId) -> Result<(), StoreError> {
        // Avoid creating directories if no output was ever spilled.
        if !is_directory(&self.workspace) {
            return Ok(());
        }
        let _lock = self.lock()?;
        self.delete_session_folder(session)
    }

    /// Removes the outputs of sessions that are not stored. Such outputs remain if a process dies while deleting a
    /// session.
    pub(super) fn remove_orphans(
        &self,
        is_stored: impl Fn(&SessionId) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        if !is_directory(&self.workspace) {
            return Ok(());
        }
        let _lock = self.lock()?;
        for folder in subfolders(self.workspace.clone()) {
            // Leave directories with any other name alone.
            let session = folder.file_name().into_string().ok().and_then(|name| name.parse().ok());
            if let Some(session) = session
                && !is_stored(&session)?
            {
                self.delete_session_folder(&session)?;
            }
        }
        Ok(())
    }

    /// Copies the outputs of a session to a session that is about to be stored, keeping their names. The copies are
    /// hard links where possible, which `link` creates, so they need no extra space. Returns `None` if there are no
    /// outputs.
    ///
    /// # Errors
    /// [`StoreError::NoRoomForCopy`] if hard links are not supported and copies would exceed the quota.
    pub(super) fn copy_session(
        &self,
        from: &SessionId,
        to: &SessionId,
        link: impl Fn(&Path, &Path) -> io::Result<()>,
    ) -> Result<Option<SpillCopyGuard>, StoreError> {
        let (old, new) = (self.session_folder(from), self.session_folder(to));
        if !is_directory(&self.workspace) || !is_directory(&old) {
            return Ok(None);
        }
        let lock = self.lock()?;
        // Remove outputs left by a deleted session with the same id.
        self.delete_session_folder(to)?;
        ensure_private_directory(&new)?;
        for output in regular_files(old) {
            let (old, new) = (output.path(), new.join(output.file_name()));
            // Fall back to copying, because not every file system supports hard links.
            let result = link(&old, &new).or_else(|_| {
                let output = fs::read(&old).map_err(|error| StoreError::io(&old, &error))?;
                self.write_copy(&new, &output)
            });
            if let Err(error) = result {
                self.delete_session_folder(to)?;
                return Err(error);
            }
        }
        Ok(Some(SpillCopyGuard { _lock: lock }))
    }

    fn session_folder(&self, session: &SessionId) -> PathBuf {
        self.workspace.join(session.as_str())
    }

    /// Locks the spilled outputs of all workspaces while outputs are added or removed.
    fn lock(&self) -> Result<File, StoreError> {
        ensure_private_directory(&self.all_workspaces)?;
        wait_for_lock(&self.all_workspaces.join("lock"))
    }

    fn delete_session_folder(&self, session: &SessionId) -> Result<(), StoreError> {
        let folder = self.session_folder(session);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(&folder, &error)),
            _ => Ok(()),
        }
    }

    /// Writes a new output after evicting others if necessary. The modification time of the new output is the newest of
    /// all.
    fn write_evicting(&self, path: &Path, output: &[u8]) -> Result<(), StoreError> {
        let newest = self.evict_outputs(path.parent().unwrap_or(&self.workspace), output.len() as u64)?;
        write_new(path, output, newest)
    }

    /// Writes a copy of an output unless this would exceed the quota. Never evicts outputs, since they might still have
    /// to be copied.
    fn write_copy(&self, path: &Path, output: &[u8]) -> Result<(), StoreError> {
        let outputs = self.list_outputs(path.parent().unwrap_or(&self.workspace));
        if total_bytes(&outputs).saturating_add(output.len() as u64) > self.quota {
            return Err(StoreError::NoRoomForCopy { quota: self.quota });
        }
        write_new(path, output, newest_modified(&outputs))
    }

    /// Deletes outputs until `bytes` more fit in the quota, starting with the oldest and ending with those in
    /// `session_folder`. Returns the modification time of the newest output.
    fn evict_outputs(&self, session_folder: &Path, bytes: u64) -> Result<Option<SystemTime>, StoreError> {
        let mut outputs = self.list_outputs(session_folder);
        let (newest, mut total) = (newest_modified(&outputs), total_bytes(&outputs));
        let mut link_counts: HashMap<FileIdentity, usize> = HashMap::new();
        for output in &outputs {
            *link_counts.entry(output.file.clone()).or_default() += 1;
        }
        outputs.sort_by(|a, b| {
            (a.is_in_session, a.modified, &a.path).cmp(&(b.is_in_session, b.modified, &b.path))
        });
        for oldest in outputs {
            if total.saturating_add(bytes) <= self.quota {
                break;
            }
            fs::remove_file(&oldest.path).map_err(|error| StoreError::io(&oldest.path, &error))?;
            if let Some(link_count) = link_counts.get_mut(&oldest.file) {
                *link_count -= 1;
                // A file takes up space until its last hard link is deleted.
                total -= if *link_count == 0 { oldest.bytes } else { 0 };
            }
        }
        Ok(newest)
    }

    /// Returns the outputs of all workspaces, and marks those in `session_folder`. Skips outputs that are deleted in
    /// the meantime.
    fn list_outputs(&self, session_folder: &Path) -> Vec<StoredOutput> {
        let sessions =
            subfolders(self.all_workspaces.clone()).flat_map(|workspace| subfolders(workspace.path()));
        let files = sessions.flat_map(|session| regular_files(session.path()));
        files
            .filter_map(|file| {
                let metadata = file.metadata().ok()?;
                let path = file.path();
                Some(StoredOutput {
                    bytes: metadata.len(),
                    modified: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                    is_in_session: path.parent() == Some(session_folder),
                    file: identity(&path, &metadata),
                    path,
                })
            })
            .collect()
    }
}

/// Returns the total size of these outputs, in bytes. Counts a file with several hard links once.
fn total_bytes(outputs: &[StoredOutput]) -> u64 {
    let mut files = HashSet::new();
    outputs.iter().filter(|output| files.insert(output.file.clone())).map(|output| output.bytes).sum()
}

/// Returns the modification time of the newest output, or `None` if there are no outputs.
fn newest_modified(outputs: &[StoredOutput]) -> Option<SystemTime> {
    outputs.iter().map(|output| output.modified).max()
}

/// Writes a new file whose modification time is later than `newest`.
fn write_new(path: &Path, output: &[u8], newest: Option<SystemTime>) -> Result<(), StoreError> {
    let result = create_private_file(path).and_then(|mut file| {
        file.write_all(output)?;
        let modified = file.metadata()?.modified()?;
        if let Some(later) = newest.and_then(|newest| newest.checked_add(MIN_MTIME_STEP))
            && modified < later
        {
            file.set_modified(later)?;
        }
        file.sync_all()
    });
    result.map_err(|error| {
        // Do not keep a partial output.
        let _ = fs::remove_file(path);
        StoreError::io(path, &error)
    })
}

/// Returns the subdirectories of a directory, ignoring symbolic links.
fn subfolders(folder: PathBuf) -> impl Iterator<Item = DirEntry> {
    entries(folder).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
}

/// Returns the regular files in a directory, ignoring symbolic links.
fn regular_files(folder: PathBuf) -> impl Iterator<Item = DirEntry> {
    entries(folder).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
}

fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

#[cfg(unix)]
fn identity(_: &Path, metadata: &fs::Metadata) -> FileIdentity {
    use std::os::unix::fs::MetadataExt;
    FileIdentity::Number(metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(path: &Path, metadata: &fs::Metadata) -> FileIdentity {
    let name = path.file_name().unwrap_or_default().to_owned();
    FileIdentity::Output(name, metadata.len(), metadata.modified().ok())
}

fn entries(folder: PathBuf) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok)
}
