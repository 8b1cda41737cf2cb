//! Streamed answers of Anthropic's Messages API (<https://docs.anthropic.com/en/docs/build-with-claude/streaming>).

use serde_json::{Value, json};

/// Returns a complete answer with text and tool calls.
pub fn answer(text: &str, calls: &[(&str, Value)]) -> String {
    let reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
    let end = json!({
        "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null },
        "usage": { "input_tokens": 10, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 10, "output_tokens": 5 },
    });
    beginning(text, calls) + &event(&end) + &event(&json!({ "type": "message_stop" }))
}

/// Returns an answer without its end.
pub fn beginning(text: &str, calls: &[(&str, Value)]) -> String {
    let usage = json!({
        "input_tokens": 10, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 10, "output_tokens": 1,
    });
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": null,
        "stop_sequence": null, "usage": usage,
    });
    let mut events = event(&json!({ "type": "message_start", "message": message }));
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        events.push_str(&event(
            &json!({ "type": "content_block_start", "index": index, "content_block": start }),
        ));
        for delta in deltas {
            events
                .push_str(&event(&json!({ "type": "content_block_delta", "index": index, "delta": delta })));
        }
        events.push_str(&event(&json!({ "type": "content_block_stop", "index": index })));
        index += 1;
    };
    if !text.is_empty() {
        let pieces = text.split_inclusive(' ').map(|piece| json!({ "type": "text_delta", "text": piece }));
        block(json!({ "type": "text", "text": "" }), pieces.collect());
    }
    for (number, (name, input)) in calls.iter().enumerate() {
        let start =
            json!({ "type": "tool_use", "id": format!("toolu_{name}_{number}"), "name": name, "input": {} });
        block(start, vec![json!({ "type": "input_json_delta", "partial_json": input.to_string() })]);
    }
    events
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}
