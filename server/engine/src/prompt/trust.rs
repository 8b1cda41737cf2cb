//! Whether the user trusts a workspace: whether its words may be told to a model as part of the system prompt.

use serde::{Deserialize, Serialize};

/// Whether the user trusts the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Trust {
    /// Its rules, skills and memory are part of the system prompt.
    Trusted,
    /// No text or name of its files stands in the system message.
    #[default]
    Untrusted,
}
