//! A few threads for work that is too long for the main loop. It knows nothing of the work, and a job that panics is a
//! value like any other.
//!
//! Plain threads and one lock: rayon's strength (splitting one computation) is not needed here. Cancelling is the job's own
//! business (see [`Cancel`](strata_engine::cancel::Cancel)).

use std::any::Any;
use std::collections::VecDeque;
use std::io;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The priority of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// Someone waits.
    Awaited,
    /// No one waits. On Linux, these threads and those they start have a lower priority.
    Background,
}

/// A job panicked; the thread lives on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("panicked: {message}")]
pub struct JobPanic {
    pub message: String,
}

/// The threads. Dropping it drops waiting jobs; running ones complete on their own.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
}

type Job = Box<dyn FnOnce() + Send>;

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    ready: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    closed: bool,
}

/// Deeply nested sources make deep recursions; address space that is not touched costs nothing.
pub(crate) const STACK_BYTES: usize = 16 * 1024 * 1024;

impl Pool {
    /// Starts the threads.
    ///
    /// # Errors
    /// The system's, when it gives no more threads.
    pub fn new(threads: NonZeroUsize, urgency: Urgency) -> io::Result<Self> {
        let shared = Arc::new(Shared { queue: Mutex::default(), ready: Condvar::new() });
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
                shared.work();
            })?;
        }
        Ok(pool)
    }

    /// Puts a job at the end of the queue. `done` gets what became of it, on the thread that ran it; when the pool is
    /// dropped first, both are dropped without being called.
    pub fn spawn<T>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
        done: impl FnOnce(Result<T, JobPanic>) + Send + 'static,
    ) {
        let job: Job = Box::new(move || done(catch_panic(job)));
        self.shared.queue().jobs.push_back(job);
        self.shared.ready.notify_one();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut queue = self.shared.queue();
        let dropped = std::mem::take(&mut queue.jobs);
        queue.closed = true;
        drop(queue);
        self.shared.ready.notify_all();
        drop(dropped); // outside the lock: a job may own anything
    }
}

impl Shared {
    fn work(&self) {
        while let Some(job) = self.next() {
            // `done` is the caller's code, too: it must not end the thread either, and there is no one to tell.
            let _: Result<(), JobPanic> = catch_panic(job);
        }
    }

    fn next(&self) -> Option<Job> {
        let mut queue = self.queue();
        loop {
            if queue.closed {
                return None;
            }
            if let Some(job) = queue.jobs.pop_front() {
                return Some(job);
            }
            queue = self.ready.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // No caller's code runs under the lock.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("jobs", &self.jobs.len()).field("closed", &self.closed).finish()
    }
}

/// Lowers the priority of this thread. On Linux alone a priority belongs to a thread and goes over to those it starts.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    {
        /// A tenth of what others get while they have something to do (`sched(7)`, "The nice value").
        const NICENESS: i32 = 10;

        if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
            tracing::debug!(%error, "background threads run at normal priority");
        }
    }
}

/// Runs something and turns its panic into a value.
///
/// # Errors
/// [`JobPanic`].
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, JobPanic> {
    // What the closure had borrowed mutably is gone with it, or its owner finds out from the error.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| JobPanic { message: message(&*payload) })
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// A pool of one thread.
    fn pool(urgency: Urgency) -> Pool {
        Pool::new(NonZeroUsize::MIN, urgency).unwrap()
    }

    #[test]
    fn a_panic_is_a_value_and_the_thread_lives() {
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
    fn a_panic_in_done_does_not_end_the_thread() {
        let pool = pool(Urgency::Awaited);
        pool.spawn(|| (), |_| panic!("in done"));
        let (sender, results) = mpsc::channel();
        pool.spawn(|| 7, move |result| sender.send(result).unwrap());
        assert_eq!(results.recv().unwrap(), Ok(7));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_nobody_waits_for_makes_way_with_all_it_starts() {
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
    fn dropping_the_pool_drops_what_waits() {
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
