//! Message content as a client may write it: a string or a list of blocks. A parse error says which block is invalid,
//! and why.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use strata_engine::conversation::history::ContentBlock;

/// Content of a message, as a list of blocks. A string from a client becomes one text block, or no block if it is
/// empty.
#[derive(Debug)]
pub(super) struct AnswerContent(Vec<ContentBlock>);

impl AnswerContent {
    pub(super) fn into_blocks(self) -> Vec<ContentBlock> {
        self.0
    }
}

impl JsonSchema for AnswerContent {
    fn schema_name() -> Cow<'static, str> {
        "Content".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Content of a message: a string or a list of blocks.",
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": generator.subschema_for::<ContentBlock>() },
            ],
        })
    }
}

impl<'de> Deserialize<'de> for AnswerContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrBlocks)
    }
}

struct TextOrBlocks;

impl<'de> Visitor<'de> for TextOrBlocks {
    type Value = AnswerContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of blocks")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<AnswerContent, E> {
        Ok(AnswerContent(if text.is_empty() { Vec::new() } else { vec![ContentBlock::text(text)] }))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, blocks: A) -> Result<AnswerContent, A::Error> {
        Ok(AnswerContent(Deserialize::deserialize(SeqAccessDeserializer::new(blocks))?))
    }
}
