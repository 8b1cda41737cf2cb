//! Whether the user trusts a workspace. Only texts of a trusted workspace may become part of the system prompt.

use serde::{Deserialize, Serialize};

/// Whether the user trusts the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Trust {
    /// The system prompt includes the workspace's rules, skills and memory.
    Trusted,
    /// The system message contains nothing from the workspace's files.
    #[default]
    Untrusted,
}
