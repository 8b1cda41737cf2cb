//! One writer per session, across processes. The lock is the operating system's, so it goes with the process that held
//! it, however that ended. Reads no database.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::process;

use super::paths::{StorePaths, lock_file};
use super::{SessionId, StoreError};

/// How a session is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// For reading and writing. No one else can write to it while the handle lives.
    Write,
    /// For reading. Others may write to it meanwhile.
    Read,
}

/// An open session. Dropping it gives the session free.
#[derive(Debug)]
pub struct SessionHandle {
    pub id: SessionId,
    lock: Option<File>,
}

impl SessionHandle {
    pub(super) fn reading(id: SessionId) -> Self {
        Self { id, lock: None }
    }

    /// Takes the session's lock, or reports its holder at once.
    pub(super) fn writing(place: &StorePaths, id: SessionId) -> Result<Self, StoreError> {
        let path = place.session_lock(&id);
        let mut file = lock_file(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::InUse { pid: holder(&mut file), id }),
            Err(TryLockError::Error(error)) => return Err(StoreError::io(&path, &error)),
        }
        // For whoever comes second; without it they are told less, and that is all.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", process::id()));
        Ok(Self { id, lock: Some(file) })
    }

    /// How it was opened.
    pub fn access(&self) -> Access {
        if self.lock.is_some() { Access::Write } else { Access::Read }
    }

    pub(super) fn must_write(&self) -> Result<(), StoreError> {
        match self.access() {
            Access::Write => Ok(()),
            Access::Read => Err(StoreError::ReadOnly(self.id.clone())),
        }
    }
}

/// The process that holds the lock, from the file's content. Unavailable on systems where a locked file cannot be read.
fn holder(file: &mut File) -> Option<u32> {
    const DIGITS: u64 = 10;
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(DIGITS).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
