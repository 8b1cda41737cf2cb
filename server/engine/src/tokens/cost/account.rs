//! What is believed of a provider's cache during one session: what was sent puts prefixes into it, time and reports take
//! them out. Predicts what the next request will cost; asks no one.

use crate::hash::ContentHash;
use crate::tokens::models::CacheKind;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BilledInput, Charge, Mark, Prices, Provider, Span};

/// One request as the cache sees it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SentRequest {
    /// Its content blocks.
    pub spans: Vec<Span>,
    /// When it was made, in milliseconds since 1970.
    pub at_ms: u64,
    /// Names what invalidates the whole cache when it changes.
    pub identity: ContentHash,
    /// What the provider charges.
    pub prices: Prices,
}

impl SentRequest {
    /// What of it the provider keeps, as far as its kind goes: all before the last breakpoint, or everything where
    /// no breakpoints are needed. Tokens.
    pub fn cacheable(&self) -> usize {
        let end = match self.prices.kind {
            CacheKind::None => 0,
            CacheKind::Automatic { .. } => self.spans.len(),
            CacheKind::Explicit { .. } => {
                self.spans.iter().rposition(|span| span.mark == Mark::Breakpoint).map_or(0, |at| at + 1)
            }
        };
        self.spans.iter().take(end).map(|span| span.tokens).sum()
    }
}

/// A provider said that it read clearly less than was expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CacheShortfall {
    /// What was expected, in tokens by our own count.
    pub expected: usize,
    /// What was reported, in tokens by the provider's count.
    pub reported: u64,
}

/// What is believed to be cached.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Account {
    identity: ContentHash,
    provider: Provider,
    last: Charge,
    last_ms: u64,
    missed: Option<CacheShortfall>,
}

impl Account {
    /// An account at a provider that holds nothing yet.
    fn new(sent: &SentRequest) -> Self {
        let provider = Provider::new(sent.prices);
        let (last, last_ms, missed) = (Charge::default(), sent.at_ms, None);
        Self { identity: sent.identity, provider, last, last_ms, missed }
    }

    /// The account after `sent` was answered, and after what the provider says it read, if it says so: when that is less
    /// than predicted, only what this very request wrote is known to be there.
    pub(crate) fn after(before: Option<&Self>, sent: &SentRequest, billed: Option<BilledInput>) -> Self {
        let mut account = match before {
            Some(account) if account.identity == sent.identity => account.clone(),
            _ => Self::new(sent),
        };
        account.provider.set_prices(sent.prices);
        account.last_ms = sent.at_ms;
        account.last = account.charge(sent);
        account.missed = None;
        if let Some(billed) = billed.filter(|billed| billed.misses(account.last.read, account.last.total())) {
            account.missed = Some(CacheShortfall { expected: account.last.read, reported: billed.read });
            account.provider.forget();
            account.last = account.charge(sent);
        }
        account
    }

    /// A request with more breakpoints than the provider takes is refused elsewhere (`wire`); it would cost nothing.
    fn charge(&mut self, sent: &SentRequest) -> Charge {
        self.provider.charge(&sent.spans, sent.at_ms).unwrap_or_default()
    }

    /// What a request would be charged.
    pub(crate) fn predict(before: Option<&Self>, sent: &SentRequest) -> Charge {
        Self::after(before, sent, None).last
    }

    /// What the account is for: another identity means another cache.
    pub(crate) fn identity(&self) -> ContentHash {
        self.identity
    }

    /// What the last request was charged, as far as it is known.
    #[cfg(test)]
    pub(crate) fn last(&self) -> Charge {
        self.last
    }

    /// What the provider read less of the last request than was expected, if it was clearly less.
    pub(crate) fn missed(&self) -> Option<CacheShortfall> {
        self.missed
    }

    /// How much of the last request the next one can read. Tokens.
    pub(crate) fn cached_tokens(&self) -> usize {
        let Prices { kind, min_tokens, .. } = *self.provider.prices();
        match kind {
            CacheKind::None => 0,
            CacheKind::Automatic { .. } if self.last.total() < min_tokens => 0,
            CacheKind::Automatic { .. } => self.last.total(),
            CacheKind::Explicit { .. } => self.last.read + self.last.written,
        }
    }

    /// When what is cached will be gone unless it is used before, in milliseconds since 1970; `None` when nothing is
    /// cached.
    pub(crate) fn expires_ms(&self) -> Option<u64> {
        let life_ms = u64::from(self.provider.prices().seconds) * 1_000;
        (self.cached_tokens() > 0).then(|| self.last_ms.saturating_add(life_ms))
    }
}
