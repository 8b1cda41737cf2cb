//! Runs questions to models, each on its own thread, since a question takes minutes. At most one question per session
//! continues the conversation. The commands of a question enter the session's queue like any other command, and the
//! queue is free between them.

use std::sync::mpsc::Sender;
use std::thread;

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_host::pool::catch_panic;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tower_lsp::ls_types::{
    NumberOrString, WorkDoneProgress, WorkDoneProgressBegin, WorkDoneProgressEnd, WorkDoneProgressReport,
};

use super::MainLoop;
use super::running_sends::RunningSend;
use super::tasks::respond;
use crate::event::{Arguments, CommandCall, Event, Responder};
use crate::outbound::{Outbound, Work, render_notice};
use strata_app::commands::{self, CommandError, Invocation, ModelJob};
use strata_app::jobs::send::{Delta, SendHost};
use strata_app::jobs::tools::ToolHost;
use strata_app::model::snapshot::Snapshot;

/// Maximum number of requests to models that run at the same time, in all sessions together.
const MAX_SENDS: usize = 16;

/// Commands that a request to a model runs even after it is cancelled, since the end of its turn must be recorded.
const ALWAYS_RUN: [&str; 2] = ["strata.prompt.record", "strata.prompt.discard"];

impl MainLoop {
    /// Starts a request to a model on its own thread. Rejects it if the session is already waiting for an answer, or if
    /// too many requests are running.
    pub(super) fn send(
        &mut self,
        job: ModelJob,
        cancel: Cancel,
        token: Option<NumberOrString>,
        answer: Responder<Result<Value, CommandError>>,
    ) {
        let (session, occupies_session) = (job.session().to_owned(), job.occupies_session());
        let mut running = self.sends.running.values();
        let rejection = if occupies_session && running.any(|running| running.occupies(&session)) {
            Some("this session is already waiting for an answer; wait for it, or cancel it")
        } else if self.sends.running.len() >= MAX_SENDS {
            Some("too many requests to models are running; wait until one ends")
        } else {
            None
        };
        if let Some(message) = rejection {
            return respond(answer, Err(CommandError::failed(message)));
        }
        self.sends.last_number += 1;
        let number = self.sends.last_number;
        // The output of other questions is shown as it arrives, so they need no progress of their own.
        if job.is_silent() && token.is_none() && self.world.client.shows_progress {
            self.send_to_client(Outbound::Begin(Work::AskingModel(number)));
        }
        let mut host = LoopHost {
            session: session.clone(),
            events: self.events.clone(),
            outbound: self.outbound.clone(),
            snapshot: self.world.snapshot.clone(),
            cancel: cancel.clone(),
            token: token.clone(),
        };
        let events = self.events.clone();
        let running = RunningSend { session, occupies_session, cancel: cancel.clone(), token, answer };
        self.sends.running.insert(number, running);
        host.begin();
        let started = thread::Builder::new().name("strata-send".to_owned()).spawn(move || {
            let result = catch_panic(|| job.answer(&mut host, &cancel)).unwrap_or_else(|panicked| {
                tracing::error!(%panicked, "the thread that sends a prompt panicked");
                Err(CommandError::Internal)
            });
            host.end();
            let _ = events.send(Event::ModelAnswered(number, result));
        });
        if let Err(error) = started {
            let error = CommandError::failed(format!("cannot start a thread to ask the model: {error}"));
            self.model_answered(number, Err(error));
        }
    }

    /// Handles the end of a request to a model. Sends the reply after all deltas of the answer.
    pub(super) fn model_answered(&mut self, number: u64, result: Result<Value, CommandError>) {
        let Some(RunningSend { answer, session, .. }) = self.sends.running.remove(&number) else { return };
        let outcome = if result.is_ok() { "answered" } else { "failed" };
        self.send_to_client(Outbound::End(Work::AskingModel(number), outcome.to_owned()));
        let reply = result.map(|reply| match self.world.sessions.get(&session) {
            Some(session) => commands::versioned(reply, session),
            None => reply,
        });
        self.send_to_client(Outbound::Reply(answer, reply));
    }

    /// Cancels the requests that continue conversations of closed sessions.
    pub(super) fn cancel_sends_of_closed_sessions(&self) {
        for running in self.sends.running.values() {
            if running.occupies_session && !self.world.sessions.contains(&running.session) {
                running.cancel.cancel();
            }
        }
    }
}

/// Connects a running request to the main loop: runs its commands in its session, and forwards the output to the
/// client.
struct LoopHost {
    session: String,
    events: Sender<Event>,
    outbound: UnboundedSender<Outbound>,
    /// Snapshot of the workspace, used to count tokens.
    snapshot: Snapshot,
    cancel: Cancel,
    token: Option<NumberOrString>,
}

impl LoopHost {
    fn begin(&self) {
        self.report_progress(|| {
            WorkDoneProgress::Begin(WorkDoneProgressBegin {
                title: "Asking the model".to_owned(),
                cancellable: Some(true),
                message: None,
                percentage: None,
            })
        });
    }

    fn end(&self) {
        self.report_progress(|| WorkDoneProgress::End(WorkDoneProgressEnd { message: None }));
    }

    fn report_progress(&self, progress: impl FnOnce() -> WorkDoneProgress) {
        if let Some(token) = &self.token {
            // The sending task ends with the connection, so the message can no longer be delivered.
            let _ = self.outbound.send(Outbound::Progress(token.clone(), progress()));
        }
    }
}

impl ToolHost for LoopHost {
    fn run(&mut self, command: &str, mut arguments: Value) -> Result<Value, CommandError> {
        arguments["session"] = self.session.as_str().into();
        self.post(command, Arguments::Json(vec![arguments]))
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.snapshot.count(text, None).1
    }
}

impl LoopHost {
    fn post(&self, name: &str, arguments: Arguments) -> Result<Value, CommandError> {
        let (answer, wait) = oneshot::channel();
        let cancel = if ALWAYS_RUN.contains(&name) { Cancel::new() } else { self.cancel.clone() };
        let call = CommandCall { name: name.to_owned(), arguments, cancel, token: None, answer };
        let shutdown_error = || CommandError::failed("the server is shutting down");
        self.events.send(Event::Command(call)).map_err(|_| shutdown_error())?;
        match wait.blocking_recv() {
            Ok(result) => result,
            Err(_) if self.cancel.is_cancelled() => Err(CommandError::Cancelled),
            Err(_) => Err(shutdown_error()),
        }
    }
}

impl SendHost for LoopHost {
    fn invoke(&mut self, command: Invocation) -> Result<(), CommandError> {
        let session = self.session.clone();
        self.post(command.name, Arguments::Typed { session, command }).map(|_| ())
    }

    fn show(&mut self, delta: Delta) {
        let _ = self.outbound.send(Outbound::Delta(Box::new(delta)));
    }

    fn progress(&mut self, message: &str) {
        self.report_progress(|| {
            WorkDoneProgress::Report(WorkDoneProgressReport {
                cancellable: Some(true),
                message: Some(render_notice(message)),
                percentage: None,
            })
        });
    }
}
