//! Places the cache breakpoints: one at the end of the content worth caching, and the others where they are expected to
//! keep the most tokens readable after a break.

use strata_tokens::cost::Breakpoint;
use strata_tokens::models::CacheKind;

use super::super::Rules;
use super::draft::Draft;
use super::hazard::ONE;
use super::state::State;

/// Maximum number of boundaries to compare. The search takes quadratic time.
const MAX_CANDIDATES: usize = 60;

/// Indices of the blocks that carry a breakpoint, in ascending order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Marks {
    places: Vec<usize>,
    /// Number of leading breakpoints that ask for the extended lifetime. Anthropic requires them to come first.
    extended: usize,
}

impl Marks {
    /// Returns the breakpoint on the block at this index, if it carries one.
    pub(super) fn get(&self, at: usize) -> Option<Breakpoint> {
        self.places.binary_search(&at).ok().map(|nth| self.lifetime(nth))
    }

    pub(super) fn last(&self) -> Option<usize> {
        self.places.last().copied()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, Breakpoint)> {
        self.places.iter().enumerate().map(|(nth, at)| (*at, self.lifetime(nth)))
    }

    fn lifetime(&self, nth: usize) -> Breakpoint {
        if nth < self.extended { Breakpoint::Extended } else { Breakpoint::Short }
    }

    fn add(&mut self, at: usize) {
        if let Err(place) = self.places.binary_search(&at) {
            self.places.insert(place, at);
        }
    }
}

/// Chooses the blocks of the draft that carry a breakpoint.
pub(super) fn choose(draft: &Draft, state: &State, rules: &Rules) -> Marks {
    let kind = rules.prices.kind;
    let CacheKind::Explicit { max_breakpoints, lookback, .. } = kind else {
        return Marks::default();
    };
    let chart = Chart::new(draft, state, rules);
    let Some(end) = chart.end() else { return Marks::default() };
    let candidates = chart.candidates(end);
    let chosen = |candidates: &[usize], count: usize| {
        let mut marks = Marks { places: best(&chart, candidates, end, count), extended: 0 };
        marks.add(end);
        marks
    };
    let mut marks = chosen(&candidates, max_breakpoints.saturating_sub(1));

    // One breakpoint must be within the lookback of the cut, or the provider does not find the kept prefix.
    let cut = draft.kept;
    if cut > 0 && !marks.places.iter().any(|at| chart.reaches(*at, cut, lookback)) {
        if marks.places.len() >= max_breakpoints {
            marks = chosen(&candidates, max_breakpoints.saturating_sub(2));
        }
        marks.add(cut - 1);
    }
    // If other breakpoints than those that write are compared, all that write can be on new blocks, unless an entry must
    // be kept alive.
    let mut held = (0..cut).rev().filter(|at| chart.is_held(*at)).peekable();
    if kind.finds_all() {
        let first = marks.places.first().copied().unwrap_or_default();
        if marks.places.iter().any(|at| at + 1 < cut && chart.expires_soon(*at)) {
            while held.next_if(|at| *at >= first).is_some() {}
        } else {
            let new: Vec<usize> = candidates.into_iter().filter(|at| *at >= cut).collect();
            marks = chosen(&new, max_breakpoints.saturating_sub(1));
        }
    }
    // Use spare breakpoints to find existing cache entries and keep them alive, deepest first.
    for at in held {
        if marks.places.len() >= kind.max_markers() {
            break;
        }
        marks.add(at);
    }
    Marks { extended: chart.extended(&marks.places), ..marks }
}

/// The blocks of a draft, with the values needed to place breakpoints.
struct Chart<'a> {
    draft: &'a Draft,
    state: &'a State,
    rules: &'a Rules,
    /// For each block, the probability that neither it nor any earlier block leaves at the next turn.
    survival: Vec<f64>,
    /// For each block, the probability that the first block to leave is an earlier one. Has one more entry than the
    /// log.
    broken_before: Vec<f64>,
}

impl<'a> Chart<'a> {
    fn new(draft: &'a Draft, state: &'a State, rules: &'a Rules) -> Self {
        let share = |hazard: &u32| f64::from(*hazard) / f64::from(ONE);
        let mut alive = 1.0;
        let mut survival = Vec::with_capacity(draft.log.len());
        for hazard in draft.next.iter().map(share) {
            alive *= 1.0 - hazard;
            survival.push(alive);
        }
        let mut alive = 1.0;
        let mut broken = 0.0;
        let mut broken_before = Vec::with_capacity(draft.log.len() + 1);
        broken_before.push(broken);
        for hazard in draft.discounted.iter().map(share) {
            broken += alive * hazard;
            alive *= 1.0 - hazard;
            broken_before.push(broken);
        }
        Self { draft, state, rules, survival, broken_before }
    }

    /// Returns the last block worth writing to the cache. The prefix must be long enough to be cached, and likely
    /// enough to be used again to pay for the write (ski rental problem).
    fn end(&self) -> Option<usize> {
        let (read, write) = (self.rules.prices.read, self.rules.prices.write);
        let threshold = (write - 1.0) / ((1.0 - read) + (write - 1.0));
        let worth =
            |at: usize| at <= self.draft.kept || self.survival.get(at).is_some_and(|s| *s >= threshold);
        (0..self.draft.log.len()).rev().find(|at| worth(*at) && self.can_be_marked(*at))
    }

    /// Returns the blocks before `end` that may carry a breakpoint: new blocks, and kept blocks that still end a cached
    /// prefix.
    fn candidates(&self, end: usize) -> Vec<usize> {
        let all: Vec<usize> = (0..end)
            .filter(|at| self.can_be_marked(*at) && (*at >= self.draft.kept || self.is_held(*at)))
            .collect();
        if all.len() <= MAX_CANDIDATES {
            return all;
        }
        let mut some: Vec<usize> = (0..MAX_CANDIDATES)
            .filter_map(|nth| all.get(nth * all.len() / MAX_CANDIDATES).copied())
            .collect();
        some.extend(all.last());
        some.dedup();
        some
    }

    /// Returns the number of leading breakpoints for which the extended lifetime is expected to cost least. Written for
    /// longer, the tokens after the kept prefix cost more now. In return, everything before the breakpoint survives a
    /// long pause, including the kept prefix, which need not be written again (Anthropic, "Prompt caching", "Mixing
    /// different TTLs").
    fn extended(&self, places: &[usize]) -> usize {
        let Rules { prices, extended_is_needed, .. } = self.rules;
        let Some(extended) = prices.extended else { return 0 };
        let boundary = |at: usize| self.draft.boundaries.get(at);
        let is_safe =
            |at: &usize| boundary(*at).is_some_and(|boundary| self.state.is_extended(boundary.hash));
        let safe = (0..=self.draft.kept).rfind(is_safe).and_then(boundary).map_or(0, |safe| safe.tokens);
        let kept = boundary(self.draft.kept).map_or(0, |kept| kept.tokens);
        let saving = |at: &usize| {
            let end = self.tokens(*at);
            let saved = extended_is_needed * (prices.write - prices.read) * end.saturating_sub(safe) as f64;
            saved - (extended.write - prices.write) * end.saturating_sub(kept) as f64
        };
        let new = places.iter().enumerate().filter(|(_, at)| **at >= self.draft.kept);
        let best = new.map(|(nth, at)| (saving(at), nth + 1)).max_by(|one, other| one.0.total_cmp(&other.0));
        match best {
            Some((saved, count)) if saved > 0.0 => count,
            // Breakpoints on entries with the extended lifetime keep it.
            _ => places.iter().take_while(|at| is_safe(&(**at + 1))).count(),
        }
    }

    fn can_be_marked(&self, at: usize) -> bool {
        self.tokens(at) >= self.rules.prices.min_tokens.max(1)
            && self.draft.log.get(at).is_some_and(|logged| logged.can_carry_a_mark(self.rules.carriers))
    }

    fn is_held(&self, at: usize) -> bool {
        self.can_be_marked(at)
            && self.draft.boundaries.get(at + 1).is_some_and(|boundary| self.state.holds(boundary.hash))
    }

    /// Whether the cached prefix up to and including block `at` has less than half of its lifetime left.
    fn expires_soon(&self, at: usize) -> bool {
        let held = self.draft.boundaries.get(at + 1).and_then(|boundary| self.state.held.get(&boundary.hash));
        held.is_some_and(|held| {
            let half = u64::from(self.rules.prices.lifetime(held.lifetime).seconds) * 500;
            held.expires_ms < self.rules.now_ms.saturating_add(half)
        })
    }

    /// Counts the tokens up to and including block `at`.
    fn tokens(&self, at: usize) -> usize {
        self.draft.boundaries.get(at + 1).map_or(0, |boundary| boundary.tokens)
    }

    /// Whether a breakpoint on block `at` finds the boundary after `cut` blocks within the provider's lookback, which
    /// counts the breakpoint itself. With a lookback of one, only a breakpoint exactly at the boundary finds it.
    fn reaches(&self, at: usize, cut: usize, lookback: usize) -> bool {
        let positions =
            |boundary: usize| self.draft.boundaries.get(boundary).map_or(0, |boundary| boundary.positions);
        let is_within = positions(at + 1) - positions(cut.min(at + 1)) < lookback;
        at + 1 == cut || (at + 1 > cut && lookback > 1 && is_within)
    }

    /// Returns the value of a breakpoint on block `at` if the next breakpoint is on `next`: the tokens up to `at`,
    /// times the probability that the first block to leave is between the two.
    fn value(&self, at: usize, next: usize) -> f64 {
        let chance = |at: usize| self.broken_before.get(at + 1).copied().unwrap_or(0.0);
        self.tokens(at) as f64 * (chance(next) - chance(at))
    }
}

/// Chooses at most `count` candidates that maximize the expected tokens readable after the first break. Uses dynamic
/// programming over the last choice.
fn best(chart: &Chart<'_>, candidates: &[usize], end: usize, count: usize) -> Vec<usize> {
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
                        let value = worth + chart.value(candidates[earlier], candidates[this]);
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
            let value = worth + chart.value(candidates[this], end);
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
