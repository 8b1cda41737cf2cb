//! Which content stands where, and where the cache breakpoints go. A policy orders what it is given; it
//! never looks for content, never writes a dialect, and never learns which editor asked.

mod flat;
pub mod ripple;

use serde::{Deserialize, Serialize};

use crate::prompt::{Content, ItemKey, Layout, Tier, Ttl};

/// A named tiering rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyName {
    /// Content rises through four cached tiers while it stays unchanged.
    #[default]
    Ripple,
    /// One fixed order without breakpoints.
    Flat,
}

/// What the model and the settings say about caching.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// What a cached tier should hold at least, in tokens. 0 switches anchoring, demotion and the
    /// graduation of history off.
    pub target: usize,
    /// How long entries are kept.
    pub ttl: Ttl,
}

impl Rules {
    /// The target: the larger of the configured and the model's minimum, and a tenth more, so that a tier
    /// that only just fills up is really cached (`docs/tiers.md`). A configured 0 switches it off.
    pub fn new(configured_minimum: usize, model_minimum: usize, ttl: Ttl) -> Self {
        let target = match configured_minimum {
            0 => 0,
            _ => (configured_minimum.max(model_minimum) * 11).div_ceil(10),
        };
        Self { target, ttl }
    }
}

/// What a policy remembers from turn to turn.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum TierState {
    /// Nothing.
    #[default]
    Untracked,
    /// The counters of [`PolicyName::Ripple`].
    Ripple(ripple::State),
}

impl TierState {
    /// The tier an item stands in; active when nothing is remembered of it.
    pub fn tier_of(&self, key: &ItemKey) -> Tier {
        match self {
            Self::Untracked => Tier::Active,
            Self::Ripple(state) => state.tier_of(key),
        }
    }

    /// Forgets the conversation, after it was cleared, replaced or compacted.
    pub fn purge_history(&mut self) {
        match self {
            Self::Untracked => {}
            Self::Ripple(state) => state.purge_history(),
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
            Self::Ripple => &ripple::Ripple,
            Self::Flat => &flat::Flat,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_a_tenth_over_the_larger_minimum() {
        assert_eq!(Rules::new(1_000, 1_024, Ttl::FiveMinutes).target, 1_127);
        assert_eq!(Rules::new(2_000, 1_024, Ttl::FiveMinutes).target, 2_200);
        assert_eq!(Rules::new(0, 1_024, Ttl::FiveMinutes).target, 0);
    }
}
