//! A finished prompt, and its fields besides the messages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::conversation::dialect::Breakpoints;

/// A tool as a client declares it, in no provider's form.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Name of the tool for the model.
    pub name: String,
    /// Description for the model.
    #[serde(default)]
    pub description: String,
    /// A JSON schema of its arguments, opaque to Strata.
    pub input_schema: Value,
}

/// Fields of a request besides its layout.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// The model's name as the provider knows it, without any prefix.
    pub model: &'a str,
    /// The tools the client declares, in its order.
    pub tools: &'a [Tool],
    /// Routes requests with the same prefix to the same cache, where the dialect has such a field. More
    /// than 64 characters are replaced by their hash.
    pub cache_key: Option<&'a str>,
    /// How the model is told where cached prefixes end, if the dialect leaves that open.
    pub breakpoints: Breakpoints,
}

/// A finished prompt.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Body {
    /// Ready to POST once the client adds model parameters.
    Json(#[schemars(with = "Map<String, Value>")] Value),
    /// Ready to read or paste.
    Text(String),
}

/// The result of `render`.
#[derive(Clone, PartialEq, Debug)]
pub struct RenderedBody {
    /// The prompt.
    pub body: Body,
    /// Number of messages, with the system prompt as one, for the format's cost per message.
    pub messages: usize,
}

impl Body {
    /// Adds fields to a request body. Existing fields are kept; texts take none.
    pub fn extend(&mut self, extra: Map<String, Value>) {
        if let Self::Json(Value::Object(body)) = self {
            for (field, value) in extra {
                body.entry(field).or_insert(value);
            }
        }
    }

    /// All of it as one text: a request body as the bytes to POST, with its fields in their order.
    pub fn into_text(self) -> String {
        match self {
            Self::Json(body) => body.to_string(),
            Self::Text(text) => text,
        }
    }
}
