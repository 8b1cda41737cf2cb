//! Reads fields of JSON objects, with errors for missing or mistyped ones.

use serde_json::{Map, Value};

use super::ReadError;

pub(crate) fn object(value: &Value) -> Result<&Map<String, Value>, ReadError> {
    value.as_object().ok_or_else(|| ReadError::new("must be an object"))
}

pub(crate) fn string(value: &Value, key: &str) -> Result<String, ReadError> {
    match value.get(key) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(ReadError::new("must be a string").inside(key)),
        None => Err(ReadError::new(format!("`{key}` is missing"))),
    }
}

/// Returns the string at `key`, or `None` if it is missing or null.
pub(crate) fn optional_string(value: &Value, key: &str) -> Result<Option<String>, ReadError> {
    match value.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(_) => string(value, key).map(Some),
    }
}

pub(crate) fn list<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], ReadError> {
    match value.get(key) {
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(ReadError::new("must be a list or a string").inside(key)),
        None => Err(ReadError::new(format!("`{key}` is missing"))),
    }
}

pub(crate) fn read_each<T>(
    value: &Value,
    key: &str,
    read: impl Fn(&Value) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    super::read_each_item((list(value, key)?, format!("/{key}")), read)
}

/// Returns the `type` of a block, part or item.
pub(crate) fn kind(value: &Value) -> Result<&str, ReadError> {
    object(value)?;
    match value.get("type") {
        Some(Value::String(kind)) => Ok(kind),
        Some(_) => Err(ReadError::new("must be a string").inside("type")),
        None => Err(ReadError::new("`type` is missing")),
    }
}
