//! Estimates the cost of a session so far under each cache lifetime, and of its next turn: before the cache
//! expires, after it has expired, or with another model. Considers only the prefix marked for the cache,
//! since the rest costs the same in each case. Assumes that the prefix grows evenly; `Provider` bills actual
//! requests.

use schemars::JsonSchema;
use serde::Serialize;

use crate::models::{CacheKind, Ttl};

use super::{Charge, Prices};

/// Size, growth and pauses of a session so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionTrend<'a> {
    /// Tokens of the last prompt up to the last breakpoint.
    pub marked: usize,
    /// Growth per turn, in tokens.
    pub growth: usize,
    /// Pauses between consecutive requests, in milliseconds.
    pub pauses_ms: &'a [u64],
}

/// Costs of a session under both cache lifetimes.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Forecast {
    /// Costs if cache entries live five minutes.
    pub five_minutes: CostOutlook,
    /// Costs if cache entries live one hour.
    pub one_hour: CostOutlook,
    /// Lifetime under which the session would have cost less so far; five minutes if both cost the same.
    pub cheaper: Ttl,
}

/// Costs of a session under one cache lifetime.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostOutlook {
    /// Actual lifetime of entries after their last use, in seconds.
    pub seconds: u32,
    /// Total charge of all turns so far.
    pub spent: Charge,
    /// Number of pauses longer than the lifetime.
    pub expiries: usize,
    /// Charge of the next turn if it starts before the cache expires.
    pub next_in_time: Charge,
    /// Charge for the next turn if the cache has expired by then.
    pub next_too_late: Charge,
}

impl Forecast {
    /// Computes the costs of a session from the model's prices under both lifetimes.
    pub fn new(trend: &SessionTrend<'_>, five_minutes: &Prices, one_hour: &Prices) -> Self {
        let (five_minutes, one_hour) =
            (CostOutlook::new(trend, five_minutes), CostOutlook::new(trend, one_hour));
        let cheaper =
            if one_hour.spent.cost < five_minutes.spent.cost { Ttl::OneHour } else { Ttl::FiveMinutes };
        Self { five_minutes, one_hour, cheaper }
    }
}

impl CostOutlook {
    /// Computes the costs of a session under these prices.
    pub(crate) fn new(trend: &SessionTrend<'_>, prices: &Prices) -> Self {
        let turns = trend.pauses_ms.len();
        let marked = |turns_ago: usize| trend.marked.saturating_sub(trend.growth.saturating_mul(turns_ago));
        let (mut spent, mut expiries) = (turn_charge(prices, 0, marked(turns)), 0);
        for (pause_ms, turns_ago) in trend.pauses_ms.iter().zip((0..turns).rev()) {
            let has_expired = prices.has_expired_after(*pause_ms);
            expiries += usize::from(has_expired);
            spent = spent
                + turn_charge(prices, if has_expired { 0 } else { marked(turns_ago + 1) }, marked(turns_ago));
        }
        let next = trend.marked.saturating_add(trend.growth);
        Self {
            seconds: prices.seconds,
            spent,
            expiries,
            next_in_time: turn_charge(prices, trend.marked, next),
            next_too_late: turn_charge(prices, 0, next),
        }
    }
}

/// Returns the charge for the marked prefix in the first turn after a switch to a model with the prices `to`, whose
/// cache is empty. `marked` is counted with that model's tokenizer. The cost is a multiple of that model's plain
/// input price.
pub fn switch_charge(to: &Prices, marked: usize) -> Charge {
    turn_charge(to, 0, marked)
}

/// Returns the charge for a prefix of `marked` tokens, the first `cached` of which are cached.
fn turn_charge(prices: &Prices, cached: usize, marked: usize) -> Charge {
    let granularity = match prices.kind {
        CacheKind::Automatic { granularity } => granularity.max(1),
        CacheKind::Explicit { .. } | CacheKind::None => 1,
    };
    let cached = cached.min(marked);
    let readable = cached - cached % granularity;
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
