//! Runs the commands and the jobs of sessions for all front ends: queues them, interprets the jobs that a command
//! starts, and installs their results. Owns no threads and knows no protocol; the front end provides both as a [`RuntimeHost`].
//!
//! Commands of one session run in sequence, each with a snapshot of the workspace at the time of its arrival. Commands
//! of other sessions do not wait for them.

mod background_jobs;
mod compactions;
mod event;
mod host;
mod progress;
mod queue;
mod resume;
mod running_sends;
mod sends;
mod tasks;

use std::collections::BTreeSet;

use self::compactions::RunningCompactions;
use self::queue::{SessionTask, TaskQueues};
use self::running_sends::RunningSends;

pub use self::event::{Caller, CommandCall, ReplySender, SessionEvent};
pub use self::host::{ModelRequest, RuntimeHost, SessionWork, ThreadKind};
pub use self::progress::{ProgressToken, TrackedWork};
pub use self::resume::FirstSession;

/// The queues of sessions, and the jobs that are running.
#[derive(Default)]
pub struct SessionRuntime {
    queues: TaskQueues,
    compactions: RunningCompactions,
    sends: RunningSends,
    /// Sessions whose tool results are being summarized.
    archiving: BTreeSet<String>,
    /// Sessions for which the client is counting the tokens of the next request.
    measuring: BTreeSet<String>,
}

impl SessionRuntime {
    /// Handles the result of work that the host ran. If this panics, the host must handle
    /// [`SessionEvent::recovery_event`] instead.
    pub fn handle(&mut self, event: SessionEvent, host: &mut dyn RuntimeHost) {
        match event {
            SessionEvent::TaskFinished(session, task) => self.handle_finished_task(&session, *task, host),
            SessionEvent::TaskLost(session, effects, compaction) => {
                self.recover_lost_task(&session, &effects, compaction, host);
            }
            SessionEvent::DraftFinished(session, number, draft) => {
                self.handle_finished_draft(&session, number, draft, host);
            }
            SessionEvent::ModelAnswered(number, result) => self.handle_model_answer(number, result, host),
            SessionEvent::ToolResultsSummarized(session, archival) => {
                self.archiving.remove(&session);
                if let Some(archival) = archival {
                    self.push(&session, SessionTask::Archive(archival), host);
                }
            }
            SessionEvent::TokensCounted(session, count) => {
                self.measuring.remove(&session);
                if let Some(count) = count {
                    self.push(&session, SessionTask::Measure(count), host);
                }
            }
        }
    }

    /// Cancels the work whose progress has this token.
    pub fn cancel(&self, token: &ProgressToken) {
        self.compactions.cancel(token);
        self.sends.cancel(token);
    }
}
