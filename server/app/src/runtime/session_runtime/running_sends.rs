//! The requests to models that are running.

use std::collections::BTreeMap;

use super::event::Caller;
use super::progress::{ProgressToken, TrackedWork};
use crate::model::sessions::Sessions;

/// Running requests to models, by number.
#[derive(Default)]
pub(super) struct RunningSends {
    pub(super) last_number: u64,
    pub(super) running: BTreeMap<u64, RunningSend>,
}

pub(super) struct RunningSend {
    pub(super) session: String,
    /// Whether the request continues the conversation of its session. Only one such request may run per session.
    pub(super) occupies_session: bool,
    pub(super) caller: Caller,
}

impl RunningSend {
    pub(super) fn is_occupying(&self, session: &str) -> bool {
        self.occupies_session && self.session == session
    }
}

impl RunningSends {
    /// Cancels the request to a model whose progress has this token.
    pub(super) fn cancel(&self, token: &ProgressToken) {
        for (number, running) in &self.running {
            if running.caller.token.as_ref() == Some(token)
                || TrackedWork::AskingModel(*number).token() == *token
            {
                running.caller.cancel.cancel();
            }
        }
    }

    /// Cancels the requests that continue conversations of closed sessions.
    pub(super) fn cancel_closed_sessions(&self, open: &Sessions) {
        for running in self.running.values() {
            if running.occupies_session && !open.contains(&running.session) {
                running.caller.cancel.cancel();
            }
        }
    }
}
