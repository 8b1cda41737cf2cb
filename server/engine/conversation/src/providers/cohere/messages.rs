//! Writes messages of Cohere's v2 chat API, which are those of OpenAI's Chat Completions, except that a text before
//! a call is the model's `tool_plan`. Prefixes are cached automatically, so marks are not written. Reasoning is not
//! sent back.

use serde_json::Value;

use crate::providers::{BreakpointMode, SpokenMessage, openai};

pub(super) fn write_messages(spoken: &[SpokenMessage<'_>]) -> Vec<Value> {
    let mut messages = openai::messages::write_messages(spoken, BreakpointMode::Automatic);
    for message in messages.iter_mut().filter_map(Value::as_object_mut) {
        let calls = message.contains_key("tool_calls");
        if let Some(plan) = message.get("content").filter(|content| calls && !content.is_array()).cloned() {
            message.shift_remove("content");
            message.extend((!plan.is_null()).then(|| ("tool_plan".to_owned(), plan)));
        }
    }
    messages
}
