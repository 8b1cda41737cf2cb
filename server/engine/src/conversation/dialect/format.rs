//! The output formats of a conversation, and how each marks cached prefixes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spoken::{Carriers, Speaker};
use crate::conversation::history::{ContentBlock, Provider};
use crate::tokens::models::{self, CacheKind, Model};

/// Output format of a prompt.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Anthropic Messages API.
    #[default]
    Anthropic,
    /// OpenAI Chat Completions API, which many other providers accept.
    OpenAi,
    /// OpenAI Responses API.
    Responses,
    /// Google `generateContent` API.
    Gemini,
    /// Bedrock Converse API. The body also contains `modelId`, which belongs in the request's URL.
    Bedrock,
    /// Markdown, for reading and pasting.
    Markdown,
}

/// How cached prefixes are marked in a dialect with both automatic and explicit caching.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Breakpoints {
    /// No breakpoints: the provider recognizes cached prefixes automatically and rejects breakpoints.
    #[default]
    Automatic,
    /// Breakpoints in the body mark the ends of cached prefixes, and nothing else is cached.
    Explicit,
}

impl Breakpoints {
    /// Returns how cached prefixes are marked for `model`. Only OpenAI's own models with explicit caching
    /// accept breakpoints.
    pub(crate) fn of(model: &Model) -> Self {
        match (model.provider, model.cache.kind) {
            (models::Provider::OpenAi, CacheKind::Explicit { .. }) => Self::Explicit,
            _ => Self::Automatic,
        }
    }
}

impl Format {
    /// Returns the format of the model's own provider.
    pub fn of(model: &Model) -> Self {
        match model.provider {
            models::Provider::Anthropic => Self::Anthropic,
            models::Provider::Google => Self::Gemini,
            _ => Self::OpenAi,
        }
    }

    /// Whether `content` from `speaker` can carry a cache breakpoint in this format.
    pub fn can_mark(self, speaker: Speaker, content: &ContentBlock) -> bool {
        self.carriers().include(speaker, content)
    }

    pub(crate) fn carriers(self) -> Carriers {
        match self {
            Self::Anthropic | Self::Gemini | Self::Bedrock | Self::Markdown => Carriers::Any,
            Self::OpenAi | Self::Responses => Carriers::Input,
        }
    }

    /// Returns the provider whose message format is used; `None` for Markdown.
    pub fn provider(self) -> Option<Provider> {
        match self {
            Self::Anthropic => Some(Provider::Anthropic),
            Self::OpenAi => Some(Provider::OpenAi),
            Self::Responses => Some(Provider::OpenAiResponses),
            Self::Gemini => Some(Provider::Gemini),
            Self::Bedrock => Some(Provider::Bedrock),
            Self::Markdown => None,
        }
    }
}
