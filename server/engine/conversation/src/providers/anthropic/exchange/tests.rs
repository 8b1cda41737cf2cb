//! For tests: writes conversations in the form that they were read from.
//!
//! The form is always `{"system": [...], "messages": [...]}`. Besides dropping what no format can
//! express (`exchange`), a round trip makes these changes:
//!
//! - A string becomes one text block.
//! - A result without content gets an empty list.
//! - `cache_control` is removed, because Strata sets its own, and so is `"is_error": false`.
//! - Fields of a body other than `system` and `messages` are removed.

use serde_json::Value;

use super::*;

/// Writes the whole conversation, including hidden messages.
pub(crate) fn write<'a>(
    system: impl IntoIterator<Item = &'a NewMessage>,
    messages: impl IntoIterator<Item = &'a NewMessage>,
) -> Value {
    let blocks = |message: &NewMessage| match written(message).get_mut("content").map(Value::take) {
        Some(Value::Array(blocks)) => blocks,
        _ => Vec::new(),
    };
    let system: Vec<Value> = system.into_iter().flat_map(blocks).collect();
    let mut body = serde_json::Map::new();
    if !system.is_empty() {
        body.insert("system".into(), system.into());
    }
    body.insert("messages".into(), messages.into_iter().map(written).collect());
    body.into()
}

/// Writes a message. If it was read from this format, restores the original form.
pub(crate) fn written(message: &NewMessage) -> Value {
    extra::tests::restore(message, Provider::Anthropic, write_visible_fields(message), |restored| {
        parse(restored).is_ok_and(|read| read.role == message.role && read.content == message.content)
    })
}
