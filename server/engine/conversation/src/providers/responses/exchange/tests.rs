//! For tests: writes conversations in the form that they were read from.
//!
//! The form is always `{"input": [...]}`. Besides dropping what no format can express (`exchange`),
//! a round trip makes these changes:
//!
//! - A string becomes one text part.
//! - `instructions` become a first item with the role `system`.
//! - An item with a role and no type becomes a `message`.
//! - Fields of a body other than `input` are removed.

use serde_json::{Value, json};

use super::*;

/// Writes the whole conversation, including hidden messages.
pub(crate) fn write<'a>(
    system: impl IntoIterator<Item = &'a NewMessage>,
    messages: impl IntoIterator<Item = &'a NewMessage>,
) -> Value {
    let system = system.into_iter().flat_map(|message| written(message, "system"));
    let messages = messages.into_iter().flat_map(|message| written(message, message.role.as_str()));
    json!({"input": system.chain(messages).collect::<Vec<_>>()})
}

/// Writes the items of a message. If it was read from this format, restores the original form.
fn written(message: &NewMessage, role: &str) -> Vec<Value> {
    let mut items = write_model_visible_fields(message, role);
    if let [only] = items.as_mut_slice() {
        let reads_back = |restored: &Value| {
            parse(restored).is_ok_and(|r| r.role == message.role && r.content == message.content)
        };
        *only = extra::tests::restore(message, Provider::OpenAiResponses, only.take(), reads_back);
    }
    items
}
