//! Describes the protocol as data: all Strata-specific commands, notifications and requests, with JSON Schemas derived
//! from their types. The documentation and the bindings of the protocol are generated from this description.

use schemars::JsonSchema;
use serde_json::{Value, json};
use strata_app::commands;
use strata_app::schema::{DIALECT, TypeSchemas};

use tower_lsp::ls_types::notification::Notification;
use tower_lsp::ls_types::request::Request;

use crate::client::InitializationOptions;
use crate::client_requests::{CountTokensRequest, SummarizeRequest};
use crate::outbound::{CompactionNotification, DeltaNotification, StatusNotification, WarningNotification};

/// Returns the schema of the whole protocol. Its `commands` (from the client to the server), `notifications` and
/// `requests` (from the server to the client), and `initializationOptions` refer to `$defs`, which contains each type
/// once.
pub fn schema() -> Value {
    let mut shapes = TypeSchemas::default();
    let commands = commands::describe_all(&mut shapes);
    let notifications = [
        notification_schema::<StatusNotification>(
            &mut shapes,
            "How full the context is and how much of it is cached. Sent at most four times a second.",
        ),
        notification_schema::<CompactionNotification>(&mut shapes, "A compaction started, ended or failed."),
        notification_schema::<DeltaNotification>(
            &mut shapes,
            "A piece of the answer to `strata.prompt.send` or `strata.model.send`. Pieces arrive in order, before the reply.",
        ),
        notification_schema::<WarningNotification>(&mut shapes, "A warning for the user."),
    ];
    let requests = [
        request_schema::<SummarizeRequest>(
            &mut shapes,
            "Asks the client to have a model write a summary. Sent only to clients that list it in `requests` of their \
             `initializationOptions`.",
        ),
        request_schema::<CountTokensRequest>(
            &mut shapes,
            "Asks the client for the provider's token count of a request. Sent only to clients that list it in `requests` of their \
             `initializationOptions`.",
        ),
    ];
    let options = shapes.add_input_type::<InitializationOptions>();
    let description = "The client sends commands with workspace/executeCommand, each with one object as its argument. The server \
                       sends the notifications and requests.";
    json!({
        "$schema": DIALECT,
        "title": "The protocol of Strata",
        "description": description,
        "commands": commands,
        "notifications": Value::from_iter(notifications),
        "requests": Value::from_iter(requests),
        "initializationOptions": options,
        "$defs": shapes.into_definitions(),
    })
}

/// Returns the name and the description of a notification.
fn notification_schema<N: Notification<Params: JsonSchema>>(
    shapes: &mut TypeSchemas,
    doc: &str,
) -> (&'static str, Value) {
    (N::METHOD, shapes.add_notification::<N::Params>(doc))
}

/// Returns the name and the description of a request.
fn request_schema<R: Request<Params: JsonSchema, Result: JsonSchema>>(
    shapes: &mut TypeSchemas,
    doc: &str,
) -> (&'static str, Value) {
    (R::METHOD, shapes.add_request::<R::Params, R::Result>(doc))
}

#[cfg(test)]
mod tests {
    use strata_app::schema::{references, settings_schema};

    use super::*;

    #[test]
    fn every_reference_leads_to_a_definition() {
        for schema in [schema(), settings_schema()] {
            let found = references(&schema);
            assert!(found.len() > 10);
            for reference in found {
                let pointer = reference.strip_prefix('#').unwrap();
                assert!(schema.pointer(pointer).is_some(), "{reference}");
            }
        }
    }

    #[test]
    fn no_two_types_have_one_name() {
        let schema = schema();
        let names = schema["$defs"].as_object().unwrap().keys();
        // Schemars appends a digit to the name of a second type with the same name.
        let doubled: Vec<_> =
            names.filter(|name| name.ends_with(|last: char| last.is_ascii_digit())).collect();
        assert!(doubled.is_empty(), "rename one type of each pair with #[schemars(rename)]: {doubled:?}");
    }

    /// Collects definitions and fields without a description. A field with a constant value needs none.
    fn undescribed(schema: &Value, path: &str, problems: &mut Vec<String>) {
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let is_described = field["description"].as_str().is_some_and(|text| !text.is_empty());
            if !is_described && field.get("const").is_none() {
                problems.push(format!("{path}.{name}"));
            }
        }
        for choices in ["oneOf", "anyOf", "allOf"] {
            for choice in schema[choices].as_array().into_iter().flatten() {
                // A variant with a single field is documented by the description of the variant.
                let is_variant = choice["properties"].as_object().is_some_and(|fields| fields.len() == 1);
                if is_variant && choice["description"].is_string() {
                    continue;
                }
                undescribed(choice, path, problems);
            }
        }
    }

    #[test]
    fn every_type_and_field_has_a_description() {
        let (protocol, settings) = (schema(), settings_schema());
        let mut problems = Vec::new();
        undescribed(&settings, "settings", &mut problems);
        for (name, definition) in protocol["$defs"].as_object().unwrap() {
            // A type named after its command needs no description.
            let is_named_after_command = name.ends_with("Params") || name.ends_with("Reply");
            if definition["description"].is_null() && !is_named_after_command {
                problems.push(name.clone());
            }
            undescribed(definition, name, &mut problems);
        }
        assert!(problems.is_empty(), "missing doc comments:\n{}", problems.join("\n"));
    }

    #[test]
    fn the_schema_is_deterministic() {
        assert_eq!(schema().to_string(), schema().to_string());
    }
}
