//! A model and how to reach it.

use strata_conversation::providers::ProviderName;

use super::key::KeySource;

/// A model and how to reach it.
#[derive(Debug, Clone)]
pub struct Provider {
    /// The provider, which determines the protocol.
    pub kind: ProviderName,
    /// Base URL in the form that the provider's own client accepts (`https://api.openai.com/v1`,
    /// `https://api.anthropic.com`, `http://localhost:11434`). Defaults to the provider's public address.
    pub base_url: Option<String>,
    /// Model name, as the provider writes it.
    pub model: String,
    pub key: KeySource,
}
