//! Files on disk as text: opened so that nothing but a regular file inside the roots is ever read, decoded, and
//! kept as long as the file does not change. It finds no files (see [`walk`](crate::walk)) and knows nothing of
//! buffers.

mod cache;
mod decode;
mod open;

use std::io::{self, Read};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use strata_engine::hash::ContentHash;
use strata_engine::key::FileKey;

pub use self::cache::{TextCache, quick_stamp};
pub(crate) use self::decode::DecodeNotice;

use self::decode::{DecodeError, decode};
use self::open::{OpenFile, open_regular};
pub(crate) use self::open::{RealFolder, stamp_in};
use crate::roots::{PathError, Roots};

/// A file's metadata at one moment. Any difference means that the content may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Last change of the content in nanoseconds since 1970 (negative before).
    pub mtime_ns: i64,
    /// In bytes.
    pub size: u64,
    /// Detects files replaced under the same time: on Unix the inode and change time, elsewhere 0.
    pub identity: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// Largest file that is read, in bytes.
    pub max_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskText {
    /// Decoded, without a byte order mark, with original line ends.
    pub text: Arc<str>,
    /// From just before the content was read: when the file changed in between, the next look sees it.
    pub stamp: Stamp,
    /// Hash of `text`.
    pub hash: ContentHash,
    /// A note for readers of the text.
    pub notice: Option<DecodeNotice>,
}

/// Why a file is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The path leads somewhere it must not.
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("`{0}` does not exist")]
    NotFound(FileKey),
    #[error("`{0}` is a folder")]
    Folder(FileKey),
    /// A FIFO, a socket or a device; it was not opened.
    #[error("`{0}` is not a regular file")]
    NotRegular(FileKey),
    /// Over the limit; none of it was read.
    #[error("`{key}` has {size} bytes; the limit is {limit}")]
    TooLarge {
        key: FileKey,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The name of the file or its target suggests secrets, and no one has confirmed it.
    #[error(
        "`{key}` needs confirmation: its name or its target suggests secrets ({rule}); the user can select and confirm it \
         (confirmSecrets)"
    )]
    Secret {
        key: FileKey,
        /// The part of the name that gives it away.
        rule: &'static str,
    },
    /// It does not fit in memory.
    #[error("`{0}` does not fit in memory")]
    NoMemory(FileKey),
    #[error("`{0}` is binary")]
    Binary(FileKey),
    /// Text in an encoding that is not UTF-8 or UTF-16.
    #[error("`{0}` is not valid UTF-8")]
    NotUtf8(FileKey),
    /// Renamed or replaced again and again while it was being opened.
    #[error("`{0}` keeps changing while it is opened")]
    Moving(FileKey),
    #[error("cannot read `{key}`: {kind}")]
    Io { key: FileKey, kind: io::ErrorKind },
}

/// Times on disk advance in steps: up to 10 ms on Linux before 6.13, 2 s on FAT. A file read within this time of
/// its last change could change again under the same stamp (git calls this "racily clean").
const CLOCK_STEP_NS: i64 = 2_000_000_000;

impl Stamp {
    /// Whether the file had been left alone long enough before this moment that a change from now on must show in
    /// its stamp.
    pub fn is_settled(self) -> bool {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now_ns = i64::try_from(since.as_nanos()).unwrap_or(0);
        self.mtime_ns.checked_add(CLOCK_STEP_NS).is_some_and(|settled_at| settled_at < now_ns)
    }
}

impl Default for ReadLimits {
    /// 2 MiB: full text of more than that fits no model's window.
    fn default() -> Self {
        Self { max_bytes: 2 * 1024 * 1024 }
    }
}

impl ReadError {
    fn io(key: &FileKey, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound(key.clone()),
            io::ErrorKind::IsADirectory => Self::Folder(key.clone()),
            kind => Self::Io { key: key.clone(), kind },
        }
    }
}

/// Reads a file as text. One that grows over the limit while it is read is refused; one that changes meanwhile comes with
/// the older stamp, so that the next look reads it again.
///
/// # Errors
/// [`ReadError`]; rejected files are not read, and only regular files are opened.
pub fn read_text(roots: &Roots, key: &FileKey, limits: ReadLimits) -> Result<DiskText, ReadError> {
    let (bytes, stamp) = read_stamped(roots, key, limits.max_bytes)?;
    let (text, notice) = decode(bytes).map_err(|reason| match reason {
        DecodeError::Binary => ReadError::Binary(key.clone()),
        DecodeError::OtherEncoding => ReadError::NotUtf8(key.clone()),
    })?;
    let hash = ContentHash::of(&text);
    Ok(DiskText { text: text.into(), stamp, hash, notice })
}

/// Reads the raw bytes of a file, up to `limit`.
///
/// # Errors
/// As [`read_text`], except for what decoding shows.
pub(crate) fn read_bytes(roots: &Roots, key: &FileKey, limit: u64) -> Result<Vec<u8>, ReadError> {
    read_stamped(roots, key, limit).map(|(bytes, _)| bytes)
}

/// A file's stamp, without reading it, to check whether a text is still current.
///
/// # Errors
/// As [`read_text`], except for what only the content shows.
pub fn stamp_of(roots: &Roots, key: &FileKey) -> Result<Stamp, ReadError> {
    Ok(open_regular(roots, key)?.stamp)
}

fn read_stamped(roots: &Roots, key: &FileKey, limit: u64) -> Result<(Vec<u8>, Stamp), ReadError> {
    let OpenFile { file, stamp } = open_regular(roots, key)?;
    let too_large = |size| ReadError::TooLarge { key: key.clone(), size, limit };
    if stamp.size > limit {
        return Err(too_large(stamp.size));
    }
    let mut bytes = Vec::new();
    // A user may set a limit that no machine keeps to; asking for the memory in vain would end the process.
    let room = usize::try_from(stamp.size).ok().and_then(|size| size.checked_add(1));
    let has_room = room.is_some_and(|room| bytes.try_reserve_exact(room).is_ok());
    if !has_room {
        return Err(ReadError::NoMemory(key.clone()));
    }
    let mut bounded = file.take(limit.saturating_add(1));
    bounded.read_to_end(&mut bytes).map_err(|error| ReadError::io(key, &error))?;
    match bytes.len() as u64 {
        read if read > limit => Err(too_large(read)),
        _ => Ok((bytes, stamp)),
    }
}

#[cfg(test)]
mod tests;
