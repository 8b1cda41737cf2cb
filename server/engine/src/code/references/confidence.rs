//! The words for how a reference was found. Judges no reference.

use schemars::JsonSchema;
use serde::Serialize;

/// How far a reference is to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Only the name matches; the type of the value is unknown.
    Guess,
    /// Scopes, imports or types lead from it to the definition.
    Certain,
}
