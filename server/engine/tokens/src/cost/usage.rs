//! The usage that a provider reports for a request, its cost, and whether less was read from the cache than
//! expected.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prices::{BreakpointLifetime, Prices};
use super::provider::Charge;

/// Billed tokens of one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Usage {
    /// Input tokens neither read from nor written to the cache.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_write: u64,
}

impl Usage {
    /// Returns the percentage of the input that was read from the cache, rounded to one decimal, or `None` if there
    /// is no input.
    pub fn cached_percent(self) -> Option<f64> {
        let input = self.input.saturating_add(self.cache_read).saturating_add(self.cache_write);
        (input > 0).then(|| (self.cache_read as f64 * 1_000.0 / input as f64).round() / 10.0)
    }

    /// Returns the cost at these prices, in tokens of plain input. Of the written tokens, the share that `predicted`
    /// expects is priced for the extended lifetime, because few clients report how long an entry lives.
    pub fn cost(self, prices: &Prices, predicted: &Charge) -> f64 {
        let BilledInput { total, .. } = self.billed_input();
        let share = predicted.written_extended as f64 / predicted.written.max(1) as f64;
        let write =
            prices.write + share * (prices.lifetime(BreakpointLifetime::Extended).write - prices.write);
        let tokens =
            self.input as f64 + self.cache_read as f64 * prices.read + self.cache_write as f64 * write;
        tokens * prices.input_price(usize::try_from(total).unwrap_or(usize::MAX))
    }

    /// Returns the cost of input and output in US dollars, or `None` if the price is unknown. See [`Self::cost`].
    pub fn dollars(self, prices: &Prices, predicted: &Charge) -> Option<f64> {
        prices.dollars(self.cost(prices, predicted), self.output, self.input_tokens())
    }

    /// Returns the total number of input tokens.
    pub fn input_tokens(self) -> usize {
        usize::try_from(self.billed_input().total).unwrap_or(usize::MAX)
    }

    /// Returns the input tokens read from the cache, and the total.
    pub fn billed_input(self) -> BilledInput {
        let total = self.input.saturating_add(self.cache_read).saturating_add(self.cache_write);
        BilledInput { read: self.cache_read, total }
    }
}

impl std::ops::Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
        }
    }
}

/// Reported input of a request, in tokens as the provider counts them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BilledInput {
    /// Input tokens read from the cache.
    pub read: u64,
    /// Total input tokens.
    pub total: u64,
}

/// Relative shortfall of a cache read that is still not a miss, since counts may be estimates and request
/// formats add tokens.
const CACHE_READ_TOLERANCE: f64 = 0.1;

impl BilledInput {
    /// Whether the share read from the cache is clearly less than `read` of `total` tokens, as counted by
    /// Strata.
    pub fn has_shortfall(self, read: usize, total: usize) -> bool {
        if read == 0 || total == 0 || self.total == 0 {
            return false;
        }
        let expected = read as f64 / total as f64;
        let reported = self.read as f64 / self.total as f64;
        reported < expected * (1.0 - CACHE_READ_TOLERANCE)
    }
}
