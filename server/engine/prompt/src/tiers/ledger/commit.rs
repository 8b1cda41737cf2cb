//! Updates the state of the ledger with a new prompt.

use std::collections::BTreeMap;

use strata_base::hash::ContentHash;
use strata_tokens::cost::BreakpointLifetime;
use strata_tokens::models::CacheKind;

use super::super::rules::LayoutRules;
use super::draft::LogDraft;
use super::log::LogBoundary;
use super::marks::BreakpointPositions;
use super::state::{CachedPrefix, ExpectedCacheUse, LedgerState};
use crate::layout::Layout;

impl LedgerState {
    /// Records the tiers of a prompt's items and the cache entries that the prompt reads or writes.
    pub(super) fn commit(
        &mut self,
        draft: LogDraft,
        marks: &BreakpointPositions,
        layout: &Layout,
        rules: &LayoutRules,
    ) {
        let items = layout.blocks().flat_map(|block| block.items.iter().map(|key| (key.clone(), block.tier)));
        self.tiers = items.rev().collect();
        // An entry that exists keeps its lifetime.
        let entry = |prefix: ContentHash, breakpoint: BreakpointLifetime| {
            let lifetime = self.held.get(&prefix).map_or(breakpoint, |held| held.lifetime);
            let lifetime_ms = u64::from(rules.prices.lifetime(lifetime).seconds).saturating_mul(1_000);
            let expires_ms = rules.now_ms.saturating_add(lifetime_ms);
            (prefix, CachedPrefix { turn: self.turn, expires_ms, lifetime })
        };
        // A breakpoint is either on a new block, or on a cached boundary of the kept prefix. The last breakpoints of
        // the request write or keep their entries alive.
        let breakpoints = marks.iter().filter_map(|(at, mark)| Some((draft.boundaries.get(at + 1)?, mark)));
        let written: BTreeMap<ContentHash, CachedPrefix> = match rules.prices.kind {
            CacheKind::None => BTreeMap::new(),
            CacheKind::Explicit { max_breakpoints, .. } => breakpoints
                .rev()
                .take(max_breakpoints)
                .map(|(boundary, mark)| entry(boundary.hash, mark))
                .collect(),
            CacheKind::Automatic { .. } => draft
                .boundaries
                .iter()
                .map(|boundary| entry(boundary.hash, BreakpointLifetime::Short))
                .collect(),
        };
        let read = draft.boundaries.get(draft.kept).copied().unwrap_or(LogBoundary::START);
        let read_entry = (draft.kept > 0).then(|| entry(read.hash, BreakpointLifetime::Short));
        self.held.extend(&written);
        self.held.extend(read_entry);
        let total = draft.boundaries.last().map_or(0, |boundary| boundary.tokens);
        self.expected = ExpectedCacheUse { read: read.tokens, total, written };
        self.log = draft.log;
        self.turn += 1;
    }
}
