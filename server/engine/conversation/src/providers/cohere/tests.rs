//! Bodies and answers in the form of Cohere's reference.

use serde_json::{Value, json};
use strata_tokens::cost::Usage;

use super::CohereChat;
use crate::history::{ContentBlock, ResultPart, ToolOutcome};
use crate::providers::reply::{ProviderErrorKind, Reply, ReplyDecoder, ReplyEnd, ReplyEvent};
use crate::providers::{Dialect, Envelope, Rule, Speaker, SpokenBlock, SpokenMessage, Tool, ToolChoice};

fn call() -> ContentBlock {
    ContentBlock::ToolCall {
        id: "get_weather_0".into(),
        name: "get_weather".into(),
        input: json!({"city": "Rome"}),
    }
}

fn stream(events: &[Value]) -> (Reply, Vec<ReplyEvent>) {
    let mut decoder = ReplyDecoder::new(&CohereChat);
    let text: String = events
        .iter()
        .map(|data| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap()))
        .collect();
    let mut shown = decoder.push(text.as_bytes());
    assert!(decoder.is_done());
    let (reply, rest) = decoder.finish();
    shown.extend(rest);
    (reply, shown)
}

#[test]
fn text_before_a_call_is_its_tool_plan() {
    let (system, request, plan, call) = (
        ContentBlock::text("Be brief."),
        ContentBlock::text("Weather?"),
        ContentBlock::text("I look it up."),
        call(),
    );
    let content = vec![ResultPart::Text { text: "20°".into() }];
    let result =
        ContentBlock::ToolResult { call_id: "get_weather_0".into(), content, outcome: ToolOutcome::Ok };
    let spoken = |speaker, blocks: &[&'static ContentBlock]| SpokenMessage {
        speaker,
        blocks: blocks.iter().map(|content| SpokenBlock { content, mark: None }).collect(),
        volatile: 0,
    };
    let [system, request, plan, call, result] =
        [system, request, plan, call, result].map(|block| &*Box::leak(Box::new(block)));
    let spoken = [
        spoken(Speaker::System, &[system]),
        spoken(Speaker::User, &[request]),
        spoken(Speaker::Assistant, &[plan, call]),
        spoken(Speaker::User, &[result]),
    ];
    let input_schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let tools = [Tool {
        name: "get_weather".into(),
        description: "Weather.".into(),
        input_schema: input_schema.clone(),
    }];
    let envelope = Envelope {
        tools: &tools,
        tool_choice: ToolChoice::None,
        ..Envelope::without_tools("command-a-03-2025")
    };
    let body: Value = CohereChat.body(&spoken, &envelope).fields.into();
    let function = json!({"name": "get_weather", "description": "Weather.", "parameters": input_schema});
    let function_call = json!({"name": "get_weather", "arguments": "{\"city\":\"Rome\"}"});
    let expected = json!({
        "model": "command-a-03-2025",
        "tools": [{"type": "function", "function": function}],
        "tool_choice": "NONE",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "tool_calls": [{"id": "get_weather_0", "type": "function", "function": function_call}],
                "tool_plan": "I look it up.",
            },
            {"role": "tool", "tool_call_id": "get_weather_0", "content": "20°"},
        ],
    });
    assert_eq!(body, expected);
    assert_eq!(CohereChat.check(&body), []);
}

#[test]
fn bodies_that_cohere_rejects_break_a_rule() {
    let body = |message: Value| json!({"model": "m", "messages": [message]});
    for (message, rule) in [
        (json!({"role": "developer", "content": "x"}), Rule::Role),
        (json!({"role": "assistant", "content": "x", "tool_plan": "no calls"}), Rule::Shape),
        (json!({"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}), Rule::Shape),
    ] {
        let violations = CohereChat.check(&body(message.clone()));
        assert_eq!(
            violations.iter().map(|violation| violation.rule).collect::<Vec<_>>(),
            [rule],
            "{message}"
        );
    }
    let mut choice = body(json!({"role": "user", "content": "x"}));
    choice["tool_choice"] = "none".into();
    assert_eq!(CohereChat.check(&choice).len(), 1);
}

#[test]
fn a_streamed_answer_equals_the_unstreamed_one() {
    let usage = json!({
        "billed_units": {"input_tokens": 37, "output_tokens": 30},
        "tokens": {"input_tokens": 1_537.0, "output_tokens": 65.0},
        "cached_tokens": 1_024,
    });
    let message = |delta: Value| json!({"message": delta});
    let (reply, shown) = stream(&[
        json!({"type": "message-start", "id": "1", "delta": message(json!({"role": "assistant"}))}),
        json!({"type": "content-start", "index": 0, "delta": message(json!({"content": {"type": "thinking", "thinking": ""}}))}),
        json!({"type": "content-delta", "index": 0, "delta": message(json!({"content": {"thinking": "Hm."}}))}),
        json!({"type": "content-end", "index": 0}),
        json!({"type": "tool-plan-delta", "delta": message(json!({"tool_plan": "I look "}))}),
        json!({"type": "tool-plan-delta", "delta": message(json!({"tool_plan": "it up."}))}),
        json!({"type": "tool-call-start", "index": 0, "delta": message(json!({"tool_calls": {
            "id": "get_weather_0", "type": "function", "function": {"name": "get_weather", "arguments": ""}}}))}),
        json!({"type": "tool-call-delta", "index": 0, "delta": message(json!({"tool_calls": {"function": {"arguments": "{\"city\":"}}}))}),
        json!({"type": "tool-call-delta", "index": 0, "delta": message(json!({"tool_calls": {"function": {"arguments": " \"Rome\"}"}}}))}),
        json!({"type": "tool-call-end", "index": 0}),
        json!({"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": usage}}),
    ]);
    assert_eq!(reply.content, [ContentBlock::text("I look it up."), call()]);
    assert_eq!(reply.end, ReplyEnd::ToolCalls);
    assert_eq!(reply.usage, Some(Usage { input: 513, output: 65, cache_read: 1_024, cache_write: 0 }));
    assert_eq!(shown[0], ReplyEvent::Thinking("Hm.".into()));
    let function = json!({"name": "get_weather", "arguments": "{\"city\": \"Rome\"}"});
    let body = json!({
        "id": "1", "finish_reason": "TOOL_CALL", "usage": usage,
        "message": {
            "role": "assistant", "tool_plan": "I look it up.", "content": [{"type": "thinking", "thinking": "Hm."}],
            "tool_calls": [{"id": "get_weather_0", "type": "function", "function": function}],
        },
    });
    assert_eq!(Reply::read(&CohereChat, body.to_string().as_bytes()), Ok(reply));
}

#[test]
fn every_documented_reason_ends_an_answer() {
    for (reason, expected) in [
        ("COMPLETE", Ok(ReplyEnd::Complete)),
        ("STOP_SEQUENCE", Ok(ReplyEnd::Complete)),
        ("MAX_TOKENS", Ok(ReplyEnd::OutputLimit)),
        ("ERROR", Err(ProviderErrorKind::Server)),
        ("TIMEOUT", Err(ProviderErrorKind::Server)),
        ("NEWER", Err(ProviderErrorKind::Incomplete)),
    ] {
        let billed = json!({"billed_units": {"input_tokens": 5, "output_tokens": 1}});
        let (reply, _) = stream(&[
            json!({"type": "message-start"}),
            json!({"type": "content-delta", "delta": {"message": {"content": {"text": "Hi"}}}}),
            json!({"type": "message-end", "delta": {"finish_reason": reason, "usage": billed}}),
        ]);
        assert_eq!(reply.text(), "Hi", "{reason}");
        assert_eq!(reply.usage.map(|usage| (usage.input, usage.output)), Some((5, 1)), "{reason}");
        match (reply.end, expected) {
            (ReplyEnd::Failed(error), Err(kind)) => assert_eq!(error.kind, kind, "{reason}"),
            (end, expected) => assert_eq!(Ok(end), expected, "{reason}"),
        }
    }
    let (reply, _) = stream(&[
        json!({"type": "message-start"}),
        json!({"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "the GPU is on fire"}}),
    ]);
    assert!(matches!(reply.end, ReplyEnd::Failed(error) if error.message == "the GPU is on fire"));
}
