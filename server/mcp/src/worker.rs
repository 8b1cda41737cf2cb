//! One thread that owns the view, with its queue of calls. A cancelled call ends at its next check. A call that panics
//! returns an error and leaves the state unchanged.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use strata_app::commands::CommandError;
use strata_app::model::index::OutlineProgress;
use strata_app::runtime::headless::{Cancel, CancelOnDrop};
use tokio::sync::{mpsc, oneshot};

use crate::view::WorkspaceView;

/// Maximum number of queued calls. Further calls are rejected.
const MAX_QUEUED_CALLS: usize = 256;
/// Number of indexed files between two progress reports. The end is always reported.
const PROGRESS_INTERVAL: usize = 256;

type Job = Box<dyn FnOnce(&mut WorkspaceView) + Send>;

#[derive(Clone)]
pub(crate) struct Worker {
    jobs: SyncSender<Job>,
}

/// A call that is queued or running.
pub(crate) struct PendingCall<T> {
    /// The result of the call, or an error if the worker's thread has ended.
    pub(crate) answer: oneshot::Receiver<Result<T, CommandError>>,
    /// Progress of the indexing that the call waits for.
    pub(crate) progress: mpsc::UnboundedReceiver<OutlineProgress>,
    /// Cancels the call when dropped.
    pub(crate) wait: CancelOnDrop,
}

impl Worker {
    /// Starts the thread, which ends when the last handle to the worker is dropped.
    ///
    /// # Errors
    /// Returns the system's error if the thread cannot be started.
    pub(crate) fn new(view: WorkspaceView) -> io::Result<(Self, JoinHandle<()>)> {
        let (jobs, waiting) = sync_channel(MAX_QUEUED_CALLS);
        let thread =
            thread::Builder::new().name("strata-mcp".to_owned()).spawn(move || run_jobs(view, &waiting))?;
        Ok((Self { jobs }, thread))
    }

    pub(crate) fn submit<T: Send + 'static>(
        &self,
        call_name: &'static str,
        work: impl FnOnce(&mut WorkspaceView, &Cancel, &mut dyn FnMut(OutlineProgress)) -> Result<T, CommandError>
        + Send
        + 'static,
    ) -> Result<PendingCall<T>, CommandError> {
        let (sender, answer) = oneshot::channel();
        let (report, progress) = mpsc::unbounded_channel();
        let cancel = Cancel::new();
        let call_cancel = cancel.clone();
        let job = move |view: &mut WorkspaceView| {
            let mut reported = 0;
            let mut report = |progress_so_far: OutlineProgress| {
                if progress_so_far.done >= reported + PROGRESS_INTERVAL
                    || progress_so_far.done == progress_so_far.total
                {
                    reported = progress_so_far.done;
                    // A caller that is gone needs no reports.
                    let _ = report.send(progress_so_far);
                }
            };
            let span = tracing::info_span!("call", what = call_name).entered();
            let result = catch_unwind(AssertUnwindSafe(|| work(view, &call_cancel, &mut report)));
            tracing::debug!(failed = !matches!(result, Ok(Ok(_))), "answered");
            drop(span);
            let result = result.unwrap_or_else(|_| {
                tracing::error!(what = call_name, "a call panicked; its session is unchanged");
                Err(CommandError::failed("internal error in Strata; see the log"))
            });
            let _ = sender.send(result);
        };
        match self.jobs.try_send(Box::new(job)) {
            Ok(()) => Ok(PendingCall { answer, progress, wait: CancelOnDrop(cancel) }),
            Err(TrySendError::Full(_)) => {
                Err(CommandError::failed("too many calls are waiting; try again later"))
            }
            Err(TrySendError::Disconnected(_)) => Err(CommandError::failed("the server is shutting down")),
        }
    }
}

fn run_jobs(mut view: WorkspaceView, jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        job(&mut view);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use serde_json::json;
    use strata_app::runtime::headless::{HeadlessWorkspace, Settings};

    use super::*;
    use crate::view::SessionChoice;

    /// Time limit that is only reached if a call hangs.
    const LIMIT: Duration = Duration::from_secs(60);

    fn worker() -> (tempfile::TempDir, Worker, JoinHandle<()>) {
        let folder = tempfile::tempdir().unwrap();
        let headless = HeadlessWorkspace::open(folder.path(), Settings::default()).unwrap();
        let (worker, thread) =
            Worker::new(WorkspaceView::new(headless, SessionChoice::Own).unwrap()).unwrap();
        (folder, worker, thread)
    }

    fn tokens(worker: &Worker) -> Result<serde_json::Value, CommandError> {
        let counted = |view: &mut WorkspaceView, _: &Cancel, _: &mut dyn FnMut(OutlineProgress)| {
            view.run("strata.prompt.estimate", json!({ "text": "hello world", "model": "gpt-4o" }))
        };
        worker.submit("count", counted).unwrap().answer.blocking_recv().unwrap()
    }

    #[test]
    fn a_panic_is_an_error_and_the_next_call_is_answered() {
        let (_folder, worker, thread) = worker();
        let call =
            worker.submit("fault", |_, _, _| -> Result<(), CommandError> { panic!("on purpose") }).unwrap();
        let error = call.answer.blocking_recv().unwrap().unwrap_err();
        assert!(error.to_string().contains("internal error in Strata"), "{error}");
        assert_eq!(tokens(&worker).unwrap()["tokens"], 2);
        drop(worker);
        thread.join().unwrap();
    }

    #[test]
    fn a_call_is_cancelled_when_its_caller_is_dropped() {
        let (_folder, worker, _thread) = worker();
        let (begun, begins) = mpsc::channel();
        let (ended, ends) = mpsc::channel();
        let call = worker.submit("long", move |_, cancel, _| {
            begun.send(()).unwrap();
            while !cancel.is_cancelled() {
                thread::yield_now();
            }
            ended.send(()).unwrap();
            Ok(())
        });
        begins.recv_timeout(LIMIT).unwrap();
        drop(call);
        ends.recv_timeout(LIMIT).unwrap();
    }

    #[test]
    fn the_queue_of_calls_is_limited() {
        let (_folder, worker, _thread) = worker();
        let (release, released) = mpsc::channel::<()>();
        let blocking = worker.submit("long", move |_, _, _| Ok(released.recv().is_ok())).unwrap();
        let mut waiting = Vec::new();
        let refused = loop {
            match worker.submit("short", |_, _, _| Ok(())) {
                Ok(call) => waiting.push(call),
                Err(error) => break error,
            }
        };
        // The thread may or may not have taken the first call yet.
        assert!((MAX_QUEUED_CALLS - 1..=MAX_QUEUED_CALLS).contains(&waiting.len()), "{}", waiting.len());
        assert!(refused.to_string().contains("too many calls"), "{refused}");
        release.send(()).unwrap();
        assert!(blocking.answer.blocking_recv().unwrap().unwrap());
        assert!(waiting.into_iter().all(|call| call.answer.blocking_recv().unwrap().is_ok()));
    }

    #[test]
    fn progress_is_reported_at_intervals_and_at_the_end() {
        let (_folder, worker, _thread) = worker();
        let work = |_: &mut WorkspaceView, _: &Cancel, report: &mut dyn FnMut(OutlineProgress)| {
            (1..=1_000).for_each(|done| report(OutlineProgress { done, total: 1_000 }));
            Ok(())
        };
        let PendingCall { answer, mut progress, wait: _wait } = worker.submit("work", work).unwrap();
        answer.blocking_recv().unwrap().unwrap();
        let mut reported = Vec::new();
        while let Ok(progress_so_far) = progress.try_recv() {
            reported.push(progress_so_far.done);
        }
        assert_eq!(reported, [256, 512, 768, 1_000]);
    }
}
