//! The supported protocols, and the protocol of a model by its name. Sends nothing.

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use strata_engine::conversation::dialect::Format;

use super::error::SendError;
use super::key::{Key, KeySource};
use super::{Provider, address};

/// A protocol that models are asked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderKind {
    Anthropic,
    /// OpenAI's chat completions, which many other servers speak as well.
    OpenAi,
    /// OpenAI's responses.
    Responses,
    /// Google's `generateContent`.
    Gemini,
    /// Ollama, on this machine unless an address says otherwise. Chats are sent as OpenAI's.
    Ollama,
}

/// The name of a model does not say whose it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot tell the provider of model `{0}`: prefix it with anthropic/, openai/, responses/, gemini/ or ollama/, or set the address \
     of a server with OpenAI's protocol"
)]
pub struct UnknownModel(
    /// The name, clipped.
    pub String,
);

impl ProviderKind {
    pub const ALL: [Self; 5] = [Self::Anthropic, Self::OpenAi, Self::Responses, Self::Gemini, Self::Ollama];

    /// The protocol that bodies in a format are sent by.
    ///
    /// # Errors
    /// [`SendError::NotSent`] for the formats that Strata only writes.
    pub fn of(format: Format) -> Result<Self, SendError> {
        match format {
            Format::Anthropic => Ok(Self::Anthropic),
            Format::OpenAi => Ok(Self::OpenAi),
            Format::Responses => Ok(Self::Responses),
            Format::Gemini => Ok(Self::Gemini),
            Format::Bedrock => Err(SendError::NotSent { format: "bedrock" }),
            Format::Markdown => Err(SendError::NotSent { format: "markdown" }),
        }
    }

    /// Its name in settings and before a model's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Responses => "responses",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The form of its bodies and replies.
    pub const fn format(self) -> Format {
        match self {
            Self::Anthropic => Format::Anthropic,
            Self::OpenAi | Self::Ollama => Format::OpenAi,
            Self::Responses => Format::Responses,
            Self::Gemini => Format::Gemini,
        }
    }

    /// The environment variable where its key is looked for, as in the provider's own client; none where no key
    /// is needed.
    pub(crate) const fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::OpenAi | Self::Responses => Some("OPENAI_API_KEY"),
            Self::Gemini => Some("GEMINI_API_KEY"),
            Self::Ollama => None,
        }
    }

    /// The headers of a request, with the key where this kind of provider looks for it and nowhere else.
    pub(super) fn headers(self, key: Option<&Key>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let (place, scheme) = match self {
            Self::Anthropic => {
                headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
                (HeaderName::from_static("x-api-key"), "")
            }
            Self::Gemini => (HeaderName::from_static("x-goog-api-key"), ""),
            Self::OpenAi | Self::Responses | Self::Ollama => (AUTHORIZATION, "Bearer "),
        };
        if let Some(value) = key.and_then(|key| key.header(scheme)) {
            headers.insert(place, value);
        }
        headers
    }
}

impl Provider {
    /// The way to a model that is known by name only. `kind/model` says it outright; otherwise `claude*` is
    /// Anthropic's, `gpt*`, `chatgpt*` and `o` with a digit are OpenAI's, `gemini*` is Google's. Any other
    /// name at an address of its own is taken to speak OpenAI's protocol, as nearly every server does.
    ///
    /// # Errors
    /// [`UnknownModel`] when neither the name nor an address says whose it is.
    pub fn for_model(name: &str, base_url: Option<String>) -> Result<Self, UnknownModel> {
        let name = name.trim();
        let unknown = || UnknownModel(name.chars().take(100).collect());
        let prefixed = name.split_once('/').and_then(|(prefix, model)| {
            let kind = ProviderKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(prefix))?;
            Some((kind, model))
        });
        let (kind, model) = match prefixed {
            Some(found) => found,
            None if base_url.is_some() => (guess(name).unwrap_or(ProviderKind::OpenAi), name),
            None => (guess(name).ok_or_else(unknown)?, name),
        };
        if !address::is_model_name(model) {
            return Err(unknown());
        }
        Ok(Self { kind, base_url, model: model.to_owned(), key: KeySource::Usual })
    }
}

/// Guesses the provider of a model by its name.
fn guess(name: &str) -> Option<ProviderKind> {
    let name = name.to_ascii_lowercase();
    let begins = |prefix: &str| name.starts_with(prefix);
    if begins("claude") {
        Some(ProviderKind::Anthropic)
    } else if begins("gemini") {
        Some(ProviderKind::Gemini)
    } else if begins("gpt") || begins("chatgpt") || is_reasoning_model(&name) {
        Some(ProviderKind::OpenAi)
    } else {
        None
    }
}

/// `o1`, `o3-mini`, `o4-mini-2025-04-16`.
fn is_reasoning_model(name: &str) -> bool {
    name.strip_prefix('o').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_enough() {
        for (name, kind, model) in [
            ("claude-haiku-4-5", ProviderKind::Anthropic, "claude-haiku-4-5"),
            ("gpt-4o-mini", ProviderKind::OpenAi, "gpt-4o-mini"),
            ("responses/gpt-5.1", ProviderKind::Responses, "gpt-5.1"),
            ("o3-mini", ProviderKind::OpenAi, "o3-mini"),
            ("chatgpt-4o-latest", ProviderKind::OpenAi, "chatgpt-4o-latest"),
            ("gemini-3-flash", ProviderKind::Gemini, "gemini-3-flash"),
            ("ollama/llama3.2:3b", ProviderKind::Ollama, "llama3.2:3b"),
            ("openai/claude-haiku", ProviderKind::OpenAi, "claude-haiku"),
            ("openai/anthropic/claude-haiku", ProviderKind::OpenAi, "anthropic/claude-haiku"),
            ("Anthropic/gpt", ProviderKind::Anthropic, "gpt"),
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
        let at = Some("http://localhost:8080/v1".to_owned());
        let provider = Provider::for_model("meta-llama/Llama-3", at).unwrap();
        assert_eq!((provider.kind, provider.model.as_str()), (ProviderKind::OpenAi, "meta-llama/Llama-3"));
    }
}
