//! Stores large tool outputs in separate files, so that a model can page through outputs that exceed any prompt. The
//! files are private, have unguessable names, and are limited by a quota.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirEntry, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::id::{are_digits, random_digits};
use super::paths::{lock_for_a_moment, own_file, private_directory, private_file};
use super::{SessionId, StoreError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpillFile {
    /// Name of the output in its session: 130 random bits.
    pub id: String,
    pub path: PathBuf,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the content, in hexadecimal digits as printed by `sha256sum`.
    pub sha256: String,
}

/// A range of lines of a spilled output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpillLines {
    /// The lines with their line endings. Invalid UTF-8 is replaced.
    pub text: String,
    /// One-based number of the first line.
    pub from: usize,
    pub count: usize,
    /// Number of lines in the whole output.
    pub total: usize,
}

/// Maximum total size of the spilled outputs of all workspaces, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota(pub u64);

/// The spilled outputs of one workspace. Does not use the database. Several processes may access them at once.
#[derive(Debug, Clone)]
pub struct Spills {
    all: PathBuf,
    own: PathBuf,
    quota: Quota,
}

/// Outputs copied to a new session. No other outputs can be added or removed while this exists.
#[derive(Debug)]
#[must_use = "removing the outputs of a session that was not stored"]
pub(super) struct SpillCopy {
    _lock: File,
}

/// A directory entry of a spilled output, as counted by the quota.
struct SpilledFile {
    path: PathBuf,
    bytes: u64,
    written: SystemTime,
    own: bool,
    file: Identity,
}

/// Identifies a file, to detect several names of the same one.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Identity {
    /// Device and inode number.
    #[cfg(unix)]
    Number(u64, u64),
    /// The path, since the file itself cannot be identified.
    #[cfg(not(unix))]
    Name(PathBuf),
}

/// Number of digits in an output's name.
const DIGITS: usize = 26;

/// Minimum time between the newest existing output and a new one, so that a clock that goes backwards does not make
/// the new one the oldest. File systems with a resolution of 100 ns or better preserve this; others lose it.
const LATER: Duration = Duration::from_micros(1);

impl Default for Quota {
    /// 256 MiB.
    fn default() -> Self {
        Self(256 << 20)
    }
}

impl Spills {
    pub(super) fn new(all: PathBuf, workspace: &str, quota: Quota) -> Self {
        Self { own: all.join(workspace), all, quota }
    }

    /// Returns the same spilled outputs with another quota.
    #[must_use]
    pub(super) fn with_quota(&self, quota: Quota) -> Self {
        Self { quota, ..self.clone() }
    }

    /// Stores an output of a stored session. If the quota would be exceeded, deletes the oldest outputs of other
    /// sessions first, then the session's own.
    ///
    /// # Errors
    /// [`StoreError::OverQuota`] if the output alone exceeds the quota; [`StoreError::Full`], [`StoreError::Io`],
    /// [`StoreError::NotPrivate`].
    pub fn write(&self, session: &SessionId, output: &[u8]) -> Result<SpillFile, StoreError> {
        let bytes = output.len() as u64;
        if bytes > self.quota.0 {
            return Err(StoreError::OverQuota { bytes, quota: self.quota.0 });
        }
        let _lock = self.lock()?;
        let folder = self.folder(session);
        private_directory(&self.own)?;
        private_directory(&folder)?;
        let id = random_digits::<DIGITS>()?;
        let path = folder.join(&id);
        self.put(&path, output)?;
        let sha256 = Sha256::digest(output).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(SpillFile { id, path, bytes, sha256 })
    }

    /// Reads up to `count` lines of an output, starting at line `from` (one-based).
    ///
    /// # Errors
    /// [`StoreError::NoSpill`] if the output does not exist.
    pub fn read_lines(
        &self,
        session: &SessionId,
        id: &str,
        from: usize,
        count: usize,
    ) -> Result<SpillLines, StoreError> {
        let missing = || StoreError::NoSpill(id.to_owned());
        if id.len() != DIGITS || !are_digits(id) {
            return Err(missing());
        }
        let folder = self.folder(session);
        if ![&self.all, &self.own, &folder].into_iter().all(|folder| is_directory(folder)) {
            return Err(missing());
        }
        let path = folder.join(id);
        let file = own_file(&path).map_err(|_| missing())?;
        let from = from.max(1);
        let mut reader = BufReader::new(file);
        let (mut wanted, mut line, mut total) = (Vec::new(), Vec::new(), 0);
        let mut taken = 0;
        loop {
            line.clear();
            let read = reader.by_ref().read_until(b'\n', &mut line);
            if read.map_err(|error| StoreError::io(&path, &error))? == 0 {
                break;
            }
            total += 1;
            if total >= from && taken < count {
                wanted.extend_from_slice(&line);
                taken += 1;
            }
        }
        let text = String::from_utf8_lossy(&wanted).into_owned();
        Ok(SpillLines { text, from, count: taken, total })
    }

    /// Removes all outputs of a session.
    pub(super) fn remove_session(&self, session: &SessionId) -> Result<(), StoreError> {
        // Avoids creating directories if nothing was ever spilled.
        if !is_directory(&self.own) {
            return Ok(());
        }
        let _lock = self.lock()?;
        self.remove(session)
    }

    /// Removes the outputs of sessions that are not stored. They remain if a process dies while deleting a session.
    pub(super) fn remove_orphans(
        &self,
        is_stored: impl Fn(&SessionId) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        if !is_directory(&self.own) {
            return Ok(());
        }
        let _lock = self.lock()?;
        for folder in folders(self.own.clone()) {
            // Leave directories with any other name alone.
            let session = folder.file_name().into_string().ok().and_then(|name| name.parse().ok());
            if let Some(session) = session
                && !is_stored(&session)?
            {
                self.remove(&session)?;
            }
        }
        Ok(())
    }

    /// Gives a session that is about to be stored the same outputs as another one, under the same names. They are
    /// hard links, so they need no extra space. `None` if there are no outputs.
    ///
    /// # Errors
    /// [`StoreError::NoRoomForCopy`] if hard links are not supported and the quota leaves no room for copies.
    pub(super) fn copy_session(
        &self,
        from: &SessionId,
        to: &SessionId,
    ) -> Result<Option<SpillCopy>, StoreError> {
        self.copy_session_by(from, to, hard_link)
    }

    /// Like `copy_session`, creating hard links with `link`.
    pub(super) fn copy_session_by(
        &self,
        from: &SessionId,
        to: &SessionId,
        link: impl Fn(&Path, &Path) -> io::Result<()>,
    ) -> Result<Option<SpillCopy>, StoreError> {
        let (old, new) = (self.folder(from), self.folder(to));
        if !is_directory(&self.own) || !is_directory(&old) {
            return Ok(None);
        }
        let lock = self.lock()?;
        // Outputs left by a deleted session with the same id.
        self.remove(to)?;
        private_directory(&new)?;
        for output in outputs(old) {
            let (old, new) = (output.path(), new.join(output.file_name()));
            // Not every file system supports hard links.
            let copied = link(&old, &new).or_else(|_| {
                let output = fs::read(&old).map_err(|error| StoreError::io(&old, &error))?;
                self.put_copy(&new, &output)
            });
            if let Err(error) = copied {
                self.remove(to)?;
                return Err(error);
            }
        }
        Ok(Some(SpillCopy { _lock: lock }))
    }

    fn folder(&self, session: &SessionId) -> PathBuf {
        self.own.join(session.as_str())
    }

    /// Locks the spilled outputs of all workspaces while outputs are added or removed.
    fn lock(&self) -> Result<File, StoreError> {
        private_directory(&self.all)?;
        lock_for_a_moment(&self.all.join("lock"))
    }

    fn remove(&self, session: &SessionId) -> Result<(), StoreError> {
        let folder = self.folder(session);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(&folder, &error)),
            _ => Ok(()),
        }
    }

    /// Writes a new output after making room for it, with a time that makes it the newest.
    fn put(&self, path: &Path, output: &[u8]) -> Result<(), StoreError> {
        let newest = self.make_room(path.parent().unwrap_or(&self.own), output.len() as u64)?;
        write_new(path, output, newest)
    }

    /// Writes a copy of an output if the quota leaves room. Never deletes outputs, since they might be the ones to
    /// copy.
    fn put_copy(&self, path: &Path, output: &[u8]) -> Result<(), StoreError> {
        let held = self.held(path.parent().unwrap_or(&self.own));
        if total(&held).saturating_add(output.len() as u64) > self.quota.0 {
            return Err(StoreError::NoRoomForCopy { quota: self.quota.0 });
        }
        write_new(path, output, newest(&held))
    }

    /// Deletes outputs until there is room for `bytes`, those in the directory `own` last. Returns the time of the
    /// newest output.
    fn make_room(&self, own: &Path, bytes: u64) -> Result<Option<SystemTime>, StoreError> {
        let mut held = self.held(own);
        let (newest, mut total) = (newest(&held), total(&held));
        let mut names: HashMap<Identity, usize> = HashMap::new();
        for one in &held {
            *names.entry(one.file.clone()).or_default() += 1;
        }
        held.sort_by(|a, b| (a.own, a.written, &a.path).cmp(&(b.own, b.written, &b.path)));
        for oldest in held {
            if total.saturating_add(bytes) <= self.quota.0 {
                break;
            }
            fs::remove_file(&oldest.path).map_err(|error| StoreError::io(&oldest.path, &error))?;
            if let Some(names) = names.get_mut(&oldest.file) {
                *names -= 1;
                // A file uses its space until its last name is deleted.
                total -= if *names == 0 { oldest.bytes } else { 0 };
            }
        }
        Ok(newest)
    }

    /// Returns all outputs of all workspaces. Skips those that are deleted in the meantime.
    fn held(&self, own: &Path) -> Vec<SpilledFile> {
        let sessions = folders(self.all.clone()).flat_map(|workspace| folders(workspace.path()));
        let files = sessions.flat_map(|session| outputs(session.path()));
        files
            .filter_map(|file| {
                let metadata = file.metadata().ok()?;
                let path = file.path();
                Some(SpilledFile {
                    bytes: metadata.len(),
                    written: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                    own: path.parent() == Some(own),
                    file: identity(&path, &metadata),
                    path,
                })
            })
            .collect()
    }
}

/// Returns the total size in bytes. A file with several names counts once.
fn total(held: &[SpilledFile]) -> u64 {
    let mut files = HashSet::new();
    held.iter().filter(|held| files.insert(held.file.clone())).map(|held| held.bytes).sum()
}

/// Returns the time of the newest output.
fn newest(held: &[SpilledFile]) -> Option<SystemTime> {
    held.iter().map(|held| held.written).max()
}

/// Creates a hard link.
fn hard_link(old: &Path, new: &Path) -> io::Result<()> {
    fs::hard_link(old, new)
}

/// Writes a new file with a modification time later than `newest`.
fn write_new(path: &Path, output: &[u8], newest: Option<SystemTime>) -> Result<(), StoreError> {
    let written = private_file(path).and_then(|mut file| {
        file.write_all(output)?;
        let now = file.metadata()?.modified()?;
        if let Some(later) = newest.and_then(|newest| newest.checked_add(LATER))
            && now < later
        {
            file.set_modified(later)?;
        }
        file.sync_all()
    });
    written.map_err(|error| {
        // Do not keep a partial output.
        let _ = fs::remove_file(path);
        StoreError::io(path, &error)
    })
}

/// Returns the directories in `folder`, without links.
fn folders(folder: PathBuf) -> impl Iterator<Item = DirEntry> {
    entries(folder).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
}

/// Returns the files in `folder`, without links.
fn outputs(folder: PathBuf) -> impl Iterator<Item = DirEntry> {
    entries(folder).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
}

fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

#[cfg(unix)]
fn identity(_: &Path, metadata: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Identity::Number(metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(path: &Path, _: &fs::Metadata) -> Identity {
    Identity::Name(path.to_owned())
}

fn entries(folder: PathBuf) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok)
}
