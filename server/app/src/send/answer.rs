//! The answer to a question, which is streamed piece by piece and summarized in the reply.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use strata_engine::cancel::Cancel;
use strata_engine::conversation::history::ContentBlock;
use strata_engine::conversation::reply::{Reply, ReplyEnd, ReplyEvent};
use strata_engine::tokens::cost::{Charge, Prices, Usage};
use strata_engine::tokens::redaction::TextPieces;
use strata_host::provider::SendError;

use super::SendHost;
use super::connection::Connection;
use super::{Delta, DeltaToolCall};

/// The answer to a question, with its usage and cost.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SendReply {
    /// Id of the session in which the question was asked.
    pub session: String,
    /// Model that answered.
    pub model: String,
    /// Text of the answer, with known secrets restored.
    pub text: String,
    /// How the answer ended.
    pub(crate) end: SendEnd,
    /// Error that ended the answer early. Absent unless `end` is `cut` or `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Billed token usage of all requests together.
    pub usage: Usage,
    /// Actual cost of the input.
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

/// The cost of the input, as the number of uncached input tokens that would cost the same.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SendCost {
    /// Actual cost, including the effect of the cache.
    pub paid: f64,
    /// Cost if nothing had been cached.
    pub uncached: f64,
    /// Share of the input that was read from the cache, from 0 to 1.
    pub read_share: f64,
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
    pub(super) fn say(&mut self, text: String) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(&text);
    }

    pub(super) fn bill(&mut self, usage: Option<Usage>, predicted: Charge, prices: &Prices) {
        self.requests += 1;
        self.predicted = self.predicted + predicted;
        let Some(usage) = usage else { return };
        self.usage = self.usage + usage;
        let cost = SendCost::of(usage, prices);
        self.cost = SendCost {
            paid: self.cost.paid + cost.paid,
            uncached: self.cost.uncached + cost.uncached,
            read_share: read_share(self.usage),
        };
    }
}

impl SendCost {
    /// Returns the cost of one request.
    pub(super) fn of(usage: Usage, prices: &Prices) -> Self {
        let input = usage.input_tokens();
        let uncached = input as f64 * prices.input(input);
        Self { paid: usage.cost(prices), uncached, read_share: read_share(usage) }
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
            false => (SendEnd::Cut, Some(error.to_string())),
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

/// A stream of answer pieces that can be shown as they arrive. Placeholders are never split, and known secrets are
/// restored.
pub(super) struct Stream<'a> {
    connection: &'a Connection,
    host: &'a mut dyn SendHost,
    text: TextPieces,
    thinking: TextPieces,
    said: String,
}

impl<'a> Stream<'a> {
    pub(super) fn new(connection: &'a Connection, host: &'a mut dyn SendHost) -> Self {
        let (text, thinking) = (TextPieces::default(), TextPieces::default());
        Self { connection, host, text, thinking, said: String::new() }
    }

    pub(super) fn take(&mut self, event: ReplyEvent) {
        match event {
            ReplyEvent::Text(text) => {
                self.end_thinking();
                let piece = self.text.push(&text);
                self.show_text(&piece);
            }
            ReplyEvent::Thinking(text) => {
                let piece = self.thinking.push(&text);
                self.show_thinking(&piece);
            }
            ReplyEvent::ToolCall { id, name, mut input } => {
                self.end_thinking();
                self.end_text();
                self.connection.restore_value(&mut input);
                let call = DeltaToolCall { id, name, input };
                self.connection.show(self.host, |delta| Delta { tool_call: Some(call), ..delta });
            }
        }
    }

    /// Shows the last pieces, and returns the complete text.
    pub(super) fn finish(mut self) -> String {
        self.end_thinking();
        self.end_text();
        self.said
    }

    fn end_text(&mut self) {
        let rest = self.text.finish();
        self.show_text(&rest);
    }

    fn end_thinking(&mut self) {
        let rest = self.thinking.finish();
        self.show_thinking(&rest);
    }

    fn show_text(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        let text = self.connection.restored(piece);
        self.said.push_str(&text);
        self.connection.show(self.host, |delta| Delta { text: Some(text), ..delta });
    }

    fn show_thinking(&mut self, piece: &str) {
        if !piece.is_empty() {
            let text = self.connection.restored(piece);
            self.connection.show(self.host, |delta| Delta { thinking: Some(text), ..delta });
        }
    }
}
