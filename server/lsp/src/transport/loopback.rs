//! Forwards the server's own requests and notifications to the output.
//!
//! Keeps their order: messages that a handler sends before its answer are written before the answer. The client's
//! answers take another path, from the reader directly to the waiting callers.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures::{Stream, future};
use tower_lsp::jsonrpc::Request;

use super::outbox::{Coalescing, Outbox};

/// The library's stream of server-to-client calls. Drained by a task, and by every thread that is about to send an
/// answer.
#[derive(Debug)]
pub(super) struct OutgoingCallForwarder<R> {
    calls: Mutex<OutgoingCalls<R>>,
    outbox: Arc<Outbox>,
}

#[derive(Debug)]
struct OutgoingCalls<R> {
    stream: R,
    /// The waker of the task. Other callers must not replace it.
    waker: Waker,
}

/// How draining the stream ended.
enum DrainOutcome {
    Paused,
    Ended,
}

impl<R: Stream<Item = Request> + Unpin> OutgoingCallForwarder<R> {
    pub(super) fn new(stream: R, outbox: Arc<Outbox>) -> Self {
        Self { calls: Mutex::new(OutgoingCalls { stream, waker: Waker::noop().clone() }), outbox }
    }

    /// Forwards calls until the stream ends. Pauses while too much output is unsent.
    pub(super) async fn run(&self) {
        loop {
            self.outbox.wait_for_capacity().await;
            let flow = future::poll_fn(|context| {
                let mut calls = self.lock();
                calls.waker.clone_from(context.waker());
                while !self.outbox.is_under_pressure() {
                    match calls.poll() {
                        Poll::Ready(Some(call)) => self.forward_to_client(&call),
                        Poll::Ready(None) => return Poll::Ready(DrainOutcome::Ended),
                        Poll::Pending => return Poll::Pending,
                    }
                }
                Poll::Ready(DrainOutcome::Paused)
            });
            match flow.await {
                DrainOutcome::Paused => {}
                DrainOutcome::Ended => return,
            }
        }
    }

    /// Forwards the calls sent so far, even while too much output is unsent, since they are already in memory.
    pub(super) fn forward_pending_calls(&self) {
        let mut calls = self.lock();
        while let Poll::Ready(Some(call)) = calls.poll() {
            self.forward_to_client(&call);
        }
    }

    fn forward_to_client(&self, call: &Request) {
        self.outbox.push(call, Coalescing::for_message(call));
    }

    fn lock(&self) -> MutexGuard<'_, OutgoingCalls<R>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Stream<Item = Request> + Unpin> OutgoingCalls<R> {
    fn poll(&mut self) -> Poll<Option<Request>> {
        Pin::new(&mut self.stream).poll_next(&mut Context::from_waker(&self.waker))
    }
}
