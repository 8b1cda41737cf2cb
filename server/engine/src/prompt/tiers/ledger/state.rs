//! The state of `ledger` between turns: the log that was sent, its prefixes that the provider holds, and how long files stay
//! selected.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::prompt::layout::{Content, ItemKey, Tier};

use super::super::Rules;
use super::hazard::{Ages, Clock, Fate};
use super::log::LogBlock;
use crate::tokens::cost::BilledInput;

/// Prefixes neither marked nor read for this many turns are no longer relied on (`docs/tiers.md`).
const TRUSTED_TURNS: u64 = 2;

/// When a prefix was last marked or read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct CachedPrefix {
    pub(super) turn: u64,
    /// When it is gone unless it is used before, in milliseconds since 1970.
    pub(super) expires_ms: u64,
}

/// What a request relied on, until the provider reports what it read.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Expected {
    /// Tokens of the prefix that was kept.
    pub(super) read: usize,
    /// Tokens of the whole prompt.
    pub(super) total: usize,
    /// What the request itself wrote.
    pub(super) written: BTreeMap<ContentHash, CachedPrefix>,
}

/// The state.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct State {
    /// The model, dialect and tools that the log was laid out for.
    identity: Option<ContentHash>,
    /// How many prompts were recorded.
    pub(super) turn: u64,
    /// The last prompt without the volatile content after its log.
    pub(super) log: Vec<Arc<LogBlock>>,
    pub(super) held: BTreeMap<ContentHash, CachedPrefix>,
    pub(super) expected: Expected,
    /// How long selected files have stayed and when they were last changed.
    pub(super) files: BTreeMap<ItemKey, Clock>,
    pub(super) ages: Ages,
    /// Where the last prompt showed what.
    pub(super) tiers: BTreeMap<ItemKey, Tier>,
}

impl State {
    /// Updates the state for new content: forgets prefixes that cannot be held, and learns what the user did since the last turn.
    pub(super) fn begin(&mut self, content: &Content<'_>, rules: &Rules) {
        if self.identity != Some(rules.identity) {
            self.identity = Some(rules.identity);
            self.log.clear();
            self.held.clear();
        }
        let (turn, now) = (self.turn, rules.now_ms);
        self.held.retain(|_, held| turn - held.turn <= TRUSTED_TURNS && now <= held.expires_ms);
        self.observe(content);
    }

    /// Whether the provider is known to hold a prefix.
    pub(super) fn holds(&self, prefix: ContentHash) -> bool {
        self.held.contains_key(&prefix)
    }

    /// The turns a file has been selected and unchanged.
    pub(super) fn age(&self, key: &ItemKey) -> usize {
        self.files.get(key).map_or(0, |clock| clock.age(self.turn))
    }

    /// Learns from the user: which files stayed selected, left or changed.
    fn observe(&mut self, content: &Content<'_>) {
        let turn = self.turn;
        let chosen = || content.files.iter().filter(|piece| !matches!(piece.key, ItemKey::Excerpt(_)));
        let present: BTreeSet<&ItemKey> = chosen().map(|piece| &piece.key).collect();
        let exists = |key: &ItemKey| match key {
            ItemKey::File(path) | ItemKey::Lines(path, _) => content.is_known(path),
            _ => false,
        };
        for (key, clock) in &self.files {
            let fate = match present.contains(key) {
                true => Fate::Stayed,
                false if exists(key) => Fate::Left,
                // A file that vanished was not deselected.
                false => continue,
            };
            self.ages.saw(clock.age(turn.saturating_sub(1)), fate);
        }
        self.files.retain(|key, _| present.contains(key));
        for piece in chosen() {
            let clock =
                self.files.entry(piece.key.clone()).or_insert_with(|| Clock::started(turn, piece.hash));
            clock.look(turn, piece.hash);
        }
    }

    /// Compares the read tokens with the expectation. If there were fewer, only what that request wrote is known to be cached.
    pub(in crate::prompt::tiers) fn learn(&mut self, billed: BilledInput) {
        let Expected { read, total, written } = std::mem::take(&mut self.expected);
        if billed.misses(read, total) {
            self.held = written;
        }
    }

    /// Tokens of the prefix that the last prompt kept.
    pub(super) fn relied_on(&self) -> usize {
        self.expected.read
    }

    /// Where the last prompt showed an item first; active when it did not.
    pub(crate) fn tier_of(&self, key: &ItemKey) -> Tier {
        self.tiers.get(key).copied().unwrap_or(Tier::Active)
    }

    /// Forgets the log, so that the next prompt is rebuilt.
    pub(crate) fn forget_log(&mut self) {
        self.log.clear();
        self.held.clear();
    }
}
