//! A finished request body.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use strata_conversation::providers::RequestBody;

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

impl From<RequestBody> for RenderedBody {
    fn from(RequestBody { fields, messages }: RequestBody) -> Self {
        Self { body: Body::Json(fields.into()), messages }
    }
}

impl Body {
    /// Adds fields to a JSON body without replacing existing ones. A text has no fields and is left unchanged.
    pub fn add_missing_fields(&mut self, extra: Map<String, Value>) {
        if let Self::Json(Value::Object(body)) = self {
            for (field, value) in extra {
                body.entry(field).or_insert(value);
            }
        }
    }

    /// Adds a number to a JSON body, unless it has the field.
    pub fn add_missing_number(&mut self, field: &str, number: usize) {
        self.add_missing_fields(Map::from_iter([(field.to_owned(), number.into())]));
    }

    /// Converts the body to text. For a JSON body, this is the exact text to POST.
    pub fn into_text(self) -> String {
        match self {
            Self::Json(body) => body.to_string(),
            Self::Text(text) => text,
        }
    }
}
