//! The confidence of a reference.

use schemars::JsonSchema;
use serde::Serialize;

/// How certain it is that a reference refers to the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Only the name matches; the type of the value is unknown.
    Guess,
    /// Scopes, imports or types lead from the reference to the definition.
    Certain,
}
