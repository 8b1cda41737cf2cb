//! Layout policies, which decide the order of a prompt's content and the positions of its cache breakpoints. A policy
//! only orders the content it is given. It neither finds content nor writes a dialect, and is independent of the
//! editor.

mod breaks;
mod choice;
mod explain;
mod flat;
pub(crate) mod ledger;
mod policy;
mod report;
pub(crate) mod ripple;
mod rules;
mod state;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_tokens::models::{CacheKind, Model};

pub use breaks::Break;
pub(crate) use breaks::BreakReason;
pub(crate) use breaks::Breaks;
#[cfg(test)]
pub(crate) use choice::DecidedBy;
pub use choice::{LayoutPreferences, PolicyChoice};
pub use ledger::edits::{FileEdit, edits_in_answer_block};
pub(crate) use policy::Policy;
pub(crate) use policy::PolicyOutput;
#[cfg(test)]
pub(crate) use report::ItemStats;
pub use report::{ItemReport, TiersReport, report};
pub(crate) use rules::LayoutReuse;
pub use rules::{DeltaMode, LayoutRules};
pub use state::TierState;

/// Name of a layout policy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyName {
    /// An append-only log: keeps cached content unchanged and appends changes.
    Ledger,
    /// Four cached tiers: content moves to a more stable tier while it stays unchanged.
    Ripple,
    /// A fixed order without breakpoints.
    Flat,
}

impl PolicyName {
    pub const ALL: [Self; 3] = [Self::Ledger, Self::Ripple, Self::Flat];

    /// Returns the name used in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ledger => "ledger",
            Self::Ripple => "ripple",
            Self::Flat => "flat",
        }
    }

    pub fn policy(self) -> &'static dyn Policy {
        match self {
            Self::Ledger => &ledger::LedgerPolicy,
            Self::Ripple => &ripple::RipplePolicy,
            Self::Flat => &flat::FlatPolicy,
        }
    }

    /// Returns the default policy for a model: `ledger` if its provider caches prompts, otherwise `flat`.
    pub fn default_for(model: &Model) -> Self {
        match model.cache.kind {
            CacheKind::Explicit { .. } | CacheKind::Automatic { .. } => Self::Ledger,
            CacheKind::None => Self::Flat,
        }
    }
}
