//! How a tool call ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a tool call ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StepOutcome {
    /// It succeeded.
    Well,
    /// It failed.
    Badly,
    /// Its result is not among the messages.
    Unanswered,
}
