//! Runs the work of the session runtime without threads: the workspace carries out what is pending, in order, on the
//! thread of its caller.

use std::collections::VecDeque;
use std::sync::Arc;

use strata_base::cancel::Cancel;
use strata_prompt::session::Session;

use crate::commands::{BackgroundJob, Effect};
use crate::model::sessions::Sessions;
use crate::model::snapshot::Snapshot;
use crate::runtime::effects;
use crate::runtime::session_runtime::{ModelRequest, RuntimeHost, SessionWork, ThreadKind};
use crate::services::Services;

/// Work of a command or of its jobs that has not been carried out yet.
pub(super) enum PendingWork {
    Work(SessionWork),
    Model(ModelRequest),
    Reindex,
}

pub(super) struct HeadlessHost<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) sessions: &'a mut Sessions,
    pub(super) services: &'a Arc<Services>,
    pub(super) cancel: &'a Cancel,
    pub(super) pending: &'a mut VecDeque<PendingWork>,
}

impl RuntimeHost for HeadlessHost<'_> {
    fn snapshot(&self) -> &Snapshot {
        self.snapshot
    }

    fn sessions(&self) -> &Sessions {
        self.sessions
    }

    fn services(&self) -> &Arc<Services> {
        self.services
    }

    fn update_sessions(&mut self, changed: Option<Arc<Session>>, effects: Vec<Effect>) -> Vec<BackgroundJob> {
        effects::apply_effects(self.sessions, changed, effects)
    }

    fn spawn(&mut self, _: ThreadKind, work: SessionWork) {
        self.pending.push_back(PendingWork::Work(work));
    }

    fn ask_model(&mut self, request: ModelRequest) {
        self.pending.push_back(PendingWork::Model(request));
    }

    fn reindex(&mut self) {
        self.pending.push_back(PendingWork::Reindex);
    }

    fn background_cancel(&self) -> Cancel {
        self.cancel.clone()
    }
}
