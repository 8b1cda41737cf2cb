//! For tests: merges stored fields back.

use super::*;

/// Merges the stored difference back into `written`. Returns `written` unchanged unless `reads_back` confirms
/// that the merged form still has the meaning of `message`.
pub(crate) fn restore(
    message: &NewMessage,
    provider: Provider,
    written: Value,
    reads_back: impl FnOnce(&Value) -> bool,
) -> Value {
    let Some(beyond) = message.extra.get(&provider.to_string()) else { return written };
    let mut whole = written.clone();
    lay_over(&mut whole, beyond);
    if reads_back(&whole) { whole } else { written }
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
