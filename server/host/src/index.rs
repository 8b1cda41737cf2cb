//! Processes many files on several threads, with cancellation.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use strata_base::cancel::{Cancel, Cancelled};

use crate::pool::STACK_BYTES;

/// Results of several files, and the progress of the whole run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch<T> {
    /// Number of files processed so far, including this batch.
    pub done: usize,
    pub total: usize,
    /// Results of this batch, in the order in which the files were given.
    pub files: Vec<T>,
}

/// Number of files per batch. Large enough that passing batches between threads costs little, and small enough for
/// smooth progress.
const FILES_PER_BATCH: usize = 32;

/// Maximum number of threads. Additional threads would only wait for memory and the disk.
const MAX_INDEX_THREADS: usize = 4;

/// Returns how many threads read and process files: half of the machine's, between two and four, since the editor and
/// language servers need some too.
pub fn index_threads() -> NonZeroUsize {
    let available = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    NonZeroUsize::new(available.div_ceil(2).clamp(2, MAX_INDEX_THREADS)).unwrap_or(NonZeroUsize::MIN)
}

/// Calls `work` for each file on several threads, and passes the results to `sink` on the calling thread. Files are
/// started in the given order, so put the largest first; otherwise one thread may end up processing a large file alone.
/// Batches arrive in any order.
///
/// # Errors
/// [`Cancelled`] if `cancel` is raised. Results computed before the cancellation have been passed to `sink`.
pub fn for_each_parallel<I: Sync, T: Send>(
    files: &[I],
    threads: NonZeroUsize,
    cancel: &Cancel,
    work: impl Fn(&I) -> T + Sync,
    sink: impl FnMut(Batch<T>),
) -> Result<(), Cancelled> {
    for_each_parallel_with_stack(files, threads, |_| STACK_BYTES, cancel, work, sink)
}

/// Like [`for_each_parallel`], but `stack` maps a thread's number to its stack size in bytes. If some threads cannot be
/// started, the others process all files.
fn for_each_parallel_with_stack<I: Sync, T: Send>(
    files: &[I],
    threads: NonZeroUsize,
    stack: impl Fn(usize) -> usize,
    cancel: &Cancel,
    work: impl Fn(&I) -> T + Sync,
    mut sink: impl FnMut(Batch<T>),
) -> Result<(), Cancelled> {
    let total = files.len();
    let next = AtomicUsize::new(0);
    let threads = threads.get().min(total.div_ceil(FILES_PER_BATCH));
    // Each thread can be one batch ahead of the sink.
    let (sender, batches) = mpsc::sync_channel::<Vec<T>>(threads);
    let mut done = 0;
    let mut deliver_to_sink = |files: Vec<T>| {
        done += files.len();
        sink(Batch { done, total, files });
    };
    thread::scope(|scope| {
        let mut started = 0;
        for number in 1..=threads {
            let (sender, next, work) = (sender.clone(), &next, &work);
            let thread =
                thread::Builder::new().name(format!("strata-files-{number}")).stack_size(stack(number));
            let deliver = move |files| sender.send(files).is_ok();
            if let Err(error) =
                thread.spawn_scoped(scope, move || process_batches(files, cancel, next, work, deliver))
            {
                tracing::warn!(%error, started, wanted = threads, "cannot start all threads that read files");
                break;
            }
            started += 1;
        }
        drop(sender);
        if started == 0 {
            let deliver_here = |files| {
                deliver_to_sink(files);
                true
            };
            process_batches(files, cancel, &next, &work, deliver_here);
        }
        batches.into_iter().for_each(&mut deliver_to_sink);
    });
    cancel.check()
}

/// Calls `work` once on each of several threads, with the number of the thread and the number of threads. Returns the
/// results in order.
pub fn run_on_threads<T: Send>(threads: NonZeroUsize, work: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
    let (count, work) = (threads.get(), &work);
    thread::scope(|scope| {
        let threads_of_parts = (1..count).map(|part| {
            let thread = thread::Builder::new().name(format!("strata-part-{part}")).stack_size(STACK_BYTES);
            thread.spawn_scoped(scope, move || work(part, count)).map_err(|_| part)
        });
        let threads_of_parts: Vec<_> = threads_of_parts.collect();
        let mut results = vec![work(0, count)];
        results.extend(threads_of_parts.into_iter().map(|thread| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // The thread did not start.
            Err(part) => work(part, count),
        }));
        results
    })
}

/// Processes batches until no files are left, the run is cancelled, or `deliver` returns `false`.
fn process_batches<I, T>(
    files: &[I],
    cancel: &Cancel,
    next: &AtomicUsize,
    work: &impl Fn(&I) -> T,
    mut deliver: impl FnMut(Vec<T>) -> bool,
) {
    loop {
        let start = next.fetch_add(FILES_PER_BATCH, Ordering::Relaxed);
        let Some(remaining) = files.get(start..).filter(|remaining| !remaining.is_empty()) else { return };
        let mut results = Vec::with_capacity(FILES_PER_BATCH);
        for file in remaining.iter().take(FILES_PER_BATCH) {
            if cancel.is_cancelled() {
                return;
            }
            results.push(work(file));
        }
        if !deliver(results) {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
