//! A bounded cache of results, shared by all threads. An evicted result is computed again, so eviction does
//! not affect results.

use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};

use dashmap::DashMap;
use rustc_hash::FxBuildHasher;

/// A cache of at most `MOST` entries, plus one for each thread that inserts at the same time. When full, it
/// evicts all entries not requested since it was last full ("second chance" page replacement), or all entries
/// if every one was requested.
///
/// The table is preallocated, which takes no physical memory until it is written to. A table that grows would
/// leave gaps of half its size in the heap of a long-running server.
#[derive(Debug)]
pub struct Cache<K: Eq + Hash, V, const MOST: usize> {
    entries: DashMap<K, Entry<V>, FxBuildHasher>,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    /// Whether the entry was requested since it was added, or since the cache was last full.
    asked_for: AtomicBool,
}

impl<K: Eq + Hash, V, const MOST: usize> Default for Cache<K, V, MOST> {
    fn default() -> Self {
        Self { entries: DashMap::with_capacity_and_hasher(MOST, FxBuildHasher) }
    }
}

impl<K: Eq + Hash, V: Clone, const MOST: usize> Cache<K, V, MOST> {
    /// Returns the cached result, if any, and marks it as requested.
    pub fn get(&self, key: &K) -> Option<V> {
        let entry = self.entries.get(key)?;
        entry.asked_for.store(true, Ordering::Relaxed);
        Some(entry.value.clone())
    }

    /// Returns the cached result, or computes it with `work`. `work` runs without a lock, so two threads may
    /// both run it.
    pub fn get_or_insert_with(&self, key: K, work: impl FnOnce() -> V) -> V {
        if let Some(known) = self.get(&key) {
            return known;
        }
        let value = work();
        if self.entries.len() >= MOST {
            self.entries.retain(|_, entry| std::mem::take(entry.asked_for.get_mut()));
            if self.entries.len() >= MOST {
                self.entries.clear();
            }
        }
        self.entries.insert(key, Entry { value: value.clone(), asked_for: AtomicBool::new(false) });
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
    fn a_known_result_is_not_worked_out_again() {
        let cache = Small::default();
        assert_eq!((cache.get(&1), cache.get_or_insert_with(1, || 3)), (None, 3));
        assert_eq!((cache.get(&1), cache.get_or_insert_with(1, || 4)), (Some(3), 3));
        cache.clear();
        assert_eq!(cache.get(&1), None);
    }

    #[test]
    fn what_is_asked_for_stays_and_the_rest_goes() {
        let cache = Small::default();
        cache.get_or_insert_with(0, || 7);
        for key in 1..1_000 {
            assert_eq!(cache.get_or_insert_with(key, || key), key);
            assert_eq!(cache.get(&0), Some(7), "after {key} others");
            assert!(cache.entries.len() <= 100);
        }
    }

    #[test]
    fn there_is_room_for_all_from_the_start() {
        let cache = Cache::<u32, u32, 16_384>::default();
        let room = cache.entries.capacity();
        for key in 0..16_384 {
            cache.get_or_insert_with(key, || key);
        }
        assert_eq!((cache.entries.len(), cache.entries.capacity()), (16_384, room));
    }

    #[test]
    fn it_is_bounded_even_when_everything_is_asked_for() {
        let cache = Small::default();
        for key in 0..1_000 {
            cache.get_or_insert_with(key, || key);
            assert_eq!(cache.get(&key), Some(key));
            for known in 0..key {
                cache.get(&known);
            }
            assert!(cache.entries.len() <= 100);
        }
    }
}
