//! Checks every message of a test against the schema that the binary prints. Supports the part of JSON Schema
//! that the binary uses, and rejects anything else. An external validator would change the features that the
//! tested binary is built with.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Map, Value};

use crate::strata;

/// Returns the schema of the protocol, as printed by `strata schema`.
pub fn protocol() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let output = Command::new(strata()).arg("schema").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    })
}

/// Fails if the reply to a command does not match the schema.
pub fn check_reply(command: &str, reply: &Value) {
    let message = &protocol()["commands"][command];
    check(&message["reply"], reply, &format!("the reply to {command}"));
}

/// Fails if a notification or request of Strata's does not match the schema. Ignores those of the Language
/// Server Protocol.
pub fn check_said(method: &str, params: &Value) {
    let mut messages = ["notifications", "requests"].iter().filter_map(|kind| protocol()[*kind].get(method));
    match messages.next() {
        Some(message) => check(&message["params"], params, method),
        None => assert!(!method.starts_with("strata/"), "{method} is not in the schema"),
    }
}

/// Returns why the schema rejects the arguments of a command, or `None` if it accepts them.
pub fn fault_of_arguments(command: &str, arguments: &Value) -> Option<String> {
    fault(protocol(), &protocol()["commands"][command]["params"], arguments)
}

fn check(schema: &Value, value: &Value, what: &str) {
    if let Some(fault) = fault(protocol(), schema, value) {
        panic!("{what} does not match `strata schema`: {fault}\n{value}");
    }
}

/// Returns why a value does not match the schema. A field that the schema does not mention is also an error.
fn fault(root: &Value, schema: &Value, value: &Value) -> Option<String> {
    let mut named = BTreeSet::new();
    let fault = mismatch(root, schema, value, &mut named);
    fault.or_else(|| unnamed(value, &named, &anything(root, schema)))
}

/// Returns why a value does not match, regardless of unknown fields. Adds the fields that the schema mentions
/// to `named`.
fn mismatch(root: &Value, schema: &Value, value: &Value, named: &mut BTreeSet<String>) -> Option<String> {
    let rules = match schema {
        Value::Bool(true) => return None,
        Value::Object(rules) => rules,
        other => return Some(format!("not a schema: {other}")),
    };
    rules
        .iter()
        .find_map(|(rule, says)| match rule.as_str() {
            "description"
            | "default"
            | "title"
            | "required"
            | "additionalProperties"
            | "items"
            | "prefixItems" => None,
            "$ref" => mismatch(root, meant(root, says), value, named),
            "type" => wrong_type(says, value),
            "const" => (says != value).then(|| format!("{value} is not {says}")),
            "enum" => (!says.as_array()?.contains(value)).then(|| format!("{value} is not one of {says}")),
            "minimum" => (value.is_number() && value.as_f64() < says.as_f64())
                .then(|| format!("{value} is less than {says}")),
            "uniqueItems" => {
                let items = value.as_array()?;
                let is_repeated = |(at, item): (usize, &Value)| items[..at].contains(item);
                items.iter().enumerate().any(is_repeated).then(|| format!("{value} repeats an item"))
            }
            // Redundant, because `prefixItems` already determines the length.
            "minItems" | "maxItems" if rules.contains_key("prefixItems") => None,
            // Another test checks the only pattern, which describes line ranges.
            "pattern" | "x-workspace" => None,
            "properties" => fields(root, rules, says.as_object()?, value, named),
            "allOf" => says.as_array()?.iter().find_map(|part| mismatch(root, part, value, named)),
            "oneOf" | "anyOf" => {
                let mut faults = Vec::new();
                let mut matched = 0;
                for choice in says.as_array()? {
                    let mut own = BTreeSet::new();
                    match mismatch(root, choice, value, &mut own) {
                        None => {
                            matched += 1;
                            named.extend(own);
                        }
                        Some(fault) => faults.push(fault),
                    }
                }
                match matched {
                    0 => Some(format!("matches none of {} choices: {}", faults.len(), faults.join("; "))),
                    1 => None,
                    _ if rule == "anyOf" => None,
                    _ => Some(format!("matches {matched} choices of oneOf")),
                }
            }
            other => Some(format!("unsupported rule: {other}")),
        })
        .or_else(|| inside(root, rules, value))
}

/// Checks the items of an array, or the values of a map.
fn inside(root: &Value, rules: &Map<String, Value>, value: &Value) -> Option<String> {
    match value {
        Value::Array(items) if rules.contains_key("prefixItems") => {
            let each = rules.get("prefixItems").and_then(Value::as_array)?;
            if each.len() != items.len() {
                return Some(format!("{} items instead of {}", items.len(), each.len()));
            }
            let at = |at: usize| Some(format!("[{at}]: {}", fault(root, &each[at], &items[at])?));
            (0..items.len()).find_map(at)
        }
        Value::Array(items) => {
            let of = rules.get("items")?;
            items
                .iter()
                .enumerate()
                .find_map(|(at, item)| Some(format!("[{at}]: {}", fault(root, of, item)?)))
        }
        Value::Object(values) if !rules.contains_key("properties") => {
            let of = rules.get("additionalProperties")?;
            values.iter().find_map(|(name, value)| Some(format!(".{name}: {}", fault(root, of, value)?)))
        }
        _ => None,
    }
}

fn fields(
    root: &Value,
    rules: &Map<String, Value>,
    says: &Map<String, Value>,
    value: &Value,
    named: &mut BTreeSet<String>,
) -> Option<String> {
    let fields = value.as_object()?;
    named.extend(says.keys().cloned());
    let required = rules.get("required").and_then(Value::as_array).into_iter().flatten();
    let missing = required.filter_map(Value::as_str).find(|name| !fields.contains_key(*name));
    if let Some(name) = missing {
        return Some(format!("`{name}` is missing"));
    }
    fields.iter().find_map(|(name, field)| Some(format!(".{name}: {}", fault(root, says.get(name)?, field)?)))
}

fn wrong_type(says: &Value, value: &Value) -> Option<String> {
    let is = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    };
    let fits = says.as_array().map_or_else(|| is(says), |types| types.iter().any(is));
    (!fits).then(|| format!("{value} is not of type {says}"))
}

/// Whether an object may have fields that its schema does not mention.
enum Fields {
    Any,
    Named,
}

/// Returns the fields that a schema allows. Maps and unrestricted values may have any.
fn anything(root: &Value, schema: &Value) -> Fields {
    let schema = schema.get("$ref").map_or(schema, |name| meant(root, name));
    let names_some = |schema: &Value| ["properties", "$ref"].iter().any(|rule| schema.get(rule).is_some());
    let choices = ["oneOf", "anyOf", "allOf"].iter().filter_map(|rule| schema[*rule].as_array()).flatten();
    let mut parts = choices.chain([schema]);
    let is_open = parts.clone().any(|part| part["type"] == "object" && part.get("properties").is_none());
    if !is_open && parts.any(names_some) { Fields::Named } else { Fields::Any }
}

fn unnamed(value: &Value, named: &BTreeSet<String>, may_hold: &Fields) -> Option<String> {
    let fields = value.as_object().filter(|_| matches!(may_hold, Fields::Named))?;
    fields.keys().find(|name| !named.contains(*name)).map(|name| format!("`{name}` is not in the schema"))
}

fn meant<'a>(root: &'a Value, reference: &Value) -> &'a Value {
    let pointer = reference.as_str().unwrap_or_default().trim_start_matches('#');
    root.pointer(pointer).unwrap_or_else(|| panic!("{reference} does not exist"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value, good: &[Value], bad: &[Value]) {
        let root = json!({ "$defs": { "B": { "type": "object", "properties": { "b": { "type": "integer" } }, "required": ["b"] } } });
        for value in good {
            assert_eq!(fault(&root, &schema, value), None, "{value}");
        }
        for value in bad {
            assert!(fault(&root, &schema, value).is_some(), "{value} passes {schema}");
        }
    }

    #[test]
    fn types_and_fields_are_looked_at() {
        let schema = json!({
            "type": "object",
            "properties": { "a": { "type": ["string", "null"] }, "n": { "type": "array", "items": { "$ref": "#/$defs/B" } } },
            "required": ["a"],
        });
        let good = [json!({ "a": null }), json!({ "a": "x", "n": [{ "b": 1 }] })];
        let bad = [
            json!({}),
            json!({ "a": 1 }),
            json!({ "a": "", "c": 1 }),
            json!([]),
            json!({ "a": "", "n": [{ "b": "1" }] }),
            json!({ "a": "", "n": [{ "b": 1, "c": 2 }] }),
        ];
        check(schema, &good, &bad);
    }

    #[test]
    fn what_is_laid_into_an_object_names_its_fields() {
        let schema = json!({
            "type": "object",
            "properties": { "a": { "const": 1 } },
            "anyOf": [{ "$ref": "#/$defs/B" }, {}],
        });
        check(
            schema,
            &[json!({ "a": 1 }), json!({ "a": 1, "b": 2 })],
            &[json!({ "a": 2 }), json!({ "a": 1, "c": 2 })],
        );
        let schema =
            json!({ "$ref": "#/$defs/B", "properties": { "k": { "const": "x" } }, "required": ["k"] });
        check(schema, &[json!({ "k": "x", "b": 1 })], &[json!({ "k": "x" }), json!({ "b": 1 })]);
    }

    #[test]
    fn a_tuple_has_a_type_for_each_place() {
        let schema = json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }], "minItems": 2 });
        check(schema, &[json!(["a", 1])], &[json!([1, "a"]), json!(["a"]), json!(["a", 1, 2])]);
    }

    #[test]
    fn one_of_is_exactly_one() {
        let schema = json!({ "oneOf": [{ "type": "string" }, { "const": "x" }] });
        check(schema, &[json!("y")], &[json!("x"), json!(1)]);
    }

    #[test]
    fn a_table_may_hold_any_name_and_anything_may_be_anything() {
        let schema = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
        check(schema, &[json!({}), json!({ "x": 1 })], &[json!({ "x": "1" })]);
        check(json!({ "description": "x" }), &[json!({ "x": 1 }), json!(1)], &[]);
    }

    #[test]
    fn a_rule_that_is_not_known_is_no_pass() {
        check(json!({ "minLength": 3 }), &[], &[json!("xxx")]);
    }
}
