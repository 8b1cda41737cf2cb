//! The parts of a request outside of its messages, for all formats.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strata_tokens::models::{self, CacheKind, Model};

/// A tool as declared by a client, independent of providers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Name of the tool, shown to the model.
    pub name: String,
    /// Description of the tool, shown to the model.
    #[serde(default)]
    pub description: String,
    /// JSON schema of the tool's arguments. Strata passes it on unchanged.
    pub input_schema: Value,
}

/// Whether the model may call the declared tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model may call none. The declarations stay, because they are part of the cached prefix. Bedrock has no such
    /// option.
    None,
}

/// How cached prefixes are marked in a format with both automatic and explicit caching.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BreakpointMode {
    /// No breakpoints: the provider recognizes cached prefixes automatically and rejects breakpoints.
    #[default]
    Automatic,
    /// Breakpoints in the body mark the ends of cached prefixes, and nothing else is cached.
    Explicit,
}

impl BreakpointMode {
    /// Returns how cached prefixes are marked for `model`. Only OpenAI's own models with explicit caching
    /// accept breakpoints.
    pub fn for_model(model: &Model) -> Self {
        match (model.provider, model.cache.kind) {
            (models::ModelProvider::OpenAi, CacheKind::Explicit { .. }) => Self::Explicit,
            _ => Self::Automatic,
        }
    }
}

/// Fields of a request that are not part of its layout.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// Model as the provider names it, without any prefix.
    pub model: &'a str,
    /// Tools that the client declares, in the client's order.
    pub tools: &'a [Tool],
    /// Whether the model may call them.
    pub tool_choice: ToolChoice,
    /// Key that routes requests with the same prefix to the same cache, in formats with such a field. A key of more
    /// than 64 characters is replaced by its hash.
    pub cache_key: Option<&'a str>,
    /// How to mark the ends of cached prefixes, in formats that support several ways.
    pub breakpoints: BreakpointMode,
}

impl<'a> Envelope<'a> {
    pub fn without_tools(model: &'a str) -> Self {
        let (tool_choice, breakpoints) = (ToolChoice::Auto, BreakpointMode::Automatic);
        Self { model, tools: &[], tool_choice, cache_key: None, breakpoints }
    }

    /// Writes the tools, and `tool_choice` with the value `none` if they may not be called.
    pub(super) fn write_tools(&self, body: &mut Fields, declared: fn(&Tool) -> Value, none: Value) {
        if self.tools.is_empty() {
            return;
        }
        body.insert("tools".into(), self.tools.iter().map(declared).collect());
        if self.tool_choice == ToolChoice::None {
            body.insert("tool_choice".into(), none);
        }
    }
}

pub(crate) type Fields = Map<String, Value>;

/// A request body, with its number of messages.
#[derive(Debug)]
pub struct RequestBody {
    pub fields: Fields,
    /// Number of messages, including the system prompt as one. Used for the format's overhead per message.
    pub messages: usize,
}
