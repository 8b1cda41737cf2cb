//! Which content stands where, and where the cache breakpoints go. A policy orders what it is given; it
//! never looks for content, never writes a dialect, and never learns which editor asked.

mod breaks;
mod choice;
mod explain;
mod flat;
pub mod ledger;
mod report;
pub mod ripple;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conversation::dialect::Carriers;
use crate::hash::ContentHash;
use crate::prompt::layout::{Content, ItemKey, Layout, Listed, Tier};
use crate::tokens::cost::{Billed, Prices};
use crate::tokens::models::{CacheKind, Model, Ttl};

pub use breaks::{Break, Breaks, Reason};
pub use choice::{Chosen, DecidedBy, Wishes};
pub use explain::explain;
pub use report::{Figures, ItemReport, LastBreak, TiersReport, report};

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

/// How a file that changed inside what is cached is brought up to date.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Deltas {
    /// By a diff further down.
    #[default]
    Explicit,
    /// The same, but edits that the model's own messages spell out are not repeated.
    FromHistory,
    /// Not at all: its current text is laid anew.
    Never,
}

/// How much of the last prompt may stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cut {
    /// As much as is valid and cached.
    #[default]
    Deepest,
    /// Nothing.
    Fresh,
}

/// What the model and the settings say about caching.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rules {
    /// What a cached tier should hold at least, in tokens. 0 switches anchoring, demotion and the
    /// graduation of history off.
    pub target: usize,
    /// How long entries are asked to be kept.
    pub ttl: Ttl,
    /// What the provider charges and how it caches.
    pub prices: Prices,
    /// Where the dialect takes a breakpoint.
    pub carriers: Carriers,
    /// Names what invalidates the whole cache when it changes: model, dialect, tools.
    pub identity: ContentHash,
    /// How changed files are brought up to date.
    pub deltas: Deltas,
    /// How much of the last prompt may stay.
    pub cut: Cut,
    /// By how many percent a prompt may be longer than one that tells each thing once; `None` for any length.
    pub slack: Option<u32>,
    /// When the prompt is made, in milliseconds since 1970.
    pub now_ms: u64,
}

impl Rules {
    /// The rules of a model whose other circumstances do not matter.
    pub fn new(target: usize, ttl: Ttl, prices: Prices) -> Self {
        let (carriers, deltas, cut) = (Carriers::default(), Deltas::default(), Cut::default());
        Self {
            target,
            ttl,
            prices,
            carriers,
            identity: ContentHash::NONE,
            deltas,
            cut,
            slack: None,
            now_ms: 0,
        }
    }

    /// The target: the larger of the configured and the model's minimum, and a tenth more, so that a tier
    /// that only just fills up is really cached (`docs/tiers.md`). A configured 0 switches it off.
    pub fn target(configured_minimum: usize, model_minimum: usize) -> usize {
        match configured_minimum {
            0 => 0,
            _ => configured_minimum.max(model_minimum).saturating_mul(11).div_ceil(10),
        }
    }
}

/// What a policy remembers from turn to turn.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum TierState {
    /// Nothing.
    #[default]
    Untracked,
    /// The log of [`PolicyName::Ledger`].
    Ledger(Arc<ledger::State>),
    /// The counters of [`PolicyName::Ripple`].
    Ripple(ripple::State),
}

impl TierState {
    /// The tier an item stands in; active when nothing is remembered of it.
    pub fn tier_of(&self, key: &ItemKey) -> Tier {
        match self {
            Self::Untracked => Tier::Active,
            Self::Ledger(state) => state.tier_of(key),
            Self::Ripple(state) => state.tier_of(key),
        }
    }

    /// Forgets the conversation, after it was cleared, replaced or compacted.
    pub fn purge_history(&mut self) {
        match self {
            // Messages that differ are found by their content.
            Self::Untracked | Self::Ledger(_) => {}
            Self::Ripple(state) => state.purge_history(),
        }
    }

    /// Has the next prompt laid afresh: what is learned about the person and the conversation stays, every place is given
    /// anew.
    pub fn rebuild(&mut self) {
        match self {
            Self::Untracked => {}
            Self::Ledger(state) => Arc::make_mut(state).forget_log(),
            Self::Ripple(state) => state.rebuild(),
        }
    }

    /// Takes note of what the provider billed for the prompt that was recorded last.
    pub fn learn(&mut self, billed: Billed) {
        match self {
            Self::Ledger(state) => Arc::make_mut(state).learn(billed),
            Self::Untracked | Self::Ripple(_) => {}
        }
    }
}

/// A prompt in order, and what the policy remembers once it was sent.
#[derive(Clone, Debug)]
pub struct Laid {
    /// The prompt.
    pub layout: Layout,
    /// The state to keep when the turn is recorded; dropped with a prompt that was never sent.
    pub recorded: TierState,
    /// How much of the repository file list it holds.
    pub listed: Listed,
    /// Tokens that it relied on being cached; `None` for a policy that relies on nothing.
    pub relied_on: Option<usize>,
}

/// A tiering rule: content in, order out.
pub trait Policy {
    /// Puts `content` in order, given what was remembered. Deterministic.
    fn lay(&self, state: &TierState, content: &Content<'_>, rules: &Rules) -> Laid;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_a_tenth_over_the_larger_minimum() {
        assert_eq!(Rules::target(1_000, 1_024), 1_127);
        assert_eq!(Rules::target(2_000, 1_024), 2_200);
        assert_eq!(Rules::target(0, 1_024), 0);
        assert!(Rules::target(usize::MAX, 1_024) >= usize::MAX / 10);
    }
}
