//! Simulates a provider's prompt cache and its billing. The cache sees a prompt as hashed spans with their sizes and
//! cache markers. Follows the "Prompt caching" documentation of
//! Anthropic for explicit markers and of OpenAI for automatic caching. Where the documentation is silent,
//! assumes the more expensive interpretation.

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::hash::ContentHash;

use crate::models::CacheKind;

use super::prices::{BreakpointLifetime, Prices};

/// Minimum number of entries before expired ones are removed. They are removed again whenever the number of
/// entries has doubled.
const MIN_SWEPT_ENTRIES: usize = 1_024;

/// Cache marker at the end of a span.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum CacheMarker {
    #[default]
    None,
    /// The provider looks for an entry that ends here, but does not write one.
    Lookup,
    /// A cache breakpoint: the provider looks for an entry that ends here and writes one.
    Breakpoint(BreakpointLifetime),
}

impl CacheMarker {
    /// Returns the breakpoint, if the mark is one.
    pub fn breakpoint(self) -> Option<BreakpointLifetime> {
        match self {
            Self::Breakpoint(breakpoint) => Some(breakpoint),
            Self::None | Self::Lookup => None,
        }
    }
}

/// One content block of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RequestSpan {
    /// Hash of the role and content. Spans with equal hashes are sent as equal bytes.
    pub hash: ContentHash,
    /// Number of tokens that the block takes in the request, including its share of the request's structure.
    pub tokens: usize,
    /// Marker at the end of the span.
    pub mark: CacheMarker,
    /// Whether the span shares a position with the previous span when the provider looks back.
    pub continues_run: bool,
}

/// Charge of one request. `read + written + plain` is its whole input.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Charge {
    /// Tokens read from the cache.
    pub read: usize,
    /// Tokens written to the cache; 0 if writes cost nothing extra.
    pub written: usize,
    /// Tokens of `written` whose entries live for an hour, if `cache.ttl` is `auto`.
    #[serde(default)]
    pub written_extended: usize,
    /// Tokens neither read from nor written to the cache.
    pub plain: usize,
    /// Total price, in tokens of plain input.
    pub cost: f64,
}

impl Charge {
    /// Computes the charge for the given numbers of tokens.
    pub(super) fn new(prices: &Prices, read: usize, written: usize, plain: usize) -> Self {
        let cost = read as f64 * prices.read + written as f64 * prices.write + plain as f64;
        let charge = Self { read, written, written_extended: 0, plain, cost };
        Self { cost: cost * prices.input_price(charge.total()), ..charge }
    }

    /// Charges `extended` of the written tokens for the extended lifetime.
    fn with_extended_writes(self, prices: &Prices, extended: usize) -> Self {
        let surcharge = prices.lifetime(BreakpointLifetime::Extended).write - prices.write;
        let cost = self.cost + extended as f64 * surcharge * prices.input_price(self.total());
        Self { written_extended: extended, cost, ..self }
    }

    /// Returns the total input tokens.
    pub fn total(&self) -> usize {
        self.read.saturating_add(self.written).saturating_add(self.plain)
    }
}

impl std::ops::Add for Charge {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            read: self.read.saturating_add(other.read),
            written: self.written.saturating_add(other.written),
            written_extended: self.written_extended.saturating_add(other.written_extended),
            plain: self.plain.saturating_add(other.plain),
            cost: self.cost + other.cost,
        }
    }
}

/// Simulated account at a provider: its cache and prices.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SimulatedProvider {
    pub prices: Prices,
    /// Cached prefixes, keyed by the hash of all their spans.
    entries: FxHashMap<ContentHash, ProviderCacheEntry>,
    sweep_at: usize,
}

/// A cached prefix.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ProviderCacheEntry {
    /// Lifetime that was paid for, in seconds after each use.
    seconds: u32,
    /// Time at which the entry expires unless it is used, in milliseconds.
    expires_ms: u64,
}

impl ProviderCacheEntry {
    fn with_lifetime(seconds: u32, now_ms: u64) -> Self {
        Self { seconds, expires_ms: now_ms.saturating_add(u64::from(seconds) * 1_000) }
    }
}

/// A prefix of a request that the provider is believed to have cached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CacheEstimate {
    pub tokens: usize,
    /// Time at which the prefix expires unless a request uses it, in milliseconds since 1970.
    pub expires_ms: u64,
}

/// The beginning of a request, up to the end of one span.
#[derive(Clone, Copy)]
struct Prefix {
    hash: ContentHash,
    tokens: usize,
    mark: CacheMarker,
    continues_run: bool,
}

impl SimulatedProvider {
    /// Creates an account with an empty cache.
    pub fn new(prices: Prices) -> Self {
        Self { prices, entries: FxHashMap::default(), sweep_at: MIN_SWEPT_ENTRIES }
    }

    /// Bills a request at the time `now_ms` (milliseconds since any fixed moment) and updates the cache.
    /// Providers that cache automatically ignore markers. Returns `None`, with the cache unchanged, if the request
    /// has more markers than the provider accepts.
    pub fn charge(&mut self, spans: &[RequestSpan], now_ms: u64) -> Option<Charge> {
        let mut prefixes = prefixes(spans);
        let total = prefixes.last().map_or(0, |prefix| prefix.tokens);
        let CacheTokens { read, written, extended } = match self.prices.kind {
            CacheKind::None => CacheTokens::default(),
            CacheKind::Automatic { granularity } => self.cache_automatically(&prefixes, granularity, now_ms),
            CacheKind::Explicit { max_breakpoints, lookback, .. } => {
                let marked = prefixes.iter().filter_map(|prefix| prefix.mark.breakpoint()).count();
                if marked > self.prices.kind.max_markers() {
                    return None;
                }
                let markers = prefixes.iter_mut().rev().filter(|prefix| prefix.mark.breakpoint().is_some());
                // Only the last ones write.
                markers.skip(max_breakpoints).for_each(|prefix| prefix.mark = CacheMarker::Lookup);
                self.cache_explicitly(&prefixes, lookback, now_ms)
            }
        };
        self.sweep(now_ms);
        let charge = Charge::new(&self.prices, read, written, total - read - written);
        Some(charge.with_extended_writes(&self.prices, extended))
    }

    /// Returns the cached prefixes of a request, longest first, without those that expire no later than a longer one.
    pub(super) fn cached_prefixes(&self, spans: &[RequestSpan]) -> Vec<CacheEstimate> {
        let mut cached: Vec<CacheEstimate> = Vec::new();
        for Prefix { hash, tokens, .. } in prefixes(spans).into_iter().rev() {
            let Some(ProviderCacheEntry { expires_ms, .. }) = self.entries.get(&hash).copied() else {
                continue;
            };
            let is_later = cached.last().is_none_or(|longer| longer.expires_ms < expires_ms);
            if is_later && tokens >= self.prices.min_tokens {
                cached.push(CacheEstimate { tokens, expires_ms });
            }
        }
        cached
    }

    #[cfg(test)]
    pub(super) fn entry_count(&self) -> usize {
        self.entries.len()
    }

    /// Empties the cache, as a pause longer than the lifetime of its entries would.
    pub(crate) fn clear_cache(&mut self) {
        self.entries.clear();
    }

    /// Replaces the prices and keeps the cache.
    pub(crate) fn set_prices(&mut self, prices: Prices) {
        self.prices = prices;
    }

    /// Returns the tokens read and written with explicit markers. Each marker writes one entry and finds entries up
    /// to `lookback` positions back, including its own. A run of tool calls or results counts as one position. An
    /// entry that exists keeps the lifetime it was written with. The tokens up to the last marker for the extended
    /// lifetime are billed for that lifetime (Anthropic, "Prompt caching", "Mixing different TTLs").
    fn cache_explicitly(&mut self, prefixes: &[Prefix], lookback: usize, now_ms: u64) -> CacheTokens {
        let looks_up =
            |prefix: &Prefix| prefix.mark != CacheMarker::None && prefix.tokens >= self.prices.min_tokens;
        let breakpoint_of = |prefix: &Prefix| prefix.mark.breakpoint().filter(|_| looks_up(prefix));
        let mut remaining_lookback = 0;
        let read_prefix = prefixes.iter().rev().find(|prefix| {
            remaining_lookback = if looks_up(prefix) { lookback } else { remaining_lookback };
            let is_in_reach = remaining_lookback > 0;
            // A lookback of one position covers only the marker's own span.
            remaining_lookback =
                remaining_lookback.saturating_sub(usize::from(!prefix.continues_run || lookback == 1));
            is_in_reach && self.is_alive(prefix.hash, now_ms)
        });
        let read = read_prefix.map_or(0, |prefix| prefix.tokens);
        let tokens_after_read = |is_counted: &dyn Fn(BreakpointLifetime) -> bool| {
            let tokens_after_read =
                prefixes.iter().rev().find(|prefix| breakpoint_of(prefix).is_some_and(is_counted));
            tokens_after_read.map_or(0, |prefix| prefix.tokens).saturating_sub(read)
        };
        let (written, extended) = (
            tokens_after_read(&|_| true),
            tokens_after_read(&|breakpoint| breakpoint == BreakpointLifetime::Extended),
        );
        // It is undocumented whether a marker inside the read prefix creates an entry. Assuming that it does
        // not is more expensive.
        let refreshed_entries: Vec<(ContentHash, ProviderCacheEntry)> = prefixes
            .iter()
            .filter_map(|prefix| Some((prefix, breakpoint_of(prefix)?)))
            .filter(|(prefix, _)| prefix.tokens >= read || self.is_alive(prefix.hash, now_ms))
            .chain(read_prefix.map(|prefix| (prefix, BreakpointLifetime::Short)))
            .map(|(Prefix { hash, .. }, breakpoint)| {
                let live_entry = self.entries.get(hash).filter(|entry| now_ms <= entry.expires_ms);
                let seconds =
                    live_entry.map_or(self.prices.lifetime(breakpoint).seconds, |entry| entry.seconds);
                (*hash, ProviderCacheEntry::with_lifetime(seconds, now_ms))
            })
            .collect();
        self.entries.extend(refreshed_entries);
        CacheTokens { read, written, extended }
    }

    /// Returns the tokens read and written with automatic caching, which caches every prefix and reads the
    /// longest known one, rounded down.
    fn cache_automatically(&mut self, prefixes: &[Prefix], granularity: usize, now_ms: u64) -> CacheTokens {
        let cached_tokens = prefixes.iter().rev().find(|prefix| self.is_alive(prefix.hash, now_ms));
        let cached_tokens = cached_tokens.map_or(0, |prefix| prefix.tokens);
        let rounded = cached_tokens - cached_tokens % granularity.max(1);
        let read = if rounded >= self.prices.min_tokens { rounded } else { 0 };
        let entry = ProviderCacheEntry::with_lifetime(self.prices.seconds, now_ms);
        self.entries.extend(prefixes.iter().map(|prefix| (prefix.hash, entry)));
        let total = prefixes.last().map_or(0, |prefix| prefix.tokens);
        let written =
            if self.prices.write > 1.0 && total >= self.prices.min_tokens { total - read } else { 0 };
        CacheTokens { read, written, extended: 0 }
    }

    fn is_alive(&self, prefix: ContentHash, now_ms: u64) -> bool {
        self.entries.get(&prefix).is_some_and(|entry| now_ms <= entry.expires_ms)
    }

    /// Drops expired entries occasionally, so that memory does not grow with the length of the session.
    fn sweep(&mut self, now_ms: u64) {
        if self.entries.len() >= self.sweep_at {
            self.entries.retain(|_, entry| now_ms <= entry.expires_ms);
            self.sweep_at = (2 * self.entries.len()).max(MIN_SWEPT_ENTRIES);
        }
    }
}

/// Tokens of a request that concern the cache.
#[derive(Clone, Copy, Default)]
struct CacheTokens {
    read: usize,
    written: usize,
    /// Tokens of `written` that are billed for the extended lifetime.
    extended: usize,
}

/// Returns every prefix of a request, shortest first.
fn prefixes(spans: &[RequestSpan]) -> Vec<Prefix> {
    let empty = ContentHash::from_text("");
    let mut prefix = Prefix { hash: empty, tokens: 0, mark: CacheMarker::None, continues_run: false };
    let prefixes = spans.iter().map(|span| {
        prefix = Prefix {
            hash: ContentHash::from_parts([&prefix.hash.to_bytes()[..], &span.hash.to_bytes()]),
            tokens: prefix.tokens.saturating_add(span.tokens),
            mark: span.mark,
            continues_run: span.continues_run,
        };
        prefix
    });
    prefixes.collect()
}

#[cfg(test)]
mod tests;
