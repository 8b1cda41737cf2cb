//! Settings of what is read of files, and how much of it is shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The symbol map.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SymbolSettings {
    /// What all map blocks together may weigh, in tokens. Without it: an eighth of the input window,
    /// between 4,000 and 64,000.
    #[schemars(extend("x-workspace" = true))]
    pub map_budget: Option<usize>,
    /// Larger files get no outline, in bytes.
    pub max_file_bytes: u64,
}

impl Default for SymbolSettings {
    fn default() -> Self {
        Self { map_budget: None, max_file_bytes: 1 << 20 }
    }
}

/// Files in full and the repository file list.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FileSettings {
    /// Larger files are refused, in bytes.
    pub max_bytes: u64,
    /// What the repository file list may weigh, in tokens. 0 leaves it out.
    #[schemars(extend("x-workspace" = true))]
    pub list_budget: usize,
}

impl Default for FileSettings {
    fn default() -> Self {
        Self { max_bytes: 2 << 20, list_budget: 4_000 }
    }
}
