//! Preserves the fields of a provider's message that models do not see. Finds them by comparing the original
//! with the form that Strata would write, and merges them back when writing. Both take linear time.

#[cfg(test)]
pub(crate) mod tests;

use serde_json::{Map, Value};

use super::ReadError;
use crate::history::{NewMessage, Provider};

/// Parses the original `came`, and stores its difference from the form that Strata would write in the message.
pub(crate) fn keep(
    came: &Value,
    provider: Provider,
    parse: impl FnOnce(&Value) -> Result<NewMessage, ReadError>,
    write: impl FnOnce(&NewMessage) -> Value,
) -> Result<NewMessage, ReadError> {
    let mut message = parse(came)?;
    if let Some(beyond) = beyond(came, &write(&message)) {
        message.extra.insert(provider.to_string(), beyond);
    }
    Ok(message)
}

/// Returns the fields that turn `written` into `came` when merged; `None` if they are equal. Compares lists
/// of equal length item by item.
fn beyond(came: &Value, written: &Value) -> Option<Value> {
    let differing: Map<String, Value> = match (came, written) {
        _ if came == written => return None,
        (Value::Object(came), Value::Object(written)) => came
            .iter()
            .filter_map(|(key, value)| {
                let beyond = match written.get(key) {
                    Some(written) => beyond(value, written)?,
                    None => value.clone(),
                };
                Some((key.clone(), beyond))
            })
            .collect(),
        (Value::Array(came), Value::Array(written)) if came.len() == written.len() => {
            let pairs = came.iter().zip(written).enumerate();
            pairs.filter_map(|(at, (came, written))| Some((at.to_string(), beyond(came, written)?))).collect()
        }
        _ => return Some(came.clone()),
    };
    (!differing.is_empty()).then(|| differing.into())
}
