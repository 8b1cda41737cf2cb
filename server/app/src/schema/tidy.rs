//! Simplifies derived schemas for readers outside Rust: removes the names of number types and rustdoc links. Allows the
//! same values as before, except for a `null` that is never sent.

use serde_json::{Map, Value};

/// How absent fields are represented.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OptionalFields {
    /// Absent or `null`. Used for requests.
    MayBeNull,
    /// Absent. Used for replies, which omit an optional field instead of sending `null`.
    AreOmitted,
}

/// Simplifies a schema and all schemas in it: removes the names of number types, rustdoc links and, for replies, `null`
/// in optional fields.
pub(super) fn simplify_schema(schema: &mut Value, optional_fields: OptionalFields) {
    match schema {
        Value::Object(fields) => {
            if fields.get("type").is_some() {
                let is_number_format = |format: &Value| format.as_str().is_some_and(is_number_type);
                if fields.get("format").is_some_and(is_number_format) {
                    fields.shift_remove("format");
                }
            }
            if let Some(Value::String(text)) = fields.get_mut("description") {
                *text = to_prose(text);
            }
            if optional_fields == OptionalFields::AreOmitted {
                remove_null_types(fields);
            }
            fields.values_mut().for_each(|field| simplify_schema(field, optional_fields));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| simplify_schema(item, optional_fields)),
        _ => {}
    }
}

/// Returns whether `format` is the name of a number type, such as `uint32` or `double`, which schemars adds to schemas.
fn is_number_type(format: &str) -> bool {
    matches!(format, "double" | "float")
        || format
            .strip_prefix('u')
            .unwrap_or(format)
            .strip_prefix("int")
            .is_some_and(|width| width.chars().all(|c| c.is_ascii_digit()))
}

/// Removes `null` from the types of optional fields.
fn remove_null_types(schema: &mut Map<String, Value>) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required =
        |name: &str| required.as_array().is_some_and(|required| required.iter().any(|field| field == name));
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (_, field) in properties.iter_mut().filter(|(name, _)| !is_required(name)) {
        let Value::Object(field) = field else { continue };
        if let Some(Value::Array(types)) = field.get_mut("type") {
            types.retain(|type_name| type_name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                field.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(choices)) = field.get_mut("anyOf") {
            choices.retain(|choice| choice.get("type").is_none_or(|type_name| type_name != "null"));
            if let [Value::Object(only)] = choices.as_slice() {
                let only = only.clone();
                field.shift_remove("anyOf");
                field.extend(only);
            }
        }
    }
}

/// Converts a doc comment to prose: joins the lines of each paragraph, and replaces links to items with the items'
/// names.
fn to_prose(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            joined.push_str("\n\n");
        } else {
            if !joined.is_empty() && !joined.ends_with('\n') {
                joined.push(' ');
            }
            joined.push_str(line);
        }
    }
    without_links(&joined)
}

/// Replaces ``[`Item`]`` and ``[`Item`](path)`` with `` `Item` ``.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("[`") {
        let (before, link) = rest.split_at(at);
        plain.push_str(before);
        let Some((name, after)) = link.split_once(']') else {
            rest = link;
            break;
        };
        plain.push_str(name.trim_start_matches('['));
        let target = after.strip_prefix('(').and_then(|target| target.split_once(')'));
        rest = target.map_or(after, |(_, after)| after);
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_become_prose() {
        assert_eq!(
            to_prose("One line\nand another.\n\nA [`Link`] and [`more`](a::b) [not](one)."),
            "One line and another.\n\nA `Link` and `more` [not](one)."
        );
        assert_eq!(to_prose("open [`end"), "open [`end");
    }

    #[test]
    fn optional_fields_of_replies_are_never_null() {
        let schema = json!({
            "properties": {
                "a": { "type": ["integer", "null"], "format": "uint64" },
                "b": { "anyOf": [{ "$ref": "#/$defs/B" }, { "type": "null" }], "description": "b" },
                "c": { "type": ["string", "null"] },
            },
            "required": ["c"],
        });
        let mut reply = schema.clone();
        simplify_schema(&mut reply, OptionalFields::AreOmitted);
        let expected = json!({
            "a": { "type": "integer" },
            "b": { "description": "b", "$ref": "#/$defs/B" },
            "c": { "type": ["string", "null"] },
        });
        assert_eq!(reply["properties"], expected);
        let mut input = schema;
        simplify_schema(&mut input, OptionalFields::MayBeNull);
        assert_eq!(input["properties"]["a"], json!({ "type": ["integer", "null"] }));
    }
}
