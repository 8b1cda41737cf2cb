//! Whether the user trusts a workspace, so that its texts may become part of the system prompt.

use serde::{Deserialize, Serialize};

/// Whether the user trusts the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Trust {
    /// Its rules, skills and memory are part of the system prompt.
    Trusted,
    /// The system message contains nothing from its files.
    #[default]
    Untrusted,
}
