//! Tracks running compactions: at most one per session, with its number, its cause, and the request that waits for it.

use std::collections::BTreeMap;

use strata_base::cancel::Cancel;
use strata_conversation::compaction::TriggerReading;

use super::event::ReplySender;
use super::progress::{ProgressToken, TrackedWork};
use crate::model::sessions::Sessions;
use crate::services::compaction::CompactionJob;
use crate::services::compaction_notice::{CompactionNotice, CompactionReason};
use crate::services::running_compaction::{CompactionDraftCell, RunningCompaction};

pub(super) struct ActiveCompaction {
    pub(super) number: u64,
    pub(super) job: CompactionJob,
    pub(super) cancel: Cancel,
    /// Sends the result to the request that started the compaction. `None` if the compaction started automatically.
    pub(super) reply: Option<ReplySender>,
    /// The notice to send when the draft is installed.
    pub(super) notice: Option<CompactionNotice>,
    /// The draft, for a prompt that waits for it.
    pub(super) draft: CompactionDraftCell,
    /// Whether a prompt that waited for the draft has already installed it.
    pub(super) is_adopted: bool,
}

/// Running compactions, by session.
#[derive(Default)]
pub(super) struct RunningCompactions {
    last_number: u64,
    running: BTreeMap<String, ActiveCompaction>,
    /// The trigger reading of the last failed automatic compaction, by session.
    failed: BTreeMap<String, TriggerReading>,
}

impl RunningCompactions {
    /// Returns the running compaction of a session, for a command that may wait for it.
    pub(super) fn running_compaction(&self, session: &str) -> Option<RunningCompaction> {
        let ActiveCompaction { number, job, draft, .. } = self.running.get(session)?;
        Some(RunningCompaction { number: *number, job: job.clone(), draft: draft.clone() })
    }

    pub(super) fn is_running(&self, session: &str) -> bool {
        self.running.contains_key(session)
    }

    /// Records the start of a compaction, and returns its number. `draft` will receive the draft.
    pub(super) fn begin(
        &mut self,
        job: CompactionJob,
        cancel: Cancel,
        reply: Option<ReplySender>,
        draft: CompactionDraftCell,
    ) -> u64 {
        self.last_number += 1;
        let running = ActiveCompaction {
            number: self.last_number,
            job,
            cancel,
            reply,
            notice: None,
            draft,
            is_adopted: false,
        };
        self.running.insert(running.job.session.clone(), running);
        self.last_number
    }

    /// Returns the compaction with this number if it is still running.
    pub(super) fn get(&self, session: &str, number: u64) -> Option<&ActiveCompaction> {
        self.running.get(session).filter(|running| running.number == number)
    }

    /// Like [`get`](Self::get), but returns a mutable reference.
    pub(super) fn get_mut(&mut self, session: &str, number: u64) -> Option<&mut ActiveCompaction> {
        self.running.get_mut(session).filter(|running| running.number == number)
    }

    /// Records the end of the compaction with this number. Returns `None` if it had already ended.
    pub(super) fn end(&mut self, session: &str, number: u64) -> Option<ActiveCompaction> {
        self.get(session, number)?;
        self.running.remove(session)
    }

    /// Records a successful compaction. Since the conversation is shorter, an automatic compaction may be tried again.
    pub(super) fn record_success(&mut self, job: &CompactionJob) {
        self.failed.remove(&job.session);
    }

    pub(super) fn record_failure(&mut self, job: &CompactionJob) {
        if let CompactionReason::Due(reading) = job.reason {
            self.failed.insert(job.session.clone(), reading);
        }
    }

    /// Whether an automatic compaction with the same trigger failed, and the measured size has grown by at most a tenth
    /// since.
    pub(super) fn would_fail_again(&self, session: &str, reading: &TriggerReading) -> bool {
        let has_same_trigger =
            |failed: &&TriggerReading| failed.measured == reading.measured && failed.now <= reading.now;
        self.failed
            .get(session)
            .filter(has_same_trigger)
            .is_some_and(|failed| reading.now - failed.now <= failed.now / 10)
    }

    pub(super) fn cancel_closed_sessions(&mut self, open: &Sessions) {
        self.failed.retain(|session, _| open.contains(session));
        for (session, running) in &self.running {
            if !open.contains(session) {
                running.cancel.cancel();
            }
        }
    }

    /// Cancels the compaction whose progress has this token.
    pub(super) fn cancel(&self, token: &ProgressToken) {
        let has_token =
            |running: &&ActiveCompaction| TrackedWork::Compacting(running.number).token() == *token;
        if let Some(running) = self.running.values().find(has_token) {
            running.cancel.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use strata_conversation::compaction::{BuiltinProfile, TriggerMetric};

    use super::*;

    #[test]
    fn a_successful_compaction_clears_the_record_of_a_failed_one() {
        let reading = TriggerReading { measured: TriggerMetric::Messages, now: 100, limit: 90, due: true };
        let job = CompactionJob {
            session: "s-1".to_owned(),
            profile: BuiltinProfile::Topic.profile(),
            reason: CompactionReason::Due(reading),
            size: None,
        };
        let mut compactions = RunningCompactions::default();
        compactions.record_failure(&job);
        assert!(compactions.would_fail_again("s-1", &reading));
        compactions.record_success(&job);
        assert!(!compactions.would_fail_again("s-1", &reading));
    }
}
