//! Output formats of a conversation, and how each marks cached prefixes. Writes none of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spoken::Carriers;
use crate::conversation::history::Provider;
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
    /// Google `generateContent`.
    Gemini,
    /// Bedrock Converse API, including `modelId`.
    Bedrock,
    /// Markdown, for reading and pasting.
    Markdown,
}

/// How a dialect that supports both marks cached prefixes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Breakpoints {
    /// It does not: the provider finds known prefixes itself and rejects breakpoints.
    #[default]
    Automatic,
    /// Through breakpoints in the body, and nowhere else.
    Explicit,
}

impl Breakpoints {
    /// The mode that `model` needs. Only OpenAI's own models with explicit caching accept OpenAI's breakpoints.
    pub(crate) fn of(model: &Model) -> Self {
        match (model.provider, model.cache.kind) {
            (models::Provider::OpenAi, CacheKind::Explicit { .. }) => Self::Explicit,
            _ => Self::Automatic,
        }
    }
}

impl Format {
    /// The format of a model's own provider.
    pub fn of(model: &Model) -> Self {
        match model.provider {
            models::Provider::Anthropic => Self::Anthropic,
            models::Provider::Google => Self::Gemini,
            _ => Self::OpenAi,
        }
    }

    /// Which content blocks can carry a cache breakpoint.
    pub fn carriers(self) -> Carriers {
        match self {
            Self::Anthropic | Self::Gemini | Self::Bedrock | Self::Markdown => Carriers::Any,
            Self::OpenAi | Self::Responses => Carriers::Input,
        }
    }

    /// The provider whose message format it uses, or `None` for Markdown.
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
