//! For tests: writes conversations in the form that they were read from.
//!
//! The form is always `{"messages": [...]}`. The format cannot express reasoning, failed results, several results in one
//! message (they become several messages), images in results (they follow in a user message, as in requests), or text
//! after a call. A round trip also makes these changes:
//!
//! - Content with a single text part becomes a string.
//! - A tool message without content gets an empty string, and an assistant message without content gets `null`.
//! - A call without a type becomes a `function`.
//! - Fields of a body other than `messages` are removed.

use serde_json::{Value, json};

use super::*;
use crate::providers::build_message;
use crate::providers::openai::messages::{self, foreign_part, image_part};

/// Writes the whole conversation, including hidden messages.
pub(crate) fn write<'a>(
    system: impl IntoIterator<Item = &'a NewMessage>,
    messages: impl IntoIterator<Item = &'a NewMessage>,
) -> Value {
    let system = system.into_iter().flat_map(|message| written(message, "system"));
    let messages = messages.into_iter().flat_map(|message| written(message, message.role.as_str()));
    json!({"messages": system.chain(messages).collect::<Vec<_>>()})
}

/// Writes a message.
pub(crate) fn written(message: &NewMessage, role: &str) -> Vec<Value> {
    let mut messages = write_model_visible_fields(message, role);
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

/// Writes those fields of a message that models see. Tool results come first, then the remaining blocks.
fn write_model_visible_fields(message: &NewMessage, role: &str) -> Vec<Value> {
    let mut written = Vec::new();
    let (mut parts, mut calls) = (Vec::new(), Vec::new());
    for block in &message.content {
        match block {
            ContentBlock::Text { text } => parts.push(text_part(text)),
            ContentBlock::Image(image) => parts.push(image_part(image)),
            ContentBlock::ToolCall { .. } => calls.extend(messages::tool_call(block)),
            ContentBlock::ToolResult { call_id, content, .. } => {
                written.push(tool_message(call_id, content));
                parts.extend(block.images().map(image_part));
            }
            ContentBlock::Foreign(foreign) if message.role == Role::Assistant && is_custom_call(foreign) => {
                calls.push(foreign.value.clone());
            }
            ContentBlock::Foreign(foreign) => parts.extend(foreign_part(foreign)),
            ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. } => {}
        }
    }
    if written.is_empty() || !parts.is_empty() || !calls.is_empty() {
        let silent = parts.is_empty() && message.role == Role::Assistant;
        let mut chat_message = build_message(role, if silent { Value::Null } else { parts.into() });
        if !calls.is_empty() {
            chat_message["tool_calls"] = calls.into();
        }
        written.push(chat_message);
    }
    written
}

fn tool_message(call_id: &str, content: &[ResultPart]) -> Value {
    let part = |part: &ResultPart| match part {
        ResultPart::Text { text } => Some(text_part(text)),
        ResultPart::Foreign(foreign) => foreign_part(foreign),
        ResultPart::Image(_) => None,
    };
    let content: Vec<Value> = content.iter().filter_map(part).collect();
    json!({"role": "tool", "tool_call_id": call_id, "content": content})
}
