//! The answer to a question, which is streamed piece by piece and summarized in the reply.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use strata_engine::cancel::Cancel;
use strata_engine::conversation::history::ContentBlock;
use strata_engine::conversation::reply::{Reply, ReplyEnd, ReplyEvent};
use strata_engine::tokens::cost::{Charge, Prices, Usage};
use strata_engine::tokens::redaction::{Destination, RestoredText, Restorer};
use strata_host::provider::{SendError, SendEvent};

use super::SendHost;
use super::connection::Connection;
use super::message;
use super::{Delta, DeltaToolCall};

/// The answer to a question, with its usage and cost.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SendReply {
    /// Id of the session in which the question was asked.
    pub session: String,
    /// Model that answered.
    pub model: String,
    /// Text of the answer. With `redaction.show_secrets`, known secrets are restored outside of addresses, links and
    /// images.
    #[schemars(with = "String")]
    pub text: RestoredText,
    /// Text of the answer with its placeholders, for files.
    #[serde(skip)]
    pub(super) written: String,
    /// How the answer ended.
    pub(crate) end: SendEnd,
    /// Error that ended the answer early. Absent unless `end` is `cut` or `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Billed token usage of all requests together.
    pub usage: Usage,
    /// Actual cost.
    pub(crate) cost: SendCost,
    /// Predicted cost of the input.
    pub predicted: Charge,
    /// Number of requests that were answered.
    pub requests: u32,
    /// Number of rounds of tool calls that were answered.
    pub rounds: u32,
    /// Tool calls that the model made, in order.
    pub tools: Vec<ToolUse>,
    /// Paths of the selected files that were omitted because they did not fit.
    pub shed: Vec<String>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// How an answer ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SendEnd {
    /// The model finished its answer.
    #[default]
    Complete,
    /// The answer reached its token limit.
    OutputLimit,
    /// The model requested more rounds of tool calls than the setting `provider.tool_rounds` allows.
    ToolRounds,
    /// The model called tools that Strata does not run: tools of a forwarded conversation, or tools that were not
    /// offered.
    ToolCalls,
    /// The user stopped the answer. The partial answer is kept.
    Cancelled,
    /// The provider's answer was interrupted. The partial answer is kept.
    Cut,
    /// A later request failed. The answers to earlier requests are recorded.
    Failed,
}

/// The cost of an answer. Costs in tokens are those of the input, as the number of uncached input tokens that would cost
/// the same.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SendCost {
    /// Actual cost, including the effect of the cache.
    pub paid: f64,
    /// Cost if nothing had been cached.
    pub uncached: f64,
    /// Share of the input that was read from the cache, from 0 to 1.
    pub read_share: f64,
    /// Cost of input and output in US dollars. Absent if the price is unknown, or no usage was reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars: Option<f64>,
}

/// A tool call that the model made.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(crate) struct ToolUse {
    /// Name of the tool.
    pub name: String,
    /// Arguments of the call.
    pub input: Value,
    /// Whether the call failed.
    pub failed: bool,
}

impl SendReply {
    pub(super) fn of(session: &str) -> Self {
        Self { session: session.to_owned(), ..Self::default() }
    }

    pub(super) fn warn(&mut self, warnings: impl IntoIterator<Item = String>) {
        for warning in warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    pub(super) fn shed(&mut self, files: Vec<String>) {
        for file in files {
            if !self.shed.contains(&file) {
                self.shed.push(file);
            }
        }
    }

    /// Appends the text that the model wrote between two rounds of tool calls, as a new paragraph.
    pub(super) fn say(&mut self, answer: &Answer) {
        if !self.written.is_empty() && !answer.written.is_empty() {
            self.written.push_str("\n\n");
            self.text.append(&RestoredText::unrestored("\n\n".to_owned()));
        }
        self.written.push_str(&answer.written);
        self.text.append(&answer.shown);
    }

    pub(super) fn bill(&mut self, usage: Option<Usage>, predicted: Charge, prices: &Prices) {
        self.requests += 1;
        self.predicted = self.predicted + predicted;
        let Some(usage) = usage else { return };
        let earlier = if self.usage == Usage::default() { Some(0.0) } else { self.cost.dollars };
        self.usage = self.usage + usage;
        let cost = SendCost::of(usage, &predicted, prices);
        self.cost = SendCost {
            paid: self.cost.paid + cost.paid,
            uncached: self.cost.uncached + cost.uncached,
            read_share: read_share(self.usage),
            dollars: earlier.zip(cost.dollars).map(|(earlier, new)| earlier + new),
        };
    }
}

impl SendCost {
    /// Returns the cost of one request.
    pub(super) fn of(usage: Usage, predicted: &Charge, prices: &Prices) -> Self {
        let input = usage.input_tokens();
        let uncached = input as f64 * prices.input(input);
        Self {
            paid: usage.cost(prices, predicted),
            uncached,
            read_share: read_share(usage),
            dollars: usage.dollars(prices, predicted),
        }
    }
}

fn read_share(usage: Usage) -> f64 {
    let input = usage.input_tokens();
    if input == 0 { 0.0 } else { usage.cache_read as f64 / input as f64 }
}

/// Returns how the answer to one request ended, and the error that interrupted it, unless the user cancelled it.
pub(super) fn ended(answer: &Reply, broken: Option<SendError>, cancel: &Cancel) -> (SendEnd, Option<String>) {
    if let Some(error) = broken {
        return match cancel.is_cancelled() {
            true => (SendEnd::Cancelled, None),
            false => (SendEnd::Cut, Some(message(&error))),
        };
    }
    let has_called = answer.content.iter().any(|block| matches!(block, ContentBlock::ToolCall { .. }));
    let end = match answer.end {
        _ if has_called => SendEnd::ToolCalls,
        ReplyEnd::OutputLimit => SendEnd::OutputLimit,
        _ => SendEnd::Complete,
    };
    (end, None)
}

/// Shortest wait before a retry that is shown as a notice.
const LONG_WAIT: Duration = Duration::from_secs(3);

/// The complete text of an answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
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
pub(super) struct Stream<'a> {
    connection: &'a Connection,
    audience: Audience,
    host: &'a mut dyn SendHost,
    /// `None` if the text keeps its placeholders.
    text: Option<Restorer>,
    thinking: Option<Restorer>,
    answer: Answer,
}

impl<'a> Stream<'a> {
    pub(super) fn new(connection: &'a Connection, audience: Audience, host: &'a mut dyn SendHost) -> Self {
        let restorer = || match audience {
            Audience::User => Some(connection.screen().restorer(Destination::Display)),
            Audience::Client => None,
        };
        let (text, thinking) = (restorer(), restorer());
        Self { connection, audience, host, text, thinking, answer: Answer::default() }
    }

    pub(super) fn take(&mut self, event: SendEvent) {
        match event {
            SendEvent::Reply(event) => self.take_reply(event),
            SendEvent::Waiting { wait, reason } => {
                let notice = format!("{reason}; retrying in {} s", wait.as_secs_f64().ceil());
                self.host.progress(&notice);
                if wait >= LONG_WAIT {
                    self.connection.show(self.host, |delta| Delta { notice: Some(notice), ..delta });
                }
            }
        }
    }

    fn take_reply(&mut self, event: ReplyEvent) {
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
                    self.connection.screen().restore_value(&mut input, Destination::Tool(&name));
                }
                let call = DeltaToolCall { id, name, input };
                self.connection.show(self.host, |delta| Delta { tool_call: Some(call), ..delta });
            }
        }
    }

    /// Shows the last pieces, and returns the complete text.
    pub(super) fn finish(mut self) -> Answer {
        self.end_thinking();
        self.end_text();
        self.answer
    }

    fn end_text(&mut self) {
        if let Some(rest) = self.text.as_mut().map(Restorer::finish) {
            self.show_text(rest);
        }
    }

    fn end_thinking(&mut self) {
        if let Some(rest) = self.thinking.as_mut().map(Restorer::finish) {
            self.show_thinking(rest);
        }
    }

    fn show_text(&mut self, piece: RestoredText) {
        if !piece.is_empty() {
            self.answer.shown.append(&piece);
            self.connection.show(self.host, |delta| Delta { text: Some(piece), ..delta });
        }
    }

    fn show_thinking(&mut self, piece: RestoredText) {
        if !piece.is_empty() {
            self.connection.show(self.host, |delta| Delta { thinking: Some(piece), ..delta });
        }
    }
}

fn push(restorer: &mut Option<Restorer>, text: String) -> RestoredText {
    match restorer {
        Some(restorer) => restorer.push(&text),
        None => RestoredText::unrestored(text),
    }
}
