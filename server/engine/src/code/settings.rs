//! Settings for reading files, and for how much of them a prompt shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The symbol map.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SymbolSettings {
    /// Maximum tokens for the symbol map. Defaults to an eighth of the input window, between 4,000 and 64,000: at 4,000
    /// tokens, the map shows nine tenths of the definitions that later commits change, and beyond 8,000 little more.
    #[schemars(extend("x-workspace" = true))]
    pub map_budget: Option<usize>,
    /// Maximum size, in bytes, of a file that Strata outlines.
    pub max_file_bytes: u64,
}

impl Default for SymbolSettings {
    fn default() -> Self {
        Self { map_budget: None, max_file_bytes: 1 << 20 }
    }
}

/// Full files and the repository file list.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FileSettings {
    /// Maximum size, in bytes, of a file that can be added to the context.
    pub max_bytes: u64,
    /// Maximum tokens for the repository file list. 0 omits the list.
    #[schemars(extend("x-workspace" = true))]
    pub list_budget: usize,
}

impl Default for FileSettings {
    fn default() -> Self {
        Self { max_bytes: 2 << 20, list_budget: 4_000 }
    }
}
