//! Replies of the commands that ask a model, which their jobs fill in.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use strata_conversation::history::ContentBlock;
use strata_tokens::cost::{Charge, Prices, Usage};
use strata_tokens::redaction::RestoredText;

/// The answer to a question, with its usage and cost.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendReply {
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
    pub(crate) written: String,
    /// How the answer ended.
    pub end: SendEnd,
    /// Error that ended the answer early. Absent unless `end` is `cut` or `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Billed token usage of all requests together.
    pub usage: Usage,
    /// Actual cost.
    pub cost: SendCost,
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
pub enum SendEnd {
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
pub struct SendCost {
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
pub struct ToolUse {
    /// Name of the tool.
    pub name: String,
    /// Arguments of the call.
    pub input: Value,
    /// Whether the call failed.
    pub failed: bool,
}

impl SendReply {
    pub(crate) fn new(session: &str) -> Self {
        Self { session: session.to_owned(), ..Self::default() }
    }

    pub(crate) fn warn(&mut self, warnings: impl IntoIterator<Item = String>) {
        for warning in warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    pub(crate) fn add_omitted_files(&mut self, files: Vec<String>) {
        for file in files {
            if !self.shed.contains(&file) {
                self.shed.push(file);
            }
        }
    }

    /// Appends the text that the model wrote between two rounds of tool calls, as a new paragraph: `written` with its
    /// placeholders, `shown` as shown to the user.
    pub(crate) fn append(&mut self, written: &str, shown: &RestoredText) {
        if !self.written.is_empty() && !written.is_empty() {
            self.written.push_str("\n\n");
            self.text.append(&RestoredText::unrestored("\n\n".to_owned()));
        }
        self.written.push_str(written);
        self.text.append(shown);
    }

    pub(crate) fn bill(&mut self, usage: Option<Usage>, predicted: Charge, prices: &Prices) {
        self.requests += 1;
        self.predicted = self.predicted + predicted;
        let Some(usage) = usage else { return };
        let earlier = if self.usage == Usage::default() { Some(0.0) } else { self.cost.dollars };
        self.usage = self.usage + usage;
        let cost = SendCost::new(usage, &predicted, prices);
        self.cost = SendCost {
            paid: self.cost.paid + cost.paid,
            uncached: self.cost.uncached + cost.uncached,
            read_share: cache_read_share(self.usage),
            dollars: earlier.zip(cost.dollars).map(|(earlier, new)| earlier + new),
        };
    }
}

impl SendCost {
    /// Returns the cost of one request.
    pub(crate) fn new(usage: Usage, predicted: &Charge, prices: &Prices) -> Self {
        let input = usage.input_tokens();
        let uncached = input as f64 * prices.input_price(input);
        Self {
            paid: usage.cost(prices, predicted),
            uncached,
            read_share: cache_read_share(usage),
            dollars: usage.dollars(prices, predicted),
        }
    }
}

fn cache_read_share(usage: Usage) -> f64 {
    let input = usage.input_tokens();
    if input == 0 { 0.0 } else { usage.cache_read as f64 / input as f64 }
}

/// The answer to a forwarded conversation, with its usage and cost.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelReply {
    /// Model that answered.
    pub model: String,
    /// Content of the answer. Known secrets are restored only in the arguments of the tools in `redaction.edit_tools`.
    /// Pass it as the assistant's message in the next request.
    pub content: Vec<ContentBlock>,
    /// How the answer ended.
    pub end: SendEnd,
    /// Error that ended the answer early. Absent unless `end` is `cut`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Billed token usage of the request.
    pub usage: Usage,
    /// Cost of the input.
    pub cost: SendCost,
    /// Warnings for the user. For example, a tool call contains placeholders.
    pub warnings: Vec<String>,
}
