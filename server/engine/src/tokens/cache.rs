//! Counts that are known, by what counted and content hash, shared by all threads. It never counts itself, and
//! an entry that is gone costs a recount and changes no result.

use dashmap::DashMap;
use rustc_hash::FxBuildHasher;

use super::Scheme;
use crate::hash::ContentHash;

/// At 48 bytes each, 3 MB. A repository of 18 MB takes about 10,000.
const MAX_ENTRIES: usize = 1 << 16;

#[derive(Debug, Default)]
pub(super) struct CountCache {
    counts: DashMap<(Scheme, ContentHash), usize, FxBuildHasher>,
}

impl CountCache {
    /// The count, if it is known.
    pub(super) fn known(&self, scheme: Scheme, hash: ContentHash) -> Option<usize> {
        self.counts.get(&(scheme, hash)).map(|known| *known)
    }

    /// The known count, or what `count` says. `count` runs without a lock, so two threads may both run it.
    pub(super) fn get_or_count(
        &self,
        scheme: Scheme,
        hash: ContentHash,
        count: impl FnOnce() -> usize,
    ) -> usize {
        let key = (scheme, hash);
        if let Some(known) = self.counts.get(&key) {
            return *known;
        }
        let counted = count();
        if self.counts.len() >= MAX_ENTRIES {
            self.counts.clear();
        }
        self.counts.insert(key, counted);
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::super::Encoding;
    use super::*;

    const O200K: Scheme = Scheme::Encoding(Encoding::O200k);

    #[test]
    fn a_known_count_is_not_counted_again_and_encodings_are_apart() {
        let cache = CountCache::default();
        let hash = ContentHash::of("text");
        assert_eq!(cache.get_or_count(O200K, hash, || 3), 3);
        assert_eq!(cache.get_or_count(O200K, hash, || 4), 3);
        assert_eq!(cache.get_or_count(Scheme::Encoding(Encoding::Cl100k), hash, || 5), 5);
    }

    #[test]
    fn the_number_of_entries_is_bounded() {
        let cache = CountCache::default();
        for i in 0..MAX_ENTRIES + 10 {
            let hash = ContentHash::of(&i.to_string());
            assert_eq!(cache.get_or_count(O200K, hash, || i), i);
        }
        assert!(cache.counts.len() <= MAX_ENTRIES);
    }
}
