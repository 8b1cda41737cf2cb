//! What a session would have cost under each lifetime of cache entries, and what comes next: a turn, a long pause, or another
//! model. Only considers the marked prefix, since the rest costs the same in any case. Simple arithmetic of a growing prefix;
//! `Provider` bills real layouts.

use schemars::JsonSchema;
use serde::Serialize;

use crate::tokens::models::{CacheKind, Ttl};

use super::{Charge, Prices};

/// How a session went so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionTrend<'a> {
    /// Tokens of its last prompt up to the last breakpoint.
    pub marked: usize,
    /// Growth per turn, in tokens.
    pub growth: usize,
    /// The pauses between its turns, from request to request. Milliseconds.
    pub pauses_ms: &'a [u64],
}

/// Both lifetimes side by side.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Forecast {
    /// With entries that live five minutes.
    pub five_minutes: CostOutlook,
    /// With entries that live an hour.
    pub one_hour: CostOutlook,
    /// The lifetime under which the session would have cost less so far; five minutes when it is anyway.
    pub cheaper: Ttl,
}

/// A session under one lifetime.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostOutlook {
    /// How long entries really live after their last use. Seconds.
    pub seconds: u32,
    /// All turns so far together.
    pub spent: Charge,
    /// Pauses that were too long.
    pub expiries: usize,
    /// The next turn when it comes in time.
    pub next_in_time: Charge,
    /// The next turn after a pause that is too long.
    pub next_too_late: Charge,
}

impl Forecast {
    /// The forecast for a session, given its model's prices under both lifetimes.
    pub fn of(course: &SessionTrend<'_>, five_minutes: &Prices, one_hour: &Prices) -> Self {
        let (five_minutes, one_hour) =
            (CostOutlook::of(course, five_minutes), CostOutlook::of(course, one_hour));
        let cheaper =
            if one_hour.spent.cost < five_minutes.spent.cost { Ttl::OneHour } else { Ttl::FiveMinutes };
        Self { five_minutes, one_hour, cheaper }
    }
}

impl CostOutlook {
    /// The forecast for a session under these prices.
    pub(crate) fn of(course: &SessionTrend<'_>, prices: &Prices) -> Self {
        let turns = course.pauses_ms.len();
        let marked = |turns_ago: usize| course.marked.saturating_sub(course.growth.saturating_mul(turns_ago));
        let (mut spent, mut expiries) = (turn(prices, 0, marked(turns)), 0);
        for (pause_ms, turns_ago) in course.pauses_ms.iter().zip((0..turns).rev()) {
            let expired = prices.outlived_by(*pause_ms);
            expiries += usize::from(expired);
            spent = spent + turn(prices, if expired { 0 } else { marked(turns_ago + 1) }, marked(turns_ago));
        }
        let next = course.marked.saturating_add(course.growth);
        Self {
            seconds: prices.seconds,
            spent,
            expiries,
            next_in_time: turn(prices, course.marked, next),
            next_too_late: turn(prices, 0, next),
        }
    }
}

/// Cost of the marked prefix in the first turn after a switch to a model with the prices `to`, without a cache. `marked` is
/// counted by that model's tokenizer; the result is a multiple of its plain input price.
pub fn switch(to: &Prices, marked: usize) -> Charge {
    turn(to, 0, marked)
}

/// The bill for a prefix whose beginning is cached. Tokens.
fn turn(prices: &Prices, known: usize, marked: usize) -> Charge {
    let step = match prices.kind {
        CacheKind::Automatic { granularity } => granularity.max(1),
        CacheKind::Explicit { .. } | CacheKind::None => 1,
    };
    let known = known.min(marked);
    let readable = known - known % step;
    let read = match prices.kind {
        CacheKind::None => 0,
        _ if readable < prices.min_tokens => 0,
        _ => readable,
    };
    let rest = marked - read;
    let written = match prices.kind {
        CacheKind::Explicit { .. } if marked >= prices.min_tokens => rest,
        CacheKind::Automatic { .. } if marked >= prices.min_tokens && prices.write > 1.0 => rest,
        _ => 0,
    };
    Charge::new(prices, read, written, rest - written)
}

#[cfg(test)]
mod tests;
