//! Ensures one writer per session across processes. Uses locks of the operating system, which are released when the
//! process ends for any reason. Does not access the database.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::process;

use super::paths::{StorePaths, lock_file};
use super::{SessionId, StoreError};

/// How a session is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// For reading and writing. No other handle can write to the session while this one exists.
    Write,
    /// For reading only. Others may write to the session in the meantime.
    Read,
}

/// An open session. Dropping it releases the session.
#[derive(Debug)]
pub struct SessionHandle {
    pub id: SessionId,
    lock: Option<File>,
}

impl SessionHandle {
    pub(super) fn reading(id: SessionId) -> Self {
        Self { id, lock: None }
    }

    /// Locks the session; fails immediately if it is locked, naming the process that holds the lock.
    pub(super) fn writing(place: &StorePaths, id: SessionId) -> Result<Self, StoreError> {
        let path = place.session_lock(&id);
        let mut file = lock_file(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::InUse { pid: holder(&mut file), id }),
            Err(TryLockError::Error(error)) => return Err(StoreError::io(&path, &error)),
        }
        // Lets others report which process holds the lock. Failing to write it is harmless.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", process::id()));
        Ok(Self { id, lock: Some(file) })
    }

    /// Returns how the session was opened.
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

/// Reads the id of the process that holds the lock. `None` on systems where a locked file cannot be read.
fn holder(file: &mut File) -> Option<u32> {
    const DIGITS: u64 = 10;
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(DIGITS).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
