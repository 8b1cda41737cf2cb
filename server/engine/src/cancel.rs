//! A flag that tells long work to stop. Whoever wants the work ended holds a clone and raises it; the
//! work looks at it now and then. It never interrupts anything by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A shared flag, initially down. Clones share it; it cannot be lowered again.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// The work was cancelled before it was done; nothing of it was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

impl Cancel {
    /// A flag that is down.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag for every holder.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is up.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error as soon as the flag is up, for use with `?` between steps of work.
    ///
    /// # Errors
    /// [`Cancelled`] once the flag is up.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}
