//! For tests: writes conversations in the form that they were read from.
//!
//! The form is always `{"input": [...]}`. The format cannot express other models' reasoning, failed results, images in
//! results, or several items in one message (they become several messages). A round trip also makes these changes:
//!
//! - A string becomes one text part.
//! - `instructions` become a first item with the role `system`.
//! - An item with a role and no type becomes a `message`.
//! - Fields of a body other than `input` are removed.

use serde_json::{Value, json};

use super::*;
use crate::providers::responses::messages::{image_part, message_item};

/// Writes the whole conversation, including hidden messages.
pub(crate) fn write<'a>(
    system: impl IntoIterator<Item = &'a NewMessage>,
    messages: impl IntoIterator<Item = &'a NewMessage>,
) -> Value {
    let system = system.into_iter().flat_map(|message| written(message, "system"));
    let messages = messages.into_iter().flat_map(|message| written(message, message.role.as_str()));
    json!({"input": system.chain(messages).collect::<Vec<_>>()})
}

/// Writes those fields of a message that models see, as items in order.
fn written(message: &NewMessage, role: &str) -> Vec<Value> {
    let text_part = |text: &str| json!({"type": text_kind(role), "text": text});
    let (mut items, mut parts) = (Vec::new(), Vec::new());
    for block in &message.content {
        let (part, item) = match block {
            ContentBlock::Text { text } => (Some(text_part(text)), None),
            ContentBlock::Image(image) => (Some(image_part(image)), None),
            ContentBlock::Foreign(Foreign { provider: ForeignProvider::OpenAiResponses, value }) => {
                let is_part = FOREIGN_PARTS.contains(&text(value, "type"));
                if is_part { (Some(value.clone()), None) } else { (None, Some(value.clone())) }
            }
            ContentBlock::Foreign(foreign) => (foreign.text().map(text_part), None),
            ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. } => (None, None),
            ContentBlock::ToolCall { id, name, input } => {
                let kind = "function_call";
                let arguments = input.to_string();
                (None, Some(json!({"type": kind, "call_id": id, "name": name, "arguments": arguments})))
            }
            ContentBlock::ToolResult { call_id, content, .. } => {
                let output: Vec<Value> = content.iter().filter_map(output_part).collect();
                (None, Some(json!({"type": "function_call_output", "call_id": call_id, "output": output})))
            }
        };
        parts.extend(part);
        if item.is_some() {
            items.extend(message_item(role, std::mem::take(&mut parts)).into_iter().chain(item));
        }
    }
    if items.is_empty() || !parts.is_empty() {
        items.push(json!({"type": "message", "role": role, "content": parts}));
    }
    items
}

fn output_part(part: &ResultPart) -> Option<Value> {
    match part {
        ResultPart::Foreign(foreign) if foreign.provider == ForeignProvider::OpenAiResponses => {
            Some(foreign.value.clone())
        }
        part => part.text().map(|text| json!({"type": "input_text", "text": text})),
    }
}
