//! Reads settings from environment variables. The caller passes the variables in, so this module never reads the
//! process environment.

use serde_json::Value;

use super::file::from_toml;
use super::layers::set_dotted;

#[derive(Debug, Clone, PartialEq)]
pub struct EnvironmentSettings {
    pub values: Value,
    /// Variables that begin with `STRATA_` but match no setting, in input order.
    pub unknown: Vec<String>,
}

/// Prefix of all variables that set settings.
const PREFIX: &str = "STRATA_";

/// Reads settings from environment variables. For example, `STRATA_SYMBOLS_MAP_BUDGET` sets `symbols.map_budget`: the
/// key in uppercase, with an underscore for every other character. `defaults` provides the names and types of all
/// settings. A list is written with commas or in TOML syntax, a boolean as `true`, `false`, `1` or `0`. A value that
/// cannot be parsed as the type of its setting stays a string, so that validation can report it by name.
pub fn from_environment(
    variables: impl IntoIterator<Item = (String, String)>,
    defaults: &Value,
) -> EnvironmentSettings {
    let mut settings = Vec::new();
    collect_settings(defaults, "", &mut settings);
    let mut values = Value::Object(serde_json::Map::new());
    let mut unknown = Vec::new();
    for (variable, text) in variables {
        let Some(name) = variable.strip_prefix(PREFIX) else { continue };
        match settings.iter().find(|(key, _)| variable_name(key) == name) {
            Some((key, default)) => set_dotted(&mut values, key, parse_value(&text, default)),
            None => unknown.push(variable),
        }
    }
    EnvironmentSettings { values, unknown }
}

/// Adds the dotted key and the default of every setting in `value` to `settings`.
fn collect_settings<'v>(value: &'v Value, key: &str, settings: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (name, value) in map {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                collect_settings(value, &key, settings);
            }
        }
        leaf => settings.push((key.to_owned(), leaf)),
    }
}

fn variable_name(key: &str) -> String {
    key.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

fn parse_value(text: &str, default: &Value) -> Value {
    let trimmed = text.trim();
    let parsed = match default {
        Value::String(_) => None,
        Value::Bool(_) => match trimmed {
            "1" => Some(Value::Bool(true)),
            "0" => Some(Value::Bool(false)),
            _ => toml_value(trimmed),
        },
        Value::Array(_) if !trimmed.starts_with('[') => {
            let parts = trimmed.split(',').map(str::trim).filter(|part| !part.is_empty());
            Some(parts.map(|part| Value::String(part.to_owned())).collect())
        }
        _ => toml_value(trimmed),
    };
    parsed.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Parses text as a single TOML value.
pub fn toml_value(text: &str) -> Option<Value> {
    match from_toml("", &format!("value = {text}")).ok()? {
        // More than one name means that the value contained a line break and another assignment.
        Value::Object(mut map) if map.len() == 1 => map.remove("value"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: Value, unknown: &[&str]) {
        let defaults = json!({
            "model": "m", "threads": 2, "ratio": 0.5, "lens": true, "limit": null, "tables": {},
            "symbols": {"map_budget": 1, "exclude": []},
        });
        let variables = variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        let environment = from_environment(variables, &defaults);
        assert_eq!(
            (environment.values, environment.unknown.as_slice()),
            (expected, unknown.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice())
        );
    }

    #[test]
    fn values_get_the_type_of_the_default() {
        check(&[("STRATA_MODEL", "1")], json!({"model": "1"}), &[]);
        check(&[("STRATA_SYMBOLS_MAP_BUDGET", " 8000 ")], json!({"symbols": {"map_budget": 8000}}), &[]);
        check(&[("STRATA_LENS", "0")], json!({"lens": false}), &[]);
        check(&[("STRATA_LENS", "true")], json!({"lens": true}), &[]);
        check(&[("STRATA_RATIO", "0.25")], json!({"ratio": 0.25}), &[]);
        check(&[("STRATA_LIMIT", "5")], json!({"limit": 5}), &[]);
        check(&[("STRATA_LIMIT", "five")], json!({"limit": "five"}), &[]);
        check(&[("STRATA_SYMBOLS_EXCLUDE", "a, b/**")], json!({"symbols": {"exclude": ["a", "b/**"]}}), &[]);
        check(&[("STRATA_SYMBOLS_EXCLUDE", "['a,b']")], json!({"symbols": {"exclude": ["a,b"]}}), &[]);
        check(&[("STRATA_TABLES", "{ x = 1 }")], json!({"tables": {"x": 1}}), &[]);
    }

    #[test]
    fn values_of_the_wrong_type_stay_strings_and_unknown_variables_are_reported() {
        check(&[("STRATA_THREADS", "many")], json!({"threads": "many"}), &[]);
        check(&[("STRATA_THREADS", "1\nmodel = 'x'")], json!({"threads": "1\nmodel = 'x'"}), &[]);
        check(
            &[("STRATA_SYMBOL_MAP", "1"), ("PATH", "/bin"), ("strata_model", "x")],
            json!({}),
            &["STRATA_SYMBOL_MAP"],
        );
        check(&[("STRATA_SYMBOLS", "1")], json!({}), &["STRATA_SYMBOLS"]);
    }
}
