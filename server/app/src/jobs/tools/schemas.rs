//! JSON Schemas of tools: those of their commands, with the budget and the cursor added, and without arguments that a
//! model must not set. Input schemas use only keywords that all providers accept, since some reject a request over any
//! other (`$ref`, `anyOf`, `format`, lists of types, `additionalProperties`).

use std::collections::BTreeMap;

use super::Tool;
use super::call::{
    CURSOR_ARGUMENT, DEFAULT_MAX_RESULT_TOKENS, FRESHNESS, MAX_TOKENS_ARGUMENT, OMITTED_FIELDS,
};
use super::pages::{NEXT_CURSOR, OMITTED_COUNT_FIELD, Pagination};
use crate::commands;
use crate::schema::{self, TypeSchemas};
use serde_json::{Map, Value, json};

const DEFINITIONS: &str = "#/$defs/";

#[derive(Debug)]
pub struct ToolSchemas(Value);

impl ToolSchemas {
    /// Derives the schemas from the command types. The value has the fields `commands`, the schemas of all commands by
    /// name, and `$defs`, the types that they refer to.
    pub fn from_commands() -> Self {
        let mut shapes = TypeSchemas::default();
        let commands = commands::describe_all(&mut shapes);
        Self(json!({ "commands": commands, "$defs": shapes.into_definitions() }))
    }

    pub fn input_schema(&self, tool: &Tool) -> Map<String, Value> {
        let mut schema = self.command_schema(tool, "params");
        remove_properties(&mut schema, tool.hidden_arguments());
        if tool.shape.has_budget() {
            let description = format!("Token limit, {DEFAULT_MAX_RESULT_TOKENS} by default");
            add_property(
                &mut schema,
                MAX_TOKENS_ARGUMENT,
                json!({ "type": "integer", "description": description }),
            );
        }
        if tool.shape.has_cursor() {
            let description = format!("`{NEXT_CURSOR}` of the last page");
            add_property(
                &mut schema,
                CURSOR_ARGUMENT,
                json!({ "type": "string", "description": description }),
            );
        }
        // The description of the tool says what the arguments are.
        schema.shift_remove("description");
        self.simplify(schema)
    }

    /// Returns the schema of a tool's structured reply.
    pub fn output_schema(&self, tool: &Tool) -> Map<String, Value> {
        let mut schema = self.command_schema(tool, "reply");
        remove_properties(&mut schema, OMITTED_FIELDS.iter().copied());
        if tool.shape.has_cursor() {
            let description = "Where to continue; absent if the result is complete.";
            add_property(&mut schema, NEXT_CURSOR, json!({ "type": "string", "description": description }));
        }
        let description = "What to know about the texts in this result: unsaved files, files that changed since an earlier \
                           result, and changes of the view; absent if there is nothing to know.";
        add_property(&mut schema, FRESHNESS, json!({ "type": "object", "description": description }));
        if matches!(tool.shape, Pagination::Clipped(_)) {
            let description = "Number of omitted entries; absent if the result is complete.";
            add_property(
                &mut schema,
                OMITTED_COUNT_FIELD,
                json!({ "type": "integer", "minimum": 1, "description": description }),
            );
        }
        self.add_definitions(schema)
    }

    fn command_schema(&self, tool: &Tool, side: &str) -> Map<String, Value> {
        let reference = self.0["commands"][tool.command][side]["$ref"].as_str().unwrap_or_default();
        self.definition(reference).and_then(Value::as_object).cloned().unwrap_or_default()
    }

    fn definition(&self, reference: &str) -> Option<&Value> {
        self.0["$defs"].get(definition_name(reference)?)
    }

    /// Returns the schema with references replaced by their definitions, and without keywords that some provider rejects.
    /// Keeps the first sentence of each description. The command checks what the schema no longer says.
    fn simplify(&self, mut schema: Map<String, Value>) -> Map<String, Value> {
        let description = schema.get("description").cloned();
        if let Some(definition) =
            schema.get("$ref").and_then(Value::as_str).and_then(|name| self.definition(name))
        {
            schema = definition.as_object().cloned().unwrap_or_default();
        }
        if let Some(Value::Array(options)) = schema.get("anyOf") {
            // The last option is the most general one: a name after a number.
            let option = options.iter().rev().find(|option| option["type"] != "null");
            schema = option.and_then(Value::as_object).cloned().unwrap_or_default();
            schema = self.simplify(schema);
        }
        for keyword in ["$ref", "additionalProperties", "default", "format", "minimum"] {
            schema.shift_remove(keyword);
        }
        if let Some(Value::Array(types)) = schema.get("type") {
            let named_type = types.iter().find(|name| *name != "null").cloned();
            schema.extend(named_type.map(|name| ("type".to_owned(), name)));
        }
        if let Some(Value::Object(items)) = schema.get("items") {
            let items = self.simplify(items.clone());
            schema.insert("items".to_owned(), items.into());
        }
        if let Some(Value::Object(properties)) = schema.get("properties") {
            let plain = properties.iter().map(|(name, property)| {
                let property = property.as_object().cloned().unwrap_or_default();
                (name.clone(), self.simplify(property).into())
            });
            let plain: Map<String, Value> = plain.collect();
            schema.insert("properties".to_owned(), plain.into());
        }
        let first_sentence =
            description.as_ref().and_then(Value::as_str).and_then(|text| text.split(". ").next());
        schema
            .extend(first_sentence.map(|text| ("description".to_owned(), text.trim_end_matches('.').into())));
        schema
    }

    /// Adds all definitions that a schema refers to.
    fn add_definitions(&self, mut schema: Map<String, Value>) -> Map<String, Value> {
        let schema_value = Value::Object(schema.clone());
        let mut needed = BTreeMap::new();
        let mut pending = schema::references(&schema_value);
        while let Some(reference) = pending.pop() {
            if let (Some(name), Some(definition)) = (definition_name(reference), self.definition(reference))
                && needed.insert(name, definition).is_none()
            {
                pending.extend(schema::references(definition));
            }
        }
        if !needed.is_empty() {
            let copied = needed.into_iter().map(|(name, definition)| (name.to_owned(), definition.clone()));
            schema.insert("$defs".to_owned(), copied.collect());
        }
        schema
    }
}

fn definition_name(reference: &str) -> Option<&str> {
    reference.strip_prefix(DEFINITIONS)
}

fn add_property(schema: &mut Map<String, Value>, name: &str, field: Value) {
    if let Value::Object(properties) = schema.entry("properties").or_insert_with(|| Map::new().into()) {
        properties.insert(name.to_owned(), field);
    }
}

fn remove_properties(schema: &mut Map<String, Value>, names: impl Iterator<Item = &'static str>) {
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
    use strata_tokens::counting::{TokenCounter, Tokenizer};

    use super::*;
    use crate::jobs::tools::TOOLS;

    #[test]
    fn every_schema_is_complete_and_omits_hidden_arguments() {
        let schemas = ToolSchemas::from_commands();
        for tool in TOOLS {
            let input = Value::Object(schemas.input_schema(tool));
            assert_eq!(input["type"], "object", "{}", tool.name);
            for hidden in tool.hidden_arguments() {
                assert!(input["properties"].get(hidden).is_none(), "{} takes {hidden}", tool.name);
            }
            let output = Value::Object(schemas.output_schema(tool));
            assert_eq!(output["type"], "object", "{}", tool.name);
            for reference in schema::references(&output) {
                let pointer = reference.strip_prefix('#').unwrap();
                assert!(output.pointer(pointer).is_some(), "{}: {reference}", tool.name);
            }
        }
    }

    #[test]
    fn input_schemas_use_keywords_that_every_provider_accepts() {
        fn check(tool: &str, schema: &Value) {
            let fields = schema.as_object().unwrap();
            for keyword in fields.keys() {
                let known = ["type", "properties", "required", "items", "enum", "description"];
                assert!(known.contains(&keyword.as_str()), "{tool}: {keyword}");
            }
            assert!(fields["type"].is_string(), "{tool}: {schema}");
            fields.get("items").into_iter().for_each(|items| check(tool, items));
            let properties = fields.get("properties").and_then(Value::as_object);
            properties.into_iter().flat_map(Map::values).for_each(|property| check(tool, property));
        }
        let schemas = ToolSchemas::from_commands();
        for tool in TOOLS {
            check(tool.name, &schemas.input_schema(tool).into());
        }
    }

    /// Every request of a client contains the definitions of all tools.
    #[expect(clippy::print_stdout, reason = "prints the figure in docs/mcp.md")]
    #[test]
    fn the_definitions_of_all_tools_take_few_tokens() {
        let schemas = ToolSchemas::from_commands();
        let definition = |tool: &Tool| json!({ "name": tool.name, "description": tool.description, "input_schema": schemas.input_schema(tool) });
        let all = TOOLS.iter().map(definition).collect::<Value>().to_string();
        let tokens = TokenCounter::default().count(Tokenizer::O200k, &all);
        println!("tool definitions: {tokens} tokens");
        assert!(tokens <= 2_200, "{tokens}");
    }

    /// Hidden arguments must exist, so that a renamed argument does not become visible.
    #[test]
    fn hidden_arguments_exist() {
        let schemas = ToolSchemas::from_commands();
        for tool in TOOLS {
            let params = schemas.command_schema(tool, "params");
            for hidden in tool.hidden {
                assert!(params["properties"].get(hidden).is_some(), "{} has no {hidden}", tool.command);
            }
        }
    }
}
