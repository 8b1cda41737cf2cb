//! What a provider's form of a message says beyond the model: found by comparing the form that was read with
//! the form that would be written, laid over the latter again when it is written. Linear in both.

use serde_json::{Map, Value};

use crate::conversation::history::{NewMessage, Provider};

/// The name under which `provider` has its part of [`NewMessage::extra`].
fn name(provider: Provider) -> &'static str {
    match provider {
        Provider::Anthropic => "anthropic",
        Provider::OpenAi => "openai",
        Provider::OpenAiResponses => "openai_responses",
        Provider::Gemini => "gemini",
        Provider::Bedrock => "bedrock",
    }
}

/// The message, with what `came` says beyond `written`.
pub(super) fn keep(mut message: NewMessage, provider: Provider, came: &Value, written: &Value) -> NewMessage {
    if let Some(beyond) = beyond(came, written) {
        message.extra.insert(name(provider).to_owned(), beyond);
    }
    message
}

/// `written` as the message came, if `reads_back` agrees that this still says what the message says.
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

/// What must be laid over `written` to get `came`; of lists of the same length, item by item under its index.
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
