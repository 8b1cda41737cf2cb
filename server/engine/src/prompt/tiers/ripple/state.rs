//! The state of `ripple` for each item: its tier, counter and last content. `cycle` and `seed` have the rules.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::prompt::layout::{Content, ItemKey, Piece, Tier};

/// One item's place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Tracked {
    /// Its position.
    pub tier: Tier,
    /// How many requests in a row it was unchanged, as far as its tier counts.
    pub n: u32,
    /// Hash of its last content; `None` until first measured.
    pub hash: Option<ContentHash>,
    /// Its weight in tokens when it was last measured.
    pub tokens: usize,
}

/// All items' places.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct State {
    pub(super) items: BTreeMap<ItemKey, Tracked>,
    pub(super) seeded: Seeded,
}

/// Statistics about one item.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "RippleItemStats")]
pub(crate) struct ItemStats {
    /// How many requests in a row it was unchanged, as far as its tier counts.
    pub n: u32,
    /// The N at which it goes up; absent in L0, which is final.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<u32>,
}

/// Whether the content was already spread over the tiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) enum Seeded {
    #[default]
    NotYet,
    /// It was, and is to be once more.
    Again,
    Done,
}

/// The tier that web pages enter.
pub(super) const PAGES_ENTER: Tier = Tier::L1;

/// The N with which an item enters a tier (the table in `docs/tiers.md`).
pub(super) fn entry(tier: Tier) -> u32 {
    match tier {
        Tier::Active => 0,
        Tier::L3 => 3,
        Tier::L2 => 6,
        Tier::L1 => 9,
        Tier::L0 => 12,
    }
}

/// The tier that an item of this tier is promoted to, and the N that it takes.
pub(super) fn above(tier: Tier) -> Option<Tier> {
    match tier {
        Tier::Active => Some(Tier::L3),
        Tier::L3 => Some(Tier::L2),
        Tier::L2 => Some(Tier::L1),
        Tier::L1 => Some(Tier::L0),
        Tier::L0 => None,
    }
}

impl State {
    /// Every tracked item with its place, in key order.
    pub(crate) fn items(&self) -> &BTreeMap<ItemKey, Tracked> {
        &self.items
    }

    /// A state as if its map had been placed.
    #[cfg(test)]
    pub(crate) fn from_items(items: impl IntoIterator<Item = (ItemKey, Tracked)>) -> Self {
        Self { items: items.into_iter().collect(), seeded: Seeded::Done }
    }

    /// The tier of an item; active when it is not tracked.
    pub(crate) fn tier_of(&self, key: &ItemKey) -> Tier {
        self.items.get(key).map_or(Tier::Active, |tracked| tracked.tier)
    }

    /// Forgets the conversation, after it was cleared, replaced or compacted.
    pub(crate) fn purge_history(&mut self) {
        self.items.retain(|key, _| !matches!(key, ItemKey::History(_)));
    }

    /// Has the next prompt give every item its place again.
    pub(crate) fn rebuild(&mut self) {
        if self.seeded == Seeded::Done {
            self.seeded = Seeded::Again;
        }
    }

    /// Statistics about an item shown in this tier. An item shown in a tier other than the remembered one has just entered it,
    /// except for messages held back by older ones, which keep their count.
    pub(crate) fn figures(&self, key: &ItemKey, shown: Tier) -> ItemStats {
        let n = match self.items.get(key) {
            Some(tracked) if tracked.tier == shown || matches!(key, ItemKey::History(_)) => tracked.n,
            _ => entry(shown),
        };
        ItemStats { n, threshold: above(shown).map(entry) }
    }

    /// The tier of a piece in this prompt. Cached tiers only show unchanged pieces; changed ones are already active, so that
    /// earlier tiers keep their bytes.
    pub(super) fn tier(&self, piece: &Piece) -> Tier {
        match self.items.get(&piece.key) {
            Some(tracked) if tracked.hash.is_none_or(|hash| hash == piece.hash) => tracked.tier,
            _ => Tier::Active,
        }
    }

    /// Takes in web pages that are new: they enter high, because a page that was fetched on purpose does not change. Says
    /// which they are.
    pub(super) fn admit_pages(&mut self, content: &Content<'_>) -> Vec<ItemKey> {
        let (tier, n) = (PAGES_ENTER, entry(PAGES_ENTER));
        let mut new = Vec::new();
        for piece in &content.urls {
            if !self.items.contains_key(&piece.key) {
                let tracked = Tracked { tier, n, hash: None, tokens: piece.tokens };
                self.items.insert(piece.key.clone(), tracked);
                new.push(piece.key.clone());
            }
        }
        new
    }

    /// Forgets missing content, and returns the tiers this breaks. A map block hidden by the full text of its file keeps its
    /// tier.
    pub(super) fn forget_missing(&mut self, content: &Content<'_>) -> BTreeSet<Tier> {
        let present = present(content);
        let mut broken = BTreeSet::new();
        self.items.retain(|key, tracked| {
            let stays = present.contains(key);
            if !stays {
                broken.insert(tracked.tier);
            }
            stays
        });
        broken
    }

    /// The weight of a tier in tokens.
    pub(super) fn weight(&self, tier: Tier) -> usize {
        self.items.values().filter(|tracked| tracked.tier == tier).map(|tracked| tracked.tokens).sum()
    }

    /// The items of a tier in key order.
    pub(super) fn in_tier(&self, tier: Tier) -> Vec<ItemKey> {
        self.items.iter().filter(|(_, tracked)| tracked.tier == tier).map(|(key, _)| key.clone()).collect()
    }
}

/// The keys of everything in `content` that a tier may hold.
pub(super) fn present(content: &Content<'_>) -> BTreeSet<ItemKey> {
    let pieces = content.map.iter().chain(&content.files).chain(&content.urls).map(|piece| piece.key.clone());
    let hidden = content.hidden.keys().cloned().map(ItemKey::Symbol);
    let history = content.history.iter().map(|said| ItemKey::History(said.id));
    pieces.chain(hidden).chain(history).collect()
}
