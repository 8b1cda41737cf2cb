//! Tests of rejected input, its error messages, and the detection of formats.

use proptest::prelude::*;

use super::*;

#[test]
fn an_error_contains_the_path_of_the_value() {
    type Read = fn(&Value) -> Result<ReadList, ReadError>;
    let list_with = |content: Value| json!({"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": content}]});
    let calls = |call: Value| json!([{"role": "assistant", "tool_calls": [call]}]);
    let cases: Vec<(Read, Value, &str)> = vec![
        (
            read_anthropic,
            json!(7),
            "the whole value: must be a list of messages, an object with `messages`, or a message",
        ),
        (read_anthropic, json!({"messages": 7}), "/messages: must be a list of messages"),
        (read_anthropic, json!([7]), "/0: `role` is missing"),
        (read_anthropic, json!({"role": "user"}), "/0: `content` is missing"),
        (
            read_anthropic,
            json!([{"role": "tool", "content": ""}]),
            "/0/role: `tool` is neither `user` nor `assistant`",
        ),
        (read_anthropic, list_with(json!(7)), "/messages/1/content: must be a list or a string"),
        (read_anthropic, list_with(json!([7])), "/messages/1/content/0: must be an object"),
        (read_anthropic, list_with(json!([{"type": 7}])), "/messages/1/content/0/type: must be a string"),
        (
            read_anthropic,
            list_with(json!([{"type": "text", "text": 7}])),
            "/messages/1/content/0/text: must be a string",
        ),
        (
            read_anthropic,
            list_with(json!([{"type": "image", "source": {"type": "url"}}])),
            "/messages/1/content/0/source: `url` is missing",
        ),
        (
            read_anthropic,
            list_with(json!([{"type": "tool_use", "id": "a", "name": "b"}])),
            "/messages/1/content/0: `input` is missing",
        ),
        (
            read_anthropic,
            list_with(json!([{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text"}]}])),
            "/messages/1/content/0/content/0: `text` is missing",
        ),
        (
            read_anthropic,
            json!({"system": [{"type": "text"}], "messages": []}),
            "/system/0: `text` is missing",
        ),
        (
            read_openai,
            json!([{"role": "function", "content": ""}]),
            "/0/role: `function` is not a role in this format",
        ),
        (read_openai, json!([{"role": "tool", "content": ""}]), "/0: `tool_call_id` is missing"),
        (read_openai, json!([{"role": "user", "content": null}]), "/0/content: must be a list or a string"),
        (read_openai, calls(json!({"id": "a"})), "/0/tool_calls/0: `function` is missing"),
        (
            read_openai,
            calls(json!({"id": "a", "function": {"name": "n", "arguments": {}}})),
            "/0/tool_calls/0/function/arguments: must be a string",
        ),
        (read_responses, json!({"input": [{"type": "function_call"}]}), "/input/0: `arguments` is missing"),
        (
            read_responses,
            json!([{"role": "user", "content": [{"type": "x"}]}]),
            "/0/content/0/type: `x` is not a known part type",
        ),
    ];
    for (read, value, expected) in cases {
        assert_eq!(read(&value).unwrap_err().to_string(), expected, "{value}");
    }
}

#[test]
fn a_bare_list_a_body_and_a_single_message_are_the_same() {
    let message = json!({"role": "user", "content": "Hi."});
    let list = ReadList { system: vec![], messages: vec![NewMessage::text(Role::User, "Hi.")] };
    for value in [json!([message]), json!({"model": "m", "messages": [message]}), message.clone()] {
        assert_eq!(read_anthropic(&value).unwrap(), list);
        assert_eq!(read_openai(&value).unwrap(), list);
    }
    for value in [json!([message]), json!({"input": [message]}), json!({"input": "Hi."}), message.clone()] {
        assert_eq!(read_responses(&value).unwrap(), list);
    }
}

#[test]
fn arguments_that_are_nested_too_deeply_stay_text() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let input = |message: &NewMessage| match &message.content[..] {
        [ContentBlock::ToolCall { input, .. }] => input.clone(),
        other => panic!("{other:?}"),
    };
    for (levels, is_text) in [(100, false), (101, true), (126, true), (200, true)] {
        let text = nested(levels);
        let function = json!({"name": "f", "arguments": text});
        let call = json!({"id": "c", "type": "function", "function": function});
        let read = json!([{"role": "assistant", "content": null, "tool_calls": [call]}]);
        let read = read_openai(&read).unwrap();
        assert_eq!(input(&read.messages[0]).is_string(), is_text, "{levels}");
        let written = if is_text { json!(text).to_string() } else { text.clone() };
        let message = &write_openai([], &read.messages)["messages"][0];
        assert_eq!(message["tool_calls"][0]["function"]["arguments"], written);
        let stored = serde_json::to_string(&read.messages[0]).unwrap();
        assert_eq!(serde_json::from_str::<NewMessage>(&stored).unwrap(), read.messages[0]);

        let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": text});
        let read = read_responses(&json!([call])).unwrap();
        assert_eq!(input(&read.messages[0]).is_string(), is_text, "{levels}");
        assert_eq!(write_responses([], &read.messages)["input"][0]["arguments"], written);
    }
}

#[test]
fn formats_are_detected() {
    let message = serde_json::to_string(&NewMessage::text(Role::User, "Hi.")).unwrap();
    let line =
        json!({"type": "user", "cwd": "/a", "message": {"role": "user", "content": "Hi."}}).to_string();
    for (text, form) in [
        (message.clone(), Some(ConversationFormat::Strata)),
        (format!("{{\"strataSession\": 1}}\n{message}\n{message}"), Some(ConversationFormat::Strata)),
        (format!("[{message}]"), Some(ConversationFormat::Strata)),
        ("{\"strataSession\": 1}".into(), Some(ConversationFormat::Strata)),
        (line.clone(), Some(ConversationFormat::ClaudeCode)),
        (format!("{{\"type\":\"summary\"}}\n{line}\n{{torn"), Some(ConversationFormat::ClaudeCode)),
        (json!([{"role": "user", "content": "Hi."}]).to_string(), Some(ConversationFormat::Anthropic)),
        (json!({"messages": []}).to_string(), Some(ConversationFormat::Anthropic)),
        (json!({"system": "x", "messages": [{"role": "user", "content": []}]}).to_string(), Some(ConversationFormat::Anthropic)),
        (json!([{"role": "system", "content": "x"}]).to_string(), Some(ConversationFormat::OpenAi)),
        (json!([{"role": "assistant", "content": null, "tool_calls": []}]).to_string(), Some(ConversationFormat::OpenAi)),
        ("{\"role\":\"user\",\"content\":\"Hi.\"}\n{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"\"}".into(), Some(ConversationFormat::OpenAi)),
        (json!([{"type": "function_call_output"}]).to_string(), Some(ConversationFormat::OpenAiResponses)),
        (json!({"input": "Hi."}).to_string(), Some(ConversationFormat::OpenAiResponses)),
        (json!({"messages": [{"type": "gemini", "content": "Hi."}]}).to_string(), None),
        (String::new(), None),
        ("what?".into(), None),
        ("[]".into(), None),
        ("{}".into(), None),
    ] {
        assert_eq!(detect_format(&text), form, "{text}");
        assert_eq!(import_conversation(&text).is_err(), form.is_none() || text.contains("_output\""), "{text}");
    }
}

#[test]
fn stratas_own_messages_are_read_back_unchanged() {
    let message = NewMessage {
        agent: Visibility::Hidden,
        kind: MessageKind::Iteration,
        time_ms: Some(7),
        files_modified: vec!["a.rs".into()],
        ..NewMessage::new(Role::Assistant, vec![call("c", json!({}))])
    };
    let mut numbered = serde_json::to_value(&message).unwrap();
    numbered["id"] = json!(12);
    let text =
        format!("{{\"strataSession\": 1}}\n{numbered}\n\n{}\n", serde_json::to_string(&message).unwrap());
    let imported = import_conversation(&text).unwrap();
    assert_eq!((imported.messages, imported.skipped), (vec![message.clone(), message], 1));
    let wrong = text.replace("iteration", "reiteration");
    let error = import_conversation(&wrong).unwrap_err();
    assert!(error.path == "/1" && error.problem.contains("reiteration"), "{error}");
}

fn values() -> impl Strategy<Value = Value> {
    let words = vec![
        "user",
        "assistant",
        "tool",
        "system",
        "text",
        "image",
        "image_url",
        "tool_use",
        "tool_result",
        "thinking",
        "message",
        "function_call",
        "function_call_output",
        "base64",
        "{\"a\":",
    ];
    let keys = vec![
        "role",
        "content",
        "type",
        "text",
        "source",
        "messages",
        "input",
        "tool_calls",
        "function",
        "arguments",
        "id",
        "name",
        "tool_use_id",
        "call_id",
        "output",
        "system",
        "agent",
        "kind",
        "message",
        "image_url",
        "url",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(words).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        let fields = prop::collection::vec((prop::sample::select(keys.clone()), inner.clone()), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            fields
                .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn no_value_makes_a_reader_panic(value in values()) {
        for read in [read_anthropic, read_openai, read_responses] {
            if let Ok(ReadList { system, messages }) = read(&value) {
                write_anthropic(&system, &messages);
                write_openai(&system, &messages);
                write_responses(&system, &messages);
            }
        }
        let text = value.to_string();
        prop_assert_eq!(import_conversation(&text).is_ok() && detect_format(&text).is_none(), false);
    }

    #[test]
    fn no_text_makes_it_panic(text in "(\\PC|\n|[{}\\[\\]\",:]){0,200}") {
        prop_assert_eq!(import_conversation(&text).is_ok() && detect_format(&text).is_none(), false);
    }
}

#[test]
fn arguments_are_parsed_as_json_if_possible() {
    for (text, input) in [
        ("{\"a\": 1}", json!({"a": 1})),
        ("", json!({})),
        ("{\"a\": tru", json!("{\"a\": tru")),
        ("[1]", json!([1])),
    ] {
        let function = json!({"name": "read", "arguments": text});
        let list = json!([{"role": "assistant", "tool_calls": [{"id": "c", "function": function}]}]);
        assert_eq!(read_openai(&list).unwrap().messages[0].content, [call("c", input.clone())]);
        let item = json!([{"type": "function_call", "call_id": "c", "name": "read", "arguments": text}]);
        assert_eq!(read_responses(&item).unwrap().messages[0].content, [call("c", input)]);
    }
}
