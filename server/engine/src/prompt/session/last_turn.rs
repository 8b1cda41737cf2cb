//! The last recorded prompt in a few figures, which are stored with the session: for whoever looks at it from another process, or after
//! a restart, where the layout itself is not known. Decides nothing.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conversation::urls::Pages;
use crate::prompt::layout::{Layout, Tier};
use crate::prompt::tiers::{Breaks, PolicyName, TierState, explain};

/// The last recorded prompt of a session.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastTurn {
    /// How many prompts were recorded, over all runs.
    pub turns: u64,
    /// The model that it went to.
    pub model: String,
    /// The policy of its layout.
    pub policy: PolicyName,
    /// The content of each nonempty tier.
    pub tiers: Vec<TierWeight>,
    /// Tokens expected in the provider's cache.
    pub cached_tokens: usize,
    /// When that will be gone, in milliseconds since 1970; absent when nothing is cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_expires_ms: Option<u64>,
    /// Why it did not begin as the prompt before, in a sentence.
    pub explanation: String,
}

/// The content of one tier.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TierWeight {
    /// The tier.
    pub tier: Tier,
    /// Number of its items.
    pub items: usize,
    /// Its weight in tokens.
    pub tokens: usize,
}

/// The believed content of the provider's cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheEstimate {
    /// Tokens.
    pub tokens: usize,
    /// When they will be gone unless they are used before, in milliseconds since 1970.
    pub expires_ms: u64,
}

/// The data of a prompt when it is recorded.
pub(super) struct RecordedTurn<'a> {
    pub(super) before: Option<&'a LastTurn>,
    pub(super) model: &'a str,
    pub(super) tiers: &'a TierState,
    pub(super) layout: &'a Layout,
    pub(super) breaks: &'a Breaks,
    pub(super) pages: &'a Pages,
    pub(super) cached: Option<CacheEstimate>,
}

impl LastTurn {
    pub(super) fn of(turn: &RecordedTurn<'_>) -> Self {
        let mut tiers: BTreeMap<Tier, (usize, usize)> = BTreeMap::new();
        for block in turn.layout.blocks() {
            let (items, tokens) = tiers.entry(block.tier).or_default();
            *items += block.items.len();
            *tokens += block.tokens;
        }
        let weight = |(tier, (items, tokens))| TierWeight { tier, items, tokens };
        Self {
            turns: turn.before.map_or(0, |before| before.turns) + 1,
            model: turn.model.to_owned(),
            policy: policy(turn.tiers),
            tiers: tiers.into_iter().map(weight).collect(),
            cached_tokens: turn.cached.map_or(0, |cached| cached.tokens),
            cache_expires_ms: turn.cached.map(|cached| cached.expires_ms),
            explanation: turn.breaks.last.as_ref().map(|last| explain(last, turn.pages)).unwrap_or_default(),
        }
    }
}

/// The policy that remembers this.
fn policy(tiers: &TierState) -> PolicyName {
    match tiers {
        TierState::Untracked => PolicyName::Flat,
        TierState::Ledger(_) => PolicyName::Ledger,
        TierState::Ripple(_) => PolicyName::Ripple,
    }
}
