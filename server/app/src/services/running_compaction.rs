//! A running compaction, for commands that need its result. Several commands can wait for the draft. The caller decides
//! which of them installs it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use strata_base::cancel::{Cancel, Cancelled};
use strata_conversation::compaction::CompactionDraft;

use crate::services::compaction::CompactionJob;

/// Interval at which a waiting command checks for cancellation.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Clone, Debug)]
pub struct RunningCompaction {
    /// Number of the compaction, unique within this server.
    pub number: u64,
    pub job: CompactionJob,
    pub draft: CompactionDraftCell,
}

/// The draft of a compaction, or the reason why there is none. Empty until the compaction ends.
#[derive(Clone, Debug, Default)]
pub struct CompactionDraftCell(Arc<SharedDraft>);

#[derive(Debug, Default)]
struct SharedDraft {
    draft: Mutex<Option<Result<CompactionDraft, String>>>,
    filled: Condvar,
}

impl CompactionDraftCell {
    pub fn fill(&self, draft: Result<CompactionDraft, String>) {
        *self.0.draft.lock().unwrap_or_else(PoisonError::into_inner) = Some(draft);
        self.0.filled.notify_all();
    }

    /// Waits for the draft. The compaction has its own timeouts.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if `cancel` is raised.
    pub(crate) fn wait(&self, cancel: &Cancel) -> Result<Result<CompactionDraft, String>, Cancelled> {
        let SharedDraft { draft, filled } = &*self.0;
        let mut guard = draft.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(draft) = &*guard {
                return Ok(draft.clone());
            }
            cancel.check()?;
            guard =
                filled.wait_timeout(guard, CANCEL_CHECK_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn waiting_for_a_draft_ends_with_the_draft_or_when_cancelled() {
        let (cell, cancel) = (CompactionDraftCell::default(), Cancel::new());
        let waiting = thread::spawn({
            let (cell, cancel) = (cell.clone(), cancel.clone());
            move || cell.wait(&cancel)
        });
        cell.fill(Err("no model".to_owned()));
        assert_eq!(waiting.join().unwrap(), Ok(Err("no model".to_owned())));
        assert_eq!(cell.wait(&cancel), Ok(Err("no model".to_owned())), "also for whoever comes later");
        cancel.cancel();
        assert_eq!(CompactionDraftCell::default().wait(&cancel), Err(Cancelled));
    }
}
