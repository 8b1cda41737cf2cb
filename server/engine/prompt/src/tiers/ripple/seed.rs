//! Places content in tiers by the reference graph. A session does not start with empty tiers, because most map blocks
//! will not change. The most referenced files go to L0. Files that refer to each other share a tier, so that an edit to
//! all of them breaks only one. A rebuild places everything again but keeps the conversation.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use strata_base::key::FileKey;

use crate::layout::{ItemKey, LayoutContent, PromptPiece, Tier};

use super::super::LayoutRules;
use super::state::{PlacementState, RippleState, TrackedItem, initial_counter};

/// Tiers over which clusters are distributed.
const CLUSTER_TIERS: [Tier; 3] = [Tier::L1, Tier::L2, Tier::L3];

/// A tier that is being filled.
struct TierBin<'a> {
    tier: Tier,
    pieces: Vec<&'a PromptPiece>,
    /// Total tokens of the pieces in the bin.
    tokens: usize,
}

impl TierBin<'_> {
    fn new(tier: Tier) -> Self {
        Self { tier, pieces: Vec::new(), tokens: 0 }
    }
}

/// Places every map block that has no tier yet. Selected files start as active, because they may soon be deselected.
pub(super) fn place_new_map_blocks(
    state: &mut RippleState,
    content: &LayoutContent<'_>,
    rules: &LayoutRules,
) {
    distribute(state, &content.map, &[], content, rules);
}

/// Assigns tiers to all items again. Selected files get a tier immediately, close to the files they refer to. Outlines
/// hidden by the full text of their file keep their tiers. The newest messages stay active, up to the target size, and
/// older active ones go to L3.
pub(super) fn rebuild(state: &mut RippleState, content: &LayoutContent<'_>, rules: &LayoutRules) {
    state.items.retain(|key, _| match key {
        ItemKey::History(_) => true,
        ItemKey::Symbol(path) => content.hidden.contains_key(path),
        _ => false,
    });
    distribute(state, &content.map, &content.files, content, rules);
    promote_older_history(state, content, rules);
}

/// Distributes map blocks and files over the tiers. Leaves their hashes empty, so that the first measurement is
/// accepted.
fn distribute(
    state: &mut RippleState,
    map: &[PromptPiece],
    files: &[PromptPiece],
    content: &LayoutContent<'_>,
    rules: &LayoutRules,
) {
    state.seeded = PlacementState::Done;
    let mut unplaced: BTreeMap<&FileKey, Vec<&PromptPiece>> = BTreeMap::new();
    for piece in map.iter().chain(files) {
        if let Some(path) = piece.key.path() {
            unplaced.entry(path).or_default().push(piece);
        }
    }

    let mut l0_tokens = 0;
    for path in &content.seeds.referenced {
        if l0_tokens >= rules.target {
            break;
        }
        let is_outline =
            |pieces: &Vec<&PromptPiece>| pieces.iter().all(|piece| matches!(piece.key, ItemKey::Symbol(_)));
        if unplaced.get(path).is_some_and(is_outline) {
            for piece in unplaced.remove(path).unwrap_or_default() {
                l0_tokens += piece.tokens;
                place_piece(state, piece, Tier::L0);
            }
        }
    }

    let mut bins = CLUSTER_TIERS.map(TierBin::new);
    for cluster in clusters(unplaced, &content.seeds.clusters) {
        if let Some(lightest) = bins.iter_mut().min_by_key(|bin| bin.tokens) {
            lightest.tokens += sum_tokens(&cluster);
            lightest.pieces.extend(cluster);
        }
    }
    merge_underfilled(&mut bins, rules.target);
    for TierBin { tier, pieces, .. } in bins {
        pieces.into_iter().for_each(|piece| place_piece(state, piece, tier));
    }
}

/// Groups the pieces by cluster, largest group first. Each file outside of all clusters forms its own group.
fn clusters<'a>(
    mut unplaced: BTreeMap<&FileKey, Vec<&'a PromptPiece>>,
    named: &[Vec<FileKey>],
) -> Vec<Vec<&'a PromptPiece>> {
    let mut groups: Vec<Vec<&PromptPiece>> = Vec::new();
    for cluster in named {
        let members: BTreeSet<&FileKey> = cluster.iter().collect();
        let group: Vec<&PromptPiece> =
            members.into_iter().filter_map(|path| unplaced.remove(path)).flatten().collect();
        if !group.is_empty() {
            groups.push(group);
        }
    }
    groups.extend(unplaced.into_values());
    // The sort is stable, so groups with the same number of tokens keep their order.
    groups.sort_by_key(|group| Reverse(sum_tokens(group)));
    groups
}

/// Merges each tier below the target size, which would not justify a breakpoint, into the smallest other tier.
fn merge_underfilled(bins: &mut [TierBin<'_>; 3], target: usize) {
    for at in 0..bins.len() {
        let tokens = bins[at].tokens;
        if tokens == 0 || tokens >= target {
            continue;
        }
        let others = (0..bins.len()).filter(|&other| other != at && !bins[other].pieces.is_empty());
        if let Some(other) = others.min_by_key(|&other| bins[other].tokens) {
            let moved = std::mem::take(&mut bins[at].pieces);
            bins[other].pieces.extend(moved);
            bins[other].tokens += std::mem::take(&mut bins[at].tokens);
        }
    }
}

/// Keeps the newest messages active, up to the target size of a tier, and moves older active ones to L3.
fn promote_older_history(state: &mut RippleState, content: &LayoutContent<'_>, rules: &LayoutRules) {
    let mut recent = 0;
    for message in content.history.iter().rev() {
        let key = ItemKey::History(message.id);
        if recent < rules.target {
            recent += message.tokens();
            continue;
        }
        let new = TrackedItem {
            tier: Tier::Active,
            n: initial_counter(Tier::Active),
            hash: None,
            tokens: message.tokens(),
        };
        let tracked = state.items.entry(key).or_insert(new);
        if tracked.tier == Tier::Active {
            (tracked.tier, tracked.n) = (Tier::L3, initial_counter(Tier::L3));
        }
    }
}

fn place_piece(state: &mut RippleState, piece: &PromptPiece, tier: Tier) {
    let tracked = TrackedItem { tier, n: initial_counter(tier), hash: None, tokens: piece.tokens };
    state.items.entry(piece.key.clone()).or_insert(tracked);
}

fn sum_tokens(pieces: &[&PromptPiece]) -> usize {
    pieces.iter().map(|piece| piece.tokens).sum()
}
