//! Caching rules from the model and the settings, independent of the policy.

use crate::conversation::dialect::Carriers;
use crate::hash::ContentHash;
use crate::tokens::cost::Prices;
use crate::tokens::models::Ttl;

/// How a changed file in the cached part is updated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Deltas {
    /// By a diff further down.
    #[default]
    Explicit,
    /// The same, but edits that the model's own messages spell out are not repeated.
    FromHistory,
    /// Not by diffs: its current text is laid out again.
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

/// Caching rules from the model and the settings.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rules {
    /// Target size of a cached tier, in tokens. 0 disables anchoring, demotion, and promotion of history.
    pub target: usize,
    /// How long entries are asked to be kept.
    pub ttl: Ttl,
    /// The provider's prices and kind of cache.
    pub prices: Prices,
    /// Where the dialect takes a breakpoint.
    pub carriers: Carriers,
    /// Names what invalidates the whole cache when it changes: model, dialect, tools.
    pub identity: ContentHash,
    /// How changed files are brought up to date.
    pub deltas: Deltas,
    /// How much of the last prompt may stay.
    pub cut: Cut,
    /// Maximum growth over a minimal prompt, in percent; `None` for no limit.
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
        assert_eq!(Rules::target(1_000, 1_024), 1_127);
        assert_eq!(Rules::target(2_000, 1_024), 2_200);
        assert_eq!(Rules::target(0, 1_024), 0);
        assert!(Rules::target(usize::MAX, 1_024) >= usize::MAX / 10);
    }
}
