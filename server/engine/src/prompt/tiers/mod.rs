//! Which content stands where, and where the cache breakpoints go. A policy orders what it is given; it
//! never looks for content, never writes a dialect, and never learns which editor asked.

mod breaks;
mod choice;
mod explain;
mod flat;
pub mod ledger;
mod policy;
mod report;
pub(crate) mod ripple;
mod rules;
mod state;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tokens::models::{CacheKind, Model};

pub use breaks::Break;
pub(crate) use breaks::Breaks;
pub(crate) use breaks::Reason;
#[cfg(test)]
pub(crate) use choice::DecidedBy;
pub use choice::{LayoutPreferences, PolicyChoice};
pub use explain::explain;
pub(crate) use policy::Policy;
pub(crate) use policy::PolicyOutput;
#[cfg(test)]
pub(crate) use report::ItemStats;
pub use report::{ItemReport, TiersReport, report};
pub(crate) use rules::Cut;
pub use rules::{Deltas, Rules};
pub use state::TierState;

/// A named tiering rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyName {
    /// The prompt is a log: what may stay stays, what changed is brought up to date behind it.
    Ledger,
    /// Content rises through four cached tiers while it stays unchanged.
    Ripple,
    /// One fixed order without breakpoints.
    Flat,
}

impl PolicyName {
    /// The rule of this name.
    pub fn policy(self) -> &'static dyn Policy {
        match self {
            Self::Ledger => &ledger::Ledger,
            Self::Ripple => &ripple::Ripple,
            Self::Flat => &flat::Flat,
        }
    }

    /// The rule for a model when nobody chose one: without a cache there is nothing to lay out for.
    pub fn default_for(model: &Model) -> Self {
        match model.cache.kind {
            CacheKind::Explicit { .. } | CacheKind::Automatic { .. } => Self::Ledger,
            CacheKind::None => Self::Flat,
        }
    }
}
