//! What a client receives: the finished prompt with an account of its contents, or an error.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::conversation::dialect::{Format, Violation};
use crate::hash::ContentHash;
use crate::key::FileKey;
use crate::prompt::tiers::PolicyName;
use crate::prompt::wire::Body;
use crate::tokens::calibration::Expected;
use crate::tokens::cost::Charge;

use super::piece::Source;
use super::system_context::SystemFiles;
use crate::code::excerpts::ExcerptReason;
use crate::conversation::selection::LineRange;
use crate::prompt::excerpts::ExcerptStanding;
use crate::prompt::layout::{ExcerptKey, Part, Tier};

/// Something the user should know about a prompt that was made anyway.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PromptWarning")]
pub struct Warning {
    /// The kind of warning.
    pub code: WarningCode,
    /// It in one sentence.
    pub message: String,
    /// The file it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<FileKey>,
}

/// The kinds of [`Warning`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PromptWarningCode")]
pub enum WarningCode {
    /// A selected file was left out because it did not fit.
    Shed,
    /// A selected file could not be read.
    Unreadable,
    /// A buffer may be out of sync with the editor.
    OutOfStep,
    /// The model is not in the table.
    UnknownModel,
    /// Old exchanges were left out because nothing else was left to leave out.
    HistoryTruncated,
    /// The outlines are not complete yet.
    IndexIncomplete,
    /// Secrets in a file were replaced by placeholders.
    Redacted,
    /// The map has no room for a file that the session or the request is about.
    MapFull,
}

/// A file in a prompt.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UsedFile {
    /// Its name.
    pub path: FileKey,
    /// Where the text came from, and which version of it that is.
    #[serde(flatten)]
    pub source: Source,
    /// The hash of its whole text.
    pub hash: ContentHash,
    /// Its tokens in this prompt.
    pub tokens: usize,
    /// Its tier.
    pub tier: Tier,
    /// The parts of it that were chosen for a question; empty for a selected file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excerpts: Vec<UsedExcerpt>,
}

/// An excerpt in a prompt.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsedExcerpt {
    /// Its name, by which it is pinned and dismissed.
    pub excerpt: ExcerptKey,
    /// Its lines now; absent when it is gone from its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRange>,
    /// Why it was chosen; absent when you pinned it unasked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<ExcerptReason>,
    /// Why it is in the prompt.
    pub standing: ExcerptStanding,
    /// Its tokens in this prompt, including updates.
    pub tokens: usize,
}

/// One tier of a prompt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TierReport {
    /// The tier.
    pub tier: Tier,
    /// Number of its items.
    pub items: usize,
    /// Its weight in tokens.
    pub tokens: usize,
    /// Whether a breakpoint follows it.
    pub marked: bool,
}

/// A cache breakpoint of a prompt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Breakpoint {
    /// The tier that ends there.
    pub tier: Tier,
    /// The tokens before it.
    pub prefix_tokens: usize,
}

/// How much of the repository a prompt shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    /// Files with a map block.
    pub blocks: usize,
    /// Files named in the repository file list.
    pub names: usize,
    /// Files covered by a directory's name only.
    pub directories: usize,
    /// Maximum tokens of the map blocks.
    pub map_budget: usize,
}

/// The tokens of a prompt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenReport {
    /// All of it.
    pub total: usize,
    /// By part. The parts add up to the total.
    pub parts: BTreeMap<Part, usize>,
    /// The expected count by the provider, from reported usage.
    pub expected: Expected,
    /// Maximum tokens by this count. Less than `room` if estimates turned out too low.
    pub limit: usize,
    /// Maximum tokens by the provider's count.
    pub room: usize,
    /// The input window: the model's, or the client's `maxInputTokens` where that is smaller.
    pub window: usize,
    /// Tokens reserved for the answer.
    pub output_reserve: usize,
}

/// A finished prompt: the reply of `prompt.assemble`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssembledPrompt {
    /// Names the prompt for `prompt.record` and `prompt.discard`; absent from a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The model it is made for.
    pub model: String,
    /// The dialect of `body`.
    pub format: Format,
    /// The policy that laid it out.
    pub policy: PolicyName,
    /// The request body, or the text of the Markdown format. With `bodyAs: "text"`, the body as the exact text to POST.
    pub body: Body,
    /// Its tokens.
    pub tokens: TokenReport,
    /// The content of the tiers.
    pub tiers: Vec<TierReport>,
    /// Where the cache breakpoints are.
    pub(crate) breakpoints: Vec<Breakpoint>,
    /// The expected cost, as far as the provider's cache is known. `read` is the expected cached read.
    pub predicted: Charge,
    /// The versions of the files shown in full.
    pub(crate) files: Vec<UsedFile>,
    /// Which files of a trusted workspace its system prompt quotes or lists.
    pub system_files: SystemFiles,
    /// How much of the repository it shows.
    pub coverage: Coverage,
    /// Selected files that did not fit, largest first.
    pub shed: Vec<FileKey>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// One of the largest things in a prompt that does not fit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LargePart {
    /// Its name.
    pub name: String,
    /// Its weight in tokens.
    pub tokens: usize,
}

/// Why there is no prompt.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AssembleError {
    /// Even without files, map and old exchanges it is over the limit.
    #[error(
        "the prompt needs {tokens} tokens, but {model} accepts {limit} here; shorten the largest parts: {}",
        list(largest)
    )]
    TooLarge {
        /// The model.
        model: String,
        /// Its minimum tokens.
        tokens: usize,
        /// Its maximum tokens.
        limit: usize,
        /// The largest parts, largest first.
        largest: Vec<LargePart>,
    },
    /// There is nothing to send.
    #[error("the prompt is empty; add text, an image or tool results")]
    Empty,
    /// Tool results that answer no call of the last answer.
    #[error("no tool call in the last answer has the id `{0}`; tool results must answer that turn's calls")]
    NoSuchCall(String),
    /// The request broke a provider's rule. This is a fault of Strata.
    #[error("the provider would reject the request: {}; please report this", violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid {
        /// The broken rules.
        violations: Vec<Violation>,
    },
}

/// Names parts with their weights.
pub(crate) fn list(parts: &[LargePart]) -> String {
    let parts: Vec<String> = parts.iter().map(|part| format!("{} ({})", part.name, part.tokens)).collect();
    parts.join(", ")
}
