//! The requests to models that are running.

use std::collections::BTreeMap;

use serde_json::Value;
use strata_app::commands::CommandError;
use strata_base::cancel::Cancel;
use tower_lsp::ls_types::NumberOrString;

use crate::event::Responder;
use crate::outbound::Work;

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
    pub(super) cancel: Cancel,
    /// Token for reporting progress, if the client gave one.
    pub(super) token: Option<NumberOrString>,
    pub(super) answer: Responder<Result<Value, CommandError>>,
}

impl RunningSend {
    pub(super) fn occupies(&self, session: &str) -> bool {
        self.occupies_session && self.session == session
    }
}

impl RunningSends {
    /// Cancels the request to a model whose progress has this token.
    pub(super) fn cancel(&self, token: &NumberOrString) {
        for (number, running) in &self.running {
            if running.token.as_ref() == Some(token) || Work::AskingModel(*number).token() == *token {
                running.cancel.cancel();
            }
        }
    }
}
