//! Tracks running compactions: at most one per session, with its number, its cause, and the request that waits for it.

use std::collections::BTreeMap;

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_conversation::compaction::TriggerReading;
use tower_lsp::ls_types::NumberOrString;

use crate::event::Answer;
use crate::outbound::Work;
use strata_app::commands::CommandError;
use strata_app::model::sessions::Sessions;
use strata_app::services::compaction::CompactionJob;
use strata_app::services::compaction_notice::{CompactionNotice, Reason};
use strata_app::services::running_compaction::{DraftCell, RunningCompaction};

pub(super) struct RunningJob {
    pub(super) number: u64,
    pub(super) job: CompactionJob,
    pub(super) cancel: Cancel,
    /// Sends the result to the request that started the compaction. `None` if the compaction started automatically.
    pub(super) answer: Option<Answer<Result<Value, CommandError>>>,
    /// The notice to send when the draft is installed.
    pub(super) news: Option<CompactionNotice>,
    /// The draft, for a prompt that waits for it.
    pub(super) draft: DraftCell,
    /// Whether a prompt that waited for the draft has already installed it.
    pub(super) adopted: bool,
}

/// Running compactions, by session.
#[derive(Default)]
pub(super) struct Compactions {
    last: u64,
    running: BTreeMap<String, RunningJob>,
    /// The trigger reading of the last failed automatic compaction, by session.
    failed: BTreeMap<String, TriggerReading>,
}

impl Compactions {
    /// Returns the running compaction of a session, for a command that may wait for it.
    pub(super) fn of(&self, session: &str) -> Option<RunningCompaction> {
        let RunningJob { number, job, draft, .. } = self.running.get(session)?;
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
        answer: Option<Answer<Result<Value, CommandError>>>,
        draft: DraftCell,
    ) -> u64 {
        self.last += 1;
        let running =
            RunningJob { number: self.last, job, cancel, answer, news: None, draft, adopted: false };
        self.running.insert(running.job.session.clone(), running);
        self.last
    }

    /// Returns the compaction with this number if it is still running.
    pub(super) fn get(&self, session: &str, number: u64) -> Option<&RunningJob> {
        self.running.get(session).filter(|running| running.number == number)
    }

    /// Like [`get`](Self::get), but returns a mutable reference.
    pub(super) fn running(&mut self, session: &str, number: u64) -> Option<&mut RunningJob> {
        self.running.get_mut(session).filter(|running| running.number == number)
    }

    /// Records the end of the compaction with this number. Returns `None` if it had already ended.
    pub(super) fn end(&mut self, session: &str, number: u64) -> Option<RunningJob> {
        self.get(session, number)?;
        self.running.remove(session)
    }

    /// Records a successful compaction. Since the conversation is shorter, an automatic compaction may be tried again.
    pub(super) fn succeeded(&mut self, job: &CompactionJob) {
        self.failed.remove(&job.session);
    }

    /// Records a failed compaction.
    pub(super) fn failed(&mut self, job: &CompactionJob) {
        if let Reason::Due(reading) = job.reason {
            self.failed.insert(job.session.clone(), reading);
        }
    }

    /// Whether an automatic compaction with the same trigger failed, and the measured size has grown by at most a tenth
    /// since.
    pub(super) fn is_hopeless(&self, session: &str, reading: &TriggerReading) -> bool {
        let same =
            |failed: &&TriggerReading| failed.measured == reading.measured && failed.now <= reading.now;
        self.failed
            .get(session)
            .filter(same)
            .is_some_and(|failed| reading.now - failed.now <= failed.now / 10)
    }

    /// Cancels the compactions of closed sessions.
    pub(super) fn cancel_closed(&mut self, open: &Sessions) {
        self.failed.retain(|session, _| open.contains(session));
        for (session, running) in &self.running {
            if !open.contains(session) {
                running.cancel.cancel();
            }
        }
    }

    /// Cancels the compaction whose progress has this token.
    pub(super) fn cancel(&self, token: &NumberOrString) {
        let shown = |running: &&RunningJob| Work::Compacting(running.number).token() == *token;
        if let Some(running) = self.running.values().find(shown) {
            running.cancel.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use strata_conversation::compaction::{Family, TriggerMetric};

    use super::*;

    #[test]
    fn what_failed_once_may_do_after_a_compaction_that_did() {
        let reading = TriggerReading { measured: TriggerMetric::Messages, now: 100, limit: 90, due: true };
        let job = CompactionJob {
            session: "s-1".to_owned(),
            profile: Family::Topic.profile(),
            reason: Reason::Due(reading),
            size: None,
        };
        let mut compactions = Compactions::default();
        compactions.failed(&job);
        assert!(compactions.is_hopeless("s-1", &reading));
        compactions.succeeded(&job);
        assert!(!compactions.is_hopeless("s-1", &reading));
    }
}
