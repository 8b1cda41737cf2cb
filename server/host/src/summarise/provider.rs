//! Which model is asked, where, and with which key. Guesses the provider from the name of a model; asks nothing.

use serde::{Deserialize, Serialize};

/// A protocol that models are asked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Anthropic's messages.
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
    /// The protocol.
    pub kind: Kind,
    /// Where the provider is, up to and including the version of its interface (`https://api.openai.com/v1`); the
    /// provider's own address when there is none.
    pub base_url: Option<String>,
    /// The model as the provider calls it.
    pub model: String,
    /// The environment variable that holds the key; the kind's own when there is none.
    pub key_env: Option<String>,
}

/// The name of a model does not say whose it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot tell whose model `{0}` is: write anthropic/, openai/, gemini/ or ollama/ in front of it, \
     or give the address of a server that speaks OpenAI's protocol"
)]
pub struct UnknownModel(pub String);

impl Kind {
    /// All of them.
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

    /// The environment variable where its key is looked for; none where no key is needed.
    pub const fn key_env(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::Gemini => Some("GEMINI_API_KEY"),
            Self::Ollama => None,
        }
    }
}

impl Provider {
    /// The way to a model that is known by name only. `kind/model` says it outright; otherwise `claude*` is
    /// Anthropic's, `gpt*`, `chatgpt*` and `o` with a digit are OpenAI's, `gemini*` and `gemma*` Google's. Any other
    /// name at an address of its own is taken to speak OpenAI's protocol, as nearly every server does.
    ///
    /// # Errors
    /// [`UnknownModel`] when neither the name nor an address says whose it is.
    pub fn for_model(name: &str, base_url: Option<String>) -> Result<Self, UnknownModel> {
        let name = name.trim();
        let unknown = || UnknownModel(name.chars().take(100).collect());
        let prefixed = name.split_once('/').and_then(|(prefix, model)| {
            let kind = Kind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(prefix))?;
            Some((kind, model))
        });
        let (kind, model) = match prefixed {
            Some(found) => found,
            None if base_url.is_some() => (guess(name).unwrap_or(Kind::OpenAi), name),
            None => (guess(name).ok_or_else(unknown)?, name),
        };
        if model.is_empty() {
            return Err(unknown());
        }
        Ok(Self { kind, base_url, model: model.to_owned(), key_env: None })
    }
}

/// Whose model this is, by the names that the providers give.
fn guess(name: &str) -> Option<Kind> {
    let name = name.to_ascii_lowercase();
    let begins = |prefix: &str| name.starts_with(prefix);
    if begins("claude") {
        Some(Kind::Anthropic)
    } else if begins("gemini") || begins("gemma") {
        Some(Kind::Gemini)
    } else if begins("gpt") || begins("chatgpt") || is_reasoning_model(&name) {
        Some(Kind::OpenAi)
    } else {
        None
    }
}

/// `o1`, `o3-mini`, `o4-mini-2025-04-16`.
fn is_reasoning_model(name: &str) -> bool {
    name.strip_prefix('o').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}
