//! How much of an outline a map block holds. Chooses nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Names;

/// How much of a file its map block shows. Each level includes the previous one.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum MapLevel {
    /// The file's path alone.
    Path,
    /// The path and the names of top-level definitions.
    Names,
    /// The signatures of definitions that others refer to.
    Signatures,
    /// The signatures of everything public.
    Public,
    /// Every signature, fields, imports.
    #[default]
    Full,
}

/// The part of the outline that a map block shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockDetail {
    /// How much.
    pub level: MapLevel,
    /// The names of definitions that were chosen one by one.
    #[serde(default, skip_serializing_if = "Names::is_empty")]
    pub shown: Names,
}

impl BlockDetail {
    /// A level without definitions of its own.
    pub(crate) fn plain(level: MapLevel) -> Self {
        Self { level, shown: Names::default() }
    }
}
