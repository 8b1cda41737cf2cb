//! Whether the person trusts a workspace. What follows from it is decided where it is asked.

use serde::{Deserialize, Serialize};

/// Whether the person trusts the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Trust {
    /// Its files may set anything, and may speak with the voice of the system.
    Trusted,
    /// Its files may set what is harmless; of their texts and names nothing stands in the system message.
    #[default]
    Untrusted,
}
