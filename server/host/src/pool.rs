//! A small thread pool for work that would block the main loop. If a job panics, its result is an error.
//!
//! Plain threads and one lock suffice, since no computation is split across threads as with rayon. Jobs handle
//! cancellation themselves (see [`Cancel`](strata_base::cancel::Cancel)).

use std::any::Any;
use std::collections::VecDeque;
use std::io;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How urgently the results of a pool are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// The user is waiting for the result.
    Awaited,
    /// Nothing waits for the result. On Linux, the threads of the pool and the threads that they start run at a lower
    /// priority.
    Background,
}

/// A job that panicked. The worker thread keeps running.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("panicked: {message}")]
pub struct JobPanic {
    pub message: String,
}

/// A thread pool. Dropping the pool drops queued jobs and lets running jobs finish.
pub struct Pool {
    shared: Arc<PoolState>,
}

type Job = Box<dyn FnOnce() + Send>;

struct PoolState {
    queue: Mutex<JobQueue>,
    ready: Condvar,
}

#[derive(Default)]
struct JobQueue {
    jobs: VecDeque<Job>,
    is_closed: bool,
}

/// Stack size of the threads, in bytes. Deeply nested sources need deep recursion, and unused stack pages take no
/// memory.
pub(crate) const STACK_BYTES: usize = 16 * 1024 * 1024;

impl Pool {
    /// Starts a pool with this number of threads.
    ///
    /// # Errors
    /// The operating system's error if a thread cannot be started.
    pub fn new(threads: NonZeroUsize, urgency: Urgency) -> io::Result<Self> {
        let shared = Arc::new(PoolState { queue: Mutex::default(), ready: Condvar::new() });
        let pool = Self { shared: Arc::clone(&shared) };
        let name = match urgency {
            Urgency::Awaited => "strata-worker",
            Urgency::Background => "strata-behind",
        };
        for number in 1..=threads.get() {
            let shared = Arc::clone(&shared);
            let thread = thread::Builder::new().name(format!("{name}-{number}")).stack_size(STACK_BYTES);
            thread.spawn(move || {
                if urgency == Urgency::Background {
                    lower_priority();
                }
                shared.run_jobs();
            })?;
        }
        Ok(pool)
    }

    /// Appends a job to the queue. `on_result` receives the result on the thread that ran the job. If the pool is dropped
    /// before the job starts, neither closure is called.
    pub fn spawn<T>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
        on_result: impl FnOnce(Result<T, JobPanic>) + Send + 'static,
    ) {
        let job: Job = Box::new(move || on_result(catch_panic(job)));
        self.shared.lock_queue().jobs.push_back(job);
        self.shared.ready.notify_one();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut queue = self.shared.lock_queue();
        let dropped = std::mem::take(&mut queue.jobs);
        queue.is_closed = true;
        drop(queue);
        self.shared.ready.notify_all();
        drop(dropped); // outside the lock: a job may own anything
    }
}

impl PoolState {
    fn run_jobs(&self) {
        while let Some(job) = self.next() {
            // The result callback is caller code too. If it panics, the thread must survive, and there is nowhere to report the
            // panic.
            let _: Result<(), JobPanic> = catch_panic(job);
        }
    }

    fn next(&self) -> Option<Job> {
        let mut queue = self.lock_queue();
        loop {
            if queue.is_closed {
                return None;
            }
            if let Some(job) = queue.jobs.pop_front() {
                return Some(job);
            }
            queue = self.ready.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock_queue(&self) -> MutexGuard<'_, JobQueue> {
        // No caller code runs while the lock is held, so a poisoned lock still has consistent data.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lowers the priority of the current thread and of the threads that it starts. Does nothing on systems other than
/// Linux, where a priority applies to the whole process.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    {
        /// Gives about a tenth of the CPU share of other threads under load (`sched(7)`, "The nice value").
        const NICENESS: i32 = 10;

        if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
            tracing::debug!(%error, "background threads run at normal priority");
        }
    }
}

/// Calls `work` and converts a panic to an error.
///
/// # Errors
/// [`JobPanic`] if `work` panics.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, JobPanic> {
    // State that the closure borrows mutably is either dropped with the closure, or its owner learns of the panic from
    // the returned error.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| JobPanic { message: panic_message(&*payload) })
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn pool(urgency: Urgency) -> Pool {
        Pool::new(NonZeroUsize::MIN, urgency).unwrap()
    }

    #[test]
    fn a_panic_becomes_an_error_and_the_thread_survives() {
        let pool = pool(Urgency::Awaited);
        let (sender, results) = mpsc::channel();
        for number in 0..3 {
            let sender = sender.clone();
            let job = move || if number == 1 { panic!("job {number}") } else { number };
            pool.spawn(job, move |result| sender.send(result).unwrap());
        }
        drop(sender);
        let results: Vec<_> = results.iter().collect();
        assert_eq!(results, [Ok(0), Err(JobPanic { message: "job 1".into() }), Ok(2)]);
    }

    #[test]
    fn a_panic_in_the_result_callback_does_not_end_the_thread() {
        let pool = pool(Urgency::Awaited);
        pool.spawn(|| (), |_| panic!("in done"));
        let (sender, results) = mpsc::channel();
        pool.spawn(|| 7, move |result| sender.send(result).unwrap());
        assert_eq!(results.recv().unwrap(), Ok(7));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn background_jobs_and_the_threads_that_they_start_run_at_low_priority() {
        let niceness = || rustix::process::getpriority_process(None).unwrap();
        for (urgency, expected) in [(Urgency::Awaited, niceness()), (Urgency::Background, 10)] {
            let (sender, results) = mpsc::channel();
            let job = move || (niceness(), thread::spawn(niceness).join().unwrap());
            let pool = pool(urgency);
            pool.spawn(job, move |result| sender.send(result).unwrap());
            assert_eq!(results.recv().unwrap(), Ok((expected, expected)), "{urgency:?}");
        }
    }

    #[test]
    fn dropping_the_pool_drops_queued_jobs() {
        let pool = pool(Urgency::Awaited);
        let (started, has_started) = mpsc::channel();
        let (release, gate) = mpsc::channel::<()>();
        let start = move || {
            started.send(()).unwrap();
            gate.recv().is_err()
        };
        pool.spawn(start, |_| {});
        has_started.recv().unwrap();
        let (sender, results) = mpsc::channel::<Result<(), JobPanic>>();
        pool.spawn(|| (), move |result| sender.send(result).unwrap());
        drop(pool);
        assert!(results.recv().is_err(), "the waiting job was dropped with its sender");
        drop(release);
    }
}
