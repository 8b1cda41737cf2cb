//! A flag that stops long-running work. The owner keeps a clone and raises it; the work must check it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A cancellation flag that all its clones share. Once raised, it stays raised.
#[derive(Clone, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    condition: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

/// Raises its flag when it is dropped.
pub struct CancelOnDrop(pub Cancel);

/// Error returned if work was cancelled before it completed. Partial results are discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

impl Cancel {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the same flag with a condition: the flag also counts as raised when `condition` returns `true`. Every
    /// check calls `condition`. A host uses this for time limits, since the engine does not read the clock.
    #[must_use]
    pub fn with_condition(&self, condition: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let outer = self.condition.clone();
        let either = move || condition() || outer.as_ref().is_some_and(|outer| outer());
        Self { flag: Arc::clone(&self.flag), condition: Some(Arc::new(either)) }
    }

    /// Raises the flag for all clones.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is raised or a condition of [`Cancel::with_condition`] is met.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed) || self.condition.as_ref().is_some_and(|condition| condition())
    }

    /// Returns an error if the flag is raised, for use with `?` between steps of work.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_cancelled()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn a_condition_cancels_only_the_flag_that_has_it() {
        let checks = Arc::new(AtomicUsize::new(0));
        let (cancel, counter) = (Cancel::new(), Arc::clone(&checks));
        let limited = cancel
            .with_condition(move || counter.fetch_add(1, Ordering::Relaxed) >= 2)
            .with_condition(|| false);
        assert_eq!([limited.check(), limited.check(), limited.check()], [Ok(()), Ok(()), Err(Cancelled)]);
        assert!(!cancel.is_cancelled());
        cancel.cancel();
        assert!(limited.is_cancelled() && checks.load(Ordering::Relaxed) == 3);
    }
}
