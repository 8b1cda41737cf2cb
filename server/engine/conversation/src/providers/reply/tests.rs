//! Tests of the decoders: the same events wherever the bytes are split, the same reply streamed and whole,
//! and nothing lost if a stream is interrupted.

use proptest::prelude::*;
use serde_json::{Value, json};

use std::time::Duration;

use super::*;
use crate::history::ContentBlock;
use crate::providers::Format;

mod bedrock;
mod deviations;
mod errors;

const DIALECTS: [Format; 4] = [Format::Anthropic, Format::OpenAi, Format::Responses, Format::Gemini];

/// A generated answer from a model.
#[derive(Clone, Debug)]
struct Script {
    thought: String,
    texts: Vec<String>,
    calls: Vec<(String, Value)>,
    line: &'static str,
    noise: bool,
}

impl Script {
    fn text(&self) -> String {
        self.texts.concat()
    }

    /// Returns the stream of this answer in the form that the provider documents, as (event, data) pairs.
    fn events(&self, format: Format) -> Vec<(&'static str, Value)> {
        match format {
            Format::Anthropic => self.anthropic(),
            Format::OpenAi => self.chat(),
            Format::Responses => self.responses(),
            _ => self.gemini(),
        }
    }

    fn stream(&self, format: Format) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut push = |text: &str| bytes.extend_from_slice(text.as_bytes());
        for (at, (name, data)) in self.events(format).iter().enumerate() {
            if self.noise && at % 2 == 1 {
                push(&format!(
                    ": keep-alive{0}{0}event: ping{0}data: {{\"type\":\"ping\"}}{0}{0}",
                    self.line
                ));
                push(&format!(
                    "event: news{0}data: {{\"type\":\"response.news\",\"text\":\"x\"}}{0}{0}",
                    self.line
                ));
            }
            if !name.is_empty() {
                push(&format!("event: {name}{}", self.line));
            }
            push(&format!("data: {data}{0}{0}", self.line));
        }
        if format == Format::OpenAi {
            push(&format!("data: [DONE]{0}{0}", self.line));
        }
        bytes
    }

    fn anthropic(&self) -> Vec<(&'static str, Value)> {
        let usage = json!({"input_tokens": 7, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 3, "output_tokens": 1});
        let start = json!({"type": "message_start", "message": {"usage": usage, "content": []}});
        let mut events = vec![("message_start", start)];
        let mut index = 0;
        let mut block = |start: Value, deltas: Vec<Value>, events: &mut Vec<(&'static str, Value)>| {
            let begun = json!({"type": "content_block_start", "index": index, "content_block": start});
            events.push(("content_block_start", begun));
            for delta in deltas {
                let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
                events.push(("content_block_delta", delta));
            }
            events.push(("content_block_stop", json!({"type": "content_block_stop", "index": index})));
            index += 1;
        };
        if !self.thought.is_empty() {
            let deltas = vec![
                json!({"type": "thinking_delta", "thinking": self.thought}),
                json!({"type": "signature_delta", "signature": "c2VhbA=="}),
            ];
            block(json!({"type": "thinking", "thinking": "", "signature": ""}), deltas, &mut events);
        }
        let deltas = self.texts.iter().map(|text| json!({"type": "text_delta", "text": text})).collect();
        block(json!({"type": "text", "text": ""}), deltas, &mut events);
        for (at, (name, input)) in self.calls.iter().enumerate() {
            let written = input.to_string();
            let (first, second) = written.split_at(written.len() / 2);
            let deltas =
                ["", first, second].map(|json| json!({"type": "input_json_delta", "partial_json": json}));
            let start = json!({"type": "tool_use", "id": format!("toolu_{at}"), "name": name, "input": {}});
            block(start, deltas.to_vec(), &mut events);
        }
        let stop = if self.calls.is_empty() { "end_turn" } else { "tool_use" };
        let delta =
            json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 25}});
        events.extend([("message_delta", delta), ("message_stop", json!({"type": "message_stop"}))]);
        events
    }

    fn chat(&self) -> Vec<(&'static str, Value)> {
        let chunk = |delta: Value, finish: Value| {
            (
                "",
                json!({"object": "chat.completion.chunk", "usage": null, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}),
            )
        };
        let mut events =
            vec![chunk(json!({"role": "assistant", "content": "", "refusal": null}), Value::Null)];
        if !self.thought.is_empty() {
            events.push(chunk(json!({"reasoning_content": self.thought}), Value::Null));
        }
        events.extend(self.texts.iter().map(|text| chunk(json!({"content": text}), Value::Null)));
        for (at, (name, input)) in self.calls.iter().enumerate() {
            let written = input.to_string();
            let (first, second) = written.split_at(written.len() / 2);
            let head = json!({"index": at, "id": format!("call_{at}"), "type": "function", "function": {"name": name, "arguments": ""}});
            events.push(chunk(json!({"tool_calls": [head]}), Value::Null));
            events.extend([first, second].map(|part| {
                chunk(json!({"tool_calls": [{"index": at, "function": {"arguments": part}}]}), Value::Null)
            }));
        }
        events.push(chunk(json!({}), if self.calls.is_empty() { "stop" } else { "tool_calls" }.into()));
        let usage = json!({"prompt_tokens": 100, "completion_tokens": 25, "prompt_tokens_details": {"cached_tokens": 90, "cache_write_tokens": 3}});
        events.push(("", json!({"object": "chat.completion.chunk", "choices": [], "usage": usage})));
        events
    }

    fn responses_items(&self) -> Vec<Value> {
        let mut items = Vec::new();
        if !self.thought.is_empty() {
            items.push(
                json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbA=="}),
            );
        }
        items.push(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": self.text()}]}));
        for (at, (name, input)) in self.calls.iter().enumerate() {
            items.push(json!({"type": "function_call", "id": format!("fc_{at}"), "call_id": format!("call_{at}"), "name": name, "arguments": input.to_string()}));
        }
        items
    }

    fn responses_whole(&self) -> Value {
        let usage = json!({"input_tokens": 100, "output_tokens": 25, "input_tokens_details": {"cached_tokens": 90, "cache_write_tokens": 3}});
        json!({"object": "response", "status": "completed", "error": null, "output": self.responses_items(), "usage": usage})
    }

    fn responses(&self) -> Vec<(&'static str, Value)> {
        let mut events = vec![(
            "response.created",
            json!({"type": "response.created", "response": {"status": "in_progress", "error": null}}),
        )];
        for (at, item) in self.responses_items().into_iter().enumerate() {
            if item["type"] == "message" {
                events.extend(self.texts.iter().map(|text| {
                    (
                        "response.output_text.delta",
                        json!({"type": "response.output_text.delta", "output_index": at, "delta": text}),
                    )
                }));
            }
            if item["type"] == "reasoning" {
                let thought = json!({"type": "response.reasoning_summary_text.delta", "output_index": at, "delta": self.thought});
                events.push(("response.reasoning_summary_text.delta", thought));
            }
            events.push((
                "response.output_item.done",
                json!({"type": "response.output_item.done", "output_index": at, "item": item}),
            ));
        }
        events.push((
            "response.completed",
            json!({"type": "response.completed", "response": self.responses_whole()}),
        ));
        events
    }

    fn gemini(&self) -> Vec<(&'static str, Value)> {
        let usage = json!({"promptTokenCount": 100, "cachedContentTokenCount": 90, "candidatesTokenCount": 20, "thoughtsTokenCount": 5});
        let chunk = |parts: Vec<Value>| json!({"candidates": [{"content": {"role": "model", "parts": parts}}], "usageMetadata": usage});
        let mut events = Vec::new();
        if !self.thought.is_empty() {
            events.push(("", chunk(vec![json!({"text": self.thought, "thought": true})])));
        }
        events.extend(self.texts.iter().map(|text| ("", chunk(vec![json!({"text": text})]))));
        for (at, (name, input)) in self.calls.iter().enumerate() {
            let mut part = json!({"functionCall": {"name": name, "args": input}});
            if at == 0 {
                part["thoughtSignature"] = json!("c2VhbA==");
            }
            events.push(("", chunk(vec![part])));
        }
        let mut last = chunk(vec![json!({"text": ""})]);
        last["candidates"][0]["finishReason"] = json!("STOP");
        events.push(("", last));
        events
    }
}

fn scripts() -> impl Strategy<Value = Script> {
    let text = || prop::string::string_regex("[ -~\u{e9}\u{1f600}\n\r]{0,12}").unwrap();
    let names = prop::sample::select(vec!["read", "grep"]).prop_map(str::to_owned);
    let inputs = prop::sample::select(vec![
        json!({}),
        json!({"path": "a\nb", "n": 1}),
        json!({"\u{e9}": ["\"", "}"]}),
    ]);
    let lines = prop::sample::select(vec!["\n", "\r\n", "\r"]);
    let calls = prop::collection::vec((names, inputs), 0..3);
    (text(), prop::collection::vec(text(), 0..5), calls, lines, any::<bool>())
        .prop_map(|(thought, texts, calls, line, noise)| Script { thought, texts, calls, line, noise })
}

fn decoded<'a>(format: Format, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<ReplyEvent>, Reply) {
    let mut decoder = ReplyDecoder::new(format.dialect().unwrap());
    let mut events: Vec<ReplyEvent> = pieces.into_iter().flat_map(|piece| decoder.push(piece)).collect();
    let (reply, last) = decoder.finish();
    events.extend(last);
    (events, reply)
}

fn cut(bytes: &[u8], places: &[prop::sample::Index]) -> Vec<usize> {
    let mut places: Vec<usize> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places
}

fn reply_text(reply: &Reply) -> String {
    let texts = reply.content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

proptest! {
    // 200 streams per dialect.
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn bytes_cut_anywhere_give_the_same_events(script in scripts(), places in prop::collection::vec(any::<prop::sample::Index>(), 0..40)) {
        for format in DIALECTS {
            let bytes = script.stream(format);
            let complete = decoded(format, [&*bytes]);
            let places = cut(&bytes, &places);
            let pieces = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
            prop_assert_eq!(&decoded(format, pieces), &complete);
            prop_assert_eq!(&decoded(format, bytes.chunks(1)), &complete);
        }
    }

    #[test]
    fn an_answer_arrives_complete(script in scripts()) {
        for format in DIALECTS {
            let bytes = script.stream(format);
            let (events, reply) = decoded(format, [&*bytes]);
            prop_assert_eq!(reply_text(&reply), script.text(), "{:?}", format);
            let shown: String = events.iter().filter_map(|event| match event {
                ReplyEvent::Text(text) => Some(text.as_str()),
                _ => None,
            }).collect();
            prop_assert_eq!(shown, script.text());
            let calls: Vec<(String, Value)> = reply.content.iter().filter_map(|block| match block {
                ContentBlock::ToolCall { name, input, .. } => Some((name.clone(), input.clone())),
                _ => None,
            }).collect();
            prop_assert_eq!(&calls, &script.calls);
            let end = if calls.is_empty() { ReplyEnd::Complete } else { ReplyEnd::ToolCalls };
            prop_assert_eq!(&reply.end, &end);
            let usage = reply.usage.unwrap();
            prop_assert_eq!((usage.input + usage.cache_write, usage.cache_read, usage.output), (10, 90, 25));
        }
    }

    #[test]
    fn an_interrupted_stream_keeps_the_text_received(script in scripts(), place in any::<prop::sample::Index>()) {
        for format in DIALECTS {
            let bytes = script.stream(format);
            let end = place.index(bytes.len());
            let (events, reply) = decoded(format, [&bytes[..end]]);
            prop_assert!(script.text().starts_with(&reply_text(&reply)), "{:?}", format);
            let calls = events.iter().filter(|event| matches!(event, ReplyEvent::ToolCall { .. })).count();
            let received_calls = reply.content.iter().filter(|block| matches!(block, ContentBlock::ToolCall { .. })).count();
            prop_assert_eq!(calls, received_calls);
            let is_known = matches!(reply.end, ReplyEnd::Cut | ReplyEnd::Complete | ReplyEnd::ToolCalls | ReplyEnd::Failed(_));
            prop_assert!(is_known);
        }
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for format in DIALECTS {
            let (_, reply) = decoded(format, [&*bytes]);
            prop_assert!(matches!(reply.end, ReplyEnd::Cut | ReplyEnd::Failed(_)));
            prop_assert!(Reply::read(format.dialect().unwrap(), &bytes).is_err());
        }
    }
}

#[test]
fn an_unstreamed_reply_equals_the_streamed_one() {
    let anthropic = json!({
        "type": "message", "stop_reason": "tool_use",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2VhbA=="},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_0", "name": "read", "input": {"path": "a"}},
        ],
        "usage": {"input_tokens": 7, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 3, "output_tokens": 25},
    });
    let chat = json!({
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "I look.",
            "tool_calls": [{"id": "call_0", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}],
        }}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 25, "prompt_tokens_details": {"cached_tokens": 90, "cache_write_tokens": 3}},
    });
    let script = Script {
        thought: "Hm.".into(),
        texts: vec!["I ".into(), "look.".into()],
        calls: vec![("read".into(), json!({"path": "a"}))],
        line: "\n",
        noise: true,
    };
    let gemini = {
        let events = script.gemini();
        let parts: Vec<Value> = events
            .iter()
            .flat_map(|(_, data)| data["candidates"][0]["content"]["parts"].as_array().unwrap().clone())
            .collect();
        let mut complete = events.last().unwrap().1.clone();
        complete["candidates"][0]["content"]["parts"] = parts.into();
        complete
    };
    let bodies = [
        (Format::Anthropic, anthropic),
        (Format::OpenAi, chat),
        (Format::Responses, script.responses_whole()),
        (Format::Gemini, gemini),
    ];
    for (format, body) in bodies {
        let (_, streamed) = decoded(format, [&*script.stream(format)]);
        let complete = Reply::read(format.dialect().unwrap(), body.to_string().as_bytes()).unwrap();
        assert_eq!(complete, streamed, "{format:?}");
    }
}

#[test]
fn errors_are_classified_by_what_the_caller_can_do() {
    use ProviderErrorKind::{Authentication, ContextLimit, Overloaded, RateLimit, Refused, Server};
    let anthropic =
        |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}});
    let openai = |code: Value, message: &str| json!({"error": {"message": message, "type": "invalid_request_error", "code": code}});
    let gemini =
        |status: &str, message: &str| json!({"error": {"code": 400, "message": message, "status": status}});
    for (status, body, kind) in [
        (
            400,
            anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
            ContextLimit,
        ),
        (413, anthropic("request_too_large", "Request exceeds the maximum size"), ContextLimit),
        (400, openai(json!("context_length_exceeded"), "Your input exceeds the window"), ContextLimit),
        (400, openai(json!(null), "This model's maximum context length is 8192 tokens."), ContextLimit),
        (
            400,
            gemini(
                "INVALID_ARGUMENT",
                "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            ),
            ContextLimit,
        ),
        (400, anthropic("invalid_request_error", "max_tokens: Field required"), Refused),
        (401, anthropic("authentication_error", "invalid x-api-key"), Authentication),
        (403, gemini("PERMISSION_DENIED", "no"), Authentication),
        (429, anthropic("rate_limit_error", "slow down"), RateLimit),
        (529, anthropic("overloaded_error", "Overloaded"), Overloaded),
        (503, gemini("UNAVAILABLE", "The model is overloaded."), Overloaded),
        (500, json!("<html>"), Server),
        (404, json!({"error": "model not found"}), Refused),
    ] {
        let error = ProviderError::from_status(status, body.to_string().as_bytes(), None);
        assert_eq!(error.kind, kind, "{status} {body}");
    }
    let limited = json!({"error": {"status": "RESOURCE_EXHAUSTED", "message": "x", "details": [{"retryDelay": "1.5s"}]}});
    let error = ProviderError::from_status(429, limited.to_string().as_bytes(), None);
    assert_eq!(error.retry_after, Some(Duration::from_millis(1500)));
}

#[test]
fn an_error_in_the_middle_of_a_stream_ends_it() {
    for format in DIALECTS {
        let script = Script {
            thought: String::new(),
            texts: vec!["Hal".into(), "f.".into()],
            calls: vec![],
            line: "\n",
            noise: false,
        };
        let late = match format {
            Format::Responses => json!({"type": "error", "code": "server_error", "message": "Overloaded"}),
            Format::Gemini => {
                json!({"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}})
            }
            _ => json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        };
        let mut bytes = Vec::new();
        for (name, data) in script.events(format) {
            bytes.extend(format!("event: {name}\ndata: {data}\n\n").into_bytes());
            if data.to_string().contains("f.") {
                break;
            }
        }
        bytes.extend(format!("event: error\ndata: {late}\n\n").into_bytes());
        let (_, reply) = decoded(format, [&*bytes]);
        assert_eq!(reply_text(&reply), "Half.", "{format:?}");
        let ReplyEnd::Failed(error) = &reply.end else { panic!("{format:?}: {:?}", reply.end) };
        assert_eq!(error.message, "Overloaded");
    }
}

#[test]
fn a_body_that_is_not_a_stream_is_quoted_in_the_error() {
    for format in DIALECTS {
        let (_, reply) = decoded(format, [&b"<html><body>Log in to the hotel's network</body></html>"[..]]);
        let ReplyEnd::Failed(error) = reply.end else { panic!("{format:?}") };
        assert_eq!(error.kind, ProviderErrorKind::Garbage);
        assert!(error.message.contains("hotel"), "{error}");
        assert_eq!(reply.content, []);
    }
}
