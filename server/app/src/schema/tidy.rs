//! Simplifies derived schemas for readers outside Rust: removes the names of number types and rustdoc links. Allows the
//! same values as before, except for a `null` that is never sent.

use serde_json::{Map, Value};

/// How absent fields are represented.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Absent {
    /// Absent or `null`. Used for requests.
    MayBeNull,
    /// Absent. Used for replies, which omit an optional field instead of sending `null`.
    IsNotThere,
}

/// Simplifies a schema and all schemas in it: removes the names of number types, rustdoc links and, for replies, `null`
/// in optional fields.
pub(super) fn tidy(schema: &mut Value, absent: Absent) {
    match schema {
        Value::Object(fields) => {
            if fields.get("type").is_some() {
                let of_rust = |format: &Value| format.as_str().is_some_and(is_number_type);
                if fields.get("format").is_some_and(of_rust) {
                    fields.shift_remove("format");
                }
            }
            if let Some(Value::String(text)) = fields.get_mut("description") {
                *text = prose(text);
            }
            if absent == Absent::IsNotThere {
                without_nulls(fields);
            }
            fields.values_mut().for_each(|field| tidy(field, absent));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| tidy(item, absent)),
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
fn without_nulls(schema: &mut Map<String, Value>) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required =
        |name: &str| required.as_array().is_some_and(|required| required.iter().any(|field| field == name));
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (_, field) in properties.iter_mut().filter(|(name, _)| !is_required(name)) {
        let Value::Object(field) = field else { continue };
        if let Some(Value::Array(types)) = field.get_mut("type") {
            types.retain(|of| of != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                field.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(choices)) = field.get_mut("anyOf") {
            choices.retain(|choice| choice.get("type").is_none_or(|of| of != "null"));
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
fn prose(text: &str) -> String {
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
        let Some((name, behind)) = link.split_once(']') else {
            rest = link;
            break;
        };
        plain.push_str(name.trim_start_matches('['));
        let target = behind.strip_prefix('(').and_then(|target| target.split_once(')'));
        rest = target.map_or(behind, |(_, behind)| behind);
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
            prose("One line\nand another.\n\nA [`Link`] and [`more`](a::b) [not](one)."),
            "One line and another.\n\nA `Link` and `more` [not](one)."
        );
        assert_eq!(prose("open [`end"), "open [`end");
    }

    #[test]
    fn what_is_left_out_is_never_null_in_a_reply() {
        let schema = json!({
            "properties": {
                "a": { "type": ["integer", "null"], "format": "uint64" },
                "b": { "anyOf": [{ "$ref": "#/$defs/B" }, { "type": "null" }], "description": "b" },
                "c": { "type": ["string", "null"] },
            },
            "required": ["c"],
        });
        let mut said = schema.clone();
        tidy(&mut said, Absent::IsNotThere);
        let expected = json!({
            "a": { "type": "integer" },
            "b": { "description": "b", "$ref": "#/$defs/B" },
            "c": { "type": ["string", "null"] },
        });
        assert_eq!(said["properties"], expected);
        let mut taken = schema;
        tidy(&mut taken, Absent::MayBeNull);
        assert_eq!(taken["properties"]["a"], json!({ "type": ["integer", "null"] }));
    }
}
