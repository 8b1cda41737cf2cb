//! A lower bound on the cost of any layout: the cost of a session with perfect foresight, without order, markers,
//! minima or lookback. Deliberately loose.

use std::collections::BTreeMap;

use strata_tokens::cost::Prices;

/// Cost of everything that is needed under one key, in tokens of plain input.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct KeyCost {
    /// Cost if every turn that needs the tokens reads them from the cache.
    pub(crate) reads: f64,
    /// Additional cost of writing the tokens to the cache or sending them uncached.
    pub(crate) writes: f64,
}

/// How many tokens of a block a turn needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NeededTokens {
    /// Exactly this many tokens.
    Exact(usize),
    /// A text of this many tokens, or any earlier version of the text. Differences between versions are free.
    AnyVersion(usize),
}

/// Lower bound on the cost of a session. A token that n turns need, without the cache expiring in between, costs n
/// times plain input, or one write and n - 1 reads, whichever is less.
#[derive(Clone, Debug)]
pub(crate) struct CostBound<Key> {
    prices: Prices,
    needed: BTreeMap<Key, BlockNeed>,
    /// Cost of all turns before the cache last expired.
    closed: f64,
}

#[derive(Clone, Debug, Default)]
struct BlockNeed {
    /// Tokens of the smallest version seen so far in the session.
    least: Option<usize>,
    /// Number of turns that needed each size since the cache last expired.
    times: BTreeMap<usize, usize>,
}

impl<Key: Ord> CostBound<Key> {
    /// Creates the bound of a session without turns.
    pub(crate) fn new(prices: Prices) -> Self {
        Self { prices, needed: BTreeMap::new(), closed: 0.0 }
    }

    /// Adds a turn with the blocks that it needs. A block whose key occurs twice is needed twice.
    pub(crate) fn add_turn(&mut self, needs: impl IntoIterator<Item = (Key, NeededTokens)>) {
        for (key, need) in needs {
            let needed = self.needed.entry(key).or_default();
            let tokens = match need {
                NeededTokens::Exact(tokens) => tokens,
                NeededTokens::AnyVersion(tokens) => {
                    let least = needed.least.map_or(tokens, |least| least.min(tokens));
                    *needed.least.insert(least)
                }
            };
            *needed.times.entry(tokens).or_insert(0) += 1;
        }
    }

    /// Records that the next turn finds nothing in the cache.
    pub(crate) fn expire_cache(&mut self) {
        self.closed = self.total();
        for needed in self.needed.values_mut() {
            needed.times.clear();
        }
    }

    /// Returns the bound, in tokens of plain input.
    pub(crate) fn total(&self) -> f64 {
        self.needed.values().fold(self.closed, |total, needed| total + self.block_cost(&needed.times))
    }

    /// Returns what each block contributes to the bound of a session without pauses.
    pub(crate) fn need_costs(&self) -> impl Iterator<Item = (&Key, KeyCost)> {
        self.needed.iter().map(|(key, needed)| {
            let tokens: usize = needed.times.iter().map(|(tokens, times)| tokens * times).sum();
            let reads = tokens as f64 * self.prices.read;
            (key, KeyCost { reads, writes: self.block_cost(&needed.times) - reads })
        })
    }

    /// Computes the cost of a block whose size differs between turns. All turns need the tokens up to the smallest
    /// size, and only turns with the largest size need the tokens above the second largest.
    fn block_cost(&self, times: &BTreeMap<usize, usize>) -> f64 {
        let smaller = times.keys().rev().skip(1).copied().chain([0]);
        let mut turns = 0;
        let layers = times.iter().rev().zip(smaller).map(|((&tokens, &times), smaller)| {
            turns += times;
            (tokens - smaller) as f64 * self.token_cost(turns)
        });
        layers.sum()
    }

    /// Returns the minimum cost of a token that `turns` turns need.
    fn token_cost(&self, turns: usize) -> f64 {
        let turns = turns as f64;
        turns.min(self.prices.write + (turns - 1.0) * self.prices.read)
    }
}

#[cfg(test)]
mod tests;
