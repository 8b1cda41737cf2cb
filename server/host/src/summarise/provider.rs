//! Which model is asked, where, and with which key. Guesses the provider from the name of a model; asks nothing.

use std::net::IpAddr;

use reqwest::Url;
use serde::{Deserialize, Serialize};
use strata_engine::conversation::key_variable::KeyVariable;

use super::error::SummaryError;
use super::key::Key;

/// A protocol that models are asked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    Anthropic,
    /// OpenAI's chat completions, which many other servers speak as well.
    OpenAi,
    /// Google's `generateContent`.
    Gemini,
    /// Ollama's chat, on this machine unless an address says otherwise.
    Ollama,
}

/// A model and the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    pub kind: ProviderKind,
    /// Where the provider is, as its own client takes it (`https://api.openai.com/v1`, `https://api.anthropic.com`,
    /// `http://localhost:11434`); the provider's own address when there is none.
    pub base_url: Option<String>,
    /// The model as the provider calls it.
    pub model: String,
    /// The environment variable that holds the key; the kind's own when there is none.
    pub key_env: Option<KeyVariable>,
}

/// The name of a model does not say whose it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot tell whose model `{0}` is: write anthropic/, openai/, gemini/ or ollama/ in front of it, \
     or give the address of a server that speaks OpenAI's protocol"
)]
pub struct UnknownModel(
    /// The name, clipped.
    pub String,
);

impl ProviderKind {
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenAi, Self::Gemini, Self::Ollama];

    /// Its name in settings and in front of a model's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The environment variable where its key is looked for, as in the provider's own client; none where no key
    /// is needed.
    pub(crate) const fn key_env(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::Gemini => Some("GEMINI_API_KEY"),
            Self::Ollama => None,
        }
    }

    /// The end of an address that belongs to the requests and not to the base, though people write it.
    const fn superfluous_path(self) -> &'static str {
        match self {
            Self::Anthropic => "/v1",
            Self::OpenAi => "/chat/completions",
            Self::Gemini => "/v1beta",
            Self::Ollama => "/api",
        }
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
        if model.is_empty() {
            return Err(unknown());
        }
        Ok(Self { kind, base_url, model: model.to_owned(), key_env: None })
    }

    /// Whether it can be asked with what is configured: its address is allowed and a key that it needs is there. Opens no connection.
    ///
    /// # Errors
    /// [`SummaryError::BadAddress`], [`SummaryError::NoKey`].
    pub fn check(&self) -> Result<(), SummaryError> {
        self.base()?;
        self.key().map(drop)
    }

    /// The key that the environment has for this provider. Servers of one's own that speak OpenAI's protocol often need none, so
    /// there only a variable that was named must be set.
    ///
    /// # Errors
    /// [`SummaryError::NoKey`] when there is none and one is needed.
    pub(crate) fn key(&self) -> Result<Option<Key>, SummaryError> {
        let Some(variable) = self.key_env.as_ref().map(KeyVariable::as_str).or(self.kind.key_env()) else {
            return Ok(None);
        };
        let optional = self.key_env.is_none() && self.kind == ProviderKind::OpenAi && self.base_url.is_some();
        match Key::from_environment(variable) {
            None if !optional => Err(SummaryError::NoKey { env: variable.to_owned() }),
            key => Ok(key),
        }
    }

    /// The address that requests begin with, without the ends that people write and no request needs.
    pub(super) fn base(&self) -> Result<Option<String>, SummaryError> {
        let Some(given) = self.base_url.as_deref() else {
            return Ok(None);
        };
        let bad = |reason: &str| SummaryError::BadAddress { reason: reason.to_owned() };
        let url = Url::parse(given.trim()).map_err(|error| bad(&error.to_string()))?;
        match url.scheme() {
            "https" => {}
            "http" if is_loopback(&url) => {}
            "http" => {
                return Err(bad(
                    "http:// would send the key unencrypted: use https://, or an address on this machine",
                ));
            }
            _ => return Err(bad("it must begin with https://, or with http:// on this machine")),
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(bad("a name, a password or a key does not belong into it, but into the environment"));
        }
        if url.fragment().is_some() {
            return Err(bad("it has a fragment (`#`)"));
        }
        let base = url.as_str().trim_end_matches('/');
        let base = base.strip_suffix(self.kind.superfluous_path()).unwrap_or(base);
        Ok(Some(base.to_owned()))
    }
}

/// Whether an address is on this machine. Names other than `localhost` are looked up elsewhere and may lead anywhere.
fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => {
            host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        None => false,
    }
}

/// Whose model this is, by the names that the providers give.
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

    #[test]
    fn the_base_of_an_address_is_found() {
        let base = |kind: ProviderKind, url: &str| {
            Provider { kind, base_url: Some(url.to_owned()), model: "m".to_owned(), key_env: None }.base()
        };
        for (kind, url, expected) in [
            (ProviderKind::Anthropic, "https://api.anthropic.com", "https://api.anthropic.com"),
            (ProviderKind::Anthropic, "https://api.anthropic.com/v1/", "https://api.anthropic.com"),
            (ProviderKind::OpenAi, "http://localhost:1234/v1/", "http://localhost:1234/v1"),
            (ProviderKind::OpenAi, "http://localhost:1234/v1/chat/completions", "http://localhost:1234/v1"),
            (ProviderKind::Gemini, "http://127.0.0.1:9/v1beta", "http://127.0.0.1:9"),
            (ProviderKind::Ollama, "http://127.0.0.1:11434/api", "http://127.0.0.1:11434"),
            (ProviderKind::OpenAi, "http://[::1]:8080/v1", "http://[::1]:8080/v1"),
            (ProviderKind::OpenAi, "http://2130706433/v1", "http://127.0.0.1/v1"),
        ] {
            assert_eq!(base(kind, url), Ok(Some(expected.to_owned())), "{url}");
        }
        for url in
            ["", "localhost:80", "ftp://a/", "https://me:secret@a/", "https://a/?key=secret", "https://a/#x"]
        {
            let refused = base(ProviderKind::OpenAi, url).unwrap_err();
            assert!(matches!(refused, SummaryError::BadAddress { .. }), "{url}");
            assert!(!refused.to_string().contains("secret"), "{refused}");
        }
        for url in [
            "http://api.example.com/v1",
            "http://192.168.1.2:11434",
            "http://localhost.example.com",
            "http://127.0.0.1.example.com",
            "http://[::ffff:10.0.0.1]/",
            "http://0.0.0.0:1/",
        ] {
            let refused = base(ProviderKind::OpenAi, url).unwrap_err();
            assert!(refused.to_string().contains("unencrypted"), "{url}: {refused}");
        }
    }
}
