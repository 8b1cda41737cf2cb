//! Collects the schemas of types by name. A type used in both requests and replies may have two shapes, because a field
//! that is optional in a request can be required in a reply.

use std::collections::BTreeSet;

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::tidy::{OptionalFields, simplify_schema};

const DEFINITIONS: &str = "#/$defs/";

/// The schemas of the protocol's types, keyed by type name.
#[derive(Debug)]
pub struct TypeSchemas {
    inputs: SchemaGenerator,
    outputs: SchemaGenerator,
    /// Argument schemas, one definition per command.
    arguments: Map<String, Value>,
    replies: Map<String, Value>,
}

/// Describes a message by a sentence and by references to the schemas of its arguments and its reply. Notifications have
/// no reply.
fn describe_message(doc: &str, params: Value, reply: Option<Value>) -> Value {
    let mut message = json!({ "description": doc, "params": params });
    if let (Value::Object(message), Some(reply)) = (&mut message, reply) {
        message.insert("reply".to_owned(), reply);
    }
    message
}

impl TypeSchemas {
    /// Adds a command, and returns its description. Its arguments get the additional field `session`, and its reply gets
    /// `stateVersion`.
    pub(crate) fn add_command<P, R>(&mut self, name: &'static str, doc: &str) -> Value
    where
        P: JsonSchema + DeserializeOwned,
        R: JsonSchema + Serialize,
    {
        let mut arguments = P::json_schema(&mut self.inputs);
        let session = json_schema!({
            "type": ["string", "null"],
            "description": "The session. Defaults to the current one.",
        });
        add_field(&mut arguments, "session", session, Presence::Optional);
        let mut reply = R::json_schema(&mut self.outputs);
        let version = json_schema!({
            "type": "integer",
            "minimum": 0,
            "description": "Number of changes to the session so far.",
        });
        add_field(&mut reply, "stateVersion", version, Presence::Required);
        let type_prefix = type_name(name);
        let (params, reply_name) = (format!("{type_prefix}Params"), format!("{type_prefix}Reply"));
        let message = describe_message(doc, schema_ref(&params), Some(schema_ref(&reply_name)));
        self.arguments.insert(params, arguments.into());
        self.replies.insert(reply_name, reply.into());
        message
    }

    /// Adds a notification to the client, and returns its description.
    pub fn add_notification<P: JsonSchema>(&mut self, doc: &str) -> Value {
        describe_message(doc, self.outputs.subschema_for::<P>().into(), None)
    }

    /// Adds a request to the client, and returns its description.
    pub fn add_request<P: JsonSchema, R: JsonSchema>(&mut self, doc: &str) -> Value {
        let params = self.outputs.subschema_for::<P>().into();
        describe_message(doc, params, Some(self.inputs.subschema_for::<R>().into()))
    }

    /// Adds a type that clients send, and returns a reference to its schema.
    pub fn add_input_type<T: JsonSchema + DeserializeOwned>(&mut self) -> Value {
        self.inputs.subschema_for::<T>().into()
    }

    /// Returns all definitions, each once. If a type has different shapes in requests and replies, the name of the
    /// request shape gets the suffix `Input`.
    pub fn into_definitions(mut self) -> Map<String, Value> {
        let mut inputs = self.inputs.take_definitions(true);
        let mut outputs = self.outputs.take_definitions(true);
        inputs.extend(self.arguments);
        outputs.extend(self.replies);
        inputs.values_mut().for_each(|schema| simplify_schema(schema, OptionalFields::MayBeNull));
        outputs.values_mut().for_each(|schema| simplify_schema(schema, OptionalFields::AreOmitted));
        let differing = differing_types(&inputs, &outputs);
        for schema in inputs.values_mut() {
            rename_references(schema, &differing);
        }
        let mut definitions = outputs;
        for (name, schema) in inputs {
            let name = if differing.contains(&name) { format!("{name}Input") } else { name };
            definitions.insert(name, schema);
        }
        definitions.sort_keys();
        definitions
    }
}

impl Default for TypeSchemas {
    fn default() -> Self {
        let generator = |settings: SchemaSettings| settings.into_generator();
        Self {
            inputs: generator(SchemaSettings::draft2020_12().for_deserialize()),
            outputs: generator(SchemaSettings::draft2020_12().for_serialize()),
            arguments: Map::new(),
            replies: Map::new(),
        }
    }
}

/// Whether a field is always present.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Required,
    Optional,
}

fn add_field(schema: &mut Schema, name: &str, field: Schema, presence: Presence) {
    let fields = schema.ensure_object();
    fields.entry("type").or_insert_with(|| "object".into());
    let properties = fields.entry("properties").or_insert_with(|| Map::new().into());
    if let Value::Object(properties) = properties {
        properties.insert(name.to_owned(), field.into());
    }
    if presence == Presence::Required
        && let Value::Array(required) = fields.entry("required").or_insert_with(|| Value::Array(Vec::new()))
    {
        required.push(name.into());
    }
}

/// Converts a command name to a type name: `strata.files.markRead` becomes `FilesMarkRead`.
fn type_name(command: &str) -> String {
    let parts = command.split('.').skip(1);
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    };
    parts.filter_map(capital).collect()
}

fn schema_ref(name: &str) -> Value {
    json_schema!({ "$ref": format!("{DEFINITIONS}{name}") }).into()
}

/// Returns the types whose request and reply shapes differ, including types that contain such types.
fn differing_types(inputs: &Map<String, Value>, outputs: &Map<String, Value>) -> BTreeSet<String> {
    let both = || inputs.iter().filter(|(name, _)| outputs.contains_key(*name));
    let differ = both().filter(|(name, shape)| outputs.get(*name) != Some(*shape));
    let mut differing_types: BTreeSet<String> = differ.map(|(name, _)| name.clone()).collect();
    loop {
        let holders = both().filter(|(name, shape)| {
            !differing_types.contains(*name)
                && has_reference_to(shape, &|name| differing_types.contains(name))
        });
        let holders: Vec<String> = holders.map(|(name, _)| name.clone()).collect();
        if holders.is_empty() {
            return differing_types;
        }
        differing_types.extend(holders);
    }
}

fn has_reference_to(shape: &Value, is_wanted: &impl Fn(&str) -> bool) -> bool {
    match shape {
        Value::Object(fields) => fields.iter().any(|(key, value)| match value.as_str() {
            Some(reference) if key == "$ref" => reference.strip_prefix(DEFINITIONS).is_some_and(is_wanted),
            _ => has_reference_to(value, is_wanted),
        }),
        Value::Array(items) => items.iter().any(|item| has_reference_to(item, is_wanted)),
        _ => false,
    }
}

fn rename_references(shape: &mut Value, renamed: &BTreeSet<String>) {
    match shape {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                match value {
                    Value::String(reference) if key == "$ref" => {
                        let name = reference.strip_prefix(DEFINITIONS);
                        if name.is_some_and(|name| renamed.contains(name)) {
                            reference.push_str("Input");
                        }
                    }
                    value => rename_references(value, renamed),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename_references(item, renamed)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Inner {
        #[serde(default)]
        size: u32,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Outer {
        inner: Inner,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Same {
        name: String,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Payload {
        outer: Outer,
        same: Same,
    }

    #[test]
    fn types_with_different_input_and_output_shapes_have_two_names() {
        let mut shapes = TypeSchemas::default();
        let message = shapes.add_command::<Payload, Payload>("strata.things.doIt", "Does it.");
        assert_eq!(message["params"], schema_ref("ThingsDoItParams"));
        let definitions = shapes.into_definitions();
        let names: Vec<&str> = definitions.keys().map(String::as_str).collect();
        let expected =
            ["Inner", "InnerInput", "Outer", "OuterInput", "Same", "ThingsDoItParams", "ThingsDoItReply"];
        assert_eq!(names, expected);
        let field = |name: &str, field: &str| definitions[name]["properties"][field].clone();
        assert_eq!(field("ThingsDoItParams", "outer"), schema_ref("OuterInput"));
        assert_eq!(field("OuterInput", "inner"), schema_ref("InnerInput"));
        assert_eq!(field("ThingsDoItReply", "outer"), schema_ref("Outer"));
        assert_eq!(definitions["InnerInput"].get("required"), None);
        assert_eq!(definitions["Inner"]["required"], serde_json::json!(["size"]));
    }

    #[test]
    fn every_command_takes_a_session_and_replies_with_a_version() {
        let mut shapes = TypeSchemas::default();
        shapes.add_command::<Same, Same>("strata.a.b", "Does it.");
        let definitions = shapes.into_definitions();
        assert_eq!(definitions["ABParams"]["required"], serde_json::json!(["name"]));
        assert!(definitions["ABParams"]["properties"]["session"].is_object());
        assert_eq!(definitions["ABReply"]["required"], serde_json::json!(["name", "stateVersion"]));
    }
}
