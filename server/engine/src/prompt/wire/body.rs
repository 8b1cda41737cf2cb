//! A finished request body, and the fields that accompany its messages.

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

/// Fields of a request besides its layout.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// Model as the provider names it, without any prefix.
    pub model: &'a str,
    /// Tools that the client declares, in its order.
    pub tools: &'a [Tool],
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
    /// A text, ready to read or paste.
    Text(String),
}

/// A finished request body, with its number of messages.
#[derive(Clone, PartialEq, Debug)]
pub struct RenderedBody {
    pub body: Body,
    /// Number of messages, with the system prompt counted as one. Needed for the format's cost per message.
    pub messages: usize,
}

impl Body {
    /// Adds fields to a JSON body. Existing fields are kept; a text is unchanged.
    pub fn extend(&mut self, extra: Map<String, Value>) {
        if let Self::Json(Value::Object(body)) = self {
            for (field, value) in extra {
                body.entry(field).or_insert(value);
            }
        }
    }

    /// Converts the body to a text: for a JSON body, the exact bytes to POST.
    pub fn into_text(self) -> String {
        match self {
            Self::Json(body) => body.to_string(),
            Self::Text(text) => text,
        }
    }
}
