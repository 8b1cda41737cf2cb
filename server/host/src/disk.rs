//! Reads files on disk as text. Opens only regular files inside the roots. Decoded text is cached until the file
//! changes. [`walk`](crate::walk) finds the files, and open buffers are handled elsewhere.

mod cache;
mod decode;
mod error;
mod open;
mod stamp;

use std::io::Read;
use std::sync::Arc;

use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_code::notebook::{Notebook, is_notebook};

pub use self::cache::{TextCache, quick_stamp};
pub(crate) use self::decode::DecodeNotice;
pub use self::error::ReadError;
pub use self::stamp::Stamp;

use self::decode::{DecodeError, decode, is_binary};
use self::open::{OpenFile, open_regular};
pub(crate) use self::open::{RealFolder, stamp_from_metadata};
use crate::roots::Roots;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskText {
    /// The decoded text, without a byte order mark and with its original line endings.
    pub text: Arc<str>,
    /// Stamp from just before the content was read, so that the next check detects a change made during the read.
    pub stamp: Stamp,
    pub hash: ContentHash,
    /// Describes how the decoder changed the content. Shown next to the text.
    pub notice: Option<DecodeNotice>,
}

/// How much larger than its text the file of a notebook may be. Outputs are often pictures.
const NOTEBOOK_SIZE_FACTOR: u64 = 16;

/// Reads a file as text of at most `max_bytes` bytes. Rejects a file that grows beyond the limit during the read. A file
/// that changes during the read is returned with its older stamp, so that the next check reads it again.
///
/// # Errors
/// [`ReadError`] if the file is rejected, cannot be read, or cannot be decoded. Only regular files are opened.
pub fn read_text(roots: &Roots, key: &FileKey, max_bytes: u64) -> Result<DiskText, ReadError> {
    let (text, notice, stamp) = read_decoded(roots, key, max_bytes)?;
    let notebook = if is_notebook(key) { Notebook::parse(&text) } else { None };
    let (text, notice) = match notebook {
        Some(notebook) => (notebook.text(), Some(DecodeNotice::Notebook)),
        None => (text, notice),
    };
    check_text(key, &text, max_bytes)?;
    let hash = ContentHash::from_text(&text);
    Ok(DiskText { text: text.into(), stamp, hash, notice })
}

/// Reads a notebook as its cells.
///
/// # Errors
/// Same as [`read_text`], and [`ReadError::NotNotebook`] if the file does not have the format of a notebook.
pub fn read_notebook(roots: &Roots, key: &FileKey, max_bytes: u64) -> Result<Notebook, ReadError> {
    let (text, ..) = read_decoded(roots, key, max_bytes)?;
    Notebook::parse(&text).ok_or_else(|| ReadError::NotNotebook(key.clone()))
}

/// Returns the maximum size in bytes of a file whose text may have `max_bytes`. The outputs of a notebook are not part
/// of its text, so its file may be larger.
pub(crate) fn max_file_bytes(key: &FileKey, max_bytes: u64) -> u64 {
    if is_notebook(key) { max_bytes.saturating_mul(NOTEBOOK_SIZE_FACTOR) } else { max_bytes }
}

fn read_decoded(
    roots: &Roots,
    key: &FileKey,
    max_bytes: u64,
) -> Result<(String, Option<DecodeNotice>, Stamp), ReadError> {
    let (bytes, stamp) = read_stamped(roots, key, max_file_bytes(key, max_bytes))?;
    let (text, notice) = decode(bytes).map_err(|reason| match reason {
        DecodeError::Binary => ReadError::Binary(key.clone()),
        DecodeError::OtherEncoding => ReadError::NotUtf8(key.clone()),
    })?;
    Ok((text, notice, stamp))
}

/// Checks a text from an editor's buffer or from a client by the rules for files on disk, of at most `max_bytes` bytes.
///
/// # Errors
/// [`ReadError::TooLarge`] or [`ReadError::Binary`].
pub fn check_text(key: &FileKey, text: &str, max_bytes: u64) -> Result<(), ReadError> {
    let size = text.len() as u64;
    if size > max_bytes {
        return Err(ReadError::TooLarge { key: key.clone(), size, limit: max_bytes });
    }
    if is_binary(text.as_bytes()) { Err(ReadError::Binary(key.clone())) } else { Ok(()) }
}

/// Reads the raw bytes of a file whose size is at most `limit` bytes.
///
/// # Errors
/// Same as [`read_text`], except for decoding errors.
pub(crate) fn read_bytes(roots: &Roots, key: &FileKey, limit: u64) -> Result<Vec<u8>, ReadError> {
    read_stamped(roots, key, limit).map(|(bytes, _)| bytes)
}

/// Returns a file's stamp without reading the content. Used to check whether a cached text is still current.
///
/// # Errors
/// Same as [`read_text`], except for errors that depend on the content.
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
    // Reserve fallibly: the user may set a limit larger than the machine's memory, and a failed infallible allocation
    // would abort the process.
    let capacity = usize::try_from(stamp.size).ok().and_then(|size| size.checked_add(1));
    let has_memory = capacity.is_some_and(|capacity| bytes.try_reserve_exact(capacity).is_ok());
    if !has_memory {
        return Err(ReadError::NoMemory(key.clone()));
    }
    let mut bounded = file.take(limit.saturating_add(1));
    bounded.read_to_end(&mut bytes).map_err(|error| ReadError::io(key, &error))?;
    match bytes.len() as u64 {
        size if size > limit => Err(too_large(size)),
        _ => Ok((bytes, stamp)),
    }
}

#[cfg(test)]
mod tests;
