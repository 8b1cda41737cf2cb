//! Models a provider's cache during one session: requests add prefixes, and elapsed time and usage reports
//! remove them. Predicts the cost of the next request without contacting the provider.

use crate::models::{CacheKind, CacheLifetime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::hash::ContentHash;

use super::{BilledInput, CacheEstimate, Charge, Prices, RequestSpan, SimulatedProvider};

/// A request as the provider's cache sees it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SentRequest {
    /// Content blocks of the request.
    pub spans: Vec<RequestSpan>,
    /// Time of the request, in milliseconds since 1970.
    pub at_ms: u64,
    /// Hash of everything that invalidates the whole cache when it changes.
    pub identity: ContentHash,
    /// Prices that apply to the request.
    pub prices: Prices,
    /// Lifetimes that all cache entries of the request could have had, shortest first.
    #[serde(default)]
    pub lifetimes: Vec<CacheLifetime>,
}

impl SentRequest {
    /// Returns the tokens that the provider can cache: up to the last breakpoint, or all of them if it caches
    /// automatically.
    pub fn cacheable_tokens(&self) -> usize {
        let end = match self.prices.kind {
            CacheKind::None => 0,
            CacheKind::Automatic { .. } => self.spans.len(),
            CacheKind::Explicit { .. } => self
                .spans
                .iter()
                .rposition(|span| span.mark.breakpoint().is_some())
                .map_or(0, |index| index + 1),
        };
        self.spans.iter().take(end).map(|span| span.tokens).sum()
    }
}

/// A reported cache read that is clearly smaller than expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CacheShortfall {
    /// Number of tokens expected to be read from the cache, as counted by Strata.
    pub expected: usize,
    /// Number of tokens reported as read from the cache, as counted by the provider.
    pub reported: u64,
}

/// Expected content of the provider's cache, with the last charge.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CacheAccount {
    identity: ContentHash,
    provider: SimulatedProvider,
    last: Charge,
    /// Prefixes of the last request that are cached, longest first.
    #[serde(default)]
    cached: Vec<CacheEstimate>,
    missed: Option<CacheShortfall>,
}

impl CacheAccount {
    /// Creates an account with an empty cache.
    fn new(sent: &SentRequest) -> Self {
        let provider = SimulatedProvider::new(sent.prices);
        let (last, cached, missed) = (Charge::default(), Vec::new(), None);
        Self { identity: sent.identity, provider, last, cached, missed }
    }

    /// Returns the account after `sent` was answered. `billed` is the reported usage, if any. If the provider
    /// read less than predicted, only what this request wrote is assumed to be cached.
    pub fn after_request(before: Option<&Self>, sent: &SentRequest, billed: Option<BilledInput>) -> Self {
        let mut account = match before {
            Some(account) if account.identity == sent.identity => account.clone(),
            _ => Self::new(sent),
        };
        account.provider.set_prices(sent.prices);
        account.last = account.charge(sent);
        account.missed = None;
        if let Some(billed) =
            billed.filter(|billed| billed.has_shortfall(account.last.read, account.last.total()))
        {
            account.missed = Some(CacheShortfall { expected: account.last.read, reported: billed.read });
            account.provider.clear_cache();
            account.last = account.charge(sent);
        }
        account.cached = account.provider.cached_prefixes(&sent.spans);
        account
    }

    /// Charges a request. The charge is 0 if the request has more breakpoints than allowed; the checks of the
    /// request format reject such requests before they are sent.
    fn charge(&mut self, sent: &SentRequest) -> Charge {
        self.provider.charge(&sent.spans, sent.at_ms).unwrap_or_default()
    }

    /// Predicts the charge of a request.
    pub fn predict(before: Option<&Self>, sent: &SentRequest) -> Charge {
        Self::after_request(before, sent, None).last
    }

    /// Returns the hash of everything that invalidates the whole cache when it changes.
    pub fn cache_identity(&self) -> ContentHash {
        self.identity
    }

    /// Returns the charge of the last request.
    pub fn last_charge(&self) -> Charge {
        self.last
    }

    /// Returns the shortfall of the last request, if the provider read clearly less from the cache than
    /// expected.
    pub fn shortfall(&self) -> Option<CacheShortfall> {
        self.missed
    }

    /// Returns the longest prefix of the last request that the next request can read from the cache at the time
    /// `now_ms`, or `None` if all of them have expired.
    pub fn cached_prefix(&self, now_ms: u64) -> Option<CacheEstimate> {
        self.cached.iter().find(|cached| now_ms <= cached.expires_ms).copied()
    }

    /// Whether the last request was cached, but nothing of it is at the time `now_ms`.
    pub fn has_expired(&self, now_ms: u64) -> bool {
        !self.cached.is_empty() && self.cached_prefix(now_ms).is_none()
    }
}
