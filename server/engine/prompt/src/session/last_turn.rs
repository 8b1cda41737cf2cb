//! A summary of the last recorded prompt. It is stored with the session, so that another process, or the server after a
//! restart, can report on the prompt without its layout.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_conversation::urls::Pages;
use strata_tokens::cost::CacheEstimate;

use crate::layout::{Layout, Tier};
use crate::tiers::{Breaks, PolicyName, TierState};

/// A summary of the last recorded prompt of a session.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastTurn {
    /// Number of prompts that the session has recorded so far, including those from before a restart of Strata.
    pub turns: u64,
    /// Model that the prompt was sent to.
    pub model: String,
    /// Layout policy of the prompt.
    pub policy: PolicyName,
    /// Items and tokens of each nonempty tier.
    pub tiers: Vec<TierWeight>,
    /// Tokens that the provider's cache is believed to contain.
    pub cached_tokens: usize,
    /// Time when the cached tokens expire, in milliseconds since 1970; absent if nothing is cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_expires_ms: Option<u64>,
    /// One or two sentences that say what broke the cache, or that nothing did.
    pub explanation: String,
}

/// Items and tokens of one tier.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TierWeight {
    /// Name of the tier.
    pub tier: Tier,
    /// Number of items in the tier.
    pub items: usize,
    /// Tokens of the tier.
    pub tokens: usize,
}

/// Input for the summary of a prompt that is being recorded.
pub(super) struct LastTurnInput<'a> {
    pub(super) previous: Option<&'a LastTurn>,
    pub(super) model: &'a str,
    pub(super) tiers: &'a TierState,
    pub(super) layout: &'a Layout,
    pub(super) breaks: &'a Breaks,
    pub(super) pages: &'a Pages,
    pub(super) cached: Option<CacheEstimate>,
}

impl LastTurn {
    pub(super) fn new(turn: &LastTurnInput<'_>) -> Self {
        let mut tiers: BTreeMap<Tier, (usize, usize)> = BTreeMap::new();
        for block in turn.layout.blocks() {
            let (items, tokens) = tiers.entry(block.tier).or_default();
            *items += block.items.len();
            *tokens += block.tokens;
        }
        let weight = |(tier, (items, tokens))| TierWeight { tier, items, tokens };
        Self {
            turns: turn.previous.map_or(0, |previous| previous.turns) + 1,
            model: turn.model.to_owned(),
            policy: policy_of_state(turn.tiers),
            tiers: tiers.into_iter().map(weight).collect(),
            cached_tokens: turn.cached.map_or(0, |cached| cached.tokens),
            cache_expires_ms: turn.cached.map(|cached| cached.expires_ms),
            explanation: turn.breaks.last.as_ref().map(|last| last.explain(turn.pages)).unwrap_or_default(),
        }
    }
}

/// Returns the policy that produced this state.
fn policy_of_state(tiers: &TierState) -> PolicyName {
    match tiers {
        TierState::Untracked => PolicyName::Flat,
        TierState::Ledger(_) => PolicyName::Ledger,
        TierState::Ripple(_) => PolicyName::Ripple,
    }
}
