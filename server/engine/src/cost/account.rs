//! What is believed of a provider's cache during one session: what was sent puts prefixes into it, time and reports take
//! them out. Predicts what the next request will cost; asks nobody.

use crate::hash::ContentHash;
use crate::models::CacheKind;
use crate::prompt::Layout;
use crate::tiers::Billed;

use super::{Charge, Prices, Provider, Span, spans};

/// One request as the cache sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct Sent {
    /// Its content blocks.
    pub spans: Vec<Span>,
    /// When it was made, in milliseconds since 1970.
    pub at_ms: u64,
    /// Names what invalidates the whole cache when it changes.
    pub identity: ContentHash,
    /// What the provider charges.
    pub prices: Prices,
}

impl Sent {
    /// A request that will be sent.
    pub fn new(layout: &Layout, at_ms: u64, identity: ContentHash, prices: Prices) -> Self {
        Self { spans: spans(layout, 0), at_ms, identity, prices }
    }
}

/// What is believed to be cached.
#[derive(Clone, Debug)]
pub struct Account {
    identity: ContentHash,
    provider: Provider,
    last: Charge,
    last_ms: u64,
}

impl Account {
    /// An account at a provider that holds nothing yet.
    fn new(sent: &Sent) -> Self {
        let provider = Provider::new(sent.prices);
        Self { identity: sent.identity, provider, last: Charge::default(), last_ms: sent.at_ms }
    }

    /// The account after `sent` was answered, and after what the provider says it read, if it says so: when that is less
    /// than predicted, only what this very request wrote is known to be there.
    pub fn after(before: Option<&Self>, sent: &Sent, billed: Option<Billed>) -> Self {
        let mut account = match before {
            Some(account) if account.identity == sent.identity => account.clone(),
            _ => Self::new(sent),
        };
        account.provider.set_prices(sent.prices);
        account.last_ms = sent.at_ms;
        account.last = account.charge(sent);
        if billed.is_some_and(|billed| billed.misses(account.last.read, account.last.total())) {
            account.provider.forget();
            account.last = account.charge(sent);
        }
        account
    }

    /// A request with more breakpoints than the provider takes is refused elsewhere (`wire`); it would cost nothing.
    fn charge(&mut self, sent: &Sent) -> Charge {
        self.provider.charge(&sent.spans, sent.at_ms).unwrap_or_default()
    }

    /// What a request would be charged.
    pub fn predict(before: Option<&Self>, sent: &Sent) -> Charge {
        Self::after(before, sent, None).last
    }

    /// What the account is for: another identity means another cache.
    pub fn identity(&self) -> ContentHash {
        self.identity
    }

    /// What the last request was charged, as far as it is known.
    pub fn last(&self) -> Charge {
        self.last
    }

    /// When what is cached will be gone unless it is used before, in milliseconds since 1970; `None` when nothing is
    /// cached.
    pub fn expires_ms(&self) -> Option<u64> {
        let Prices { kind, min_tokens, seconds, .. } = *self.provider.prices();
        let cached = match kind {
            CacheKind::None => false,
            CacheKind::Automatic { .. } => self.last.total() >= min_tokens,
            CacheKind::Explicit { .. } => self.last.read + self.last.written > 0,
        };
        cached.then(|| self.last_ms.saturating_add(u64::from(seconds) * 1_000))
    }
}
