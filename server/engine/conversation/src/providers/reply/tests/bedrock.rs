//! Bedrock's binary streams, cut at every byte, and its whole replies.

use serde_json::{Value, json};
use strata_tokens::cost::Usage;

use crate::history::ContentBlock;
use crate::providers::Format;
use crate::providers::reply::{ProviderErrorKind, Reply, ReplyDecoder, ReplyEnd, ReplyEvent};

fn frame(kind: &str, name: &str, data: &Value) -> Vec<u8> {
    let mut headers = Vec::new();
    for (key, value) in [(kind, name), (":content-type", "application/json"), (":message-type", "event")] {
        headers.push(u8::try_from(key.len()).unwrap());
        headers.extend_from_slice(key.as_bytes());
        headers.push(7);
        headers.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
        headers.extend_from_slice(value.as_bytes());
    }
    let payload = data.to_string();
    let length = u32::try_from(12 + headers.len() + payload.len() + 4).unwrap();
    let mut frame = length.to_be_bytes().to_vec();
    frame.extend_from_slice(&u32::try_from(headers.len()).unwrap().to_be_bytes());
    frame.extend_from_slice(&[0xff; 4]);
    frame.extend_from_slice(&headers);
    frame.extend_from_slice(payload.as_bytes());
    frame.extend_from_slice(&[0xff; 4]);
    frame
}

fn stream(events: &[(&str, Value)]) -> Vec<u8> {
    events.iter().flat_map(|(name, data)| frame(":event-type", name, data)).collect()
}

fn decoded(pieces: &[&[u8]]) -> (Reply, Vec<ReplyEvent>) {
    let mut decoder = ReplyDecoder::new(Format::Bedrock.dialect().unwrap());
    let mut events: Vec<ReplyEvent> = pieces.iter().flat_map(|piece| decoder.push(piece)).collect();
    let (reply, last) = decoder.finish();
    events.extend(last);
    (reply, events)
}

fn usage() -> Value {
    json!({
        "inputTokens": 7, "outputTokens": 5, "totalTokens": 105, "cacheReadInputTokens": 90, "cacheWriteInputTokens": 3,
    })
}

fn call() -> Vec<(&'static str, Value)> {
    let delta =
        |index: u8, delta: Value| ("contentBlockDelta", json!({"contentBlockIndex": index, "delta": delta}));
    let start = json!({"toolUse": {"toolUseId": "t1", "name": "read"}});
    vec![
        ("messageStart", json!({"role": "assistant"})),
        delta(0, json!({"reasoningContent": {"text": "Hm"}})),
        delta(0, json!({"reasoningContent": {"signature": "c2ln"}})),
        ("contentBlockStop", json!({"contentBlockIndex": 0})),
        delta(1, json!({"text": "I l"})),
        delta(1, json!({"text": "ook."})),
        ("contentBlockStop", json!({"contentBlockIndex": 1})),
        ("contentBlockStart", json!({"contentBlockIndex": 2, "start": start})),
        delta(2, json!({"toolUse": {"input": "{\"path\":"}})),
        delta(2, json!({"toolUse": {"input": "\"x\"}"}})),
        ("contentBlockStop", json!({"contentBlockIndex": 2})),
        ("messageStop", json!({"stopReason": "tool_use"})),
        ("metadata", json!({"usage": usage(), "metrics": {"latencyMs": 1}})),
    ]
}

#[test]
fn a_stream_cut_at_every_byte_is_the_same_reply() {
    let bytes = stream(&call());
    let (reply, events) = decoded(&[&bytes]);
    let expected = vec![
        ContentBlock::Thinking { text: "Hm".into(), signature: Some("c2ln".into()) },
        ContentBlock::text("I look."),
        ContentBlock::ToolCall { id: "t1".into(), name: "read".into(), input: json!({"path": "x"}) },
    ];
    assert_eq!((&reply.content, &reply.end), (&expected, &ReplyEnd::ToolCalls));
    assert_eq!(reply.usage, Some(Usage { input: 7, output: 5, cache_read: 90, cache_write: 3 }));
    assert_eq!(events.len(), 4);
    for at in 0..bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(decoded(&[head, tail]), (reply.clone(), events.clone()), "{at}");
        // Without the rest, the reply is cut, and no call is made up.
        let (cut, _) = decoded(&[head]);
        assert_ne!(cut.end, ReplyEnd::Complete, "{at}");
        assert!(cut.content.len() <= expected.len(), "{at}");
    }
    let body = json!({
        "output": {"message": {"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "c2ln"}}},
            {"text": "I look."},
            {"toolUse": {"toolUseId": "t1", "name": "read", "input": {"path": "x"}}},
        ]}},
        "stopReason": "tool_use", "usage": usage(), "metrics": {"latencyMs": 1},
    });
    assert_eq!(Reply::read(Format::Bedrock.dialect().unwrap(), body.to_string().as_bytes()), Ok(reply));
}

#[test]
fn bedrock_stop_reasons_and_exceptions_are_mapped() {
    let text = ("contentBlockDelta", json!({"contentBlockIndex": 0, "delta": {"text": "So"}}));
    let with_stop = |reason: &str| {
        let mut events = vec![("messageStart", json!({"role": "assistant"})), text.clone()];
        events.extend([("contentBlockStop", json!({})), ("messageStop", json!({"stopReason": reason}))]);
        stream(&events)
    };
    let kind = |end: &ReplyEnd| match end {
        ReplyEnd::Failed(error) => Some(error.kind),
        _ => None,
    };
    for (reason, end) in [
        ("end_turn", Some(ReplyEnd::Complete)),
        ("stop_sequence", Some(ReplyEnd::Complete)),
        ("max_tokens", Some(ReplyEnd::OutputLimit)),
        ("model_context_window_exceeded", Some(ReplyEnd::OutputLimit)),
        ("guardrail_intervened", None),
        ("a_new_word", None),
    ] {
        let (reply, _) = decoded(&[&with_stop(reason)]);
        assert_eq!(reply.text(), "So");
        match end {
            Some(end) => assert_eq!(reply.end, end, "{reason}"),
            None => assert!(kind(&reply.end).is_some(), "{reason}: {:?}", reply.end),
        }
    }
    for (exception, message, expected) in [
        (
            "throttlingException",
            "Too many tokens, please wait before trying again.",
            ProviderErrorKind::RateLimit,
        ),
        ("modelStreamErrorException", "The stream failed.", ProviderErrorKind::Server),
        ("validationException", "Input is too long for requested model.", ProviderErrorKind::ContextLimit),
    ] {
        let mut bytes = stream(&[("messageStart", json!({"role": "assistant"})), text.clone()]);
        bytes.extend(frame(":exception-type", exception, &json!({"message": message})));
        let (reply, _) = decoded(&[&bytes]);
        assert_eq!(kind(&reply.end), Some(expected), "{exception}");
        assert_eq!(reply.text(), "So");
        assert!(
            matches!(&reply.end, ReplyEnd::Failed(error) if error.message.contains(message)),
            "{reply:?}"
        );
    }
    let (reply, _) = decoded(&[b"<html>Not Bedrock at all</html>"]);
    assert!(matches!(reply.end, ReplyEnd::Failed(_)), "{reply:?}");
}
