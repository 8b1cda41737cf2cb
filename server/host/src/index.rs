//! Processes many files on several cancellable threads, reading each once: each text goes through the caller's function and is
//! dropped, so that memory holds a handful of texts. Knows nothing about the results.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use strata_engine::cancel::{Cancel, Cancelled};
use strata_engine::key::FileKey;

use crate::disk::{DiskText, ReadError, ReadLimits, read_text};
use crate::pool::{JobPanic, STACK_BYTES, catch_panic};
use crate::roots::Roots;

/// How an index run is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexOptions {
    /// Threads that read and work.
    pub threads: NonZeroUsize,
    /// Files above this are refused unread.
    pub limits: ReadLimits,
}

/// The result for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedFile<T> {
    pub key: FileKey,
    /// The result of the caller's function.
    pub outcome: Result<T, SkipReason>,
}

/// Why a file has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// It could not be read.
    #[error(transparent)]
    Unread(#[from] ReadError),
    /// The caller's function panicked on it.
    #[error(transparent)]
    Panicked(#[from] JobPanic),
}

/// Some files that are done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch<T> {
    /// How many files are done, these included.
    pub done: usize,
    pub total: usize,
    /// The outcome of these, in the order of the request.
    pub files: Vec<T>,
}

/// Files in one batch: enough to make handing over cheap, few enough for progress to move.
const BATCH: usize = 32;

/// More threads than this wait for memory and the disk.
const MAX_THREADS: usize = 4;

impl Default for IndexOptions {
    /// Half of the machine's threads, at most four, since an editor and a language server need some too. 1 MiB per file
    /// (`docs/outlines.md`, "Freshness").
    fn default() -> Self {
        let available = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads =
            NonZeroUsize::new(available.div_ceil(2).clamp(2, MAX_THREADS)).unwrap_or(NonZeroUsize::MIN);
        Self { threads, limits: ReadLimits { max_bytes: 1024 * 1024 } }
    }
}

/// Hands each file to `work`, on several threads, and what results from it to `sink`, on this thread. Files are started in
/// their order, so the largest should come first: then no thread is left alone with one of them at the end. Batches
/// arrive in no particular order.
///
/// # Errors
/// [`Cancelled`] when cancelled; results so far were delivered to `sink`.
pub fn spread<I: Sync, T: Send>(
    files: &[I],
    threads: NonZeroUsize,
    cancel: &Cancel,
    work: impl Fn(&I) -> T + Sync,
    sink: impl FnMut(Batch<T>),
) -> Result<(), Cancelled> {
    spread_on(files, threads, |_| STACK_BYTES, cancel, work, sink)
}

/// The same on threads with given stack sizes. If the system provides fewer threads, the others take over their work.
fn spread_on<I: Sync, T: Send>(
    files: &[I],
    threads: NonZeroUsize,
    stack: impl Fn(usize) -> usize,
    cancel: &Cancel,
    work: impl Fn(&I) -> T + Sync,
    mut sink: impl FnMut(Batch<T>),
) -> Result<(), Cancelled> {
    let total = files.len();
    let next = AtomicUsize::new(0);
    let threads = threads.get().min(total.div_ceil(BATCH));
    // Each thread may be one batch ahead of the sink.
    let (sender, batches) = mpsc::sync_channel::<Vec<T>>(threads);
    let mut done = 0;
    let mut hand_over = |files: Vec<T>| {
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
            if let Err(error) = thread.spawn_scoped(scope, move || run(files, cancel, next, work, deliver)) {
                tracing::warn!(%error, started, wanted = threads, "fewer threads than wanted scan files");
                break;
            }
            started += 1;
        }
        drop(sender);
        if started == 0 {
            let here = |files| {
                hand_over(files);
                true
            };
            run(files, cancel, &next, &work, here);
        }
        batches.into_iter().for_each(&mut hand_over);
    });
    cancel.check()
}

/// Reads each file and hands it to `work`, as [`spread`] does. A file that cannot be read or makes `work` panic does not
/// stop the others.
///
/// # Errors
/// [`Cancelled`] when cancelled; results so far were delivered to `sink`.
pub fn index<T: Send>(
    roots: &Roots,
    keys: &[FileKey],
    options: IndexOptions,
    cancel: &Cancel,
    work: impl Fn(&FileKey, &DiskText) -> T + Sync,
    sink: impl FnMut(Batch<IndexedFile<T>>),
) -> Result<(), Cancelled> {
    let read =
        |key: &FileKey| IndexedFile { key: key.clone(), outcome: outcome(roots, key, options.limits, &work) };
    spread(keys, options.threads, cancel, read, sink)
}

/// Works until nothing is left, or the results are no longer wanted.
fn run<I, T>(
    files: &[I],
    cancel: &Cancel,
    next: &AtomicUsize,
    work: &impl Fn(&I) -> T,
    mut deliver: impl FnMut(Vec<T>) -> bool,
) {
    loop {
        let start = next.fetch_add(BATCH, Ordering::Relaxed);
        let Some(rest) = files.get(start..).filter(|rest| !rest.is_empty()) else { return };
        let mut done = Vec::with_capacity(BATCH);
        for file in rest.iter().take(BATCH) {
            if cancel.is_cancelled() {
                return;
            }
            done.push(work(file));
        }
        if !deliver(done) {
            return;
        }
    }
}

fn outcome<T>(
    roots: &Roots,
    key: &FileKey,
    limits: ReadLimits,
    work: &impl Fn(&FileKey, &DiskText) -> T,
) -> Result<T, SkipReason> {
    let text = read_text(roots, key, limits)?;
    catch_panic(|| work(key, &text)).map_err(SkipReason::from)
}

#[cfg(test)]
mod tests;
