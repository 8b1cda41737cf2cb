//! Caches the text of closed files while their stamps are unchanged. Every lookup checks the stamp on disk, since file
//! watchers are unreliable. The total size is limited by evicting the least recently used files.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use strata_base::key::FileKey;

use super::{DiskText, ReadError, Stamp, max_file_bytes, open, read_text};
use crate::roots::Roots;

/// A cache of file texts that is shared between threads. No lock is held while reading from disk.
#[derive(Debug)]
pub struct TextCache {
    max_bytes: usize,
    texts: Mutex<CachedTexts>,
}

#[derive(Debug, Default)]
struct CachedTexts {
    entries: HashMap<FileKey, CachedText>,
    bytes: usize,
    /// Number of lookups so far. Orders entries by their last use.
    lookups: u64,
}

#[derive(Debug)]
struct CachedText {
    text: DiskText,
    last_lookup: u64,
    /// Whether the file was unchanged for long enough when it was read that any later change must alter its stamp.
    settled: bool,
}

impl TextCache {
    /// Creates a cache that contains at most `max_bytes` bytes of text.
    pub fn new(max_bytes: usize) -> Self {
        Self { max_bytes, texts: Mutex::default() }
    }

    /// Returns a file's current text. Reads from disk only if the file's stamp has changed.
    ///
    /// # Errors
    /// Same as [`read_text`]. A file that cannot be read is removed from the cache.
    pub fn text(&self, roots: &Roots, key: &FileKey, max_bytes: u64) -> Result<DiskText, ReadError> {
        if let Some(cached) = self.reliable_text(key)
            && cached.stamp.size <= max_file_bytes(key, max_bytes)
            && cached.text.len() as u64 <= max_bytes
            && quick_stamp(roots, key) == Some(cached.stamp)
        {
            return Ok(cached);
        }
        match read_text(roots, key, max_bytes) {
            Ok(text) => {
                self.insert(key, &text);
                Ok(text)
            }
            Err(error) => {
                self.forget(key);
                Err(error)
            }
        }
    }

    pub(super) fn forget(&self, key: &FileKey) {
        self.lock_texts().remove(key);
    }

    /// Removes all entries. Call this when the roots change, since a key may then refer to another file.
    pub fn clear(&self) {
        *self.lock_texts() = CachedTexts::default();
    }

    /// Total size of the cached text, in bytes.
    #[cfg(test)]
    pub(super) fn total_bytes(&self) -> usize {
        self.lock_texts().bytes
    }

    fn reliable_text(&self, key: &FileKey) -> Option<DiskText> {
        let mut texts = self.lock_texts();
        texts.lookups += 1;
        let lookup = texts.lookups;
        let entry = texts.entries.get_mut(key)?;
        entry.last_lookup = lookup;
        entry.settled.then(|| entry.text.clone())
    }

    fn insert(&self, key: &FileKey, text: &DiskText) {
        let mut texts = self.lock_texts();
        texts.remove(key);
        if text.text.len() > self.max_bytes {
            return;
        }
        texts.lookups += 1;
        texts.bytes += text.text.len();
        let entry =
            CachedText { text: text.clone(), last_lookup: texts.lookups, settled: text.stamp.is_reliable() };
        texts.entries.insert(key.clone(), entry);
        if texts.bytes > self.max_bytes {
            texts.shrink_to(self.max_bytes / 4 * 3);
        }
    }

    fn lock_texts(&self) -> MutexGuard<'_, CachedTexts> {
        // No code panics while it holds the lock, so the data behind a poisoned lock is consistent.
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedTexts {
    fn remove(&mut self, key: &FileKey) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.text.text.len();
        }
    }

    /// Evicts the least recently used entries. Callers pass a target well below the limit so that evictions are rare.
    fn shrink_to(&mut self, max_bytes: usize) {
        let mut oldest: Vec<(u64, FileKey)> =
            self.entries.iter().map(|(key, entry)| (entry.last_lookup, key.clone())).collect();
        oldest.sort_unstable_by_key(|(lookup, _)| *lookup);
        oldest.pop(); // the newest stays, however large
        for (_, key) in oldest {
            if self.bytes <= max_bytes {
                return;
            }
            self.remove(&key);
        }
    }
}

/// Returns the stamp of a file with one system call. Follows links in parent directories. This is safe because the
/// stamp only confirms text that was read inside the roots.
pub fn quick_stamp(roots: &Roots, key: &FileKey) -> Option<Stamp> {
    let path = roots.path_of(key).ok()?;
    let metadata = path.symlink_metadata().ok()?;
    metadata.is_file().then(|| open::stamp_from_metadata(&metadata))
}
