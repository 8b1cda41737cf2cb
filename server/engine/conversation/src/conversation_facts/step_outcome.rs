//! The outcome of a tool call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Outcome of a tool call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StepOutcome {
    /// The call succeeded.
    Well,
    /// The call failed.
    Badly,
    /// The result of the call is not among the messages.
    Unanswered,
}
