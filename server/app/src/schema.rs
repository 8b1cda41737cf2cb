//! Describes types and settings by a JSON Schema derived from the types that read and write them.

mod shapes;
mod tidy;

use serde_json::{Map, Value, json};
use strata_prompt::settings::Settings;

pub use shapes::TypeSchemas;

pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Returns the schema of the settings, with defaults and descriptions.
pub fn settings_schema() -> Value {
    let mut shapes = TypeSchemas::default();
    shapes.add_input_type::<Settings>();
    let mut definitions = shapes.into_definitions();
    let root = match definitions.shift_remove("Settings") {
        Some(Value::Object(root)) => root,
        _ => Map::new(),
    };
    let mut settings = json!({ "$schema": DIALECT, "title": "The settings of Strata" });
    if let Value::Object(settings) = &mut settings {
        settings.extend(root);
        settings.insert("$defs".to_owned(), definitions.into());
    }
    settings
}

/// Returns all `$ref`s in a schema, including duplicates.
pub fn references(schema: &Value) -> Vec<&str> {
    match schema {
        Value::Object(fields) => {
            let reference = fields.get("$ref").and_then(Value::as_str);
            reference.into_iter().chain(fields.values().flat_map(references)).collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}
