//! Headers and key variables of each provider, and the mapping from model names to providers.

use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use strata_conversation::providers::{Endpoint, ProviderName};

use super::address;
use super::key::{ApiKey, KeySource};
use super::model::Provider;

/// Error for a model name that does not identify its provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the provider of model `{0}` is unknown: prefix the name with one of {prefixes}/, or set the address of an OpenAI-compatible server",
    prefixes = ProviderName::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join("/, ")
)]
pub struct UnknownModel(
    /// The model name, truncated.
    pub String,
);

/// Builds the headers of a request, with the key in the header that the provider expects.
pub(super) fn headers(endpoint: &Endpoint, url: &Url, key: Option<&ApiKey>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in endpoint.headers {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    let host = url.host_str().unwrap_or_default();
    let header = endpoint.key_headers.iter().find(|header| host.ends_with(header.host));
    if let (Some(header), Some(key)) = (header, key)
        && let Some(value) = key.header(header.scheme)
    {
        headers.insert(header.name, value);
    }
    headers
}

impl Provider {
    /// Infers the provider from a model name. `kind/model` names the provider explicitly. Otherwise `claude*` is
    /// Anthropic, `gpt*`, `chatgpt*` and `o` followed by a digit are OpenAI, and `gemini*` is Google. With a
    /// `base_url`, any other name is assumed to use OpenAI's protocol, as nearly all servers do. This includes
    /// `bedrock/model` unless the host is Amazon's, since gateways such as LiteLLM name their models like that.
    ///
    /// # Errors
    /// [`UnknownModel`] if neither the name nor a base URL determines the provider.
    pub fn for_model(name: &str, base_url: Option<String>) -> Result<Self, UnknownModel> {
        let name = name.trim();
        let unknown = || UnknownModel(name.chars().take(100).collect());
        let is_prefix = |kind: ProviderName| {
            let hosts = kind.endpoint().prefix_hosts;
            hosts.is_empty() || base_url.as_deref().is_none_or(|url| address::has_host_suffix(url, hosts))
        };
        let prefixed = name.split_once('/').and_then(|(prefix, model)| {
            let mut all = ProviderName::ALL.iter().copied();
            let kind = all.find(|kind| kind.as_str().eq_ignore_ascii_case(prefix))?;
            is_prefix(kind).then_some((kind, model))
        });
        let (kind, model) = match prefixed {
            Some(kind_and_model) => kind_and_model,
            None if base_url.is_some() => (infer_provider(name).unwrap_or(ProviderName::OpenAi), name),
            None => (infer_provider(name).ok_or_else(unknown)?, name),
        };
        if !address::is_valid_model_name(model) {
            return Err(unknown());
        }
        Ok(Self { kind, base_url, model: model.to_owned(), key: KeySource::Usual })
    }
}

fn infer_provider(name: &str) -> Option<ProviderName> {
    ProviderName::ALL.iter().copied().find(|kind| kind.endpoint().matches_model_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_in_the_header_that_the_provider_expects() {
        use ProviderName::{Anthropic, Bedrock, Gemini, OpenAi, Responses};
        for (kind, url, header, value) in [
            (Anthropic, "https://api.anthropic.com/v1/messages", "x-api-key", "k"),
            (Anthropic, "https://me.services.ai.azure.com/anthropic/v1/messages", "x-api-key", "k"),
            (OpenAi, "https://api.openai.com/v1/chat/completions", "authorization", "Bearer k"),
            (OpenAi, "https://me.openai.azure.com/openai/v1/chat/completions", "api-key", "k"),
            (OpenAi, "https://azure.com.example/openai/chat/completions", "authorization", "Bearer k"),
            (
                Responses,
                "https://me.openai.azure.com/openai/v1/responses?api-version=preview",
                "api-key",
                "k",
            ),
            (Gemini, "https://generativelanguage.googleapis.com/v1beta/models", "x-goog-api-key", "k"),
            (
                Bedrock,
                "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse",
                "authorization",
                "Bearer k",
            ),
        ] {
            let headers = headers(kind.endpoint(), &Url::parse(url).unwrap(), ApiKey::new("k").as_ref());
            assert_eq!(headers.get(header).and_then(|value| value.to_str().ok()), Some(value), "{url}");
            let others = ["x-api-key", "authorization", "api-key", "x-goog-api-key"];
            assert_eq!(others.iter().filter(|name| headers.contains_key(**name)).count(), 1, "{url}");
        }
    }

    #[test]
    fn the_model_name_determines_the_provider() {
        for (name, kind, model) in [
            ("claude-haiku-4-5", ProviderName::Anthropic, "claude-haiku-4-5"),
            ("gpt-4o-mini", ProviderName::OpenAi, "gpt-4o-mini"),
            ("responses/gpt-5.1", ProviderName::Responses, "gpt-5.1"),
            ("o3-mini", ProviderName::OpenAi, "o3-mini"),
            ("chatgpt-4o-latest", ProviderName::OpenAi, "chatgpt-4o-latest"),
            ("gemini-3-flash", ProviderName::Gemini, "gemini-3-flash"),
            ("ollama/llama3.2:3b", ProviderName::Ollama, "llama3.2:3b"),
            ("openai/claude-haiku", ProviderName::OpenAi, "claude-haiku"),
            ("openai/anthropic/claude-haiku", ProviderName::OpenAi, "anthropic/claude-haiku"),
            ("Anthropic/gpt", ProviderName::Anthropic, "gpt"),
            ("bedrock/us.anthropic.claude-x-v1:0", ProviderName::Bedrock, "us.anthropic.claude-x-v1:0"),
        ] {
            let provider = Provider::for_model(name, None).unwrap();
            assert_eq!((provider.kind, provider.model.as_str()), (kind, model), "{name}");
        }
    }

    #[test]
    fn an_unknown_name_needs_an_address() {
        for name in ["llama3", "other", "", "ollama/", "meta-llama/Llama-3"] {
            assert!(Provider::for_model(name, None).is_err(), "{name}");
        }
        let (gateway, amazon) =
            ("http://localhost:8080/v1", "https://bedrock-runtime.eu-west-1.amazonaws.com");
        for (name, base_url, kind, model) in [
            ("meta-llama/Llama-3", gateway, ProviderName::OpenAi, "meta-llama/Llama-3"),
            ("bedrock/anthropic.claude-x", gateway, ProviderName::OpenAi, "bedrock/anthropic.claude-x"),
            ("bedrock/anthropic.claude-x", amazon, ProviderName::Bedrock, "anthropic.claude-x"),
        ] {
            let provider = Provider::for_model(name, Some(base_url.to_owned())).unwrap();
            assert_eq!((provider.kind, provider.model.as_str()), (kind, model), "{name} at {base_url}");
        }
    }
}
