//! Streams of compatible servers that deviate from the documented form.

use serde_json::{Value, json};
use strata_tokens::cost::Usage;

use super::{ContentBlock, Format, ProviderErrorKind, Reply, ReplyEnd, ReplyEvent, decoded};

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
fn streamed_calls_are_matched_by_id_then_index_then_position() {
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
        let reply = Reply::read(format.dialect().unwrap(), body.to_string().as_bytes()).unwrap();
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

/// Returns the stream and the whole reply of a format that ends with a word.
fn ended(format: Format, word: &str) -> [Reply; 2] {
    let (chunks, body) = match format {
        Format::Anthropic => (
            vec![
                json!({"type": "message_start", "message": {}}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Half"}}),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "delta": {"stop_reason": word}}),
            ],
            json!({"content": [{"type": "text", "text": "Half"}], "stop_reason": word}),
        ),
        Format::Responses => {
            let item = json!({"type": "message", "content": [{"type": "output_text", "text": "Half"}]});
            let response =
                json!({"status": "incomplete", "incomplete_details": {"reason": word}, "output": [item]});
            (
                vec![
                    json!({"type": "response.output_item.done", "item": item}),
                    json!({"type": "response.incomplete", "response": response}),
                ],
                response,
            )
        }
        Format::Gemini => {
            let body =
                json!({"candidates": [{"content": {"parts": [{"text": "Half"}]}, "finishReason": word}]});
            (vec![body.clone()], body)
        }
        _ => (
            vec![
                json!({"choices": [{"delta": {"content": "Half"}, "finish_reason": ""}]}),
                json!({"choices": [{"delta": {}, "finish_reason": word}]}),
            ],
            json!({"choices": [{"message": {"content": "Half"}, "finish_reason": word}]}),
        ),
    };
    let (_, streamed) = stream(format, &chunks);
    [streamed, Reply::read(format.dialect().unwrap(), body.to_string().as_bytes()).unwrap()]
}

#[test]
fn an_unknown_end_means_an_incomplete_answer_and_is_quoted() {
    use ProviderErrorKind::{Content, Incomplete, Server};
    let failures = [
        (Format::OpenAi, "error", Server),
        (Format::OpenAi, "insufficient_system_resource", Server),
        (Format::OpenAi, "network_error", Server),
        (Format::OpenAi, "abort", Server),
        (Format::OpenAi, "sensitive", Content),
        (Format::OpenAi, "content_filter", Content),
        (Format::OpenAi, "time_limit", Incomplete),
        (Format::Anthropic, "pause_turn", Incomplete),
        (Format::Anthropic, "refusal", Content),
        (Format::Anthropic, "compaction", Incomplete),
        (Format::Responses, "content_filter", Content),
        (Format::Responses, "steered", Incomplete),
        (Format::Gemini, "SAFETY", Content),
        (Format::Gemini, "MALFORMED_FUNCTION_CALL", Server),
        (Format::Gemini, "OTHER", Incomplete),
    ];
    for (format, word, kind) in failures {
        for reply in ended(format, word) {
            let ReplyEnd::Failed(error) = &reply.end else { panic!("{format:?} {word}: {:?}", reply.end) };
            assert_eq!((error.kind, reply.text().as_str()), (kind, "Half"), "{format:?} {word}");
            assert!(error.message.contains(&format!("`{word}`")), "{format:?} {word}: {error}");
        }
    }
    let others = [
        (Format::OpenAi, "stop", ReplyEnd::Complete),
        (Format::OpenAi, "eos_token", ReplyEnd::Complete),
        (Format::OpenAi, "max_tokens", ReplyEnd::OutputLimit),
        (Format::OpenAi, "model_length", ReplyEnd::OutputLimit),
        (Format::OpenAi, "model_context_window_exceeded", ReplyEnd::OutputLimit),
        (Format::Anthropic, "stop_sequence", ReplyEnd::Complete),
        (Format::Anthropic, "model_context_window_exceeded", ReplyEnd::OutputLimit),
        (Format::Responses, "max_output_tokens", ReplyEnd::OutputLimit),
        (Format::Gemini, "STOP", ReplyEnd::Complete),
        (Format::Gemini, "MAX_TOKENS", ReplyEnd::OutputLimit),
    ];
    for (format, word, end) in others {
        for reply in ended(format, word) {
            assert_eq!((&reply.end, reply.text().as_str()), (&end, "Half"), "{format:?} {word}");
        }
    }
}

#[test]
fn an_error_in_a_choice_is_the_end_of_the_reply() {
    let error = json!({"code": 502, "message": "Upstream went away"});
    let (_, reply) = stream(
        Format::OpenAi,
        &[
            json!({"choices": [{"delta": {"content": "Half"}}]}),
            json!({"choices": [{"delta": {}, "finish_reason": "error", "error": error}]}),
        ],
    );
    let ReplyEnd::Failed(error) = &reply.end else { panic!("{:?}", reply.end) };
    assert_eq!((error.message.as_str(), reply.text().as_str()), ("Upstream went away", "Half"));
}

#[test]
fn a_reply_that_announces_calls_but_has_none_fails() {
    let (_, reply) = chat(&[json!({"content": "I look."})], "tool_calls");
    assert!(matches!(reply.end, ReplyEnd::Failed(_)), "{:?}", reply.end);
}

#[test]
fn content_may_be_a_list_of_parts() {
    let parts = json!([
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
        {"type": "text", "text": "An "},
        {"type": "text", "text": "answer."},
    ]);
    let (events, streamed) = chat(&[json!({"content": parts})], "stop");
    assert_eq!(events[0], ReplyEvent::Thinking("Hm.".to_owned()));
    let body = json!({"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]});
    let body = Reply::read(Format::OpenAi.dialect().unwrap(), body.to_string().as_bytes()).unwrap();
    for reply in [streamed, body] {
        assert_eq!((reply.text().as_str(), &reply.end), ("An answer.", &ReplyEnd::Complete));
    }
}

#[test]
fn usage_is_read_where_the_server_puts_it_and_adds_up_to_what_was_billed() {
    let say = || json!({"choices": [{"delta": {"content": "Hi"}}]});
    let stop = |usage: Value| json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": usage});
    let last = |usage: Value| json!({"choices": [], "usage": usage});
    let documented = json!({"prompt_tokens": 100, "completion_tokens": 25, "total_tokens": 125,
        "prompt_tokens_details": {"cached_tokens": 90, "cache_write_tokens": 3}});
    let none = json!({});
    let zero = json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0});
    let early = json!({"prompt_tokens": 100, "completion_tokens": 1, "total_tokens": 101});
    let usage = |input, cache_read, cache_write, output| Usage { input, output, cache_read, cache_write };
    let cases = [
        ("in a last event", vec![say(), stop(json!(null)), last(documented.clone())], usage(7, 90, 3, 25)),
        ("with the end", vec![say(), stop(documented.clone())], usage(7, 90, 3, 25)),
        (
            "empty with the end",
            vec![say(), stop(none.clone()), last(documented.clone())],
            usage(7, 90, 3, 25),
        ),
        ("zero with the end", vec![say(), stop(zero), last(documented.clone())], usage(7, 90, 3, 25)),
        (
            "so far in each",
            vec![last(early), say(), stop(json!(null)), last(documented)],
            usage(7, 90, 3, 25),
        ),
        (
            "DeepSeek",
            vec![
                say(),
                stop(json!({"prompt_tokens": 100, "completion_tokens": 25, "total_tokens": 125,
                "prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36})),
            ],
            usage(36, 64, 0, 25),
        ),
        (
            "Kimi",
            vec![
                say(),
                stop(json!({"prompt_tokens": 100, "completion_tokens": 25, "total_tokens": 125,
                "cached_tokens": 64})),
            ],
            usage(36, 64, 0, 25),
        ),
        (
            "the cache in addition, as the total shows",
            vec![
                say(),
                stop(json!({"prompt_tokens": 100, "completion_tokens": 25, "total_tokens": 189,
                "cache_read_input_tokens": 64})),
            ],
            usage(100, 64, 0, 25),
        ),
        (
            "the cache in addition, without a total",
            vec![
                say(),
                stop(json!({"prompt_tokens": 10, "completion_tokens": 25,
                "cache_read_input_tokens": 64, "cache_creation_input_tokens": 3})),
            ],
            usage(10, 64, 3, 25),
        ),
        (
            "xAI, with reasoning in addition",
            vec![
                say(),
                stop(json!({"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 125,
                "completion_tokens_details": {"reasoning_tokens": 20}})),
            ],
            usage(100, 0, 0, 25),
        ),
        (
            "reasoning within the output",
            vec![
                say(),
                stop(json!({"prompt_tokens": 100, "completion_tokens": 25, "total_tokens": 125,
                "completion_tokens_details": {"reasoning_tokens": 20}})),
            ],
            usage(100, 0, 0, 25),
        ),
        (
            "fractions and negative counts",
            vec![
                say(),
                stop(json!({"prompt_tokens": 100.0, "completion_tokens": 25.0,
                "prompt_tokens_details": {"cached_tokens": -1}})),
            ],
            usage(100, 0, 0, 25),
        ),
    ];
    for (case, chunks, expected) in cases {
        let (_, reply) = stream(Format::OpenAi, &chunks);
        assert_eq!((reply.usage, &reply.end), (Some(expected), &ReplyEnd::Complete), "{case}");
    }
    let (_, reply) = stream(Format::OpenAi, &[say(), stop(none)]);
    assert_eq!((reply.usage, &reply.end), (None, &ReplyEnd::Complete), "no usage at all");
    let counts = json!({"input_tokens": 7, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 3});
    let chunks = [
        json!({"type": "message_start", "message": {"usage": counts}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
            "usage": {"input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 25}}),
    ];
    let (_, reply) = stream(Format::Anthropic, &chunks);
    assert_eq!(reply.usage, Some(usage(7, 90, 3, 25)), "zeros after the real counts");
    let chunks = [
        json!({"candidates": [{"content": {"parts": [{"text": "Hi"}]}}], "usageMetadata":
            {"promptTokenCount": 100, "cachedContentTokenCount": 90, "candidatesTokenCount": 5,
            "thoughtsTokenCount": 20, "totalTokenCount": 125}}),
        json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": {}}),
    ];
    let (_, reply) = stream(Format::Gemini, &chunks);
    assert_eq!(reply.usage, Some(usage(10, 90, 0, 25)), "Gemini");
}
