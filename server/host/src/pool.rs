//! A few threads for work that is too long for the main loop. Two lanes: what someone waits for never queues
//! behind what runs in the background. It knows nothing of the work, and a job that panics is a value like any other.
//!
//! Plain threads and one lock: rayon has no lanes, and its strength (splitting one computation) is not needed
//! here. Cancelling is the job's own business (see [`Cancel`](strata_engine::cancel::Cancel)).

use std::any::Any;
use std::collections::VecDeque;
use std::io;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Which queue a job stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Someone waits for it. Goes first, and one thread always keeps free for it (unless there is only one).
    Interactive,
    /// Nobody waits for it.
    Background,
}

/// A job panicked; the thread lives on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("panicked: {message}")]
pub struct Panicked {
    /// What the panic said.
    pub message: String,
}

/// The threads. Dropping it drops the jobs that wait; those that run come to their end on their own.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
}

type Job = Box<dyn FnOnce() + Send>;

#[derive(Debug)]
struct Shared {
    queues: Mutex<Queues>,
    ready: Condvar,
    max_background: usize,
}

#[derive(Default)]
struct Queues {
    interactive: VecDeque<Job>,
    background: VecDeque<Job>,
    background_running: usize,
    closed: bool,
}

/// Deeply nested sources make deep recursions; address space that is not touched costs nothing.
const STACK_BYTES: usize = 16 * 1024 * 1024;

impl Pool {
    /// Starts the threads.
    ///
    /// # Errors
    /// The system's, when it gives no more threads.
    pub fn new(threads: NonZeroUsize) -> io::Result<Self> {
        let max_background = threads.get().saturating_sub(1).max(1);
        let shared = Arc::new(Shared { queues: Mutex::default(), ready: Condvar::new(), max_background });
        let pool = Self { shared: Arc::clone(&shared) };
        for number in 1..=threads.get() {
            let shared = Arc::clone(&shared);
            let thread =
                thread::Builder::new().name(format!("strata-worker-{number}")).stack_size(STACK_BYTES);
            thread.spawn(move || shared.work())?;
        }
        Ok(pool)
    }

    /// Puts a job at the end of its lane. `done` gets what became of it, on the thread that ran it; when the pool is
    /// dropped first, both are dropped without being called.
    pub fn spawn<T>(
        &self,
        lane: Lane,
        job: impl FnOnce() -> T + Send + 'static,
        done: impl FnOnce(Result<T, Panicked>) + Send + 'static,
    ) {
        let job: Job = Box::new(move || done(catch(job)));
        let mut queues = self.shared.queues();
        match lane {
            Lane::Interactive => queues.interactive.push_back(job),
            Lane::Background => queues.background.push_back(job),
        }
        drop(queues);
        self.shared.ready.notify_one();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut queues = self.shared.queues();
        let dropped = (std::mem::take(&mut queues.interactive), std::mem::take(&mut queues.background));
        queues.closed = true;
        drop(queues);
        self.shared.ready.notify_all();
        drop(dropped); // outside the lock: a job may own anything
    }
}

impl Shared {
    fn work(&self) {
        while let Some((lane, job)) = self.next() {
            // `done` is the caller's code, too: it must not end the thread either, and there is nobody to tell.
            let _: Result<(), Panicked> = catch(job);
            if lane == Lane::Background {
                self.queues().background_running -= 1;
            }
        }
    }

    fn next(&self) -> Option<(Lane, Job)> {
        let mut queues = self.queues();
        loop {
            if queues.closed {
                return None;
            }
            if let Some(job) = queues.interactive.pop_front() {
                return Some((Lane::Interactive, job));
            }
            if queues.background_running < self.max_background
                && let Some(job) = queues.background.pop_front()
            {
                queues.background_running += 1;
                return Some((Lane::Background, job));
            }
            queues = self.ready.wait(queues).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        // No caller's code runs under the lock.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Queues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queues")
            .field("interactive", &self.interactive.len())
            .field("background", &self.background.len())
            .field("background_running", &self.background_running)
            .field("closed", &self.closed)
            .finish()
    }
}

/// Runs something and turns its panic into a value.
///
/// # Errors
/// [`Panicked`].
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    // What the closure had borrowed mutably is gone with it, or its owner finds out from the error.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Panicked { message: message(&*payload) })
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn pool(threads: usize) -> Pool {
        Pool::new(NonZeroUsize::new(threads).unwrap()).unwrap()
    }

    #[test]
    fn a_panic_is_a_value_and_the_thread_lives() {
        let pool = pool(1);
        let (sender, results) = mpsc::channel();
        for number in 0..3 {
            let sender = sender.clone();
            let job = move || if number == 1 { panic!("job {number}") } else { number };
            pool.spawn(Lane::Background, job, move |result| sender.send(result).unwrap());
        }
        drop(sender);
        let results: Vec<_> = results.iter().collect();
        assert_eq!(results, [Ok(0), Err(Panicked { message: "job 1".into() }), Ok(2)]);
    }

    #[test]
    fn a_panic_in_done_does_not_end_the_thread() {
        let pool = pool(1);
        pool.spawn(Lane::Background, || (), |_| panic!("in done"));
        let (sender, results) = mpsc::channel();
        pool.spawn(Lane::Background, || 7, move |result| sender.send(result).unwrap());
        assert_eq!(results.recv().unwrap(), Ok(7));
    }

    #[test]
    fn background_work_leaves_a_thread_for_who_waits() {
        let pool = pool(3);
        let (release, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        for _ in 0..10 {
            let gate = Arc::clone(&gate);
            pool.spawn(Lane::Background, move || gate.lock().unwrap().recv().is_err(), |_| {});
        }
        // Each round trip gives a thread the chance to take one background job too many.
        for round in 0..100 {
            let (sender, results) = mpsc::channel();
            pool.spawn(Lane::Interactive, move || round, move |result| sender.send(result).unwrap());
            let served = results.recv_timeout(std::time::Duration::from_secs(30));
            assert_eq!(served, Ok(Ok(round)), "no thread was left");
        }
        drop(release);
    }

    #[test]
    fn interactive_jobs_go_first() {
        let pool = pool(1);
        let (release, gate) = mpsc::channel::<()>();
        let (sender, order) = mpsc::channel();
        pool.spawn(Lane::Background, move || gate.recv().is_err(), |_| {});
        for (lane, name) in [(Lane::Background, "background"), (Lane::Interactive, "interactive")] {
            let sender = sender.clone();
            pool.spawn(lane, move || name, move |result| sender.send(result).unwrap());
        }
        drop((release, sender));
        assert_eq!(order.iter().map(Result::unwrap).collect::<Vec<_>>(), ["interactive", "background"]);
    }

    #[test]
    fn dropping_the_pool_drops_what_waits() {
        let pool = pool(1);
        let (started, has_started) = mpsc::channel();
        let (release, gate) = mpsc::channel::<()>();
        let start = move || {
            started.send(()).unwrap();
            gate.recv().is_err()
        };
        pool.spawn(Lane::Background, start, |_| {});
        has_started.recv().unwrap();
        let (sender, results) = mpsc::channel::<Result<(), Panicked>>();
        pool.spawn(Lane::Background, || (), move |result| sender.send(result).unwrap());
        drop(pool);
        assert!(results.recv().is_err(), "the waiting job was dropped with its sender");
        drop(release);
    }
}
