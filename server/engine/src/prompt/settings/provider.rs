//! Settings for the provider that Strata sends prompts to on request. They come from the user's own layers only, so that a cloned
//! repository cannot send a key to its own server. They never hold a key.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conversation::dialect::Format;
use crate::conversation::key_variable::KeyVariable;

/// A provider by its API. Gateways and self-hosted servers use one of these APIs at their own address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProviderName {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Chat Completions API. Also OpenRouter, LiteLLM, vLLM and others, with `provider.base_url`.
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenAI's Responses API.
    Responses,
    /// Google's `generateContent` API.
    Gemini,
    /// Ollama on this machine. Needs no key.
    Ollama,
}

impl ProviderName {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Anthropic, Self::OpenAi, Self::Responses, Self::Gemini, Self::Ollama];

    /// The request format.
    pub const fn format(self) -> Format {
        match self {
            Self::Anthropic => Format::Anthropic,
            Self::OpenAi | Self::Ollama => Format::OpenAi,
            Self::Responses => Format::Responses,
            Self::Gemini => Format::Gemini,
        }
    }

    /// As it is written in settings, and in front of a model's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Responses => "responses",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }
}

/// The provider for `strata ask` and `strata.prompt.send`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderSettings {
    /// Provider to send prompts to. If unset, Strata sends nothing, even if a key is available.
    pub name: Option<ProviderName>,
    /// Provider address, if not the default one: `https:`, or `http:` on this machine.
    pub base_url: Option<String>,
    /// Model, by its provider's name for it. Defaults to `model`.
    pub model: Option<String>,
    /// Environment variable that holds the provider's key, if not the default one. Its name ends in `_API_KEY`, `_TOKEN` or
    /// `_KEY`.
    pub key_env: Option<KeyVariable>,
    /// Command that prints the provider's key, with its arguments, such as `["pass", "show", "anthropic"]`. Runs without a shell
    /// and takes precedence over environment variables.
    pub key_command: Vec<String>,
    /// Timeout for one answer, in seconds.
    pub timeout_s: u64,
    /// Timeout when the provider stops sending data, in seconds.
    pub stall_s: u64,
    /// Maximum retries when the provider is overloaded or fails before the answer begins.
    pub retries: u32,
    /// Maximum rounds of tool calls per answer.
    pub tool_rounds: u32,
    /// Maximum tokens per answer. Defaults to the reserve for the answer with Anthropic, and to the provider's own limit
    /// elsewhere.
    pub max_output_tokens: Option<usize>,
}

impl Default for ProviderSettings {
    fn default() -> Self {
        Self {
            name: None,
            base_url: None,
            model: None,
            key_env: None,
            key_command: Vec::new(),
            timeout_s: 600,
            stall_s: 90,
            retries: 3,
            tool_rounds: 16,
            max_output_tokens: None,
        }
    }
}
