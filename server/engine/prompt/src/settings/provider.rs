//! Settings for the provider that Strata sends prompts to on request. Only the user can set them, so that a cloned
//! repository cannot send a key to its own server. The settings never contain a key.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_conversation::providers::ProviderName;
use strata_conversation::settings::KeyVariable;

/// The provider that `strata ask` and `strata.prompt.send` use.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderSettings {
    /// API of the provider to send prompts to. Strata sends nothing unless this is set, even if a key is available.
    pub name: Option<ProviderName>,
    /// Base URL of the provider, for a gateway, a proxy or your own server. Must be `https:`, or `http:` for a server
    /// on this machine. Defaults to the provider's public address.
    pub base_url: Option<String>,
    /// Model to send prompts to, by the name the provider uses. Defaults to the setting `model`.
    pub model: Option<String>,
    /// Environment variable that contains the provider's key. Its name must end in `_API_KEY`, `_TOKEN` or `_KEY`.
    /// Defaults to the provider's usual variable, such as `ANTHROPIC_API_KEY`.
    pub key_env: Option<KeyVariable>,
    /// Command that prints the provider's key, as a program and its arguments, such as `["pass", "show",
    /// "anthropic"]`. Runs without a shell, and takes precedence over environment variables.
    pub key_command: Vec<String>,
    /// Maximum time for one request, including retries, in seconds.
    pub timeout_s: u64,
    /// Maximum time without any data from the provider, in seconds. Raise it for models that send nothing while they
    /// reason.
    pub stall_s: u64,
    /// Maximum number of retries if the provider is overloaded or fails before the answer begins.
    pub retries: u32,
    /// Maximum rounds of tool calls per answer. After the last one, the model is asked to answer with what it knows.
    pub tool_rounds: u32,
    /// Token limit for an answer. Defaults to the tokens reserved for the answer (`budget.output_reserve`) with
    /// Anthropic, and to the provider's own limit with others.
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
