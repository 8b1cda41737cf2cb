//! What clients are told about a compaction: its state, reason and result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strata_conversation::compaction::{CompactionStrategy, ConversationSize, SummaryAuthor, TriggerReading};

/// Why a conversation is compacted.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schemars(rename = "CompactionReason")]
pub enum CompactionReason {
    /// The user or the client requested the compaction.
    Asked,
    /// The conversation reached a threshold of the profile.
    Due(TriggerReading),
    /// The provider rejected a prompt as too long.
    ContextLimit,
}

/// The state of a compaction. Sent to clients as `strata/compaction`, and returned by `strata.compaction.run`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Compaction")]
pub struct CompactionNotice {
    /// Whether the compaction has started, ended or failed.
    pub state: CompactionState,
    /// Id of the session being compacted.
    pub session: String,
    /// Name of the compaction profile.
    pub profile: String,
    /// Why the conversation is compacted.
    pub reason: CompactionReason,
    /// How the conversation was shortened. Absent until the compaction has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<CompactionStrategy>,
    /// Size of the conversation before the compaction. Absent if unknown, such as when the compaction failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<ConversationSize>,
    /// Size of the conversation after the compaction. Absent until the compaction has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<ConversationSize>,
    /// Who wrote the summary. Absent until it is written, and if the conversation was only truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summarised_by: Option<SummaryAuthor>,
    /// Notes for the user, such as why no model was asked or which steps failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why the compaction failed. Absent unless it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The progress of a compaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompactionState {
    /// The compaction has started.
    Started,
    /// The conversation has been compacted.
    Ended,
    /// The compaction failed. The conversation is unchanged.
    Failed,
}

impl From<CompactionNotice> for Value {
    fn from(notice: CompactionNotice) -> Self {
        // Plain data with string keys always serializes.
        serde_json::to_value(notice).unwrap_or_default()
    }
}
