//! The first placement of the map: a session does not begin with empty tiers, because most map blocks
//! will not change. Files that refer to each other share a tier, so that an edit which touches them all
//! breaks one tier. The most referenced ones go to L0.

use std::collections::BTreeSet;

use crate::key::FileKey;
use crate::prompt::{Content, ItemKey, Piece, Tier};

use super::super::Rules;
use super::state::{Seeded, State, Tracked, entry};

/// The tiers that clusters are packed into.
const BINS: [Tier; 3] = [Tier::L1, Tier::L2, Tier::L3];

/// Places every map block of `content` that has no place yet. Hashes stay placeholders, so that the first
/// measurement is accepted as it comes.
pub(super) fn seed(state: &mut State, content: &Content<'_>, rules: &Rules) {
    state.seeded = Seeded::Done;
    let mut waiting: Vec<&Piece> = content.map.iter().collect();

    let mut weight = 0;
    for path in &content.seeds.referenced {
        if weight >= rules.target {
            break;
        }
        if let Some(at) = waiting.iter().position(|piece| names(piece, path)) {
            let piece = waiting.remove(at);
            weight += piece.tokens;
            place(state, piece, Tier::L0);
        }
    }

    let mut bins: [Vec<&Piece>; 3] = Default::default();
    for cluster in clusters(&waiting, &content.seeds.clusters) {
        if let Some(lightest) = bins.iter_mut().min_by_key(|bin| tokens(bin)) {
            lightest.extend(cluster);
        }
    }
    merge_underfilled(&mut bins, rules.target);
    for (bin, tier) in bins.iter().zip(BINS) {
        bin.iter().for_each(|piece| place(state, piece, tier));
    }
}

/// The pieces grouped by cluster, heaviest group first; files outside every cluster stand alone.
fn clusters<'a>(pieces: &[&'a Piece], named: &[Vec<FileKey>]) -> Vec<Vec<&'a Piece>> {
    let mut groups: Vec<Vec<&Piece>> = Vec::new();
    let mut grouped = BTreeSet::new();
    for cluster in named {
        let members: BTreeSet<&FileKey> = cluster.iter().collect();
        let of_cluster = |piece: &&&Piece| path(piece).is_some_and(|path| members.contains(path));
        let group: Vec<&Piece> = pieces.iter().filter(of_cluster).copied().collect();
        grouped.extend(group.iter().map(|piece| &piece.key));
        if !group.is_empty() {
            groups.push(group);
        }
    }
    groups.extend(pieces.iter().filter(|piece| !grouped.contains(&piece.key)).map(|piece| vec![*piece]));
    // Stable: groups of equal weight keep the order they came in.
    groups.sort_by_key(|group| std::cmp::Reverse(tokens(group)));
    groups
}

/// Tiers under the target would not be worth their breakpoint: each joins the lightest other one.
fn merge_underfilled(bins: &mut [Vec<&Piece>; 3], target: usize) {
    for at in 0..bins.len() {
        let weight = tokens(&bins[at]);
        if weight == 0 || weight >= target {
            continue;
        }
        let others = (0..bins.len()).filter(|&other| other != at && !bins[other].is_empty());
        if let Some(other) = others.min_by_key(|&other| tokens(&bins[other])) {
            let moved = std::mem::take(&mut bins[at]);
            bins[other].extend(moved);
        }
    }
}

fn place(state: &mut State, piece: &Piece, tier: Tier) {
    let tracked = Tracked { tier, n: entry(tier), hash: None, tokens: piece.tokens };
    state.items.entry(piece.key.clone()).or_insert(tracked);
}

fn path(piece: &Piece) -> Option<&FileKey> {
    match &piece.key {
        ItemKey::Symbol(path) => Some(path),
        _ => None,
    }
}

fn names(piece: &Piece, wanted: &FileKey) -> bool {
    path(piece) == Some(wanted)
}

fn tokens(pieces: &[&Piece]) -> usize {
    pieces.iter().map(|piece| piece.tokens).sum()
}
