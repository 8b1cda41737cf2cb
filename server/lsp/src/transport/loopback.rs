//! The way of the server's own requests and notifications to the output.
//!
//! Owns their order: messages sent by a handler before its answer are written before it. Never routes the client's answers back
//! (the reader does, bypassing everything that could wait).

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures::{Stream, future};
use tower_lsp::jsonrpc::Request;

use super::outbox::{Outbox, Relation};

/// The library's stream of server-to-client calls, emptied by a task and by whoever is about to answer.
#[derive(Debug)]
pub(super) struct Loopback<R> {
    calls: Mutex<Calls<R>>,
    outbox: Arc<Outbox>,
}

#[derive(Debug)]
struct Calls<R> {
    stream: R,
    /// The waker of the task; other pollers must leave it registered.
    waker: Waker,
}

/// How emptying the stream ended.
enum Flow {
    Paused,
    Ended,
}

impl<R: Stream<Item = Request> + Unpin> Loopback<R> {
    pub(super) fn new(stream: R, outbox: Arc<Outbox>) -> Self {
        Self { calls: Mutex::new(Calls { stream, waker: Waker::noop().clone() }), outbox }
    }

    /// Forwards calls until the stream ends; leaves them where they are while the client has too much to read.
    pub(super) async fn run(&self) {
        loop {
            self.outbox.room().await;
            let flow = future::poll_fn(|context| {
                let mut calls = self.lock();
                calls.waker.clone_from(context.waker());
                while !self.outbox.is_under_pressure() {
                    match calls.poll() {
                        Poll::Ready(Some(call)) => self.forward(&call),
                        Poll::Ready(None) => return Poll::Ready(Flow::Ended),
                        Poll::Pending => return Poll::Pending,
                    }
                }
                Poll::Ready(Flow::Paused)
            });
            match flow.await {
                Flow::Paused => {}
                Flow::Ended => return,
            }
        }
    }

    /// Forwards what has been sent so far. Pressure does not hold it back: it is in memory already.
    pub(super) fn catch_up(&self) {
        let mut calls = self.lock();
        while let Poll::Ready(Some(call)) = calls.poll() {
            self.forward(&call);
        }
    }

    fn forward(&self, call: &Request) {
        self.outbox.push(call, Relation::of(call));
    }

    fn lock(&self) -> MutexGuard<'_, Calls<R>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Stream<Item = Request> + Unpin> Calls<R> {
    fn poll(&mut self) -> Poll<Option<Request>> {
        Pin::new(&mut self.stream).poll_next(&mut Context::from_waker(&self.waker))
    }
}
