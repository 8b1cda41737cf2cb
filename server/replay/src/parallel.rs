//! Runs two pieces of work at a time and reports progress.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use strata_app::model::index::OutlineProgress;

const THREADS: usize = 2;

/// Applies `work` to each item, two at a time. The results are in the order of the items.
pub(crate) fn parallel_map<I: Sync, T: Send>(items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    let run = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return };
            let result = work(item);
            results.lock().unwrap_or_else(PoisonError::into_inner).insert(at, result);
        }
    };
    thread::scope(|scope| {
        for _ in 1..THREADS {
            // If the second thread cannot be started, this thread does all the work.
            let _ = thread::Builder::new().name("strata-replay".to_owned()).spawn_scoped(scope, run);
        }
        run();
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

/// Returns a function to call after each of `total` steps, which reports to `progress`.
pub(crate) fn step_counter(total: usize, progress: impl Fn(OutlineProgress) + Sync) -> impl Fn() + Sync {
    let done = AtomicUsize::new(0);
    move || progress(OutlineProgress { done: done.fetch_add(1, Ordering::Relaxed) + 1, total })
}
