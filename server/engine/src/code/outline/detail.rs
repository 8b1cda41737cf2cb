//! The amount of detail in a map block.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Names;

/// How much of a file its map block shows. Each level includes the previous one.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum MapLevel {
    /// The file's path only.
    Path,
    /// The path and the names of top-level definitions.
    Names,
    /// The signatures of definitions that other files refer to.
    Signatures,
    /// The signatures of all public definitions.
    Public,
    /// All signatures, including fields, and the imports.
    #[default]
    Full,
}

/// The part of an outline that a map block shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockDetail {
    pub level: MapLevel,
    /// Names of definitions to show in addition to those that the level includes.
    #[serde(default, skip_serializing_if = "Names::is_empty")]
    pub shown: Names,
}

impl BlockDetail {
    /// Returns the detail of a block that shows only the definitions of its level.
    pub(crate) fn plain(level: MapLevel) -> Self {
        Self { level, shown: Names::default() }
    }
}
