//! The state of `ledger` between turns: the last log, the prefixes of it that the provider has cached, and how long
//! files have been selected.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strata_base::hash::ContentHash;
use strata_tokens::cost::{BilledInput, BreakpointLifetime};

use crate::layout::{ItemKey, LayoutContent, Tier};

use super::super::LayoutRules;
use super::hazard::{DeselectionCounts, SelectionClock, SelectionOutcome};
use super::log::LogBlock;

/// Number of turns for which a prefix counts as cached after it was last marked or read (`docs/tiers.md`). If a request
/// can have a breakpoint on all of them, they count until they expire, since a missing one costs little.
const TURNS_ASSUMED_CACHED: u64 = 2;

/// The turn in which a prefix was last marked or read, and when it expires.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct CachedPrefix {
    pub(super) turn: u64,
    /// Time when the prefix expires unless a request uses it, in milliseconds since 1970.
    pub(super) expires_ms: u64,
    pub(super) lifetime: BreakpointLifetime,
}

/// Cache use that was expected of the last request, kept until the provider reports the tokens it read.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct ExpectedCacheUse {
    /// Tokens of the kept prefix, which the provider is expected to read from its cache.
    pub(super) read: usize,
    /// Tokens of the whole prompt.
    pub(super) total: usize,
    /// Prefixes that the request itself wrote to the cache.
    pub(super) written: BTreeMap<ContentHash, CachedPrefix>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct LedgerState {
    /// Hash of the model, dialect and tools that the log was laid out for.
    identity: Option<ContentHash>,
    /// Number of recorded prompts.
    pub(super) turn: u64,
    /// Blocks of the last prompt, without the volatile content after them.
    pub(super) log: Vec<Arc<LogBlock>>,
    pub(super) held: BTreeMap<ContentHash, CachedPrefix>,
    pub(super) expected: ExpectedCacheUse,
    /// How long each selected file has been selected and unchanged.
    pub(super) files: BTreeMap<ItemKey, SelectionClock>,
    pub(super) ages: DeselectionCounts,
    /// Tier of each item in the last prompt.
    pub(super) tiers: BTreeMap<ItemKey, Tier>,
}

impl LedgerState {
    /// Updates the state for new content: drops prefixes that can no longer be cached, and learns from the user's
    /// changes to the selection since the last turn.
    pub(super) fn update_for_content(&mut self, content: &LayoutContent<'_>, rules: &LayoutRules) {
        if self.identity != Some(rules.identity) {
            self.identity = Some(rules.identity);
            self.log.clear();
            self.held.clear();
        }
        let (turn, now) = (self.turn, rules.now_ms);
        let trusted_turns =
            if rules.prices.kind.has_lookup_only_markers() { u64::MAX } else { TURNS_ASSUMED_CACHED };
        self.held.retain(|_, held| turn - held.turn <= trusted_turns && now <= held.expires_ms);
        self.learn_from_selection(content);
    }

    /// Whether the provider is believed to have `prefix` in its cache.
    pub(super) fn is_cached(&self, prefix: ContentHash) -> bool {
        self.held.contains_key(&prefix)
    }

    /// Whether the provider is believed to have `prefix` in its cache with the extended lifetime.
    pub(super) fn has_extended_lifetime(&self, prefix: ContentHash) -> bool {
        self.held.get(&prefix).is_some_and(|held| held.lifetime == BreakpointLifetime::Extended)
    }

    /// Returns the number of turns that a file has been selected and unchanged.
    pub(super) fn age(&self, key: &ItemKey) -> usize {
        self.files.get(key).map_or(0, |clock| clock.age(self.turn))
    }

    /// Learns from which selected files the user kept, deselected or changed.
    fn learn_from_selection(&mut self, content: &LayoutContent<'_>) {
        let turn = self.turn;
        let selected = || content.files.iter().filter(|piece| !matches!(piece.key, ItemKey::Excerpt(_)));
        let selected_keys: BTreeSet<&ItemKey> = selected().map(|piece| &piece.key).collect();
        let is_in_workspace = |key: &ItemKey| match key {
            ItemKey::File(path) | ItemKey::Lines(path, _) => content.exists_in_workspace(path),
            _ => false,
        };
        for (key, clock) in &self.files {
            let fate = match selected_keys.contains(key) {
                true => SelectionOutcome::Stayed,
                false if is_in_workspace(key) => SelectionOutcome::Left,
                // A file that no longer exists was not deselected.
                false => continue,
            };
            self.ages.record(clock.age(turn.saturating_sub(1)), fate);
        }
        self.files.retain(|key, _| selected_keys.contains(key));
        for piece in selected() {
            let clock =
                self.files.entry(piece.key.clone()).or_insert_with(|| SelectionClock::new(turn, piece.hash));
            clock.restart_if_changed(turn, piece.hash);
        }
    }

    /// Compares the tokens that the provider read with the expected ones. If it read fewer, only the prefixes that the
    /// request wrote count as cached.
    pub(in crate::tiers) fn compare_with_billed_reads(&mut self, billed: BilledInput) {
        let ExpectedCacheUse { read, total, written } = std::mem::take(&mut self.expected);
        if billed.has_shortfall(read, total) {
            self.held = written;
        }
    }

    /// Returns the tokens of the prefix that the last prompt kept.
    pub(super) fn expected_read(&self) -> usize {
        self.expected.read
    }

    /// Returns the tier where the last prompt first showed an item, or `Active` if it did not show the item.
    pub(crate) fn tier_of(&self, key: &ItemKey) -> Tier {
        self.tiers.get(key).copied().unwrap_or(Tier::Active)
    }

    /// Forgets the log, so that the next prompt is rebuilt.
    pub(crate) fn forget_log(&mut self) {
        self.log.clear();
        self.held.clear();
    }
}
