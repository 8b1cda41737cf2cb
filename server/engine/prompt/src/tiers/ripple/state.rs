//! The state of `ripple`: the tier, counter and last content hash of each item. `cycle` and `seed` contain the rules.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::hash::ContentHash;

use crate::layout::{ItemKey, LayoutContent, PromptPiece, Tier};

/// The tier and the counter of one item.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct TrackedItem {
    pub tier: Tier,
    /// Stability counter. Starts at the entry value of the item's tier, and increases with each consecutive request in
    /// which the item is unchanged.
    pub n: u32,
    /// Hash of the content when last measured; `None` before the first measurement.
    pub hash: Option<ContentHash>,
    /// Tokens when last measured.
    pub tokens: usize,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RippleState {
    pub(super) items: BTreeMap<ItemKey, TrackedItem>,
    pub(super) seeded: PlacementState,
}

/// Statistics of policy `ripple` about one item.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "RippleItemStats")]
pub(crate) struct RippleItemStats {
    /// Stability counter. Starts at the entry value of the item's tier, and increases with each consecutive request in
    /// which the item is unchanged.
    pub n: u32,
    /// Value of `n` at which the item is promoted; absent in L0, the most stable tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<u32>,
}

/// Whether items have been placed in tiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) enum PlacementState {
    #[default]
    NotYet,
    /// Items have been placed, and the next prompt places them again.
    Again,
    Done,
}

pub(super) const WEB_PAGE_TIER: Tier = Tier::L1;

/// Returns the initial counter of an item that enters a tier, according to the table in `docs/tiers.md`.
pub(super) fn initial_counter(tier: Tier) -> u32 {
    match tier {
        Tier::Active => 0,
        Tier::L3 => 3,
        Tier::L2 => 6,
        Tier::L1 => 9,
        Tier::L0 => 12,
    }
}

/// Returns the next more stable tier, or `None` for L0.
pub(super) fn more_stable_tier(tier: Tier) -> Option<Tier> {
    match tier {
        Tier::Active => Some(Tier::L3),
        Tier::L3 => Some(Tier::L2),
        Tier::L2 => Some(Tier::L1),
        Tier::L1 => Some(Tier::L0),
        Tier::L0 => None,
    }
}

impl RippleState {
    /// Returns every tracked item with its tier and counter, in key order.
    pub(crate) fn items(&self) -> &BTreeMap<ItemKey, TrackedItem> {
        &self.items
    }

    #[cfg(test)]
    pub(crate) fn from_items(items: impl IntoIterator<Item = (ItemKey, TrackedItem)>) -> Self {
        Self { items: items.into_iter().collect(), seeded: PlacementState::Done }
    }

    /// Returns the tier of an item, or `Active` if the item is not tracked.
    pub(crate) fn tier_of(&self, key: &ItemKey) -> Tier {
        self.items.get(key).map_or(Tier::Active, |tracked| tracked.tier)
    }

    /// Forgets all messages, after the conversation was cleared, replaced or compacted.
    pub(crate) fn purge_history(&mut self) {
        self.items.retain(|key, _| !matches!(key, ItemKey::History(_)));
    }

    /// Marks all items to be placed again in the next prompt.
    pub(crate) fn mark_for_rebuild(&mut self) {
        if self.seeded == PlacementState::Done {
            self.seeded = PlacementState::Again;
        }
    }

    /// Returns statistics about an item shown in tier `shown`. If the state has another tier, the item has just entered
    /// `shown`. A message can also be held back by older ones, and then keeps its counter.
    pub(crate) fn item_stats(&self, key: &ItemKey, shown: Tier) -> RippleItemStats {
        let n = match self.items.get(key) {
            Some(tracked) if tracked.tier == shown || matches!(key, ItemKey::History(_)) => tracked.n,
            _ => initial_counter(shown),
        };
        RippleItemStats { n, threshold: more_stable_tier(shown).map(initial_counter) }
    }

    /// Returns the tier of a piece in this prompt. Cached tiers only show unchanged pieces. A changed piece is already
    /// active, so that the tiers before it keep their bytes.
    pub(super) fn tier_of_piece(&self, piece: &PromptPiece) -> Tier {
        match self.items.get(&piece.key) {
            Some(tracked) if tracked.hash.is_none_or(|hash| hash == piece.hash) => tracked.tier,
            _ => Tier::Active,
        }
    }

    /// Adds new web pages to the state and returns their keys. Pages enter a stable tier, because a fetched page does
    /// not change.
    pub(super) fn admit_pages(&mut self, content: &LayoutContent<'_>) -> Vec<ItemKey> {
        let (tier, n) = (WEB_PAGE_TIER, initial_counter(WEB_PAGE_TIER));
        let mut new = Vec::new();
        for piece in &content.urls {
            if !self.items.contains_key(&piece.key) {
                let tracked = TrackedItem { tier, n, hash: None, tokens: piece.tokens };
                self.items.insert(piece.key.clone(), tracked);
                new.push(piece.key.clone());
            }
        }
        new
    }

    /// Removes items that no longer exist, and returns the tiers that their removal breaks. A map block hidden by its
    /// file's full text keeps its tier.
    pub(super) fn forget_missing(&mut self, content: &LayoutContent<'_>) -> BTreeSet<Tier> {
        let item_keys = item_keys(content);
        let mut broken = BTreeSet::new();
        self.items.retain(|key, tracked| {
            let is_present = item_keys.contains(key);
            if !is_present {
                broken.insert(tracked.tier);
            }
            is_present
        });
        broken
    }

    pub(super) fn tier_tokens(&self, tier: Tier) -> usize {
        self.items.values().filter(|tracked| tracked.tier == tier).map(|tracked| tracked.tokens).sum()
    }

    /// Returns the items of a tier in key order.
    pub(super) fn items_in_tier(&self, tier: Tier) -> Vec<ItemKey> {
        self.items.iter().filter(|(_, tracked)| tracked.tier == tier).map(|(key, _)| key.clone()).collect()
    }
}

/// Returns the keys of all items in `content` that a tier may contain.
pub(super) fn item_keys(content: &LayoutContent<'_>) -> BTreeSet<ItemKey> {
    let pieces = content.map.iter().chain(&content.files).chain(&content.urls).map(|piece| piece.key.clone());
    let hidden = content.hidden.keys().cloned().map(ItemKey::Symbol);
    let history = content.history.iter().map(|message| ItemKey::History(message.id));
    pieces.chain(hidden).chain(history).collect()
}
