//! Starts requests to models. At most one request per session continues the conversation. The commands of a request
//! enter the session's queue like any other command, and the queue is free between them.

use serde_json::Value;

use super::SessionRuntime;
use super::event::Caller;
use super::host::{ModelRequest, RuntimeHost};
use super::progress::TrackedWork;
use super::running_sends::RunningSend;
use crate::commands::{self, CommandError, ModelJob};

/// Maximum number of requests to models that run at the same time, in all sessions together.
const MAX_CONCURRENT_SENDS: usize = 16;

impl SessionRuntime {
    /// Starts a request to a model. Rejects it if the session is already waiting for an answer, or if too many requests
    /// are running.
    pub(super) fn send(&mut self, job: Box<ModelJob>, caller: Caller, host: &mut dyn RuntimeHost) {
        let (session, occupies_session) = (job.session().to_owned(), job.occupies_session());
        let mut running = self.sends.running.values();
        let rejection = if occupies_session && running.any(|running| running.is_occupying(&session)) {
            Some("this session is already waiting for an answer; wait for it, or cancel it")
        } else if self.sends.running.len() >= MAX_CONCURRENT_SENDS {
            Some("too many requests to models are running; wait until one ends")
        } else {
            None
        };
        if let Some(message) = rejection {
            return caller.reply.send(Err(CommandError::failed(message)));
        }
        self.sends.last_number += 1;
        let number = self.sends.last_number;
        // The output of other questions is shown as it arrives, so they need no progress of their own.
        if job.is_shown_when_complete() && caller.token.is_none() {
            host.begin_progress(TrackedWork::AskingModel(number));
        }
        let (cancel, token) = (caller.cancel.clone(), caller.token.clone());
        self.sends.running.insert(number, RunningSend { session, occupies_session, caller });
        host.ask_model(ModelRequest { number, job, cancel, token });
    }

    /// Handles the end of a request to a model. Sends the reply after all deltas of the answer.
    pub(super) fn handle_model_answer(
        &mut self,
        number: u64,
        result: Result<Value, CommandError>,
        host: &mut dyn RuntimeHost,
    ) {
        let Some(RunningSend { session, caller, .. }) = self.sends.running.remove(&number) else { return };
        let outcome = if result.is_ok() { "answered" } else { "failed" };
        host.end_progress(TrackedWork::AskingModel(number), outcome);
        let result = result.map(|answer| match host.sessions().get(&session) {
            Some(session) => commands::with_state_version(answer, session),
            None => answer,
        });
        host.reply_after_messages(caller.reply, result);
    }
}
