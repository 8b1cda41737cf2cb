//! Billed tokens, as replies contain them.

use serde::Deserialize;

/// Billed tokens by kind.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Usage {
    pub(crate) input: usize,
    pub(crate) output: usize,
    pub(crate) cache_read: usize,
    pub(crate) cache_write: usize,
}

impl Usage {
    /// Returns the total number of input tokens.
    pub(crate) fn input_tokens(self) -> usize {
        self.input + self.cache_read + self.cache_write
    }

    /// Returns the percentage of the input that was read from the cache.
    pub(crate) fn cached_percent(self) -> f64 {
        100.0 * self.cache_read as f64 / self.input_tokens().max(1) as f64
    }
}
