//! Large tool outputs in files of their own, so that a model can page through what no prompt could hold. Nobody but the
//! user can read them or guess their names, and together they never take more than a quota.

use std::fs::{self, DirEntry, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::id::{are_digits, random_digits};
use super::place::{lock_for_a_moment, private_directory, private_file};
use super::{SessionId, StoreError};

/// The name of a spilled output in its session: 130 random bits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SpillId(String);

/// A spilled output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpillFile {
    /// Its name.
    pub id: SpillId,
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// The SHA-256 of its bytes, in hexadecimal digits as `sha256sum` prints them.
    pub sha256: String,
}

/// Some lines of a spilled output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpillLines {
    /// The lines with their ends; what is no UTF-8 is replaced.
    pub text: String,
    /// Which line is the first of them, from 1.
    pub from: usize,
    /// How many there are.
    pub count: usize,
    /// How many the output has altogether.
    pub total: usize,
}

/// How many bytes the spilled outputs of all workspaces may take together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota(pub u64);

/// The spilled outputs of one workspace. Works without the database; several processes may use it at once.
#[derive(Debug, Clone)]
pub struct Spills {
    all: PathBuf,
    own: PathBuf,
    quota: Quota,
}

/// One file as the quota sees it.
struct Held {
    path: PathBuf,
    bytes: u64,
    written: SystemTime,
    own: bool,
}

/// How many digits a name has.
const DIGITS: usize = 26;

impl Default for Quota {
    /// 256 MiB.
    fn default() -> Self {
        Self(256 << 20)
    }
}

impl SpillId {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Spills {
    pub(super) fn new(all: PathBuf, workspace: &str, quota: Quota) -> Self {
        Self { own: all.join(workspace), all, quota }
    }

    /// The same place under another quota.
    #[must_use]
    pub fn with_quota(&self, quota: Quota) -> Self {
        Self { quota, ..self.clone() }
    }

    /// Keeps an output. When the quota would be exceeded, the oldest outputs of other sessions go first, then the session's
    /// own oldest.
    ///
    /// # Errors
    /// [`StoreError::OverQuota`] when it alone is larger than the quota; [`StoreError::Full`], [`StoreError::Io`].
    pub fn write(&self, session: &SessionId, output: &[u8]) -> Result<SpillFile, StoreError> {
        let bytes = output.len() as u64;
        if bytes > self.quota.0 {
            return Err(StoreError::OverQuota { bytes, quota: self.quota.0 });
        }
        let folder = self.folder(session);
        private_directory(&self.all)?;
        private_directory(&self.own)?;
        private_directory(&folder)?;
        let _lock = lock_for_a_moment(&self.all.join("lock"))?;
        self.make_room(&folder, bytes)?;
        let id = SpillId(random_digits::<DIGITS>()?);
        let path = folder.join(id.as_str());
        let written = private_file(&path).and_then(|mut file| {
            file.write_all(output)?;
            file.sync_all()
        });
        if let Err(error) = written {
            // Half an output is none.
            let _ = fs::remove_file(&path);
            return Err(StoreError::io(&path, &error));
        }
        let sha256 = Sha256::digest(output).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(SpillFile { id, path, bytes, sha256 })
    }

    /// Reads lines of an output, the first of them number `from`, counted from 1.
    ///
    /// # Errors
    /// [`StoreError::NoSpill`].
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
        let path = self.folder(session).join(id);
        let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        let file = if is_file { File::open(&path).map_err(|_| missing())? } else { return Err(missing()) };
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
        let folder = self.folder(session);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(&folder, &error)),
            _ => Ok(()),
        }
    }

    /// Gives another session the same outputs under the same names. They are the same files, so they take no room.
    pub(super) fn copy_session(&self, from: &SessionId, to: &SessionId) -> Result<(), StoreError> {
        let (from, to) = (self.folder(from), self.folder(to));
        let Ok(entries) = fs::read_dir(&from) else { return Ok(()) };
        private_directory(&to)?;
        for entry in entries.filter_map(Result::ok) {
            let (old, new) = (entry.path(), to.join(entry.file_name()));
            fs::hard_link(&old, &new)
                .or_else(|_| fs::copy(&old, &new).map(drop))
                .map_err(|error| StoreError::io(&new, &error))?;
        }
        Ok(())
    }

    fn folder(&self, session: &SessionId) -> PathBuf {
        self.own.join(session.as_str())
    }

    fn make_room(&self, own: &Path, bytes: u64) -> Result<(), StoreError> {
        let mut held = self.held(own);
        let mut total: u64 = held.iter().map(|held| held.bytes).sum();
        held.sort_by(|a, b| (a.own, a.written, &a.path).cmp(&(b.own, b.written, &b.path)));
        for oldest in held {
            if total.saturating_add(bytes) <= self.quota.0 {
                break;
            }
            fs::remove_file(&oldest.path).map_err(|error| StoreError::io(&oldest.path, &error))?;
            total -= oldest.bytes;
        }
        Ok(())
    }

    /// All outputs of all workspaces. What vanishes while it is looked at takes no room.
    fn held(&self, own: &Path) -> Vec<Held> {
        let folders = entries(self.all.clone()).flat_map(|workspace| entries(workspace.path()));
        let files = folders.flat_map(|folder| entries(folder.path()));
        files
            .filter_map(|file| {
                let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
                let path = file.path();
                Some(Held {
                    bytes: metadata.len(),
                    written: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                    own: path.parent() == Some(own),
                    path,
                })
            })
            .collect()
    }
}

fn entries(folder: PathBuf) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok)
}
