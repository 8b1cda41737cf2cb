//! Streams of compatible servers that deviate from the documented form.

use serde_json::{Value, json};

use super::{ContentBlock, Format, Reply, ReplyEnd, ReplyEvent, decoded};

/// Decodes a Chat Completions stream whose choices have these deltas. Bytes arrive one by one.
fn chat(deltas: &[Value], finish: &str) -> (Vec<ReplyEvent>, Reply) {
    let mut chunks: Vec<Value> =
        deltas.iter().map(|delta| json!({"choices": [{"delta": delta, "finish_reason": null}]})).collect();
    chunks.push(json!({"choices": [{"delta": {}, "finish_reason": finish}]}));
    stream(Format::OpenAi, &chunks)
}

fn stream(format: Format, chunks: &[Value]) -> (Vec<ReplyEvent>, Reply) {
    let mut text: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    text.push_str("data: [DONE]\n\n");
    decoded(format, text.as_bytes().chunks(1))
}

fn calls(reply: &Reply) -> Vec<(&str, &str, &Value)> {
    let calls = reply.content.iter().filter_map(|block| match block {
        ContentBlock::ToolCall { id, name, input } => Some((id.as_str(), name.as_str(), input)),
        _ => None,
    });
    calls.collect()
}

#[test]
fn streamed_calls_are_told_apart_by_id_then_index_then_position() {
    let a = json!({"path": "a"});
    let b = json!({"path": "b"});
    let (a_text, b_text) = (a.to_string(), b.to_string());
    let call = |fields: Value, name: Option<&str>, arguments: Value| {
        let mut call = fields;
        call["function"] = json!({"arguments": arguments});
        if let Some(name) = name {
            call["function"]["name"] = name.into();
        }
        call
    };
    let both =
        |first: &str, second: &str| vec![(first.to_owned(), a.clone()), (second.to_owned(), b.clone())];
    let one_each =
        |first: Value, second: Value| vec![json!({"tool_calls": [first]}), json!({"tool_calls": [second]})];
    let cases = vec![
        (
            "two ids under one index",
            one_each(
                call(json!({"index": 0, "id": "call_a"}), Some("read"), json!(a_text)),
                call(json!({"index": 0, "id": "call_b"}), Some("read"), json!(b_text)),
            ),
            both("call_a", "call_b"),
        ),
        (
            "two ids under one index, with arguments that follow without an id",
            vec![
                json!({"tool_calls": [call(json!({"index": 0, "id": "call_a"}), Some("read"), json!(""))]}),
                json!({"tool_calls": [call(json!({"index": 0}), None, json!(a_text))]}),
                json!({"tool_calls": [call(json!({"index": 0, "id": "call_b"}), Some("read"), json!(""))]}),
                json!({"tool_calls": [call(json!({"index": 0}), None, json!(b_text))]}),
            ],
            both("call_a", "call_b"),
        ),
        (
            "two ids without an index",
            one_each(
                call(json!({"id": "call_a"}), Some("read"), json!(a_text)),
                call(json!({"id": "call_b"}), Some("read"), json!(b_text)),
            ),
            both("call_a", "call_b"),
        ),
        (
            "neither id nor index, in one delta",
            vec![json!({"tool_calls": [
                call(json!({}), Some("read"), json!(a_text)),
                call(json!({}), Some("read"), json!(b_text)),
            ]})],
            both("call_0", "call_1"),
        ),
        (
            "neither id nor index, in two deltas",
            one_each(
                call(json!({}), Some("read"), json!(a_text)),
                call(json!({}), Some("read"), json!(b_text)),
            ),
            both("call_0", "call_1"),
        ),
        (
            "id and name in each delta",
            vec![
                json!({"tool_calls": [call(json!({"index": 0, "id": "call_a"}), Some("read"), json!("{\"path\":"))]}),
                json!({"tool_calls": [call(json!({"index": 0, "id": "call_a"}), Some("read"), json!("\"a\"}"))]}),
                json!({"tool_calls": [call(json!({"index": 1, "id": "call_b"}), Some("read"), json!(b_text))]}),
                json!({"tool_calls": [call(json!({"index": 1, "id": "call_b"}), Some("read"), json!(""))]}),
            ],
            both("call_a", "call_b"),
        ),
        (
            "interleaved, with empty ids after the first delta",
            vec![
                json!({"tool_calls": [call(json!({"index": 0, "id": "call_a"}), Some("read"), json!("{\"path\":"))]}),
                json!({"tool_calls": [call(json!({"index": 1, "id": "call_b"}), Some("read"), json!("{\"path\":"))]}),
                json!({"tool_calls": [
                    call(json!({"index": 0, "id": ""}), Some(""), json!("\"a\"}")),
                    call(json!({"index": 1, "id": null}), None, json!("\"b\"}")),
                ]}),
            ],
            both("call_a", "call_b"),
        ),
        (
            "another id in each delta, but one index and one name",
            vec![
                json!({"tool_calls": [call(json!({"index": 0, "id": "call_a"}), Some("read"), json!("{\"path\":"))]}),
                json!({"tool_calls": [call(json!({"index": 0, "id": "call_x"}), None, json!("\"a\"}"))]}),
            ],
            vec![("call_a".to_owned(), a.clone())],
        ),
        (
            "a name in two parts",
            vec![
                json!({"tool_calls": [call(json!({"index": 0, "id": "call_a"}), Some("re"), json!(""))]}),
                json!({"tool_calls": [call(json!({"index": 0}), Some("ad"), json!(a_text))]}),
            ],
            vec![("call_a".to_owned(), a.clone())],
        ),
        (
            "arguments as an object",
            one_each(
                call(json!({"index": 0, "id": "call_a"}), Some("read"), a.clone()),
                call(json!({"index": 1, "id": "call_b"}), Some("read"), b.clone()),
            ),
            both("call_a", "call_b"),
        ),
    ];
    for (case, deltas, expected) in cases {
        let (events, reply) = chat(&deltas, "tool_calls");
        let expected: Vec<(&str, &str, &Value)> =
            expected.iter().map(|(id, input)| (id.as_str(), "read", input)).collect();
        assert_eq!(calls(&reply), expected, "{case}");
        assert_eq!(reply.end, ReplyEnd::ToolCalls, "{case}");
        let shown = events.iter().filter(|event| matches!(event, ReplyEvent::ToolCall { .. })).count();
        assert_eq!(shown, expected.len(), "{case}");
    }
}

#[test]
fn arguments_sent_as_an_object_are_the_arguments_in_every_format() {
    let input = json!({"path": "a"});
    let bodies = [
        (
            Format::OpenAi,
            json!({"choices": [{"finish_reason": "tool_calls", "message": {"tool_calls": [
                {"id": "call_a", "function": {"name": "read", "arguments": input}},
            ]}}]}),
        ),
        (
            Format::Responses,
            json!({"status": "completed", "output": [
                {"type": "function_call", "call_id": "call_a", "name": "read", "arguments": input},
            ]}),
        ),
        (
            Format::Anthropic,
            json!({"stop_reason": "tool_use", "content": [
                {"type": "tool_use", "id": "call_a", "name": "read", "input": input},
            ]}),
        ),
    ];
    for (format, body) in bodies {
        let reply = Reply::read(format, body.to_string().as_bytes()).unwrap();
        assert_eq!(calls(&reply), [("call_a", "read", &input)], "{format:?}");
    }
    let chunks = [
        json!({"type": "message_start", "message": {}}),
        json!({"type": "content_block_start", "index": 0, "content_block":
            {"type": "tool_use", "id": "call_a", "name": "read", "input": input}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
    ];
    let (_, reply) = stream(Format::Anthropic, &chunks);
    assert_eq!(calls(&reply), [("call_a", "read", &input)], "an Anthropic stream");
}
