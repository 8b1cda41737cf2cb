//! A finished request body, and the request fields outside of the layout.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::conversation::dialect::Breakpoints;

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

/// Fields of a request that are not part of its layout.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// Model as the provider names it, without any prefix.
    pub model: &'a str,
    /// Tools that the client declares, in the client's order.
    pub tools: &'a [Tool],
    /// Whether the model may call them.
    pub tool_choice: ToolChoice,
    /// Key that routes requests with the same prefix to the same cache, in dialects with such a field. A key of more
    /// than 64 characters is replaced by its hash.
    pub cache_key: Option<&'a str>,
    /// How to mark the ends of cached prefixes, in dialects that support several ways.
    pub breakpoints: Breakpoints,
}

/// A finished request body.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Body {
    /// A JSON body, ready to POST once the client adds model parameters.
    Json(#[schemars(with = "Map<String, Value>")] Value),
    /// A text to read or paste.
    Text(String),
}

/// A finished request body, with its number of messages.
#[derive(Clone, PartialEq, Debug)]
pub struct RenderedBody {
    pub body: Body,
    /// Number of messages, including the system prompt as one. Used for the format's overhead per message.
    pub messages: usize,
}

impl Body {
    /// Adds fields to a JSON body without replacing existing ones. A text has no fields and is left unchanged.
    pub fn extend(&mut self, extra: Map<String, Value>) {
        if let Self::Json(Value::Object(body)) = self {
            for (field, value) in extra {
                body.entry(field).or_insert(value);
            }
        }
    }

    /// Converts the body to text. For a JSON body, this is the exact text to POST.
    pub fn into_text(self) -> String {
        match self {
            Self::Json(body) => body.to_string(),
            Self::Text(text) => text,
        }
    }
}
