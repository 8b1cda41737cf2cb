//! The state of layout policies between prompts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strata_tokens::cost::BilledInput;

use super::{ledger, ripple};
use crate::layout::{ItemKey, Tier};

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub enum TierState {
    /// No policy has stored any state.
    #[default]
    Untracked,
    /// The log of policy `ledger`.
    Ledger(Arc<ledger::LedgerState>),
    /// The counters of policy `ripple`.
    Ripple(ripple::RippleState),
}

impl TierState {
    /// Returns the tier of an item, or `Active` if the state does not contain the item.
    pub fn tier_of(&self, key: &ItemKey) -> Tier {
        match self {
            Self::Untracked => Tier::Active,
            Self::Ledger(state) => state.tier_of(key),
            Self::Ripple(state) => state.tier_of(key),
        }
    }

    /// Forgets all messages, after the conversation was cleared, replaced or compacted.
    pub(crate) fn purge_history(&mut self) {
        match self {
            // `ledger` detects changed messages by their content.
            Self::Untracked | Self::Ledger(_) => {}
            Self::Ripple(state) => state.purge_history(),
        }
    }

    /// Resets all tiers before the next prompt. Keeps what the policy has learned about the user.
    pub(crate) fn reset_tiers(&mut self) {
        match self {
            Self::Untracked => {}
            Self::Ledger(state) => Arc::make_mut(state).forget_log(),
            Self::Ripple(state) => state.mark_for_rebuild(),
        }
    }

    /// Adjusts the state to the billed usage of the last recorded prompt.
    pub(crate) fn learn(&mut self, billed: BilledInput) {
        match self {
            Self::Ledger(state) => Arc::make_mut(state).compare_with_billed_reads(billed),
            Self::Untracked | Self::Ripple(_) => {}
        }
    }
}
