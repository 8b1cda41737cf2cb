//! Places the cache breakpoints: one at the end of the content worth caching, and the others where they are expected to
//! keep the most tokens readable after a break.

use strata_tokens::cost::BreakpointLifetime;
use strata_tokens::models::CacheKind;

use super::super::LayoutRules;
use super::draft::LogDraft;
use super::hazard::PROBABILITY_ONE;
use super::state::LedgerState;

/// Maximum number of boundaries to compare. The search takes quadratic time.
const MAX_CANDIDATE_BOUNDARIES: usize = 60;

/// Indices of the blocks that carry a breakpoint, in ascending order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct BreakpointPositions {
    blocks: Vec<usize>,
    /// Number of leading breakpoints that ask for the extended lifetime. Anthropic requires them to come first.
    extended: usize,
}

impl BreakpointPositions {
    /// Returns the breakpoint on the block at this index, if it carries one.
    pub(super) fn get(&self, at: usize) -> Option<BreakpointLifetime> {
        self.blocks.binary_search(&at).ok().map(|index| self.nth_breakpoint(index))
    }

    pub(super) fn last(&self) -> Option<usize> {
        self.blocks.last().copied()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, BreakpointLifetime)> {
        self.blocks.iter().enumerate().map(|(index, at)| (*at, self.nth_breakpoint(index)))
    }

    fn nth_breakpoint(&self, index: usize) -> BreakpointLifetime {
        if index < self.extended { BreakpointLifetime::Extended } else { BreakpointLifetime::Short }
    }

    fn add_breakpoint(&mut self, at: usize) {
        if let Err(place) = self.blocks.binary_search(&at) {
            self.blocks.insert(place, at);
        }
    }
}

pub(super) fn choose_breakpoints(
    draft: &LogDraft,
    state: &LedgerState,
    rules: &LayoutRules,
) -> BreakpointPositions {
    let kind = rules.prices.kind;
    let CacheKind::Explicit { max_breakpoints, lookback, .. } = kind else {
        return BreakpointPositions::default();
    };
    let chart = BreakpointChart::new(draft, state, rules);
    let Some(end) = chart.last_block_to_cache() else { return BreakpointPositions::default() };
    let candidates = chart.breakpoint_candidates(end);
    let chosen = |candidates: &[usize], count: usize| {
        let mut marks =
            BreakpointPositions { blocks: best_candidates(&chart, candidates, end, count), extended: 0 };
        marks.add_breakpoint(end);
        marks
    };
    let mut marks = chosen(&candidates, max_breakpoints.saturating_sub(1));

    // One breakpoint must be within the lookback of the cut, or the provider does not find the kept prefix.
    let kept_blocks = draft.kept;
    if kept_blocks > 0 && !marks.blocks.iter().any(|at| chart.is_within_lookback(*at, kept_blocks, lookback))
    {
        if marks.blocks.len() >= max_breakpoints {
            marks = chosen(&candidates, max_breakpoints.saturating_sub(2));
        }
        marks.add_breakpoint(kept_blocks - 1);
    }
    // If other breakpoints than those that write are compared, all that write can be on new blocks, unless an entry must
    // be kept alive.
    let mut cached_blocks = (0..kept_blocks).rev().filter(|at| chart.is_cached_boundary(*at)).peekable();
    if kind.has_lookup_only_markers() {
        let first = marks.blocks.first().copied().unwrap_or_default();
        if marks.blocks.iter().any(|at| at + 1 < kept_blocks && chart.expires_soon(*at)) {
            while cached_blocks.next_if(|at| *at >= first).is_some() {}
        } else {
            let new: Vec<usize> = candidates.into_iter().filter(|at| *at >= kept_blocks).collect();
            marks = chosen(&new, max_breakpoints.saturating_sub(1));
        }
    }
    // Use spare breakpoints to find existing cache entries and keep them alive, deepest first.
    for at in cached_blocks {
        if marks.blocks.len() >= kind.max_markers() {
            break;
        }
        marks.add_breakpoint(at);
    }
    BreakpointPositions { extended: chart.extended_count(&marks.blocks), ..marks }
}

/// The blocks of a draft, with the values needed to place breakpoints.
struct BreakpointChart<'a> {
    draft: &'a LogDraft,
    state: &'a LedgerState,
    rules: &'a LayoutRules,
    /// For each block, the probability that neither it nor any earlier block leaves at the next turn.
    survival: Vec<f64>,
    /// For each block, the probability that the first block to leave is an earlier one. Has one more entry than the
    /// log.
    broken_before: Vec<f64>,
}

impl<'a> BreakpointChart<'a> {
    fn new(draft: &'a LogDraft, state: &'a LedgerState, rules: &'a LayoutRules) -> Self {
        let share = |hazard: &u32| f64::from(*hazard) / f64::from(PROBABILITY_ONE);
        let mut alive = 1.0;
        let mut survival = Vec::with_capacity(draft.log.len());
        for hazard in draft.next_hazards.iter().map(share) {
            alive *= 1.0 - hazard;
            survival.push(alive);
        }
        let mut alive = 1.0;
        let mut broken = 0.0;
        let mut broken_before = Vec::with_capacity(draft.log.len() + 1);
        broken_before.push(broken);
        for hazard in draft.discounted_hazards.iter().map(share) {
            broken += alive * hazard;
            alive *= 1.0 - hazard;
            broken_before.push(broken);
        }
        Self { draft, state, rules, survival, broken_before }
    }

    /// Returns the last block worth writing to the cache. The prefix must be long enough to be cached, and likely
    /// enough to be used again to pay for the write (ski rental problem).
    fn last_block_to_cache(&self) -> Option<usize> {
        let (read, write) = (self.rules.prices.read, self.rules.prices.write);
        let threshold = (write - 1.0) / ((1.0 - read) + (write - 1.0));
        let worth =
            |at: usize| at <= self.draft.kept || self.survival.get(at).is_some_and(|s| *s >= threshold);
        (0..self.draft.log.len()).rev().find(|at| worth(*at) && self.can_carry_breakpoint(*at))
    }

    /// Returns the blocks before `end` that may carry a breakpoint: new blocks, and kept blocks that still end a cached
    /// prefix.
    fn breakpoint_candidates(&self, end: usize) -> Vec<usize> {
        let all: Vec<usize> = (0..end)
            .filter(|at| {
                self.can_carry_breakpoint(*at) && (*at >= self.draft.kept || self.is_cached_boundary(*at))
            })
            .collect();
        if all.len() <= MAX_CANDIDATE_BOUNDARIES {
            return all;
        }
        let mut some: Vec<usize> = (0..MAX_CANDIDATE_BOUNDARIES)
            .filter_map(|index| all.get(index * all.len() / MAX_CANDIDATE_BOUNDARIES).copied())
            .collect();
        some.extend(all.last());
        some.dedup();
        some
    }

    /// Returns the number of leading breakpoints for which the extended lifetime is expected to cost least. Written for
    /// longer, the tokens after the kept prefix cost more now. In return, everything before the breakpoint survives a
    /// long pause, including the kept prefix, which need not be written again (Anthropic, "Prompt caching", "Mixing
    /// different TTLs").
    fn extended_count(&self, blocks: &[usize]) -> usize {
        let LayoutRules { prices, extended_is_needed, .. } = self.rules;
        let Some(extended) = prices.extended else { return 0 };
        let boundary = |at: usize| self.draft.boundaries.get(at);
        let has_extended_lifetime = |at: &usize| {
            boundary(*at).is_some_and(|boundary| self.state.has_extended_lifetime(boundary.hash))
        };
        let extended_prefix = (0..=self.draft.kept)
            .rfind(has_extended_lifetime)
            .and_then(boundary)
            .map_or(0, |boundary| boundary.tokens);
        let kept_tokens = boundary(self.draft.kept).map_or(0, |boundary| boundary.tokens);
        let saving = |at: &usize| {
            let end = self.prefix_tokens(*at);
            let saved = extended_is_needed
                * (prices.write - prices.read)
                * end.saturating_sub(extended_prefix) as f64;
            saved - (extended.write - prices.write) * end.saturating_sub(kept_tokens) as f64
        };
        let new = blocks.iter().enumerate().filter(|(_, at)| **at >= self.draft.kept);
        let best =
            new.map(|(index, at)| (saving(at), index + 1)).max_by(|one, other| one.0.total_cmp(&other.0));
        match best {
            Some((saved, count)) if saved > 0.0 => count,
            // Breakpoints on entries with the extended lifetime keep it.
            _ => blocks.iter().take_while(|at| has_extended_lifetime(&(**at + 1))).count(),
        }
    }

    fn can_carry_breakpoint(&self, at: usize) -> bool {
        self.prefix_tokens(at) >= self.rules.prices.min_tokens.max(1)
            && self
                .draft
                .log
                .get(at)
                .is_some_and(|log_block| log_block.can_carry_breakpoint(self.rules.carriers))
    }

    fn is_cached_boundary(&self, at: usize) -> bool {
        self.can_carry_breakpoint(at)
            && self.draft.boundaries.get(at + 1).is_some_and(|boundary| self.state.is_cached(boundary.hash))
    }

    /// Whether the cached prefix up to and including block `at` has less than half of its lifetime left.
    fn expires_soon(&self, at: usize) -> bool {
        let cached_prefix =
            self.draft.boundaries.get(at + 1).and_then(|boundary| self.state.held.get(&boundary.hash));
        cached_prefix.is_some_and(|cached_prefix| {
            let half = u64::from(self.rules.prices.lifetime(cached_prefix.lifetime).seconds) * 500;
            cached_prefix.expires_ms < self.rules.now_ms.saturating_add(half)
        })
    }

    /// Counts the tokens up to and including block `at`.
    fn prefix_tokens(&self, at: usize) -> usize {
        self.draft.boundaries.get(at + 1).map_or(0, |boundary| boundary.tokens)
    }

    /// Whether a breakpoint on block `at` finds the boundary after `kept_blocks` blocks within the provider's lookback,
    /// which counts the breakpoint itself. With a lookback of one, only a breakpoint exactly at the boundary finds it.
    fn is_within_lookback(&self, at: usize, kept_blocks: usize, lookback: usize) -> bool {
        let positions =
            |boundary: usize| self.draft.boundaries.get(boundary).map_or(0, |boundary| boundary.positions);
        let is_within = positions(at + 1) - positions(kept_blocks.min(at + 1)) < lookback;
        at + 1 == kept_blocks || (at + 1 > kept_blocks && lookback > 1 && is_within)
    }

    /// Returns the value of a breakpoint on block `at` if the next breakpoint is on `next`: the tokens up to `at`,
    /// times the probability that the first block to leave is between the two.
    fn breakpoint_value(&self, at: usize, next: usize) -> f64 {
        let chance = |at: usize| self.broken_before.get(at + 1).copied().unwrap_or(0.0);
        self.prefix_tokens(at) as f64 * (chance(next) - chance(at))
    }
}

/// Chooses at most `count` candidates that maximize the expected tokens readable after the first break. Uses dynamic
/// programming over the last choice.
fn best_candidates(
    chart: &BreakpointChart<'_>,
    candidates: &[usize],
    end: usize,
    count: usize,
) -> Vec<usize> {
    // One row per number of chosen candidates. For each candidate as the last choice, the row contains the value of the
    // earlier choices and the index of the previous choice.
    let mut rounds: Vec<Vec<Option<(f64, usize)>>> = Vec::new();
    let mut top: Option<(f64, usize, usize)> = None;
    for round in 0..count {
        let row: Vec<Option<(f64, usize)>> = (0..candidates.len())
            .map(|this| match rounds.last() {
                None => Some((0.0, this)),
                Some(before) => {
                    let mut chosen: Option<(f64, usize)> = None;
                    for (earlier, worth) in before.iter().enumerate().take(this) {
                        let Some((worth, _)) = worth else { continue };
                        let value = worth + chart.breakpoint_value(candidates[earlier], candidates[this]);
                        if chosen.is_none_or(|(most, _)| value > most) {
                            chosen = Some((value, earlier));
                        }
                    }
                    chosen
                }
            })
            .collect();
        for (this, worth) in row.iter().enumerate() {
            let Some((worth, _)) = worth else { continue };
            let value = worth + chart.breakpoint_value(candidates[this], end);
            // Another breakpoint must add value.
            if value > top.map_or(0.0, |(most, ..)| most) + 1e-9 {
                top = Some((value, round, this));
            }
        }
        rounds.push(row);
    }
    let Some((_, round, mut this)) = top else { return Vec::new() };
    let mut chosen = Vec::new();
    for row in rounds.iter().take(round + 1).rev() {
        chosen.push(candidates[this]);
        if let Some(Some((_, before))) = row.get(this) {
            this = *before;
        }
    }
    chosen.reverse();
    chosen
}
