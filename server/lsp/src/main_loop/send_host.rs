//! Connects a running request to a model with the main loop, from the thread of the request: posts the commands of the
//! request as events, and forwards its output to the client.

use std::sync::mpsc::Sender;

use serde_json::Value;
use strata_app::commands::{CommandError, Invocation};
use strata_app::jobs::send::{Delta, SendHost, cancel_for};
use strata_app::jobs::tools::ToolHost;
use strata_app::model::snapshot::Snapshot;
use strata_app::runtime::session_runtime::{Caller, CommandCall, ModelRequest, ProgressToken, ReplySender};
use strata_base::cancel::Cancel;
use tokio::sync::mpsc::UnboundedSender;
use tower_lsp::ls_types::{
    WorkDoneProgress, WorkDoneProgressBegin, WorkDoneProgressEnd, WorkDoneProgressReport,
};

use crate::event::Event;
use crate::outbound::{OutboundMessage, render_notice};

pub(super) struct LoopSendHost {
    session: String,
    events: Sender<Event>,
    outbound: UnboundedSender<OutboundMessage>,
    /// Snapshot of the workspace, used to count tokens.
    snapshot: Snapshot,
    cancel: Cancel,
    token: Option<ProgressToken>,
}

impl LoopSendHost {
    pub(super) fn new(
        request: &ModelRequest,
        snapshot: Snapshot,
        events: &Sender<Event>,
        outbound: &UnboundedSender<OutboundMessage>,
    ) -> Self {
        Self {
            session: request.session_id().to_owned(),
            events: events.clone(),
            outbound: outbound.clone(),
            snapshot,
            cancel: request.cancel.clone(),
            token: request.token.clone(),
        }
    }

    pub(super) fn begin_progress(&self) {
        self.report_progress(|| {
            WorkDoneProgress::Begin(WorkDoneProgressBegin {
                title: "Asking the model".to_owned(),
                cancellable: Some(true),
                message: None,
                percentage: None,
            })
        });
    }

    pub(super) fn end_progress(&self) {
        self.report_progress(|| WorkDoneProgress::End(WorkDoneProgressEnd { message: None }));
    }

    fn report_progress(&self, progress: impl FnOnce() -> WorkDoneProgress) {
        if let Some(token) = &self.token {
            // The sending task ends with the connection, so the message can no longer be delivered.
            let _ = self.outbound.send(OutboundMessage::Progress(token.clone(), progress()));
        }
    }

    /// Runs a command on the main loop, and waits for its reply.
    fn run_command(
        &self,
        name: &str,
        call: impl FnOnce(Caller) -> CommandCall,
    ) -> Result<Value, CommandError> {
        let (sender, reply) = ReplySender::channel();
        let call = call(Caller { cancel: cancel_for(name, &self.cancel), token: None, reply: sender });
        let shutdown_error = || CommandError::failed("the server is shutting down");
        self.events.send(Event::Command(call)).map_err(|_| shutdown_error())?;
        match reply.recv() {
            Ok(result) => result,
            Err(_) if self.cancel.is_cancelled() => Err(CommandError::Cancelled),
            Err(_) => Err(shutdown_error()),
        }
    }
}

impl ToolHost for LoopSendHost {
    fn run(&mut self, command: &str, mut arguments: Value) -> Result<Value, CommandError> {
        arguments["session"] = self.session.as_str().into();
        self.run_command(command, |caller| CommandCall::from_json(command, vec![arguments], caller))
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.snapshot.count_text_tokens(text, None).1
    }
}

impl SendHost for LoopSendHost {
    fn invoke(&mut self, command: Invocation) -> Result<(), CommandError> {
        let name = command.name;
        self.run_command(name, |caller| CommandCall::new(&self.session, command, caller)).map(|_| ())
    }

    fn show(&mut self, delta: Delta) {
        let _ = self.outbound.send(OutboundMessage::Delta(Box::new(delta)));
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
