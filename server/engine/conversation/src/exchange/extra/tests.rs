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
    let Some(extra) = message.extra.get(&provider.to_string()) else { return written };
    let mut restored = written.clone();
    merge(&mut restored, extra);
    if reads_back(&restored) { restored } else { written }
}

fn merge(target: &mut Value, extra: &Value) {
    match (target, extra) {
        (Value::Object(fields), Value::Object(extra)) => {
            for (key, value) in extra {
                match fields.get_mut(key) {
                    Some(field) => merge(field, value),
                    None => {
                        fields.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (Value::Array(items), Value::Object(extra)) => {
            for (index, value) in extra {
                if let Some(item) = index.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                    merge(item, value);
                }
            }
        }
        (target, extra) => *target = extra.clone(),
    }
}
