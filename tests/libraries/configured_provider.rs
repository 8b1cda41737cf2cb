//! A provider as a user configures it, at the address of a test's server.

#![expect(clippy::unwrap_used, reason = "test support outside of test functions")]

use e2e::Dialect;
use strata_conversation::providers::ProviderName;
use strata_host::provider::{ApiKey, KeySource, Provider};

/// Unlike any other text, so that a search finds it in whatever repeats it.
pub(super) const KEY: &str = "sk-never-show-this-0123456789";

pub(super) fn kind(dialect: Dialect) -> ProviderName {
    ProviderName::ALL.iter().copied().find(|kind| kind.as_str() == dialect.name()).unwrap()
}

pub(super) fn provider(dialect: Dialect, base_url: String) -> Provider {
    let key = KeySource::Given(ApiKey::new(KEY).unwrap());
    Provider { kind: kind(dialect), base_url: Some(base_url), model: "small-model".to_owned(), key }
}
