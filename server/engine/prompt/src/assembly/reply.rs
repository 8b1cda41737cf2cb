//! The reply to a prompt request: the finished prompt with a report of its contents, or an error. A prepared prompt is the
//! reply with the session state to apply when the prompt is recorded.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_code::excerpts::ExcerptReason;
use strata_code::symbols::MapMember;
use strata_conversation::compaction::RequestSize;
use strata_conversation::history::NewMessage;
use strata_conversation::providers::{Format, Violation};
use strata_conversation::selection::LineRange;
use strata_tokens::calibration::Expected;
use strata_tokens::cost::{CacheAccount, Charge, SentRequest};

use crate::tiers::{PolicyChoice, PolicyName, TierState};
use crate::wire::Body;

use super::piece::Source;
use super::request::PromptRequest;
use super::system_context::SystemFiles;
use crate::excerpts::{ExcerptStanding, Excerpts};
use crate::layout::{ExcerptKey, Layout, Part, Tier};

/// A problem that the user should know about, although the prompt was assembled.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PromptWarning")]
pub struct Warning {
    /// The kind of warning.
    pub code: WarningCode,
    /// The warning in one sentence.
    pub message: String,
    /// The affected file; absent if the warning is not about a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<FileKey>,
}

/// What a [`Warning`] is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PromptWarningCode")]
pub enum WarningCode {
    /// A selected file or some excerpts were omitted because they did not fit, or because files were too large to search.
    Shed,
    /// A selected file could not be read.
    Unreadable,
    /// A buffer may be out of sync with the editor.
    OutOfStep,
    /// The model is not in the model table.
    UnknownModel,
    /// Old exchanges were omitted because nothing else was left to drop.
    HistoryTruncated,
    /// The repository's outlines are not complete yet.
    IndexIncomplete,
    /// Secrets in a file were replaced by placeholders.
    Redacted,
    /// A file no longer has lines that are selected.
    LinesMissing,
    /// The symbol map has no space left for a file that the session or the request is about.
    MapFull,
}

/// A file whose text is in a prompt.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsedFile {
    /// Path of the file.
    pub path: FileKey,
    /// Origin and version of the file's text.
    #[serde(flatten)]
    pub source: Source,
    /// Hash of the file's whole text.
    pub hash: ContentHash,
    /// Tokens of the file in this prompt.
    pub tokens: usize,
    /// Tier of the first block that shows the file.
    pub tier: Tier,
    /// Excerpts of the file that the prompt shows; empty for a file selected as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excerpts: Vec<UsedExcerpt>,
}

/// An excerpt in a prompt.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsedExcerpt {
    /// Name of the excerpt, used to pin or dismiss it.
    pub excerpt: ExcerptKey,
    /// Current lines of the excerpt; absent if the file no longer contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRange>,
    /// Why the excerpt was chosen for a question; absent if you pinned it and it was not chosen for any question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<ExcerptReason>,
    /// Whether the excerpt is pinned, relevant to the last question, or left from an earlier one.
    pub standing: ExcerptStanding,
    /// Position among the excerpts of the prompt, most relevant first; 0 for the first.
    pub rank: usize,
    /// Tokens of the excerpt in this prompt, including updates.
    pub tokens: usize,
}

/// Items and tokens of one tier of a prompt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TierReport {
    /// Name of the tier.
    pub tier: Tier,
    /// Number of items in the tier.
    pub items: usize,
    /// Tokens of the tier.
    pub tokens: usize,
    /// Whether a cache breakpoint follows the tier.
    pub marked: bool,
}

/// A cache breakpoint of a prompt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Breakpoint {
    /// Tier that ends at the breakpoint.
    pub tier: Tier,
    /// Tokens of the prompt up to the breakpoint.
    pub prefix_tokens: usize,
}

/// How much of the repository a prompt shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    /// Number of files with a map block.
    pub blocks: usize,
    /// Number of files that the repository file list names.
    pub names: usize,
    /// Number of files that the repository file list covers only by the name of their directory.
    pub directories: usize,
    /// Token limit for all map blocks together.
    pub map_budget: usize,
}

/// Token counts of a prompt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenReport {
    /// Tokens of the whole prompt.
    pub total: usize,
    /// Tokens of each part. They add up to `total`.
    pub parts: BTreeMap<Part, usize>,
    /// Tokens that the provider is expected to count, based on reported usage.
    pub expected: Expected,
    /// Maximum value of `total`: `room` minus the margin for estimation error.
    pub limit: usize,
    /// Token limit for a prompt, as the provider counts them: `window` minus `outputReserve`.
    pub room: usize,
    /// Input window in tokens: the model's, or the client's `maxInputTokens` if that is smaller.
    pub window: usize,
    /// Tokens reserved for the answer.
    pub output_reserve: usize,
}

/// Expected cost of a prompt's input.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptCost {
    /// Cost if the provider's cache contains what it is believed to contain.
    pub expected: InputCost,
    /// Cost if the provider's cache contains nothing.
    pub cold: InputCost,
    /// Cost if the provider's cache contains everything that it may keep of this prompt.
    pub warm: InputCost,
    /// Price of the answer in US dollars per million tokens; absent if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_price: Option<f64>,
}

/// Cost of input.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InputCost {
    /// Number of tokens of plain input that cost the same.
    pub tokens: f64,
    /// Cost in US dollars; absent if the price is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars: Option<f64>,
}

impl PromptCost {
    /// Computes the costs of a request. `predicted` is its charge if the provider's cache contains what it is believed to
    /// contain.
    pub(super) fn new(predicted: Charge, sent: &SentRequest) -> Self {
        let prices = &sent.prices;
        let input_cost = |charge: Charge| InputCost {
            tokens: charge.cost,
            dollars: prices.dollars(charge.cost, 0, charge.total()),
        };
        let cold = CacheAccount::after_request(None, sent, None);
        Self {
            expected: input_cost(predicted),
            cold: input_cost(cold.last_charge()),
            warm: input_cost(CacheAccount::predict(Some(&cold), sent)),
            output_price: prices.dollars(0.0, 1_000_000, 0),
        }
    }
}

/// A finished prompt: the reply to `prompt.assemble`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssembledPrompt {
    /// Id of the prompt for `prompt.record` and `prompt.discard`; absent for a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Model that the prompt was assembled for.
    pub model: String,
    /// Dialect of `body`.
    pub format: Format,
    /// Layout policy of the prompt.
    pub policy: PolicyName,
    /// The request body, or the text of the Markdown format. With `bodyAs: "text"`, the body as the exact text to POST.
    pub body: Body,
    /// Token counts of the prompt.
    pub tokens: TokenReport,
    /// Items and tokens of each tier.
    pub tiers: Vec<TierReport>,
    /// Cache breakpoints, in order.
    pub(crate) breakpoints: Vec<Breakpoint>,
    /// Expected charge, given what the provider's cache is believed to contain.
    pub predicted: Charge,
    /// Expected cost of the input before it is sent.
    pub cost: PromptCost,
    /// Files whose text is in the prompt, with their versions.
    pub files: Vec<UsedFile>,
    /// Files of a trusted workspace that the system prompt quotes or lists.
    pub system_files: SystemFiles,
    /// How much of the repository the prompt shows.
    pub coverage: Coverage,
    /// Selected files that did not fit, largest first.
    pub shed: Vec<FileKey>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// A finished prompt, with the session state to apply when it is recorded.
#[derive(Clone, Debug)]
pub struct PreparedPrompt {
    pub reply: AssembledPrompt,
    /// Size of the request before anything was omitted.
    pub size: RequestSize,
    /// The layout policy, and why it was chosen.
    pub chosen: PolicyChoice,
    /// The content blocks in prompt order.
    pub layout: Arc<Layout>,
    /// The request in the form from which the contents of the provider's cache are estimated.
    pub sent: SentRequest,
    /// Tokens that the policy expected the provider to have cached; `None` if it has no expectation.
    pub expected_cached: Option<usize>,
    /// Whether the layout was rebuilt from scratch because the prompt did not fit otherwise.
    pub rebuilt: bool,
    /// The request's options, without its content.
    pub options: Arc<PromptRequest>,
    /// The message that the request adds to the history; `None` if nothing is sent.
    pub message: Option<NewMessage>,
    /// State of the layout policy after this prompt.
    pub(crate) tiers: TierState,
    /// Members of the map after this prompt.
    pub members: Vec<MapMember>,
    /// Excerpts that the session remembers after this prompt.
    pub excerpts: Excerpts,
}

/// One of the largest parts of a prompt that does not fit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LargePart {
    /// Name of the part.
    pub name: String,
    /// Tokens of the part.
    pub tokens: usize,
}

/// Why a prompt could not be assembled.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AssembleError {
    /// The prompt exceeds the limit even without files, the map and old exchanges.
    #[error(
        "the prompt needs {tokens} tokens, but its limit for {model} is {limit}; shorten the largest parts: {}",
        format_parts(largest)
    )]
    TooLarge {
        model: String,
        /// Tokens of the prompt without anything that can be omitted.
        tokens: usize,
        /// Token limit for a prompt for the model.
        limit: usize,
        /// Input window that the limit is derived from, in tokens.
        window: usize,
        /// Largest parts of the prompt, in descending order of size.
        largest: Vec<LargePart>,
    },
    #[error("the prompt is empty; add text, an image or tool results")]
    Empty,
    /// A tool result answers no tool call of the conversation, or one that has a result. Contains the call id.
    #[error("no tool call without a result has the id `{0}`")]
    NoSuchCall(String),
    /// The request breaks a provider's rule. This is a bug in Strata.
    #[error("the provider would reject the request: {}; please report this", violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid {
        /// Rules that the request breaks.
        violations: Vec<Violation>,
    },
}

/// Formats parts as `name (tokens)`, separated by commas.
pub(crate) fn format_parts(parts: &[LargePart]) -> String {
    let parts: Vec<String> = parts.iter().map(|part| format!("{} ({})", part.name, part.tokens)).collect();
    parts.join(", ")
}
