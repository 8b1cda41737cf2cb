//! Content as a client may write it: a string or a list. A parse error says which item is invalid, and why.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::{ContentBlock, ResultPart};

/// A list that a client may write as a string, which becomes one item, or none if it is empty.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(transparent)]
pub struct TextOrList<T>(pub Vec<T>);

/// An item of a [`TextOrList`].
pub trait TextItem: DeserializeOwned + JsonSchema {
    /// Name of the list in schemas.
    const LIST_SCHEMA_NAME: &'static str;
    const DESCRIPTION: &'static str;

    fn from_text(text: &str) -> Self;
}

impl TextItem for ContentBlock {
    const LIST_SCHEMA_NAME: &'static str = "Content";
    const DESCRIPTION: &'static str = "Content of a message: a string or a list of blocks.";

    fn from_text(text: &str) -> Self {
        Self::text(text)
    }
}

impl TextItem for ResultPart {
    const LIST_SCHEMA_NAME: &'static str = "ToolOutput";
    const DESCRIPTION: &'static str = "Content of a tool output: a string or a list of parts.";

    fn from_text(text: &str) -> Self {
        Self::Text { text: text.to_owned() }
    }
}

impl<T: TextItem> From<&str> for TextOrList<T> {
    fn from(text: &str) -> Self {
        Self(if text.is_empty() { Vec::new() } else { vec![T::from_text(text)] })
    }
}

impl<T: TextItem> JsonSchema for TextOrList<T> {
    fn schema_name() -> Cow<'static, str> {
        T::LIST_SCHEMA_NAME.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": T::DESCRIPTION,
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": generator.subschema_for::<T>() },
            ],
        })
    }
}

impl<'de, T: TextItem> Deserialize<'de> for TextOrList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrListVisitor(PhantomData))
    }
}

struct TextOrListVisitor<T>(PhantomData<T>);

impl<'de, T: TextItem> Visitor<'de> for TextOrListVisitor<T> {
    type Value = TextOrList<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TextOrList<T>, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<TextOrList<T>, A::Error> {
        Ok(TextOrList(Deserialize::deserialize(SeqAccessDeserializer::new(items))?))
    }
}
