//! Rules for laying out a prompt, derived from the model and the settings. They apply to every policy.

use strata_base::hash::ContentHash;
use strata_conversation::providers::BreakpointTargets;
use strata_tokens::cost::Prices;
use strata_tokens::models::Ttl;

/// How to update a changed file in the cached part of a prompt.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DeltaMode {
    /// Append a diff.
    #[default]
    Explicit,
    /// Append a diff, unless the model's own messages already contain the exact edit.
    FromHistory,
    /// Write the current text again, without diffs.
    Never,
}

/// How much of the last prompt to keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LayoutReuse {
    /// Keep as much as is valid and cached.
    #[default]
    Maximal,
    /// Keep nothing.
    None,
}

/// Rules for laying out a prompt, derived from the model and the settings.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LayoutRules {
    /// Target size of a cached tier, in tokens. 0 disables anchoring, demotion, and promotion of history.
    pub target: usize,
    /// Lifetime that breakpoints ask for, unless the policy chooses the extended one for them.
    pub ttl: Ttl,
    /// The provider's prices and the kind of cache it has.
    pub prices: Prices,
    /// Probability that the next prompt comes after entries with the lifetime `ttl` have expired, but not those with
    /// the extended one.
    pub extended_is_needed: f64,
    /// Which blocks may carry a breakpoint in the dialect.
    pub carriers: BreakpointTargets,
    /// Hash of everything whose change invalidates the whole cache: model, dialect and tools.
    pub identity: ContentHash,
    /// How to update changed files.
    pub deltas: DeltaMode,
    /// How much of the last prompt to keep.
    pub reuse: LayoutReuse,
    /// Maximum growth of a prompt compared to one without outdated text, as a percentage; `None` for no limit.
    pub slack: Option<u32>,
    /// Time of the prompt, in milliseconds since 1970.
    pub now_ms: u64,
}

impl LayoutRules {
    /// Creates rules with defaults for everything except the target, the lifetime and the prices.
    pub fn new(target: usize, ttl: Ttl, prices: Prices) -> Self {
        let (carriers, deltas, reuse) =
            (BreakpointTargets::default(), DeltaMode::default(), LayoutReuse::default());
        Self {
            target,
            ttl,
            prices,
            extended_is_needed: 0.0,
            carriers,
            identity: ContentHash::NONE,
            deltas,
            reuse,
            slack: None,
            now_ms: 0,
        }
    }

    /// Computes the target size of a tier: the larger of the configured and the model's minimum, plus a tenth. The
    /// tenth ensures that a tier that just reaches the target is really cached (`docs/tiers.md`). A configured minimum
    /// of 0 disables the target.
    pub(crate) fn target(configured_minimum: usize, model_minimum: usize) -> usize {
        match configured_minimum {
            0 => 0,
            _ => configured_minimum.max(model_minimum).saturating_mul(11).div_ceil(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_a_tenth_over_the_larger_minimum() {
        assert_eq!(LayoutRules::target(1_000, 1_024), 1_127);
        assert_eq!(LayoutRules::target(2_000, 1_024), 2_200);
        assert_eq!(LayoutRules::target(0, 1_024), 0);
        assert!(LayoutRules::target(usize::MAX, 1_024) >= usize::MAX / 10);
    }
}
