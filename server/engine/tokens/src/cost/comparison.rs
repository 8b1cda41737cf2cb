//! Compares what the requests of a session cost with what the same requests would have cost without pauses, without a
//! cache, and with other lifetimes of cache entries. Each case has its own simulated cache. Prompts are those that were
//! sent: this module does not predict the prompts that Strata would have made under other conditions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::hash::ContentHash;

use super::account::{CacheAccount, SentRequest};
use super::provider::{CacheMarker, Charge, RequestSpan, SimulatedProvider};
use super::{BreakpointLifetime, Prices, Usage};
use crate::models::CacheLifetime;

/// Number of requests after which an entry that none of them uses expires if there are no pauses, so that the simulated
/// cache does not grow with the session.
const UNUSED_ENTRY_EXPIRY_REQUESTS: u64 = 64;

/// What the billed requests of a session cost, and what they would have cost under other conditions.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonTotals {
    /// Number of requests that are compared.
    requests: u64,
    /// Number of requests to models of unknown price.
    #[serde(default)]
    unpriced: u64,
    actual: CostSum,
    without_pauses: CostSum,
    without_cache: CostSum,
    shortest: CostSum,
    longest: CostSum,
    /// Lifetimes of the last request's model that `shortest` and `longest` stand for, in seconds; 0 if it does not cache.
    lifetimes: [u32; 2],
}

/// Input in tokens of uncached input, and input and output in US dollars without the requests of unknown price.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
struct CostSum {
    cost: f64,
    dollars: f64,
}

/// What the billed requests of a session would have cost under other conditions, with the same prompts.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostComparison {
    /// Number of compared requests: those that were recorded with the billed usage.
    pub requests: u64,
    /// As the requests were sent, as Strata computes it. About what was billed, unless the provider's cache lost entries.
    pub actual: ComparedCost,
    /// If each request had followed the previous one immediately.
    pub without_pauses: ComparedCost,
    /// If the provider had no cache.
    pub without_cache: ComparedCost,
    /// If all cache entries had the same lifetime, for each lifetime that `cache.ttl` can choose for the model, shortest
    /// first. Empty if there is no choice.
    pub lifetimes: Vec<LifetimeCost>,
}

/// A cost that is compared with others.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedCost {
    /// Cost of the input, in tokens of uncached input.
    pub cost: f64,
    /// Cost of input and output in US dollars; absent if the price of a model is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars: Option<f64>,
    /// `cost` as a fraction of the cost without a cache.
    pub share: f64,
}

/// What the requests would have cost if all cache entries had this lifetime.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LifetimeCost {
    /// Lifetime after the last use, in seconds.
    pub seconds: u32,
    #[serde(flatten)]
    pub cost: ComparedCost,
}

impl ComparisonTotals {
    /// Adds a request that was billed `usage`.
    pub fn add(&mut self, charges: &Charges, usage: Usage, sent: &SentRequest) {
        // Charges are in tokens as Strata counts them, and the bill is in those of the provider.
        let counted = charges.actual.total();
        let scale = if counted == 0 { 0.0 } else { usage.input_tokens() as f64 / counted as f64 };
        let plain = usage.input_tokens() as f64 * sent.prices.input_price(counted);
        self.requests += 1;
        self.unpriced += u64::from(sent.prices.list.is_none());
        self.lifetimes = [sent.lifetimes.first(), sent.lifetimes.last()]
            .map(|lifetime| lifetime.map_or(0, |lifetime| lifetime.seconds));
        for (sum, cost) in [
            (&mut self.actual, charges.actual.cost * scale),
            (&mut self.without_pauses, charges.without_pauses.cost * scale),
            (&mut self.without_cache, plain),
            (&mut self.shortest, charges.shortest.cost * scale),
            (&mut self.longest, charges.longest.cost * scale),
        ] {
            let dollars = sent.prices.dollars(cost, usage.output, usage.input_tokens());
            *sum = CostSum { cost: sum.cost + cost, dollars: sum.dollars + dollars.unwrap_or_default() };
        }
    }

    /// Returns the comparison for a report, or `None` if no request was billed.
    pub fn report(&self) -> Option<CostComparison> {
        if self.requests == 0 {
            return None;
        }
        let compared = |sum: CostSum| ComparedCost {
            cost: sum.cost,
            dollars: (self.unpriced == 0).then_some(sum.dollars),
            share: sum.cost / self.without_cache.cost.max(f64::MIN_POSITIVE),
        };
        let [shortest, longest] = self.lifetimes;
        let by_lifetime = [(shortest, self.shortest), (longest, self.longest)];
        let lifetime = |(seconds, sum)| LifetimeCost { seconds, cost: compared(sum) };
        Some(CostComparison {
            requests: self.requests,
            actual: compared(self.actual),
            without_pauses: compared(self.without_pauses),
            without_cache: compared(self.without_cache),
            lifetimes: if shortest == longest { Vec::new() } else { by_lifetime.map(lifetime).to_vec() },
        })
    }
}

/// Charges of one request in each case with a cache.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Charges {
    pub(crate) actual: Charge,
    without_pauses: Charge,
    shortest: Charge,
    longest: Charge,
}

/// The simulated caches of all cases except the actual one, which [`CacheAccount`] has.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ComparedCaches {
    identity: ContentHash,
    /// Time of the last request without pauses, in milliseconds since the first one.
    immediately_ms: u64,
    without_pauses: SimulatedProvider,
    shortest: SimulatedProvider,
    longest: SimulatedProvider,
}

impl ComparedCaches {
    fn new(sent: &SentRequest) -> Self {
        let [without_pauses, shortest, longest] = [(); 3].map(|()| SimulatedProvider::new(sent.prices));
        Self { identity: sent.identity, immediately_ms: 0, without_pauses, shortest, longest }
    }

    /// Returns the caches after a request, and its charge in each case. `account` is the account after this request. If
    /// the provider read less than predicted, although no entry had expired, no case finds anything in its cache.
    pub fn after_request(
        before: Option<Self>,
        sent: &SentRequest,
        account: &CacheAccount,
    ) -> (Self, Charges) {
        let before = before.filter(|caches| caches.identity == sent.identity);
        let mut caches = before.unwrap_or_else(|| Self::new(sent));
        let lifetime_ms = u64::from(sent.prices.seconds) * 1_000;
        caches.immediately_ms += lifetime_ms / UNUSED_ENTRY_EXPIRY_REQUESTS;
        let immediately_ms = caches.immediately_ms;
        let uniform_prices = |lifetime: Option<&CacheLifetime>| {
            lifetime.map_or(sent.prices, |lifetime| sent.prices.with_lifetime(*lifetime))
        };
        let uniform_spans: Vec<RequestSpan> =
            sent.spans.iter().map(|span| span.with_shortest_lifetime()).collect();
        let charge =
            |provider: &mut SimulatedProvider, prices: Prices, spans: &[RequestSpan], now_ms: u64| {
                provider.set_prices(prices);
                if account.shortfall().is_some() {
                    provider.clear_cache();
                }
                provider.charge(spans, now_ms).unwrap_or_default()
            };
        let charges = Charges {
            actual: account.last_charge(),
            without_pauses: charge(&mut caches.without_pauses, sent.prices, &sent.spans, immediately_ms),
            shortest: charge(
                &mut caches.shortest,
                uniform_prices(sent.lifetimes.first()),
                &uniform_spans,
                sent.at_ms,
            ),
            longest: charge(
                &mut caches.longest,
                uniform_prices(sent.lifetimes.last()),
                &uniform_spans,
                sent.at_ms,
            ),
        };
        (caches, charges)
    }
}

impl RequestSpan {
    /// Returns the span with a breakpoint for the shortest lifetime in place of its breakpoint, if it has one.
    fn with_shortest_lifetime(self) -> Self {
        let mark = match self.mark {
            CacheMarker::Breakpoint(_) => CacheMarker::Breakpoint(BreakpointLifetime::Short),
            mark => mark,
        };
        Self { mark, ..self }
    }
}

#[cfg(test)]
mod tests;
