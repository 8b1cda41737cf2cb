//! Explains why a session costs more than its bound: attributes every token of the difference to a [`GapCause`]. A
//! token costs at least the price of reading it from the cache. Anything beyond that is the price of writing
//! it, or of not caching it.

mod cause;
mod prompt;
mod report;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use strata_prompt::layout::Part;
use strata_tokens::cost::Prices;
use strata_tokens::models::CacheKind;

use crate::bound::CostBound;
use crate::columns::share;

pub(crate) use cause::GapCause;
pub(crate) use prompt::ChargedPrompt;
use prompt::{PartId, SentBlock};

/// The difference between the cost of a session and its bound, by cause.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub(crate) struct CostGap {
    pub(crate) causes: BTreeMap<GapCause, f64>,
}

impl CostGap {
    /// Attributes the difference between the cost of `prompts` and `bound`, in tokens of plain input.
    pub(crate) fn between(prompts: &[ChargedPrompt], bound: &CostBound<String>, prices: Prices) -> Self {
        let mut gap = Self::default();
        let mut seen = BTreeSet::new();
        for (at, prompt) in prompts.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| prompts.get(before));
            let history = EarlierPrompts {
                seen: &seen,
                last: before.map(|before| PreviousPrompt::new(before, prompt, prices)),
            };
            gap.attribute_prompt(prompt, &history, prompts.get(at + 1), prices);
            seen.extend(prompt.blocks.iter().flat_map(SentBlock::part_ids));
        }
        for (key, cost) in bound.need_costs() {
            let kept = match key {
                key if key.starts_with("file:") => GapCause::KeptFiles,
                key if key.starts_with("symbol:") => GapCause::KeptOutlines,
                _ => GapCause::Wording,
            };
            gap.add(kept, -cost.reads);
            gap.add(GapCause::FirstWrites, -cost.writes);
        }
        gap
    }

    /// Returns the gap as a share of `whole`.
    pub(crate) fn into_share_of(mut self, whole: f64) -> Self {
        self.causes.values_mut().for_each(|cost| *cost = share(*cost, whole));
        self
    }

    /// Returns the mean of several gaps.
    pub(crate) fn mean(gaps: &[&Self]) -> Self {
        let mut mean = Self::default();
        for (cause, cost) in gaps.iter().flat_map(|gap| &gap.causes) {
            mean.add(*cause, cost / gaps.len() as f64);
        }
        mean
    }

    pub(crate) fn total(&self) -> f64 {
        self.causes.values().sum()
    }

    pub(crate) fn cost(&self, cause: GapCause) -> f64 {
        self.causes.get(&cause).copied().unwrap_or_default()
    }

    fn add(&mut self, cause: GapCause, cost: f64) {
        *self.causes.entry(cause).or_default() += cost;
    }

    fn attribute_prompt(
        &mut self,
        prompt: &ChargedPrompt,
        past: &EarlierPrompts<'_>,
        next: Option<&ChargedPrompt>,
        prices: Prices,
    ) {
        let charge = prompt.charge;
        let factor = prices.input_price(charge.total());
        self.add(GapCause::LongPrompts, charge.cost - charge.cost / factor);
        let written = charge.read..charge.read + charge.written;
        let next_read = next.map_or(0, |next| next.charge.read);
        let inner = prompt.penultimate_breakpoint();
        let mut shown = BTreeSet::new();
        let mut start = 0;
        for block in &prompt.blocks {
            let end = start + block.tokens;
            let within = |from: usize, to: usize| end.min(to).saturating_sub(start.max(from));
            self.add(read_cost_cause(block), block.tokens as f64 * prices.read);
            // A write is wasted if the next prompt does not read its entry.
            let all = within(written.start, written.end);
            let useful = within(written.start, written.end.min(next_read.max(written.start)));
            let inside = within(written.start.max(next_read), written.end.min(inner));
            let fee = prices.write - 1.0;
            if next.is_none() {
                self.add(GapCause::UnreadLast, all as f64 * fee);
            } else {
                self.add(GapCause::UnreadInside, inside as f64 * fee);
                self.add(GapCause::UnreadEnd, (all - useful - inside) as f64 * fee);
            }
            let unread = block.tokens - within(0, charge.read);
            let extra = unread as f64 * (1.0 - prices.read) + useful as f64 * fee;
            let names: Vec<PartId> = block.part_ids().collect();
            for name in &names {
                let cause = past.cause_of_uncached_part(block, name, &shown);
                self.add(cause, extra / names.len() as f64);
            }
            shown.extend(names);
            start = end;
        }
    }
}

/// Returns the cause that the cost of reading a block is attributed to. [`CostGap::between`] subtracts the reads that
/// the bound includes.
fn read_cost_cause(block: &SentBlock) -> GapCause {
    match block.part {
        Part::Files => GapCause::KeptFiles,
        Part::Map if !block.items.is_empty() => GapCause::KeptOutlines,
        Part::Updates if !block.items.is_empty() => GapCause::KeptUpdates,
        _ => GapCause::Wording,
    }
}

/// The prompts before the current one.
struct EarlierPrompts<'a> {
    /// Everything that the earlier prompts showed.
    seen: &'a BTreeSet<PartId>,
    last: Option<PreviousPrompt>,
}

impl EarlierPrompts<'_> {
    /// Returns why a part of a block was not read from the cache. `shown` contains everything that the prompt
    /// shows before the block.
    fn cause_of_uncached_part(&self, block: &SentBlock, name: &PartId, shown: &BTreeSet<PartId>) -> GapCause {
        if block.is_volatile() {
            return GapCause::Volatile;
        }
        // A new version of something that the prompt still shows.
        let is_update = block.part == Part::Updates || shown.contains(name);
        let again = self.last.as_ref().and_then(|last| Some((last, *last.places.get(name)?)));
        match again {
            Some((last, place)) if !shown.contains(name) => last.cause_of_uncached_place(place),
            _ if is_update => GapCause::Updates,
            _ if self.seen.contains(name) => GapCause::Returned,
            _ => GapCause::FirstWrites,
        }
    }
}

/// The previous prompt, and what the current one could read of it.
struct PreviousPrompt {
    /// Offset in tokens of each item or text that the prompt shows.
    places: BTreeMap<PartId, usize>,
    /// Tokens of the prefix that the provider cached.
    cached: usize,
    /// Offset in tokens of the first block that could not stay, and the reason.
    broken: (usize, GapCause),
    /// Length in tokens of the longest prefix that ends at or before the block of `broken` and that the current prompt
    /// could read from the cache.
    available: usize,
    read: usize,
    rebuilt: bool,
    expired: bool,
}

impl PreviousPrompt {
    fn new(before: &ChargedPrompt, now: &ChargedPrompt, prices: Prices) -> Self {
        let mut places = BTreeMap::new();
        let mut start = 0;
        for block in &before.blocks {
            places.extend(block.part_ids().map(|name| (name, start)));
            start += block.tokens;
        }
        let cached = match prices.kind {
            CacheKind::Automatic { .. } if start >= prices.min_tokens => start,
            CacheKind::Automatic { .. } => 0,
            _ => before.charge.read + before.charge.written,
        };
        let broken = before.first_break(now);
        let available = match prices.kind {
            CacheKind::Automatic { granularity } => broken.0 - broken.0 % granularity.max(1),
            _ => before.breakpoint_ends().filter(|end| *end <= broken.0).last().unwrap_or(0),
        };
        Self {
            places,
            cached,
            broken,
            available: available.min(cached),
            read: now.charge.read,
            rebuilt: now.rebuilt,
            expired: now.at_ms - before.at_ms > u64::from(prices.seconds) * 1_000,
        }
    }

    /// Returns why the content at this offset was not read from the cache.
    fn cause_of_uncached_place(&self, place: usize) -> GapCause {
        let (broken, cause) = self.broken;
        if self.expired {
            GapCause::Expired
        } else if place >= self.cached {
            GapCause::Uncached
        } else if place >= broken {
            cause
        } else if self.read >= self.available {
            GapCause::NoBreakpoint
        } else if self.rebuilt {
            GapCause::Rebuilt
        } else {
            GapCause::OutdatedText
        }
    }
}
