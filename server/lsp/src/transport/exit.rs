//! How serving ends: the first cause wins, and decides the process's exit code.
//!
//! Owns the signal that carries the cause from any thread to [`serve`](super::serve). Never ends the process.

use std::sync::{Mutex, OnceLock, PoisonError};

use tokio::sync::oneshot;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The client sent `exit`.
    ExitNotification,
    /// The client closed its end of the input, or reading from it failed.
    EndOfInput,
    /// The client closed its end of the output, or writing to it failed.
    OutputClosed,
    /// The process that `initialize` named as the client has disconnected.
    ClientDied,
}

/// The end of [`serve`](super::serve).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// For the process: 0 if `shutdown` came first, else 1 (LSP 3.17, `exit`).
    pub code: u8,
    pub cause: Cause,
}

/// Raised once, from whichever thread sees the end first.
#[derive(Debug)]
pub(super) struct ExitSignal {
    cause: OnceLock<Cause>,
    waiting: Mutex<Option<oneshot::Sender<Cause>>>,
}

impl ExitSignal {
    pub(super) fn new() -> (Self, oneshot::Receiver<Cause>) {
        let (sender, receiver) = oneshot::channel();
        (Self { cause: OnceLock::new(), waiting: Mutex::new(Some(sender)) }, receiver)
    }

    /// Ends serving, unless something else already has.
    pub(super) fn raise(&self, cause: Cause) {
        if self.cause.set(cause).is_ok() {
            let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
            // No one waits any more when the future of `serve` was dropped: that ends serving as well.
            let _ = waiting.map(|sender| sender.send(cause));
        }
    }

    pub(super) fn is_raised(&self) -> bool {
        self.cause.get().is_some()
    }
}
