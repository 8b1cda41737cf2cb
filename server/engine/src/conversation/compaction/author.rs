//! The author of a compaction's summary: a client's or provider's model, or none. Decides nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who wrote a summary.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummaryAuthor {
    /// Where the model runs.
    pub kind: AuthorKind,
    /// The model, by the name that the client gave with its answer, or by that of `compaction.model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Where the model of a summary runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthorKind {
    /// A model of the client (`strata/summarize`).
    Client,
    /// A model of a provider, asked over HTTP.
    Http,
    /// No model: the summary was extracted from the conversation.
    Extractive,
}

impl SummaryAuthor {
    /// No model.
    pub(crate) const EXTRACTIVE: Self = Self { kind: AuthorKind::Extractive, model: None };
}
