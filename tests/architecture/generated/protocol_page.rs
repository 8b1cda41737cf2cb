//! Generates `docs/PROTOCOL.md`: every command, notification and request with its fields and an example, from
//! the schema of the protocol and from recorded replies.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::examples::Example;
use super::typescript::of;

/// Returns the text of the page.
pub(crate) fn page(protocol: &Value, examples: &BTreeMap<String, Example>) -> String {
    let mut out = String::from(
        "# Protocol\n\n\
         Every command, notification and request that Strata adds to the Language Server Protocol, with its fields and an example recorded from a\n\
         real server (long texts and lists are shortened; times, session ids and folders are made up). [commands.md](commands.md) explains how to\n\
         use the commands. The same definitions are available as a JSON Schema ([schema/protocol.json](schema/protocol.json), or `strata schema`)\n\
         and as TypeScript ([protocol.ts](../editors/vscode/src/protocol.ts)).\n\n\
         Send a command with `workspace/executeCommand` and one object as its argument. Every command also accepts a `session`, and every reply\n\
         also has a `stateVersion`; both are omitted below.\n\n",
    );
    let _ = writeln!(out, "This page is generated from the Rust types by `{}`.\n", super::RENEW);
    let page = Page { protocol };
    let mut area = "";
    for (name, message) in protocol["commands"].as_object().unwrap() {
        let own = name.split('.').nth(1).unwrap_or_default();
        if own != area {
            area = own;
            let _ = write!(out, "## {area}\n\n");
        }
        page.command(&mut out, name, message, &examples[name]);
    }
    out.push_str("## Notifications from the server\n\n");
    for (name, message) in protocol["notifications"].as_object().unwrap() {
        page.said(&mut out, name, message, examples.get(name));
    }
    out.push_str("## Requests from the server\n\n");
    for (name, message) in protocol["requests"].as_object().unwrap() {
        page.said(&mut out, name, message, examples.get(name));
    }
    out.push_str("## initializationOptions\n\n");
    page.fields(&mut out, "", page.definition(&protocol["initializationOptions"]));
    out.push_str("## Types\n\n");
    for (name, schema) in protocol["$defs"].as_object().unwrap() {
        if page.is_listed(name) {
            page.listed(&mut out, name, schema);
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

struct Page<'a> {
    protocol: &'a Value,
}

/// A field of an object, which may come from any part of its schema.
struct Field<'a> {
    schema: &'a Value,
    is_required: bool,
}

/// Whether all variants of an object have the current fields, or only some.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Certain,
    Possible,
}

impl Page<'_> {
    fn command(&self, out: &mut String, name: &str, message: &Value, example: &Example) {
        let _ = write!(out, "### {name}\n\n{}\n\n", message["description"].as_str().unwrap_or_default());
        self.fields(out, "parameter", self.definition(&message["params"]));
        self.fields(out, "reply field", self.definition(&message["reply"]));
        let _ = write!(out, "```json\n{}\n```\n\n", pretty(&example.params));
        let _ = write!(out, "```json\n{}\n```\n\n", pretty(example.reply.as_ref().unwrap_or(&Value::Null)));
    }

    fn said(&self, out: &mut String, name: &str, message: &Value, example: Option<&Example>) {
        let _ = write!(out, "### {name}\n\n{}\n\n", message["description"].as_str().unwrap_or_default());
        self.fields(out, "parameter", self.definition(&message["params"]));
        if let Some(reply) = message.get("reply") {
            let _ = write!(out, "The client replies with {}.\n\n", self.kind(reply));
        }
        if let Some(example) = example {
            let _ = write!(out, "```json\n{}\n```\n\n", pretty(&example.params));
            if let Some(reply) = &example.reply {
                let _ = write!(out, "```json\n{}\n```\n\n", pretty(reply));
            }
        }
    }

    /// Writes the section of a type.
    fn listed(&self, out: &mut String, name: &str, schema: &Value) {
        let _ = write!(out, "### {name}\n\n");
        if let Some(text) = schema["description"].as_str() {
            let _ = write!(out, "{text}\n\n");
        }
        let constants = ["oneOf", "anyOf"].iter().filter_map(|key| schema[*key].as_array()).flatten();
        let constants: Vec<&Value> = constants.filter(|choice| choice.get("const").is_some()).collect();
        if !constants.is_empty() {
            out.push_str("| value | meaning |\n|---|---|\n");
            for choice in constants {
                let text = choice["description"].as_str().unwrap_or_default();
                let _ = writeln!(out, "| `{}` | {} |", choice["const"], cell(text));
            }
            out.push('\n');
        }
        let mut fields = BTreeMap::new();
        let mut order = Vec::new();
        self.collect(schema, Presence::Certain, &mut fields, &mut order);
        if !order.is_empty() {
            self.fields(out, "field", schema);
        } else if schema.get("oneOf").is_none() && schema.get("anyOf").is_none() {
            let _ = write!(out, "JSON type: {}.\n\n", self.kind(schema));
        }
    }

    fn fields(&self, out: &mut String, title: &str, schema: &Value) {
        let mut fields = BTreeMap::new();
        let mut order = Vec::new();
        self.collect(schema, Presence::Certain, &mut fields, &mut order);
        order.retain(|name| !matches!(name.as_str(), "session" | "stateVersion") || title == "field");
        if order.is_empty() {
            return;
        }
        let _ = write!(out, "| {title} | type | meaning |\n|---|---|---|\n");
        for name in order {
            let Field { schema, is_required } = &fields[&name];
            let optional = if *is_required { "" } else { "?" };
            let text = schema["description"].as_str().unwrap_or_default();
            let _ = writeln!(out, "| `{name}`{optional} | {} | {} |", self.kind(schema), cell(text));
        }
        out.push('\n');
    }

    /// Collects the fields of an object, including those of flattened objects. Fields that only some variants
    /// have are optional.
    fn collect<'s>(
        &'s self,
        schema: &'s Value,
        presence: Presence,
        fields: &mut BTreeMap<String, Field<'s>>,
        order: &mut Vec<String>,
    ) {
        let required = schema["required"].as_array();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = presence == Presence::Certain
                && required.is_some_and(|required| required.iter().any(|one| one == name));
            if !fields.contains_key(name) {
                order.push(name.clone());
                fields.insert(name.clone(), Field { schema: field, is_required });
            }
        }
        if schema.get("$ref").is_some() {
            self.collect(self.definition(schema), presence, fields, order);
        }
        for key in ["oneOf", "anyOf"] {
            for choice in schema[key].as_array().into_iter().flatten() {
                self.collect(choice, Presence::Possible, fields, order);
            }
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.collect(part, presence, fields, order);
        }
    }

    fn definition<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let name = schema["$ref"].as_str().unwrap_or_default().trim_start_matches('#');
        if name.is_empty() { schema } else { self.protocol.pointer(name).unwrap() }
    }

    /// Whether a type has a section of its own. Settings are described on another page.
    fn is_listed(&self, name: &str) -> bool {
        let is_of_command = name.ends_with("Params") || name.ends_with("Reply");
        !is_of_command && !name.contains("Settings") && self.protocol["$defs"].get(name).is_some()
    }

    /// Returns the type of a field, with links to the types that it mentions.
    fn kind(&self, schema: &Value) -> String {
        let text = of(schema, 0).split_whitespace().collect::<Vec<_>>().join(" ");
        if text.contains('{') {
            return "object".to_owned();
        }
        let mut linked = String::new();
        let mut word = String::new();
        for character in text.chars().chain([' ']) {
            if character.is_alphanumeric() {
                word.push(character);
                continue;
            }
            if self.is_listed(&word) {
                let _ = write!(linked, "[{word}](#{})", word.to_lowercase());
            } else if word.contains("Settings") && self.protocol["$defs"].get(&word).is_some() {
                let _ = write!(linked, "[{word}](settings.md)");
            } else {
                linked.push_str(&word);
            }
            word.clear();
            linked.push(character);
        }
        cell(linked.trim_end())
    }
}

fn cell(text: &str) -> String {
    text.replace("\n\n", "<br>").replace('\n', " ").replace('|', "\\|")
}

/// Formats JSON. Values that fit on a line are not split.
fn pretty(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value, 0);
    out
}

fn write_value(out: &mut String, value: &Value, depth: usize) {
    let line = one_line(value);
    let indent = "  ".repeat(depth + 1);
    match value {
        Value::Object(fields) if line.len() + depth * 2 > 100 => {
            out.push_str("{\n");
            for (at, (name, field)) in fields.iter().enumerate() {
                let _ = write!(out, "{indent}{}: ", Value::from(name.as_str()));
                write_value(out, field, depth + 1);
                out.push_str(if at + 1 < fields.len() { ",\n" } else { "\n" });
            }
            let _ = write!(out, "{}}}", "  ".repeat(depth));
        }
        Value::Array(items) if line.len() + depth * 2 > 100 => {
            out.push_str("[\n");
            for (at, item) in items.iter().enumerate() {
                out.push_str(&indent);
                write_value(out, item, depth + 1);
                out.push_str(if at + 1 < items.len() { ",\n" } else { "\n" });
            }
            let _ = write!(out, "{}]", "  ".repeat(depth));
        }
        _ => out.push_str(&line),
    }
}

fn one_line(value: &Value) -> String {
    match value {
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Value::Object(fields) => {
            let field = |(name, field): (&String, &Value)| {
                format!("{}: {}", Value::from(name.as_str()), one_line(field))
            };
            format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(one_line).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Shortens long texts and lists.
pub(crate) fn cut(value: &Value) -> Value {
    const LETTERS: usize = 160;
    match value {
        Value::String(text) if text.chars().count() > LETTERS => {
            let kept: String = text.chars().take(LETTERS - 40).collect();
            format!("{kept} …").into()
        }
        Value::Array(items) => {
            let limit = if items.iter().any(|item| item.is_object() || item.is_array()) { 3 } else { 8 };
            let mut kept: Vec<Value> = items.iter().take(limit).map(cut).collect();
            if items.len() > limit {
                kept.push(format!("… and {} more", items.len() - limit).into());
            }
            kept.into()
        }
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(name, field)| (name.clone(), cut(field))).collect::<Map<_, _>>(),
        ),
        other => other.clone(),
    }
}
