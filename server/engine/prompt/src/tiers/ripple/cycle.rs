//! Updates the tiers after each request. Counts the requests in which each item is unchanged, demotes changed items,
//! promotes stable ones, and lets promotions ripple up through broken tiers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use strata_base::hash::ContentHash;

use crate::layout::{ItemKey, LayoutContent, Tier};

use super::super::LayoutRules;
use super::state::{RippleState, TrackedItem, WEB_PAGE_TIER, initial_counter, more_stable_tier};

/// Cached tiers from the least to the most stable, the direction of promotions.
const TIERS_TOWARD_STABLE: [Tier; 4] = [Tier::L3, Tier::L2, Tier::L1, Tier::L0];

/// Updates the tiers after a request. `broken` contains the tiers whose cached bytes have already changed, and `pages`
/// the web pages that are new in the request.
pub(super) fn update_tiers(
    state: &mut RippleState,
    content: &LayoutContent<'_>,
    rules: &LayoutRules,
    broken: &mut BTreeSet<Tier>,
    pages: Vec<ItemKey>,
) {
    update_items(state, content, broken);
    let mut cycle =
        TierUpdate { state, rules, broken, incoming: BTreeMap::new(), processed: BTreeSet::new() };
    cycle.queue(pages, WEB_PAGE_TIER);
    cycle.promote_active_items();
    cycle.promote_history(content);
    cycle.promote_through_tiers();
    cycle.demote_underfilled();
    cycle.refill_l0();
}

/// Compares every item with its previous state. Increments the counter of unchanged active items. New and changed items
/// become active with a counter of 0. Items without a hash accept their first measurement.
fn update_items(state: &mut RippleState, content: &LayoutContent<'_>, broken: &mut BTreeSet<Tier>) {
    let pieces = content.map.iter().chain(&content.files).chain(&content.urls);
    let pieces = pieces.map(|piece| (piece.key.clone(), piece.hash, piece.tokens));
    let history = content
        .history
        .iter()
        .map(|message| (ItemKey::History(message.id), message.hash(), message.tokens()));
    for (key, hash, tokens) in pieces.chain(merge_split_messages(history)) {
        match state.items.get_mut(&key) {
            None => {
                let (tier, n) = (Tier::Active, initial_counter(Tier::Active));
                state.items.insert(key, TrackedItem { tier, n, hash: Some(hash), tokens });
            }
            Some(tracked) => {
                match tracked.hash {
                    Some(before) if before != hash => {
                        broken.insert(tracked.tier);
                        tracked.tier = Tier::Active;
                        tracked.n = 0;
                    }
                    _ if tracked.tier == Tier::Active => tracked.n += 1,
                    _ => {}
                }
                tracked.hash = Some(hash);
                tracked.tokens = tokens;
            }
        }
    }
    broken.remove(&Tier::Active);
}

/// Merges the parts into which repairs have split a message, so that each message is one item.
fn merge_split_messages(
    history: impl Iterator<Item = (ItemKey, ContentHash, usize)>,
) -> impl Iterator<Item = (ItemKey, ContentHash, usize)> {
    let mut merged: BTreeMap<ItemKey, (ContentHash, usize)> = BTreeMap::new();
    for (key, hash, tokens) in history {
        merged
            .entry(key)
            .and_modify(|(all, sum)| {
                *all = ContentHash::from_text(&format!("{all}{hash}"));
                *sum += tokens;
            })
            .or_insert((hash, tokens));
    }
    merged.into_iter().map(|(key, (hash, tokens))| (key, hash, tokens))
}

struct TierUpdate<'a> {
    state: &'a mut RippleState,
    rules: &'a LayoutRules,
    broken: &'a mut BTreeSet<Tier>,
    /// Items that are about to enter each tier.
    incoming: BTreeMap<Tier, BTreeSet<ItemKey>>,
    /// Tiers whose existing items have already been processed in this cycle.
    processed: BTreeSet<Tier>,
}

impl TierUpdate<'_> {
    /// Moves active files and map blocks that were unchanged for three requests to L3, even if they are no longer
    /// selected.
    fn promote_active_items(&mut self) {
        let lasting: Vec<ItemKey> = self
            .eligible_items()
            .filter(|(key, _)| !matches!(key, ItemKey::History(_)))
            .map(|(key, _)| key.clone())
            .collect();
        self.queue(lasting, Tier::L3);
    }

    /// Promotes messages to L3. If L3 is rewritten anyway, all eligible messages are promoted. Otherwise, the newest
    /// messages stay active, up to the target size of a tier, and only older ones are promoted.
    fn promote_history(&mut self, content: &LayoutContent<'_>) {
        let target = self.rules.target;
        let mut eligible: Vec<(ItemKey, usize)> = self
            .eligible_items()
            .filter(|(key, _)| matches!(key, ItemKey::History(_)))
            .map(|(key, tracked)| (key.clone(), tracked.tokens))
            .collect();
        let rebuilt = self.broken.contains(&Tier::L3) || self.incoming.contains_key(&Tier::L3);
        if !rebuilt {
            let mut recent = 0;
            while let Some((_, tokens)) = eligible.last() {
                if recent >= target {
                    break;
                }
                recent += tokens;
                eligible.pop();
            }
        }
        // Messages must stay in order, so promotion stops at the first message that stays active.
        let order: Vec<ItemKey> =
            content.history.iter().map(|message| ItemKey::History(message.id)).collect();
        let graduating: BTreeSet<ItemKey> = eligible.into_iter().map(|(key, _)| key).collect();
        let in_order = order
            .into_iter()
            .skip_while(|key| self.state.tier_of(key) != Tier::Active)
            .take_while(|key| graduating.contains(key))
            .collect();
        self.queue(in_order, Tier::L3);
    }

    /// Processes the tiers from the least stable up, until nothing moves.
    fn promote_through_tiers(&mut self) {
        loop {
            let mut has_moved = false;
            for tier in TIERS_TOWARD_STABLE {
                let incoming = self.incoming.remove(&tier).unwrap_or_default();
                let is_due = self.broken.contains(&tier) && !self.processed.contains(&tier);
                if incoming.is_empty() && !is_due {
                    continue;
                }
                has_moved = true;
                self.broken.insert(tier);
                let mut residents = self.state.items_in_tier(tier);
                residents.retain(|key| !incoming.contains(key));
                for key in incoming {
                    if let Some(tracked) = self.state.items.get_mut(&key) {
                        tracked.tier = tier;
                        tracked.n = initial_counter(tier);
                    }
                }
                if self.processed.insert(tier) {
                    self.update_resident_stability(tier, residents);
                }
            }
            if !has_moved {
                break;
            }
        }
    }

    /// Increments the counters of a tier's existing items, and promotes those that qualify for the next tier if that
    /// tier may change. If the tier exceeds its target size, items with the lowest counters anchor it: as many as it
    /// takes to reach the target stay unchanged.
    fn update_resident_stability(&mut self, tier: Tier, mut residents: Vec<ItemKey>) {
        let Some(above) = more_stable_tier(tier) else { return };
        let threshold = initial_counter(above);
        let can_promote = self.broken.contains(&above) || self.state.tier_tokens(above) == 0;
        let anchors = if self.state.tier_tokens(tier) > self.rules.target { self.rules.target } else { 0 };
        residents.sort_by_cached_key(|key| {
            (self.state.items.get(key).map(|tracked| tracked.n), newest_first_key(key))
        });

        let mut anchored = 0;
        let mut promoted = Vec::new();
        for key in residents {
            let Some(tracked) = self.state.items.get_mut(&key) else { continue };
            if anchored < anchors {
                anchored += tracked.tokens;
                continue;
            }
            tracked.n += 1;
            if tracked.n >= threshold {
                tracked.n = threshold;
                if can_promote {
                    promoted.push(key);
                }
            }
        }
        if !promoted.is_empty() {
            self.broken.insert(tier);
            self.queue(promoted, above);
        }
    }

    /// Moves the items of L1 and L2 down one tier if their tier is below the target size, because it then no longer
    /// justifies a breakpoint.
    fn demote_underfilled(&mut self) {
        for (tier, below) in [(Tier::L2, Tier::L3), (Tier::L1, Tier::L2)] {
            let tokens = self.state.tier_tokens(tier);
            if self.processed.contains(&tier) || tokens == 0 || tokens >= self.rules.target {
                continue;
            }
            for tracked in self.state.items.values_mut().filter(|tracked| tracked.tier == tier) {
                tracked.tier = below;
                tracked.n = initial_counter(below);
            }
            self.broken.extend([tier, below]);
        }
    }

    /// If L1 is rewritten anyway, fills L0 up to the target size with the items of L1 that have the highest counters.
    fn refill_l0(&mut self) {
        if !self.broken.contains(&Tier::L1) {
            return;
        }
        let mut candidates = self.state.items_in_tier(Tier::L1);
        candidates.sort_by_cached_key(|key| {
            (Reverse(self.state.items.get(key).map(|tracked| tracked.n)), key.clone())
        });
        let mut l0_tokens = self.state.tier_tokens(Tier::L0);
        for key in candidates {
            if l0_tokens >= self.rules.target {
                break;
            }
            if let Some(tracked) = self.state.items.get_mut(&key) {
                tracked.tier = Tier::L0;
                tracked.n = initial_counter(Tier::L0);
                l0_tokens += tracked.tokens;
                self.broken.insert(Tier::L0);
            }
        }
    }

    fn eligible_items(&self) -> impl Iterator<Item = (&ItemKey, &TrackedItem)> {
        let is_eligible =
            |tracked: &TrackedItem| tracked.tier == Tier::Active && tracked.n >= initial_counter(Tier::L3);
        self.state.items.iter().filter(move |(_, tracked)| is_eligible(tracked))
    }

    fn queue(&mut self, keys: Vec<ItemKey>, tier: Tier) {
        if !keys.is_empty() {
            self.incoming.entry(tier).or_default().extend(keys);
        }
    }
}

/// Sort key that puts newer messages first. Among messages with the same counter, newer ones then anchor the tier and
/// older ones are promoted first, which keeps the conversation in order.
fn newest_first_key(key: &ItemKey) -> (Option<Reverse<u64>>, ItemKey) {
    match key {
        ItemKey::History(id) => (Some(Reverse(id.0)), key.clone()),
        _ => (None, key.clone()),
    }
}
