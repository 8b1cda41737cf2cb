//! Preserves the fields of a provider's message that models do not see. Finds them by comparing the original
//! with the form that Strata would write, and merges them back when writing. Both take linear time.

#[cfg(test)]
pub(crate) mod tests;

use serde_json::{Map, Value};

use super::ReadError;
use crate::history::{NewMessage, Provider};

/// Parses `original`, and stores its difference from the form that Strata would write in the message.
pub(crate) fn parse_with_extra(
    original: &Value,
    provider: Provider,
    parse: impl FnOnce(&Value) -> Result<NewMessage, ReadError>,
    write: impl FnOnce(&NewMessage) -> Value,
) -> Result<NewMessage, ReadError> {
    let mut message = parse(original)?;
    if let Some(extra) = extra_fields(original, &write(&message)) {
        message.extra.insert(provider.to_string(), extra);
    }
    Ok(message)
}

/// Returns the fields that turn `written` into `original` when merged; `None` if they are equal. Compares lists
/// of equal length item by item.
fn extra_fields(original: &Value, written: &Value) -> Option<Value> {
    let differing: Map<String, Value> = match (original, written) {
        _ if original == written => return None,
        (Value::Object(original), Value::Object(written)) => original
            .iter()
            .filter_map(|(key, value)| {
                let extra = match written.get(key) {
                    Some(written) => extra_fields(value, written)?,
                    None => value.clone(),
                };
                Some((key.clone(), extra))
            })
            .collect(),
        (Value::Array(original), Value::Array(written)) if original.len() == written.len() => {
            let pairs = original.iter().zip(written).enumerate();
            pairs
                .filter_map(|(at, (original, written))| {
                    Some((at.to_string(), extra_fields(original, written)?))
                })
                .collect()
        }
        _ => return Some(original.clone()),
    };
    (!differing.is_empty()).then(|| differing.into())
}
