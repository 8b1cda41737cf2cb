//! Caches the names of files between searches. Most searches read the same few modules, through which others import.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use strata_base::hash::ContentHash;
use strata_grammars::LanguageId;

use super::scopes::FileScopes;

/// Maximum size of the texts whose names are cached, in bytes. The names and the syntax tree of a file take about 20 times
/// its size.
const MAX_CACHED_TEXT_BYTES: usize = 4 << 20;

/// Names of files, by content. Clones share the cache.
#[derive(Clone, Debug, Default)]
pub struct FileScopesCache(Arc<Mutex<CachedScopes>>);

#[derive(Debug, Default)]
struct CachedScopes {
    files: FxHashMap<(LanguageId, ContentHash), Arc<FileScopes>>,
    bytes: usize,
}

impl FileScopesCache {
    /// Returns the names of a file with this content, or computes them with `read`.
    pub(super) fn get_or_read<E>(
        &self,
        language: LanguageId,
        text: &str,
        read: impl FnOnce() -> Result<Option<FileScopes>, E>,
    ) -> Result<Option<Arc<FileScopes>>, E> {
        let key = (language, ContentHash::from_text(text));
        if let Some(known) = self.lock().files.get(&key) {
            return Ok(Some(Arc::clone(known)));
        }
        let Some(names) = read()?.map(Arc::new) else { return Ok(None) };
        let mut cached = self.lock();
        if cached.bytes + text.len() > MAX_CACHED_TEXT_BYTES {
            *cached = CachedScopes::default();
        }
        if text.len() <= MAX_CACHED_TEXT_BYTES && cached.files.insert(key, Arc::clone(&names)).is_none() {
            cached.bytes += text.len();
        }
        Ok(Some(names))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, CachedScopes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
