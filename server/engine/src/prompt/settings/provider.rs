//! Settings of the provider that Strata sends prompts to when you ask it to. They come from your own places only: a cloned repository
//! must not point your key at its own server. They never hold a key.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conversation::dialect::Format;
use crate::conversation::key_variable::KeyVariable;

/// A provider by the requests that it takes. Gateways and servers of your own take those of one of these, at an address of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProviderName {
    /// Anthropic, by its Messages API.
    Anthropic,
    /// OpenAI, by Chat Completions; also OpenRouter, LiteLLM, vLLM and others, with `provider.base_url`.
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenAI, by Responses.
    Responses,
    /// Google, by `generateContent`.
    Gemini,
    /// Ollama on this machine, which needs no key.
    Ollama,
}

impl ProviderName {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Anthropic, Self::OpenAi, Self::Responses, Self::Gemini, Self::Ollama];

    /// The dialect of its requests.
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

/// The provider that `strata ask` and `strata.prompt.send` send prompts to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderSettings {
    /// The provider. Without it nothing is sent, whatever keys the environment has.
    pub name: Option<ProviderName>,
    /// The address of the provider, when not its usual one: `https:`, or `http:` on this machine.
    pub base_url: Option<String>,
    /// The model, by its provider's name. Defaults to the setting `model`.
    pub model: Option<String>,
    /// The environment variable that holds the provider's key, when not the usual one. Its name ends in `_API_KEY`, `_TOKEN` or `_KEY`.
    pub key_env: Option<KeyVariable>,
    /// A program that prints the provider's key, with its arguments, such as `["pass", "show", "anthropic"]`. It is started without a
    /// shell, and used instead of an environment variable.
    pub key_command: Vec<String>,
    /// How long one answer may take, in seconds.
    pub timeout_s: u64,
    /// How long the provider may send nothing at all, in seconds.
    pub stall_s: u64,
    /// How often a request is tried again when the provider is overloaded or fails before an answer begins.
    pub retries: u32,
    /// Maximum rounds of tool calls in one answer.
    pub tool_rounds: u32,
    /// Maximum tokens of one answer. Defaults to what is kept free for it in the window; providers other than Anthropic have a limit of
    /// their own when this is absent.
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
