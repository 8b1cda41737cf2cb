//! Caches texts of closed files as long as their stamps are unchanged. Always checks the disk: watchers are a hint, the stamp is
//! the truth. Limited by total size; evicts the least recently used.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use strata_engine::key::FileKey;

use super::{DiskText, ReadError, ReadLimits, Stamp, open, read_text};
use crate::roots::Roots;

/// A store of texts that threads share. No lock is held while the disk is read.
#[derive(Debug)]
pub struct TextCache {
    max_bytes: usize,
    texts: Mutex<CachedTexts>,
}

#[derive(Debug, Default)]
struct CachedTexts {
    entries: HashMap<FileKey, Entry>,
    bytes: usize,
    /// Counts lookups, for finding the least recently used entry.
    looks: u64,
}

#[derive(Debug)]
struct Entry {
    text: DiskText,
    last_look: u64,
    /// Whether the file had been left alone long enough before it was read that a later change must show in its
    /// stamp.
    settled: bool,
}

impl TextCache {
    /// A cache that keeps at most this many bytes of text.
    pub fn new(max_bytes: usize) -> Self {
        Self { max_bytes, texts: Mutex::default() }
    }

    /// A file's current text, from memory if its stamp is unchanged.
    ///
    /// # Errors
    /// As [`read_text`]; a file that cannot be read now is forgotten.
    pub fn text(&self, roots: &Roots, key: &FileKey, limits: ReadLimits) -> Result<DiskText, ReadError> {
        if let Some(known) = self.settled(key)
            && known.stamp.size <= limits.max_bytes
            && quick_stamp(roots, key) == Some(known.stamp)
        {
            return Ok(known);
        }
        match read_text(roots, key, limits) {
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
        self.texts().remove(key);
    }

    /// Drops everything. To be called when the roots change: the same key may name another file then.
    pub fn clear(&self) {
        *self.texts() = CachedTexts::default();
    }

    /// How many bytes of text are kept.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.texts().bytes
    }

    fn settled(&self, key: &FileKey) -> Option<DiskText> {
        let mut texts = self.texts();
        texts.looks += 1;
        let look = texts.looks;
        let entry = texts.entries.get_mut(key)?;
        entry.last_look = look;
        entry.settled.then(|| entry.text.clone())
    }

    fn insert(&self, key: &FileKey, text: &DiskText) {
        let mut texts = self.texts();
        texts.remove(key);
        if text.text.len() > self.max_bytes {
            return;
        }
        texts.looks += 1;
        texts.bytes += text.text.len();
        let entry = Entry { text: text.clone(), last_look: texts.looks, settled: text.stamp.is_settled() };
        texts.entries.insert(key.clone(), entry);
        if texts.bytes > self.max_bytes {
            texts.shrink_to(self.max_bytes / 4 * 3);
        }
    }

    fn texts(&self) -> MutexGuard<'_, CachedTexts> {
        // Nothing done under the lock can panic half way.
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedTexts {
    fn remove(&mut self, key: &FileKey) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.text.text.len();
        }
    }

    /// Drops the entries that were not looked at longest. Going well below the limit at once keeps this rare.
    fn shrink_to(&mut self, max_bytes: usize) {
        let mut oldest: Vec<(u64, FileKey)> =
            self.entries.iter().map(|(key, entry)| (entry.last_look, key.clone())).collect();
        oldest.sort_unstable_by_key(|(look, _)| *look);
        oldest.pop(); // the newest stays, however large
        for (_, key) in oldest {
            if self.bytes <= max_bytes {
                return;
            }
            self.remove(&key);
        }
    }
}

/// The stamp at a path, with one system call. Follows links above the file, which is safe because it only confirms a text that
/// was read inside the roots.
pub fn quick_stamp(roots: &Roots, key: &FileKey) -> Option<Stamp> {
    let path = roots.path_of(key).ok()?;
    let metadata = path.symlink_metadata().ok()?;
    metadata.is_file().then(|| open::stamp_in(&metadata))
}
