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
    /// Target size of a cached tier under the policy `ripple`, in tokens.
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
    /// What a token of the log is expected to cost in all later prompts, relative to uncached input. Outdated text is
    /// dropped if that saves more than rewriting what follows it costs. `None` keeps as much as possible.
    pub later_price: Option<f64>,
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
            later_price: None,
            now_ms: 0,
        }
    }
}
