//! For tests: writes conversations in the form that they were read from.
//!
//! The form is always `{"system": [...], "messages": [...]}`. A round trip makes these changes:
//!
//! - A string becomes one text block.
//! - A result without content gets an empty list.
//! - `cache_control` is removed, because Strata sets its own, and so is `"is_error": false`.
//! - Fields of a body other than `system` and `messages` are removed.

use serde_json::Value;

use super::*;
use crate::providers::anthropic::messages::{content_block, result_part};

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

/// Writes those fields of a message that models see.
pub(crate) fn written(message: &NewMessage) -> Value {
    let content: Vec<Value> = message.content.iter().filter_map(write_block).collect();
    json!({"role": message.role.as_str(), "content": content})
}

/// Writes a block as in a request. Also writes blocks that a request cannot contain, such as reasoning
/// without a signature.
fn write_block(block: &ContentBlock) -> Option<Value> {
    Some(match block {
        ContentBlock::Thinking { text, signature: None } => json!({"type": "thinking", "thinking": text}),
        ContentBlock::ToolResult { call_id, content, outcome } => {
            let content: Vec<Value> = content.iter().filter_map(result_part).collect();
            let mut result = json!({"type": "tool_result", "tool_use_id": call_id, "content": content});
            if *outcome == ToolOutcome::Error {
                result["is_error"] = true.into();
            }
            result
        }
        block => content_block(block)?,
    })
}
