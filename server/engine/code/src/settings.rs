//! Settings for reading files, and for how much of them a prompt shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The symbol map, which outlines the repository's files.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SymbolSettings {
    /// Token limit for the symbol map. Defaults to 1,000 in a prompt, and otherwise to an eighth of the input window,
    /// but at least 4,000 and at most 64,000.
    #[schemars(extend("x-workspace" = true))]
    pub map_budget: Option<usize>,
}

/// Limits on selected files, and on the list of files that are not in the symbol map.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FileSettings {
    /// Maximum size of a file or web page in the context, in bytes.
    pub max_bytes: u64,
    /// Token limit for the list of files that are not in the symbol map. Directories are collapsed to stay within
    /// it. 0 omits the list.
    #[schemars(extend("x-workspace" = true))]
    pub list_budget: usize,
}

impl Default for FileSettings {
    fn default() -> Self {
        Self { max_bytes: 2 << 20, list_budget: 1_000 }
    }
}
