//! Sends one request to the model, shows the pieces of its answer as they arrive, and collects its text.

use std::time::Duration;

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_conversation::providers::reply::ReplyEvent;
use strata_host::provider::{SendError, StreamEvent, StreamOutcome};
use strata_tokens::redaction::{Destination, RestoredText, Restorer};

use super::connection::{secret_redactor, show_delta};
use super::delta::{Delta, DeltaToolCall};
use super::host::SendHost;
use crate::commands::ModelConnection;

/// Shortest wait before a retry that is shown as a notice.
const MIN_WAIT_TO_SHOW: Duration = Duration::from_secs(3);

/// The complete text of an answer.
#[derive(Debug, Default)]
pub(super) struct AnswerText {
    /// The text with its placeholders.
    pub(super) written: String,
    /// The text as shown to the user.
    pub(super) shown: RestoredText,
}

/// Who receives an answer as it arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Audience {
    /// The user reads it, and Strata runs the tools: text may show secrets, calls never do.
    User,
    /// A client that keeps the conversation itself and runs the tools: only calls that edit the user's files get
    /// secrets.
    Client,
}

/// A stream of answer pieces that can be shown as they arrive.
struct AnswerStream<'a> {
    connection: &'a ModelConnection,
    audience: Audience,
    host: &'a mut dyn SendHost,
    /// `None` if the text keeps its placeholders.
    text: Option<Restorer>,
    thinking: Option<Restorer>,
    answer: AnswerText,
}

/// Sends a request body with a limit for the answer, and streams the answer. Also returns its complete text.
pub(super) fn send(
    connection: &ModelConnection,
    mut body: Value,
    reserve: usize,
    audience: Audience,
    host: &mut dyn SendHost,
    cancel: &Cancel,
) -> (Result<StreamOutcome, SendError>, AnswerText) {
    limit_answer(connection, &mut body, reserve);
    let mut stream = AnswerStream::new(connection, audience, host);
    let result = connection.client.send(&body, cancel, &mut |event| stream.handle_event(event));
    (result, stream.finish())
}

/// Limits the tokens of the answer. Without a setting, only formats that require a limit get one.
fn limit_answer(connection: &ModelConnection, body: &mut Value, reserve: usize) {
    let Some(dialect) = connection.format.dialect() else { return };
    let required = dialect.properties().requires_output_limit.then_some(reserve);
    if let Some(limit) = connection.max_output_tokens.or(required) {
        dialect.limit_output(body, limit);
    }
}

impl<'a> AnswerStream<'a> {
    fn new(connection: &'a ModelConnection, audience: Audience, host: &'a mut dyn SendHost) -> Self {
        let restorer = || match audience {
            Audience::User => Some(secret_redactor(connection).restorer(Destination::Display)),
            Audience::Client => None,
        };
        let (text, thinking) = (restorer(), restorer());
        Self { connection, audience, host, text, thinking, answer: AnswerText::default() }
    }

    fn handle_event(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Reply(event) => self.handle_reply_event(event),
            StreamEvent::Waiting { wait, reason } => {
                let notice = format!("{reason}; retrying in {} s", wait.as_secs_f64().ceil());
                self.host.progress(&notice);
                if wait >= MIN_WAIT_TO_SHOW {
                    show_delta(self.connection, self.host, |delta| Delta { notice: Some(notice), ..delta });
                }
            }
        }
    }

    fn handle_reply_event(&mut self, event: ReplyEvent) {
        match event {
            ReplyEvent::Text(text) => {
                self.end_thinking();
                self.answer.written.push_str(&text);
                let piece = push(&mut self.text, text);
                self.show_text(piece);
            }
            ReplyEvent::Thinking(text) => {
                let piece = push(&mut self.thinking, text);
                self.show_thinking(piece);
            }
            ReplyEvent::ToolCall { id, name, mut input } => {
                self.end_thinking();
                self.end_text();
                if self.audience == Audience::Client {
                    secret_redactor(self.connection).restore_value(&mut input, Destination::Tool(&name));
                }
                let call = DeltaToolCall { id, name, input };
                show_delta(self.connection, self.host, |delta| Delta { tool_call: Some(call), ..delta });
            }
        }
    }

    /// Shows the last pieces, and returns the complete text.
    fn finish(mut self) -> AnswerText {
        self.end_thinking();
        self.end_text();
        self.answer
    }

    fn end_text(&mut self) {
        if let Some(remaining) = self.text.as_mut().map(Restorer::finish) {
            self.show_text(remaining);
        }
    }

    fn end_thinking(&mut self) {
        if let Some(remaining) = self.thinking.as_mut().map(Restorer::finish) {
            self.show_thinking(remaining);
        }
    }

    fn show_text(&mut self, piece: RestoredText) {
        if !piece.is_empty() {
            self.answer.shown.append(&piece);
            show_delta(self.connection, self.host, |delta| Delta { text: Some(piece), ..delta });
        }
    }

    fn show_thinking(&mut self, piece: RestoredText) {
        if !piece.is_empty() {
            show_delta(self.connection, self.host, |delta| Delta { thinking: Some(piece), ..delta });
        }
    }
}

fn push(restorer: &mut Option<Restorer>, text: String) -> RestoredText {
    match restorer {
        Some(restorer) => restorer.push(&text),
        None => RestoredText::unrestored(text),
    }
}
