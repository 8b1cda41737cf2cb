//! Collects the schemas of types by name. A type used in both requests and replies may have two shapes, because a field
//! that is optional in a request can be required in a reply.

use std::collections::BTreeSet;

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::tidy::{Absent, tidy};

const DEFINITIONS: &str = "#/$defs/";

/// The schemas of the protocol's types, keyed by type name.
#[derive(Debug)]
pub struct Shapes {
    taken: SchemaGenerator,
    said: SchemaGenerator,
    /// Argument schemas, one definition per command.
    arguments: Map<String, Value>,
    replies: Map<String, Value>,
}

/// Describes a message by a sentence and by references to the schemas of its arguments and its reply. Notifications have
/// no reply.
fn message(doc: &str, params: Value, reply: Option<Value>) -> Value {
    let mut message = json!({ "description": doc, "params": params });
    if let (Value::Object(message), Some(reply)) = (&mut message, reply) {
        message.insert("reply".to_owned(), reply);
    }
    message
}

impl Shapes {
    /// Adds a command, and returns its description. Its arguments get the additional field `session`, and its reply gets
    /// `stateVersion`.
    pub(crate) fn command<P, R>(&mut self, name: &'static str, doc: &str) -> Value
    where
        P: JsonSchema + DeserializeOwned,
        R: JsonSchema + Serialize,
    {
        let mut arguments = P::json_schema(&mut self.taken);
        let session = json_schema!({
            "type": ["string", "null"],
            "description": "The session. Defaults to the current one.",
        });
        add_field(&mut arguments, "session", session, Presence::Optional);
        let mut reply = R::json_schema(&mut self.said);
        let version = json_schema!({
            "type": "integer",
            "minimum": 0,
            "description": "Number of changes to the session so far.",
        });
        add_field(&mut reply, "stateVersion", version, Presence::Required);
        let own = own_name(name);
        let (params, replied) = (format!("{own}Params"), format!("{own}Reply"));
        let message = message(doc, reference(&params), Some(reference(&replied)));
        self.arguments.insert(params, arguments.into());
        self.replies.insert(replied, reply.into());
        message
    }

    /// Adds a notification to the client, and returns its description.
    pub fn notification<P: JsonSchema>(&mut self, doc: &str) -> Value {
        message(doc, self.said.subschema_for::<P>().into(), None)
    }

    /// Adds a request to the client, and returns its description.
    pub fn request<P: JsonSchema, R: JsonSchema>(&mut self, doc: &str) -> Value {
        let params = self.said.subschema_for::<P>().into();
        message(doc, params, Some(self.taken.subschema_for::<R>().into()))
    }

    /// Adds a type that clients send, and returns a reference to its schema.
    pub fn taken<T: JsonSchema + DeserializeOwned>(&mut self) -> Value {
        self.taken.subschema_for::<T>().into()
    }

    /// Returns all definitions, each once. If a type has different shapes in requests and replies, the name of the
    /// request shape gets the suffix `Input`.
    pub fn finish(mut self) -> Map<String, Value> {
        let mut taken = self.taken.take_definitions(true);
        let mut said = self.said.take_definitions(true);
        taken.extend(self.arguments);
        said.extend(self.replies);
        taken.values_mut().for_each(|shape| tidy(shape, Absent::MayBeNull));
        said.values_mut().for_each(|shape| tidy(shape, Absent::IsNotThere));
        let different = different(&taken, &said);
        for shape in taken.values_mut() {
            rename_references(shape, &different);
        }
        let mut definitions = said;
        for (name, shape) in taken {
            let name = if different.contains(&name) { format!("{name}Input") } else { name };
            definitions.insert(name, shape);
        }
        definitions.sort_keys();
        definitions
    }
}

impl Default for Shapes {
    fn default() -> Self {
        let generator = |settings: SchemaSettings| settings.into_generator();
        Self {
            taken: generator(SchemaSettings::draft2020_12().for_deserialize()),
            said: generator(SchemaSettings::draft2020_12().for_serialize()),
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
fn own_name(command: &str) -> String {
    let parts = command.split('.').skip(1);
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    };
    parts.filter_map(capital).collect()
}

fn reference(name: &str) -> Value {
    json_schema!({ "$ref": format!("{DEFINITIONS}{name}") }).into()
}

/// Returns the types whose request and reply shapes differ, including types that contain such types.
fn different(taken: &Map<String, Value>, said: &Map<String, Value>) -> BTreeSet<String> {
    let both = || taken.iter().filter(|(name, _)| said.contains_key(*name));
    let differ = both().filter(|(name, shape)| said.get(*name) != Some(*shape));
    let mut different: BTreeSet<String> = differ.map(|(name, _)| name.clone()).collect();
    loop {
        let holders = both().filter(|(name, shape)| {
            !different.contains(*name) && refers(shape, &|name| different.contains(name))
        });
        let holders: Vec<String> = holders.map(|(name, _)| name.clone()).collect();
        if holders.is_empty() {
            return different;
        }
        different.extend(holders);
    }
}

fn refers(shape: &Value, is_wanted: &impl Fn(&str) -> bool) -> bool {
    match shape {
        Value::Object(fields) => fields.iter().any(|(key, value)| match value.as_str() {
            Some(reference) if key == "$ref" => reference.strip_prefix(DEFINITIONS).is_some_and(is_wanted),
            _ => refers(value, is_wanted),
        }),
        Value::Array(items) => items.iter().any(|item| refers(item, is_wanted)),
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
    fn what_comes_in_and_goes_out_differently_has_two_names_and_its_holders_too() {
        let mut shapes = Shapes::default();
        let message = shapes.command::<Payload, Payload>("strata.things.doIt", "Does it.");
        assert_eq!(message["params"], reference("ThingsDoItParams"));
        let definitions = shapes.finish();
        let names: Vec<&str> = definitions.keys().map(String::as_str).collect();
        let expected =
            ["Inner", "InnerInput", "Outer", "OuterInput", "Same", "ThingsDoItParams", "ThingsDoItReply"];
        assert_eq!(names, expected);
        let field = |name: &str, field: &str| definitions[name]["properties"][field].clone();
        assert_eq!(field("ThingsDoItParams", "outer"), reference("OuterInput"));
        assert_eq!(field("OuterInput", "inner"), reference("InnerInput"));
        assert_eq!(field("ThingsDoItReply", "outer"), reference("Outer"));
        assert_eq!(definitions["InnerInput"].get("required"), None);
        assert_eq!(definitions["Inner"]["required"], serde_json::json!(["size"]));
    }

    #[test]
    fn every_command_takes_a_session_and_replies_with_a_version() {
        let mut shapes = Shapes::default();
        shapes.command::<Same, Same>("strata.a.b", "Does it.");
        let definitions = shapes.finish();
        assert_eq!(definitions["ABParams"]["required"], serde_json::json!(["name"]));
        assert!(definitions["ABParams"]["properties"]["session"].is_object());
        assert_eq!(definitions["ABReply"]["required"], serde_json::json!(["name", "stateVersion"]));
    }
}
