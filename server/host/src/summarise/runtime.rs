//! From a call that waits on the network to one that a thread waits for. One worker thread for all questions, begun with
//! the first and asleep while there is none.

use std::future::Future;
use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use strata_engine::cancel::Cancel;
use tokio::runtime::{Builder, Runtime};

use super::error::SummaryError;

/// How often the flag is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What ends a call early.
pub(super) struct Limits<'a> {
    /// When it must be over.
    pub(super) until: Instant,
    /// How long that was from its beginning.
    pub(super) deadline: Duration,
    /// Raised when nobody waits any more.
    pub(super) cancel: &'a Cancel,
}

/// Waits for a call. When it is cancelled or late it is dropped, and its connection with it.
pub(super) fn wait_for<C>(call: C, limits: &Limits<'_>) -> Result<String, SummaryError>
where
    C: Future<Output = Result<String, SummaryError>> + Send + 'static,
{
    let runtime = runtime().map_err(|reason| SummaryError::Unreachable { reason })?;
    let (sender, receiver) = sync_channel(1);
    let task = runtime.spawn(async move {
        let answer = call.await;
        // Nobody listens when the call was late.
        let _ = sender.send(answer);
    });
    let ended = loop {
        let left = limits.until.saturating_duration_since(Instant::now());
        match receiver.recv_timeout(left.min(LOOK)) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Disconnected) => {
                break SummaryError::Unreachable { reason: "the call broke down".to_owned() };
            }
            Err(RecvTimeoutError::Timeout) if limits.cancel.is_cancelled() => break SummaryError::Cancelled,
            Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                break SummaryError::Timeout { after: limits.deadline };
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    task.abort();
    Err(ended)
}

/// The runtime of all calls, or why there is none.
fn runtime() -> Result<&'static Runtime, String> {
    static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();
    RUNTIME
        .get_or_init(|| {
            Builder::new_multi_thread().worker_threads(1).thread_name("strata-ask").enable_all().build()
        })
        .as_ref()
        .map_err(ToString::to_string)
}
