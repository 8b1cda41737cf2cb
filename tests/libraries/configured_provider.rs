//! A provider as a user configures it, at the address of a test's server.

#![expect(clippy::unwrap_used, reason = "test support outside of test functions")]

use e2e::Dialect;
use strata_engine::prompt::settings::ProviderName;
use strata_host::provider::{Key, KeySource, Provider};

/// Unlike any other text, so that a search finds it in whatever repeats it.
pub(super) const KEY: &str = "sk-never-show-this-0123456789";

pub(super) fn kind(dialect: Dialect) -> ProviderName {
    match dialect {
        Dialect::Anthropic => ProviderName::Anthropic,
        Dialect::OpenAi => ProviderName::OpenAi,
        Dialect::Responses => ProviderName::Responses,
        Dialect::Gemini => ProviderName::Gemini,
        Dialect::Ollama => ProviderName::Ollama,
    }
}

pub(super) fn provider(dialect: Dialect, base_url: String) -> Provider {
    let key = KeySource::Given(Key::new(KEY).unwrap());
    Provider { kind: kind(dialect), base_url: Some(base_url), model: "small-model".to_owned(), key }
}
