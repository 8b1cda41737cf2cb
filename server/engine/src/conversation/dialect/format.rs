//! The forms in which a conversation leaves the house, and how each is told where cached prefixes end. Writes none of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spoken::Carriers;
use crate::conversation::history::Provider;
use crate::tokens::models::{self, CacheKind, Model};

/// The form in which a prompt leaves the house.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A body for Anthropic's Messages API.
    #[default]
    Anthropic,
    /// A body for OpenAI's Chat Completions API, which many others speak too.
    OpenAi,
    /// A body for OpenAI's Responses API.
    Responses,
    /// A body for Google's `generateContent`.
    Gemini,
    /// A body for Bedrock's Converse API, `modelId` included.
    Bedrock,
    /// A text for reading and pasting.
    Markdown,
}

/// How a dialect that has both ways says where cached prefixes end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Breakpoints {
    /// Not at all: the provider finds known prefixes itself, and refuses breakpoints.
    #[default]
    Automatic,
    /// By breakpoints in the body, and nowhere else.
    Explicit,
}

impl Breakpoints {
    /// What `model` asks for: only OpenAI's own models with explicit caching take OpenAI's breakpoints.
    pub(crate) fn of(model: &Model) -> Self {
        match (model.provider, model.cache.kind) {
            (models::Provider::OpenAi, CacheKind::Explicit { .. }) => Self::Explicit,
            _ => Self::Automatic,
        }
    }
}

impl Format {
    /// The form that a model's own provider takes.
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

    /// The provider whose form of messages it is; markdown has none.
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
