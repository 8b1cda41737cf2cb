//! Ensures that each session has one writer across processes. Uses file locks of the operating system, which are
//! released when a process ends for any reason. Does not access the database.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::process;

use super::paths::{StorePaths, open_lock_file};
use super::{SessionId, StoreError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionAccess {
    /// Reading and writing. Prevents other handles from writing to the session.
    Write,
    /// Reading only. Does not prevent other handles from writing to the session.
    Read,
}

/// An open session. Dropping the handle releases the session.
#[derive(Debug)]
pub struct SessionHandle {
    pub id: SessionId,
    lock: Option<File>,
}

impl SessionHandle {
    pub(super) fn for_reading(id: SessionId) -> Self {
        Self { id, lock: None }
    }

    /// Locks a session for writing. If the session is already locked, fails immediately with the id of the process that
    /// holds the lock.
    pub(super) fn for_writing(paths: &StorePaths, id: SessionId) -> Result<Self, StoreError> {
        let path = paths.session_lock(&id);
        let mut file = open_lock_file(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::InUse { pid: lock_holder(&mut file), id });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::io(&path, &error)),
        }
        // Record which process holds the lock, so that other processes can report it. Failing to record it is harmless.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", process::id()));
        Ok(Self { id, lock: Some(file) })
    }

    pub fn access(&self) -> SessionAccess {
        if self.lock.is_some() { SessionAccess::Write } else { SessionAccess::Read }
    }

    pub(super) fn check_writable(&self) -> Result<(), StoreError> {
        match self.access() {
            SessionAccess::Write => Ok(()),
            SessionAccess::Read => Err(StoreError::ReadOnly(self.id.clone())),
        }
    }
}

/// Reads the id of the process that holds a lock. Returns `None` on systems where a locked file cannot be read.
fn lock_holder(file: &mut File) -> Option<u32> {
    const DIGITS: u64 = 10;
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(DIGITS).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
