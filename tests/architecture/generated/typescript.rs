//! Generates TypeScript types from the schema of the protocol. Supports the part of JSON Schema that the Rust
//! types use, and panics on anything else.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Maximum length of a comment line.
const WIDTH: usize = 116;

/// Returns a module with a type for each definition, and with the commands, notifications and requests by name.
pub(crate) fn types(protocol: &Value) -> String {
    let mut out = String::new();
    out.push_str("// Strata's commands, notifications and requests. Generated from the Rust types by\n");
    let _ = write!(out, "// `{}`; do not edit.\n\n", super::RENEW);
    methods(
        &mut out,
        "Commands for `workspace/executeCommand`, each with its argument and its reply.",
        "Commands",
        &protocol["commands"],
    );
    methods(&mut out, "Notifications from the server.", "Notifications", &protocol["notifications"]);
    methods(
        &mut out,
        "Requests from the server, only to clients that list them in `initializationOptions`.",
        "Requests",
        &protocol["requests"],
    );
    for (name, schema) in protocol["$defs"].as_object().unwrap() {
        definition(&mut out, name, schema);
    }
    // Put one blank line between types, and none at the end.
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn methods(out: &mut String, doc: &str, name: &str, methods: &Value) {
    comment(out, doc, "");
    let _ = writeln!(out, "export interface {name} {{");
    for (method, message) in methods.as_object().unwrap() {
        comment(out, message["description"].as_str().unwrap_or_default(), "  ");
        let params = of(&message["params"], 1);
        let _ = match message.get("reply") {
            Some(reply) => writeln!(out, "  '{method}': {{ params: {params}; reply: {} }};", of(reply, 1)),
            None => writeln!(out, "  '{method}': {params};"),
        };
    }
    out.push_str("}\n\n");
}

fn definition(out: &mut String, name: &str, schema: &Value) {
    comment(out, schema["description"].as_str().unwrap_or_default(), "");
    let fields = schema.as_object().unwrap();
    let is_plain = !["oneOf", "anyOf", "allOf", "$ref"].iter().any(|key| fields.contains_key(*key));
    match schema["properties"].as_object() {
        Some(properties) if is_plain => {
            let _ = write!(out, "export interface {name} {}\n\n", object(properties, &schema["required"], 0));
        }
        _ => {
            let text = of(schema, 0);
            // Put each choice on its own line below the name.
            let gap = if text.starts_with('\n') { "" } else { " " };
            let _ = write!(out, "export type {name} ={gap}{text};\n\n");
        }
    }
}

/// Returns the type that a schema describes. `depth` is its indentation level.
pub(crate) fn of(schema: &Value, depth: usize) -> String {
    let fields = match schema {
        Value::Bool(true) => return "unknown".to_owned(),
        Value::Object(fields) => fields,
        other => panic!("not a schema: {other}"),
    };
    let mut parts = Vec::new();
    if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
        parts.push(reference.rsplit('/').next().unwrap_or_default().to_owned());
    }
    if let Some(constant) = fields.get("const") {
        return literal(constant);
    }
    if let Some(values) = fields.get("enum").and_then(Value::as_array) {
        return values.iter().map(literal).collect::<Vec<_>>().join(" | ");
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(choices) = fields.get(key).and_then(Value::as_array) {
            parts.push(union(choices, depth));
        }
    }
    for part in fields.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        parts.push(in_parentheses(of(part, depth)));
    }
    if parts.is_empty() {
        return match &fields.get("type") {
            None => "unknown".to_owned(),
            Some(Value::Array(types)) => {
                let types: Vec<String> = types.iter().map(|name| named(name, fields, depth)).collect();
                types.join(" | ")
            }
            Some(name) => named(name, fields, depth),
        };
    }
    if let Some(Value::Object(properties)) = fields.get("properties") {
        let own = object(properties, fields.get("required").unwrap_or(&Value::Null), depth);
        parts = parts.into_iter().map(in_parentheses).collect();
        parts.insert(0, own);
    }
    parts.join(" & ")
}

/// Returns a union of types. If one of them is empty, the fields of the others are optional.
fn union(choices: &[Value], depth: usize) -> String {
    let is_nothing = |choice: &Value| choice.as_object().is_some_and(Map::is_empty);
    if choices.iter().any(is_nothing) {
        let others = choices.iter().filter(|choice| !is_nothing(choice));
        let optional: Vec<String> = others.map(|choice| format!("Partial<{}>", of(choice, depth))).collect();
        return optional.join(" & ");
    }
    let documented = choices.iter().any(|choice| choice["description"].is_string());
    if !documented {
        return choices.iter().map(|choice| of(choice, depth + 1)).collect::<Vec<_>>().join(" | ");
    }
    let indent = "  ".repeat(depth + 1);
    let mut out = String::new();
    for choice in choices {
        out.push('\n');
        comment(&mut out, choice["description"].as_str().unwrap_or_default(), &indent);
        let _ = write!(out, "{indent}| {}", of(choice, depth + 1));
    }
    out
}

fn named(name: &Value, fields: &Map<String, Value>, depth: usize) -> String {
    match name.as_str().unwrap_or_default() {
        "string" => "string".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "boolean".to_owned(),
        "null" => "null".to_owned(),
        "array" => match (fields.get("prefixItems"), fields.get("items")) {
            (Some(Value::Array(items)), _) => {
                let items: Vec<String> = items.iter().map(|item| of(item, depth)).collect();
                format!("[{}]", items.join(", "))
            }
            (None, Some(items)) => format!("{}[]", in_parentheses(of(items, depth))),
            other => panic!("unsupported array: {other:?}"),
        },
        "object" => match (fields.get("properties"), fields.get("additionalProperties")) {
            (Some(Value::Object(properties)), _) => {
                object(properties, fields.get("required").unwrap_or(&Value::Null), depth)
            }
            (None, Some(values @ Value::Object(_))) => format!("Record<string, {}>", of(values, depth)),
            (None, None | Some(Value::Bool(true))) => "Record<string, unknown>".to_owned(),
            other => panic!("unsupported object: {other:?}"),
        },
        other => panic!("unknown type: {other}"),
    }
}

fn object(properties: &Map<String, Value>, required: &Value, depth: usize) -> String {
    let is_required =
        |name: &str| required.as_array().is_some_and(|required| required.iter().any(|field| field == name));
    let indent = "  ".repeat(depth + 1);
    let mut out = "{\n".to_owned();
    for (name, schema) in properties {
        comment(&mut out, schema["description"].as_str().unwrap_or_default(), &indent);
        let optional = if is_required(name) { "" } else { "?" };
        let _ = writeln!(out, "{indent}{name}{optional}: {};", of(schema, depth + 1));
    }
    let _ = write!(out, "{}}}", "  ".repeat(depth));
    out
}

fn in_parentheses(text: String) -> String {
    let is_one =
        !text.contains(" | ") && !text.contains(" & ") || text.starts_with('{') && text.ends_with('}');
    if is_one { text } else { format!("({text})") }
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        other => other.to_string(),
    }
}

/// Writes a comment, split into lines. Writes nothing if the text is empty.
fn comment(out: &mut String, text: &str, indent: &str) {
    let text = text.replace("*/", "*\\/");
    let lines = wrapped(&text, WIDTH - indent.len() - 3);
    match lines.as_slice() {
        [] => {}
        [line] if line.len() + indent.len() + 7 <= WIDTH => {
            let _ = writeln!(out, "{indent}/** {line} */");
        }
        lines => {
            let _ = writeln!(out, "{indent}/**");
            for line in lines {
                let _ = writeln!(out, "{indent} * {line}");
            }
            let _ = writeln!(out, "{indent} */");
        }
    }
}

/// Splits a text into lines of at most `width` bytes, unless a word is longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(String::new());
        for word in paragraph.split_whitespace() {
            match lines.last_mut() {
                Some(line) if line.is_empty() => line.push_str(word),
                Some(line) if line.len() + 1 + word.len() <= width => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value, expected: &str) {
        assert_eq!(of(&schema, 0), expected);
    }

    #[test]
    fn every_kind_of_schema_has_its_type() {
        check(json!({ "type": ["integer", "null"], "minimum": 0 }), "number | null");
        check(json!({ "type": "array", "items": { "type": ["string", "null"] } }), "(string | null)[]");
        check(json!({ "type": "array", "items": { "$ref": "#/$defs/Tool" } }), "Tool[]");
        check(json!({ "anyOf": [{ "$ref": "#/$defs/Tier" }, { "type": "null" }] }), "Tier | null");
        check(
            json!({ "type": "object", "additionalProperties": { "type": "integer" } }),
            "Record<string, number>",
        );
        check(json!({ "type": "object", "additionalProperties": true }), "Record<string, unknown>");
        check(json!({ "type": "array", "prefixItems": [{ "type": "string" }, {}] }), "[string, unknown]");
        check(json!({ "description": "Anything." }), "unknown");
        check(json!({ "const": "it's" }), r"'it\'s'");
        check(json!({ "enum": ["a", 1] }), "'a' | 1");
    }

    #[test]
    fn fields_that_may_be_left_out_are_marked() {
        let schema = json!({
            "type": "object",
            "properties": { "a": { "type": "string", "description": "It." }, "b": { "type": "number" } },
            "required": ["a"],
        });
        check(schema, "{\n  /** It. */\n  a: string;\n  b?: number;\n}");
    }

    #[test]
    fn what_is_laid_into_an_object_is_joined_with_it() {
        let schema = json!({
            "type": "object",
            "properties": { "a": { "type": "string" } },
            "anyOf": [{ "$ref": "#/$defs/B" }, { "$ref": "#/$defs/C" }, {}],
        });
        check(schema, "{\n  a?: string;\n} & (Partial<B> & Partial<C>)");
        let schema =
            json!({ "$ref": "#/$defs/B", "type": "object", "properties": { "a": { "const": "x" } } });
        check(schema, "{\n  a?: 'x';\n} & B");
    }

    #[test]
    fn a_comment_cannot_be_closed_from_inside() {
        let mut out = String::new();
        comment(&mut out, "a */ b", "");
        assert_eq!(out, "/** a *\\/ b */\n");
    }
}
