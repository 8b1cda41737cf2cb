//! A bounded cache of results, shared by all threads. An evicted result is computed again, so eviction does
//! not affect results.

use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};

use dashmap::DashMap;
use rustc_hash::FxBuildHasher;

/// A cache of at most `CAPACITY` entries, plus one for each thread that inserts at the same time. When full, it
/// evicts all entries not requested since it was last full ("second chance" page replacement), or all entries
/// if every one was requested.
///
/// The table is preallocated, which takes no physical memory until it is written to. A table that grows would
/// leave gaps of half its size in the heap of a long-running server.
#[derive(Debug)]
pub struct Cache<K: Eq + Hash, V, const CAPACITY: usize> {
    entries: DashMap<K, CacheEntry<V>, FxBuildHasher>,
}

#[derive(Debug)]
struct CacheEntry<V> {
    value: V,
    /// Whether the entry was requested since it was added, or since the cache was last full.
    was_requested: AtomicBool,
}

impl<K: Eq + Hash, V, const CAPACITY: usize> Default for Cache<K, V, CAPACITY> {
    fn default() -> Self {
        Self { entries: DashMap::with_capacity_and_hasher(CAPACITY, FxBuildHasher) }
    }
}

impl<K: Eq + Hash, V: Clone, const CAPACITY: usize> Cache<K, V, CAPACITY> {
    /// Returns the cached result, if any, and marks it as requested.
    pub fn get(&self, key: &K) -> Option<V> {
        let entry = self.entries.get(key)?;
        entry.was_requested.store(true, Ordering::Relaxed);
        Some(entry.value.clone())
    }

    /// Returns the cached result, or computes it with `compute`. `compute` runs without a lock, so two threads may
    /// both run it.
    pub fn get_or_insert_with(&self, key: K, compute: impl FnOnce() -> V) -> V {
        if let Some(cached) = self.get(&key) {
            return cached;
        }
        let value = compute();
        if self.entries.len() >= CAPACITY {
            self.entries.retain(|_, entry| std::mem::take(entry.was_requested.get_mut()));
            if self.entries.len() >= CAPACITY {
                self.entries.clear();
            }
        }
        self.entries.insert(key, CacheEntry { value: value.clone(), was_requested: AtomicBool::new(false) });
        value
    }

    pub fn clear(&self) {
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Small = Cache<u32, u32, 100>;

    #[test]
    fn a_cached_result_is_not_computed_again() {
        let cache = Small::default();
        assert_eq!((cache.get(&1), cache.get_or_insert_with(1, || 3)), (None, 3));
        assert_eq!((cache.get(&1), cache.get_or_insert_with(1, || 4)), (Some(3), 3));
        cache.clear();
        assert_eq!(cache.get(&1), None);
    }

    #[test]
    fn requested_entries_survive_eviction_and_others_do_not() {
        let cache = Small::default();
        cache.get_or_insert_with(0, || 7);
        for key in 1..1_000 {
            assert_eq!(cache.get_or_insert_with(key, || key), key);
            assert_eq!(cache.get(&0), Some(7), "after {key} others");
            assert!(cache.entries.len() <= 100);
        }
    }

    #[test]
    fn the_table_is_allocated_at_full_capacity() {
        let cache = Cache::<u32, u32, 16_384>::default();
        let capacity = cache.entries.capacity();
        for key in 0..16_384 {
            cache.get_or_insert_with(key, || key);
        }
        assert_eq!((cache.entries.len(), cache.entries.capacity()), (16_384, capacity));
    }

    #[test]
    fn the_cache_stays_bounded_even_if_every_entry_is_requested() {
        let cache = Small::default();
        for key in 0..1_000 {
            cache.get_or_insert_with(key, || key);
            assert_eq!(cache.get(&key), Some(key));
            for earlier in 0..key {
                cache.get(&earlier);
            }
            assert!(cache.entries.len() <= 100);
        }
    }
}
