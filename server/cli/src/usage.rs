//! Billed tokens, as replies contain them.

use strata_app::commands::Usage;

use crate::output::count;

/// Returns the percentage of the input that was read from the cache.
pub(crate) fn cached_percent(usage: Usage) -> f64 {
    100.0 * usage.cache_read as f64 / usage.input_tokens().max(1) as f64
}

/// Formats a number of tokens or requests.
pub(crate) fn format_count(number: u64) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX))
}
