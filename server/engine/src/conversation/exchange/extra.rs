//! Preserves the fields of a provider's message that models do not see. Finds them by comparing the original
//! with the form that Strata would write, and merges them back when writing. Both take linear time.

use serde_json::{Map, Value};

use crate::conversation::history::{NewMessage, Provider};

/// Returns the key under which [`NewMessage::extra`] contains a provider's fields.
fn name(provider: Provider) -> &'static str {
    match provider {
        Provider::Anthropic => "anthropic",
        Provider::OpenAi => "openai",
        Provider::OpenAiResponses => "openai_responses",
        Provider::Gemini => "gemini",
        Provider::Bedrock => "bedrock",
    }
}

/// Stores the difference between `written`, the form that Strata would write, and the original `came` in the
/// message.
pub(super) fn keep(mut message: NewMessage, provider: Provider, came: &Value, written: &Value) -> NewMessage {
    if let Some(beyond) = beyond(came, written) {
        message.extra.insert(name(provider).to_owned(), beyond);
    }
    message
}

/// Merges the stored difference back into `written`. Returns `written` unchanged unless `reads_back` confirms
/// that the merged form still has the meaning of `message`.
#[cfg(test)]
pub(super) fn restore(
    message: &NewMessage,
    provider: Provider,
    written: Value,
    reads_back: impl FnOnce(&Value) -> bool,
) -> Value {
    let Some(beyond) = message.extra.get(name(provider)) else { return written };
    let mut whole = written.clone();
    lay_over(&mut whole, beyond);
    if reads_back(&whole) { whole } else { written }
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

#[cfg(test)]
fn lay_over(target: &mut Value, beyond: &Value) {
    match (target, beyond) {
        (Value::Object(fields), Value::Object(beyond)) => {
            for (key, value) in beyond {
                match fields.get_mut(key) {
                    Some(field) => lay_over(field, value),
                    None => {
                        fields.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (Value::Array(items), Value::Object(beyond)) => {
            for (index, value) in beyond {
                if let Some(item) = index.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                    lay_over(item, value);
                }
            }
        }
        (target, beyond) => *target = beyond.clone(),
    }
}
