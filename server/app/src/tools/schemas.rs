//! JSON Schemas of tools: those of their commands, with the budget and the cursor added, and without arguments that a
//! model must not set.

use std::collections::BTreeMap;

use super::Tool;
use super::call::{CURSOR, DEFAULT_TOKENS, MAX_TOKENS, NOT_SAID};
use super::pages::{MORE, NEXT, Shape};
use crate::schema;
use serde_json::{Map, Value, json};

const DEFINITIONS: &str = "#/$defs/";

#[derive(Debug)]
pub struct Schemas(Value);

impl Default for Schemas {
    fn default() -> Self {
        Self::new()
    }
}

impl Schemas {
    /// Derives the schemas from the command types.
    pub fn new() -> Self {
        Self(schema::commands())
    }

    pub fn input(&self, tool: &Tool) -> Map<String, Value> {
        let mut schema = self.of(tool, "params");
        without(&mut schema, tool.hidden());
        if tool.shape.has_budget() {
            let description = format!(
                "Maximum tokens of the result. Defaults to {DEFAULT_TOKENS}. The result says what was left out."
            );
            let most = json!({ "type": "integer", "minimum": 1, "default": DEFAULT_TOKENS, "description": description });
            add(&mut schema, MAX_TOKENS, most);
        }
        if tool.shape.has_cursor() {
            let description = format!(
                "Continues an earlier result. Pass the `{NEXT}` of that result, and repeat the other arguments."
            );
            add(&mut schema, CURSOR, json!({ "type": "string", "description": description }));
        }
        self.complete(schema)
    }

    /// Returns the schema of a tool's structured reply.
    pub fn output(&self, tool: &Tool) -> Map<String, Value> {
        let mut schema = self.of(tool, "reply");
        without(&mut schema, NOT_SAID.iter().copied());
        if tool.shape.has_cursor() {
            let description = "Where to continue; absent if the result is complete.";
            add(&mut schema, NEXT, json!({ "type": "string", "description": description }));
        }
        if matches!(tool.shape, Shape::Clipped(_)) {
            let description = "Number of omitted entries; absent if the result is complete.";
            add(&mut schema, MORE, json!({ "type": "integer", "minimum": 1, "description": description }));
        }
        self.complete(schema)
    }

    fn of(&self, tool: &Tool, side: &str) -> Map<String, Value> {
        let reference = self.0["commands"][tool.command][side]["$ref"].as_str().unwrap_or_default();
        self.definition(reference).and_then(Value::as_object).cloned().unwrap_or_default()
    }

    fn definition(&self, reference: &str) -> Option<&Value> {
        self.0["$defs"].get(name_of(reference)?)
    }

    /// Adds all definitions that a schema refers to.
    fn complete(&self, mut schema: Map<String, Value>) -> Map<String, Value> {
        let own = Value::Object(schema.clone());
        let mut needed = BTreeMap::new();
        let mut open = schema::references(&own);
        while let Some(reference) = open.pop() {
            if let (Some(name), Some(definition)) = (name_of(reference), self.definition(reference))
                && needed.insert(name, definition).is_none()
            {
                open.extend(schema::references(definition));
            }
        }
        if !needed.is_empty() {
            let copied = needed.into_iter().map(|(name, definition)| (name.to_owned(), definition.clone()));
            schema.insert("$defs".to_owned(), copied.collect());
        }
        schema
    }
}

fn name_of(reference: &str) -> Option<&str> {
    reference.strip_prefix(DEFINITIONS)
}

fn add(schema: &mut Map<String, Value>, name: &str, field: Value) {
    if let Value::Object(properties) = schema.entry("properties").or_insert_with(|| Map::new().into()) {
        properties.insert(name.to_owned(), field);
    }
}

fn without(schema: &mut Map<String, Value>, names: impl Iterator<Item = &'static str>) {
    for name in names {
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.shift_remove(name);
        }
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.retain(|field| field != name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::TOOLS;

    #[test]
    fn every_schema_stands_alone_and_hides_what_is_not_for_models() {
        let schemas = Schemas::new();
        for tool in TOOLS {
            let input = Value::Object(schemas.input(tool));
            assert_eq!(input["type"], "object", "{}", tool.name);
            assert_eq!(input["additionalProperties"], false, "{}", tool.name);
            for hidden in tool.hidden() {
                assert!(input["properties"].get(hidden).is_none(), "{} takes {hidden}", tool.name);
            }
            let output = Value::Object(schemas.output(tool));
            assert_eq!(output["type"], "object", "{}", tool.name);
            for schema in [&input, &output] {
                for reference in schema::references(schema) {
                    let pointer = reference.strip_prefix('#').unwrap();
                    assert!(schema.pointer(pointer).is_some(), "{}: {reference}", tool.name);
                }
            }
        }
    }

    /// Hidden arguments must exist, so that a renamed argument does not become visible.
    #[test]
    fn what_is_hidden_is_an_argument_of_the_command() {
        let schemas = Schemas::new();
        for tool in TOOLS {
            let own = schemas.of(tool, "params");
            for hidden in tool.hidden {
                assert!(own["properties"].get(hidden).is_some(), "{} has no {hidden}", tool.command);
            }
        }
    }
}
