//! Whether the user trusts a workspace. Only texts of a trusted workspace may become part of the system prompt.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Trust {
    /// The user trusts the workspace. The system prompt includes its rules, skills and memory.
    Trusted,
    /// The user does not trust the workspace. The system message contains nothing from its files.
    #[default]
    Untrusted,
}
