//! The author of a compaction's summary: a client's or provider's model, or none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Author of a compaction's summary: a model, or Strata itself if no model was used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummaryAuthor {
    /// Where the model runs, or `extractive` if no model was used.
    pub kind: AuthorKind,
    /// Name of the model: the one that the client reported with its answer, or `compaction.model`. Absent if no
    /// model was used or the client did not report one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// How a summary was written: by a model that the client ran, by a provider's model, or without a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthorKind {
    /// The client ran the model (`strata/summarize`).
    Client,
    /// Strata called a provider's model over HTTP.
    Http,
    /// No model was used. The summary was extracted from the conversation.
    Extractive,
}

impl SummaryAuthor {
    pub(crate) const EXTRACTIVE: Self = Self { kind: AuthorKind::Extractive, model: None };
}
