//! For tests: writes conversations in the form that they were read from.
//!
//! The form is always `{"messages": [...]}`. Besides dropping what no format can express
//! (`exchange`), a round trip makes these changes:
//!
//! - Content with a single text part becomes a string.
//! - A tool message without content gets an empty string, and an assistant message without content gets `null`.
//! - A call without a type becomes a `function`.
//! - Fields of a body other than `messages` are removed.

use serde_json::{Value, json};

use super::*;

/// Writes the whole conversation, including hidden messages.
pub(crate) fn write<'a>(
    system: impl IntoIterator<Item = &'a NewMessage>,
    messages: impl IntoIterator<Item = &'a NewMessage>,
) -> Value {
    let system = system.into_iter().flat_map(|message| written(message, "system"));
    let messages = messages.into_iter().flat_map(|message| written(message, message.role.as_str()));
    json!({"messages": system.chain(messages).collect::<Vec<_>>()})
}

/// Writes a message. If it was read from this format, restores the original form.
pub(crate) fn written(message: &NewMessage, role: &str) -> Vec<Value> {
    let mut messages = write_model_visible_fields(message, role);
    if let [only] = messages.as_mut_slice() {
        let reads_back = |restored: &Value| {
            parse(restored).is_ok_and(|r| r.role == message.role && r.content == message.content)
        };
        *only = extra::tests::restore(message, Provider::OpenAi, only.take(), reads_back);
    }
    messages.iter_mut().for_each(shorten);
    messages
}

/// Replaces content that is a single text part with its string, which every compatible server accepts, and
/// the content of an empty tool result with an empty string.
fn shorten(message: &mut Value) {
    let answers = message.get("role").is_some_and(|role| role == "tool");
    let Some(content) = message.get_mut("content") else { return };
    let text = match content.as_array_mut().map(Vec::as_mut_slice) {
        Some([Value::Object(part)])
            if part.len() == 2 && part.get("type").is_some_and(|kind| kind == "text") =>
        {
            part.get_mut("text").filter(|text| text.is_string()).map(Value::take)
        }
        Some([]) if answers => Some("".into()),
        _ => None,
    };
    if let Some(text) = text {
        *content = text;
    }
}
