//! Represents how serving ends. The first cause wins and determines the exit code of the process.
//!
//! The signal carries the cause from any thread to [`serve`](super::serve). This module never ends the process itself.

use std::sync::{Mutex, OnceLock, PoisonError};

use tokio::sync::oneshot;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCause {
    /// The client sent `exit`.
    ExitNotification,
    /// The client closed the input pipe, or reading from it failed.
    EndOfInput,
    /// The client closed the output pipe, or writing to it failed.
    OutputClosed,
    /// The process that `initialize` named as the client has ended.
    ClientDied,
}

/// Why [`serve`](super::serve) returned, and the exit code for the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Exit code for the process: 0 if `shutdown` came first, otherwise 1 (LSP 3.17, `exit`).
    pub code: u8,
    pub cause: ExitCause,
}

/// Signals the end of serving. Raised once, by the thread that detects the end first.
#[derive(Debug)]
pub(super) struct ExitSignal {
    cause: OnceLock<ExitCause>,
    waiting: Mutex<Option<oneshot::Sender<ExitCause>>>,
}

impl ExitSignal {
    pub(super) fn new() -> (Self, oneshot::Receiver<ExitCause>) {
        let (sender, receiver) = oneshot::channel();
        (Self { cause: OnceLock::new(), waiting: Mutex::new(Some(sender)) }, receiver)
    }

    /// Ends serving, unless serving is already ending.
    pub(super) fn raise(&self, cause: ExitCause) {
        if self.cause.set(cause).is_ok() {
            let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
            // The receiver is gone if the future of `serve` was dropped, which ends serving too.
            let _ = waiting.map(|sender| sender.send(cause));
        }
    }

    pub(super) fn is_raised(&self) -> bool {
        self.cause.get().is_some()
    }
}
