//! Round trips restore message lists without their unknown fields, and Strata's messages as far as a format can
//! express them.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn words() -> impl Strategy<Value = String> {
    select(vec!["", " ", "Hi.", "a\n\"b\"", "\u{1d11e}"]).prop_map(str::to_owned)
}

/// Generates JSON values of unknown fields.
fn anything() -> impl Strategy<Value = Value> {
    select(vec![
        json!(null),
        json!(7),
        json!(1.5),
        json!("x"),
        json!([]),
        json!([1, null]),
        json!({}),
        json!({"type": "direct", "0": null}),
    ])
}

/// Adds one or two fields to `value`, or in most cases none.
fn with_more(
    value: impl Strategy<Value = Value>,
    names: &'static [&'static str],
) -> impl Strategy<Value = Value> {
    let more = prop_oneof![3 => Just(vec![]), 1 => vec((select(names), anything()), 1..3)];
    (value, more).prop_map(|(mut value, more)| {
        for (name, field) in more {
            value[name] = field;
        }
        value
    })
}

/// Adds some of `fields` to `value`.
fn with_some(mut value: Value, fields: &[(&str, Option<Value>)]) -> Value {
    for (name, field) in fields {
        if let Some(field) = field {
            value[*name] = field.clone();
        }
    }
    value
}

/// Removes the fields `names` of a value, except in blocks of unknown types, which are kept as received.
fn remove_fields(value: &mut Value, names: &[&str], kept_types: &[&str]) {
    if value["type"].as_str().is_none_or(|kind| !kept_types.contains(&kind)) {
        value.as_object_mut().unwrap().retain(|name, _| !names.contains(&name.as_str()));
    }
}

fn inputs() -> impl Strategy<Value = Value> {
    select(vec![
        json!({"path": "a.rs", "n": 1.0, "deep": {"x": [null]}}),
        json!({}),
        json!("raw"),
        json!(null),
    ])
}

mod anthropic {
    use super::*;

    const PART_FIELDS: [&str; 2] = ["cache_control", "x"];
    const BLOCK_FIELDS: [&str; 4] = ["cache_control", "citations", "caller", "id2"];
    const MESSAGE_FIELDS: [&str; 5] = ["id", "model", "stop_reason", "usage", "0"];

    fn pictures() -> impl Strategy<Value = Value> {
        let sources = select(vec![
            json!({"type": "base64", "media_type": "image/png", "data": "AA=="}),
            json!({"type": "url", "url": "https://example.org/a.png"}),
            json!({"type": "file", "file_id": "file_1"}),
        ]);
        sources.prop_map(|source| json!({"type": "image", "source": source}))
    }

    fn others() -> impl Strategy<Value = Value> {
        select(vec![
            json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}, "title": null}),
            json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}),
            json!({"type": "not seen before"}),
        ])
    }

    fn texts() -> impl Strategy<Value = Value> {
        words().prop_map(|text| json!({"type": "text", "text": text}))
    }

    fn contents() -> impl Strategy<Value = Option<Value>> {
        let parts = with_more(prop_oneof![3 => texts(), 1 => pictures(), 1 => others()], &PART_FIELDS);
        option::of(prop_oneof![words().prop_map(Value::from), vec(parts, 0..3).prop_map(Value::from)])
    }

    fn blocks() -> impl Strategy<Value = Value> {
        let thinking = (words(), option::of(words())).prop_map(|(text, seal)| {
            with_some(json!({"type": "thinking", "thinking": text}), &[("signature", seal.map(Value::from))])
        });
        let results = (words(), contents(), option::of(any::<bool>())).prop_map(|(id, content, failed)| {
            let result = json!({"type": "tool_result", "tool_use_id": id});
            with_some(result, &[("content", content), ("is_error", failed.map(Value::from))])
        });
        let block = prop_oneof![
            3 => texts(),
            1 => pictures(),
            1 => others(),
            2 => thinking,
            1 => words().prop_map(|data| json!({"type": "redacted_thinking", "data": data})),
            3 => (words(), inputs()).prop_map(|(id, input)| json!({"type": "tool_use", "id": id, "name": "read", "input": input})),
            3 => results,
        ];
        with_more(block, &BLOCK_FIELDS)
    }

    fn messages() -> impl Strategy<Value = Value> {
        let content =
            prop_oneof![1 => words().prop_map(Value::from), 4 => vec(blocks(), 0..4).prop_map(Value::from)];
        let message = (select(vec!["user", "assistant"]), content)
            .prop_map(|(role, content)| json!({"role": role, "content": content}));
        with_more(message, &MESSAGE_FIELDS)
    }

    /// Applies the changes that the module documentation lists.
    fn normalize(message: &Value) -> Value {
        let mut message = message.clone();
        remove_fields(&mut message, &MESSAGE_FIELDS, &[]);
        content(&mut message["content"], &BLOCK_FIELDS);
        message
    }

    fn content(content: &mut Value, unknown_fields: &[&str]) {
        if let Value::String(text) = content {
            *content = json!([{"type": "text", "text": text}]);
        }
        for block in content.as_array_mut().unwrap() {
            let is_foreign_image = block["type"] == "image" && block["source"]["type"] == "file";
            if !is_foreign_image {
                remove_fields(block, unknown_fields, &["document", "server_tool_use", "not seen before"]);
            }
            let fields = block.as_object_mut().unwrap();
            fields.remove("cache_control");
            if fields["type"] == "tool_result" {
                if fields.get("is_error") == Some(&json!(false)) {
                    fields.remove("is_error");
                }
                let inner = fields.entry("content").or_insert(json!([]));
                super::anthropic::content(inner, &PART_FIELDS);
            }
        }
    }

    proptest! {
        #[test]
        fn a_message_list_is_written_back_without_unknown_fields(list in vec(messages(), 0..5), system in option::of(contents())) {
            let normal_list: Vec<Value> = list.iter().map(normalize).collect();
            let body = with_some(json!({"messages": list}), &[("system", system.flatten())]);
            let mut expected = json!({"messages": normal_list});
            if let Some(system) = body.get("system") {
                let mut system = system.clone();
                content(&mut system, &PART_FIELDS);
                if system != json!([]) {
                    expected["system"] = system;
                }
            }
            let ReadList { system, messages } = read_anthropic(&body).unwrap();
            prop_assert_eq!(write_anthropic(&system, &messages), expected);
        }
    }

    /// Generates blocks that the format can express.
    fn model_blocks() -> impl Strategy<Value = ContentBlock> {
        let image = || {
            select(vec![
                Image {
                    source: ImageSource::Base64 { media_type: "image/png".into(), data: "AA==".into() },
                    width: None,
                    height: None,
                },
                Image {
                    source: ImageSource::Url { url: "https://example.org".into() },
                    width: None,
                    height: None,
                },
            ])
        };
        let foreign = || others().prop_map(|value| Foreign { provider: ForeignProvider::Anthropic, value });
        let part = prop_oneof![
            words().prop_map(|text| ResultPart::Text { text }),
            image().prop_map(ResultPart::Image),
            foreign().prop_map(ResultPart::Foreign),
        ];
        let outcome = select(vec![ToolOutcome::Ok, ToolOutcome::Error]);
        prop_oneof![
            words().prop_map(ContentBlock::text),
            image().prop_map(ContentBlock::Image),
            foreign().prop_map(ContentBlock::Foreign),
            (words(), option::of(words()))
                .prop_map(|(text, signature)| ContentBlock::Thinking { text, signature }),
            words().prop_map(|data| ContentBlock::RedactedThinking { data }),
            (words(), inputs()).prop_map(|(id, input)| super::call(&id, input)),
            (words(), vec(part, 0..3), outcome).prop_map(|(call_id, content, outcome)| {
                ContentBlock::ToolResult { call_id, content, outcome }
            }),
        ]
    }

    proptest! {
        #[test]
        fn messages_of_the_model_are_read_back_unchanged(turns in vec((select(vec![Role::User, Role::Assistant]), vec(model_blocks(), 0..4)), 0..5)) {
            let messages: Vec<NewMessage> = turns.into_iter().map(|(role, content)| {
                let answers = content.iter().any(ContentBlock::is_tool_result);
                let kind = if answers { MessageKind::ToolResult } else { MessageKind::Normal };
                NewMessage { kind, ..NewMessage::new(role, content) }
            }).collect();
            let list = write_anthropic([], &messages);
            prop_assert_eq!(read_anthropic(&list).unwrap().messages, messages);
        }
    }
}

mod openai {
    use super::*;

    const PART_FIELDS: [&str; 2] = ["x", "annotations"];
    const MESSAGE_FIELDS: [&str; 4] = ["name", "refusal", "audio", "reasoning_content"];

    fn parts(kinds: Vec<Value>) -> impl Strategy<Value = Value> {
        let texts = words().prop_map(|text| json!({"type": "text", "text": text}));
        with_more(prop_oneof![3 => texts, 1 => select(kinds)], &PART_FIELDS)
    }

    fn pictures() -> Vec<Value> {
        vec![
            json!({"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "high"}}),
            json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}),
            json!({"type": "image_url", "image_url": {"url": "data:,what"}}),
            json!({"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}),
            json!({"type": "file", "file": {"file_id": "f"}}),
        ]
    }

    fn content(kinds: Vec<Value>) -> impl Strategy<Value = Value> {
        prop_oneof![1 => words().prop_map(Value::from), 2 => vec(parts(kinds), 0..3).prop_map(Value::from)]
    }

    fn arguments() -> impl Strategy<Value = &'static str> {
        select(vec![
            "",
            "{}",
            "{\"a\":1}",
            "{ \"a\" : 1e2 }",
            "{\"a\": tru",
            "null",
            "\"s\"",
            "12345678901234567890123",
        ])
    }

    fn calls() -> impl Strategy<Value = Value> {
        let functions = (words(), arguments(), any::<bool>()).prop_map(|(id, arguments, typed)| {
            let call = json!({"id": id, "function": {"name": "read", "arguments": arguments, "x": null}});
            with_some(call, &[("type", typed.then(|| json!("function")))])
        });
        let custom = json!({"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}});
        with_more(prop_oneof![4 => functions, 1 => Just(custom)], &["index"])
    }

    fn messages() -> impl Strategy<Value = Value> {
        let user = (select(vec!["user", "system", "developer"]), content(pictures()))
            .prop_map(|(role, content)| json!({"role": role, "content": content}));
        let tool = (words(), content(pictures()))
            .prop_map(|(id, content)| json!({"role": "tool", "tool_call_id": id, "content": content}));
        let refusal = vec![json!({"type": "refusal", "refusal": "No."})];
        let text = option::of(prop_oneof![Just(Value::Null), content(refusal)]);
        let assistant = (text, option::of(vec(calls(), 1..3))).prop_map(|(content, calls)| {
            let message = json!({"role": "assistant"});
            with_some(message, &[("content", content), ("tool_calls", calls.map(Value::from))])
        });
        with_more(prop_oneof![2 => user, 2 => tool, 3 => assistant], &MESSAGE_FIELDS)
    }

    /// Applies the changes that the module documentation lists. `role` is the role with which a message is written.
    fn normalize(message: &Value, role: &str) -> Value {
        let mut message = message.clone();
        remove_fields(&mut message, &MESSAGE_FIELDS, &[]);
        let is_result = message["role"] == "tool";
        if matches!(message["role"].as_str(), Some("system" | "developer")) {
            message["role"] = role.into();
        }
        for part in message.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
            let kept = if is_result { "image_url" } else { "" };
            remove_fields(part, &PART_FIELDS, &["input_audio", "file", "refusal", kept]);
            if !is_result && part["type"] == "image_url" {
                part["image_url"].as_object_mut().unwrap().remove("detail");
            }
        }
        let content = message.get("content").cloned().unwrap_or_default();
        message["content"] = match content.as_array().map(Vec::as_slice) {
            Some([]) if message["role"] == "assistant" => Value::Null,
            Some([]) if message["role"] == "tool" => json!(""),
            Some([part]) if part["type"] == "text" && part.as_object().unwrap().len() == 2 => {
                part["text"].clone()
            }
            _ => content,
        };
        for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
            if call.get("type").is_some_and(|kind| kind == "custom") {
                continue;
            }
            call["type"] = json!("function");
            remove_fields(call, &["index"], &[]);
            remove_fields(&mut call["function"], &["x"], &[]);
            let arguments = call["function"]["arguments"].as_str().unwrap();
            let input = if arguments.is_empty() {
                json!({})
            } else {
                serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into())
            };
            call["function"]["arguments"] = input.to_string().into();
        }
        message
    }

    proptest! {
        #[test]
        fn a_message_list_is_written_back_without_unknown_fields(list in vec(messages(), 0..6)) {
            let is_instruction = |message: &Value| message["role"] == "system" || message["role"] == "developer";
            let leading = list.iter().take_while(|message| is_instruction(message)).count();
            let role = |index| if index < leading { "system" } else { "user" };
            let expected: Vec<Value> =
                list.iter().enumerate().map(|(index, message)| normalize(message, role(index))).collect();
            let ReadList { system, messages } = read_openai(&json!(list)).unwrap();
            prop_assert_eq!(system.len() + messages.len(), list.len());
            prop_assert_eq!(write_openai(&system, &messages), json!({"messages": expected}));
        }
    }

    /// Generates messages that the format can express.
    fn model_messages() -> impl Strategy<Value = NewMessage> {
        let foreign = |values: Vec<Value>| {
            select(values).prop_map(|value| Foreign { provider: ForeignProvider::OpenAi, value })
        };
        let file = json!({"type": "file", "file": {"file_id": "f"}});
        let image = select(vec![
            ImageSource::Base64 { media_type: "image/png".into(), data: "AA==".into() },
            ImageSource::Url { url: "https://example.org".into() },
        ])
        .prop_map(|source| ContentBlock::Image(Image { source, width: None, height: None }));
        let user_block = prop_oneof![
            words().prop_map(ContentBlock::text),
            image,
            foreign(vec![file.clone()]).prop_map(ContentBlock::Foreign)
        ];
        let part = prop_oneof![
            // An empty text alone does not count as content.
            3 => select(vec![" ", "Hi."]).prop_map(|text| ResultPart::Text { text: text.into() }),
            1 => foreign(vec![file]).prop_map(ResultPart::Foreign),
        ];
        let refusal =
            foreign(vec![json!({"type": "refusal", "refusal": "No."})]).prop_map(ContentBlock::Foreign);
        let texts = vec(prop_oneof![3 => words().prop_map(ContentBlock::text), 1 => refusal], 0..3);
        let inputs = select(vec![json!({"n": 1.0}), json!({}), json!([1]), json!("raw"), json!(null)]);
        let calls = vec((words(), inputs).prop_map(|(id, input)| super::call(&id, input)), 0..3);
        prop_oneof![
            vec(user_block, 0..3).prop_map(|content| NewMessage::new(Role::User, content)),
            (words(), vec(part, 0..3)).prop_map(|(id, parts)| NewMessage {
                kind: MessageKind::ToolResult,
                ..NewMessage::new(Role::User, vec![super::result(&id, parts)])
            }),
            (texts, calls)
                .prop_map(|(texts, calls)| NewMessage::new(Role::Assistant, [texts, calls].concat())),
        ]
    }

    proptest! {
        #[test]
        fn messages_of_the_model_are_read_back_unchanged(messages in vec(model_messages(), 0..6)) {
            let list = write_openai([], &messages);
            prop_assert_eq!(read_openai(&list).unwrap().messages, messages);
        }
    }
}

mod responses {
    use super::*;

    const ITEM_FIELDS: [&str; 2] = ["id", "status"];
    const OTHER_ITEMS: [&str; 3] = ["reasoning", "local_shell_call_output", "item_reference"];

    fn items() -> impl Strategy<Value = Value> {
        let text = |kind: &'static str| words().prop_map(move |text| json!({"type": kind, "text": text}));
        let user_part = prop_oneof![
            text("input_text"),
            Just(json!({"type": "input_image", "image_url": "https://example.org/a.png", "detail": "auto"})),
            Just(json!({"type": "input_image", "file_id": "f"})),
            Just(json!({"type": "input_file", "file_id": "f"})),
        ];
        let assistant_part =
            prop_oneof![text("output_text"), Just(json!({"type": "refusal", "refusal": "No."}))];
        let user = (select(vec!["user", "developer"]), vec(with_more(user_part, &["x"]), 0..3));
        let user =
            user.prop_map(|(role, content)| json!({"type": "message", "role": role, "content": content}));
        let assistant = vec(with_more(assistant_part, &["annotations"]), 0..3)
            .prop_map(|content| json!({"type": "message", "role": "assistant", "content": content}));
        let calls = select(vec!["", "{ }", "{\"a\":1}", "{"]).prop_map(
            |arguments| json!({"type": "function_call", "call_id": "c", "name": "read", "arguments": arguments}),
        );
        let outputs =
            vec(prop_oneof![text("input_text"), Just(json!({"type": "input_file", "file_id": "f"}))], 0..3)
                .prop_map(|output| json!({"type": "function_call_output", "call_id": "c", "output": output}));
        let others = select(vec![
            json!({"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x"}),
            json!({"type": "local_shell_call_output", "id": "l", "output": "done"}),
            json!({"type": "item_reference", "id": "i"}),
        ]);
        with_more(prop_oneof![2 => user, 2 => assistant, 2 => calls, 2 => outputs, 1 => others], &ITEM_FIELDS)
    }

    /// Removes unknown fields, and writes roles and arguments as Strata does. `role` is the role with which
    /// instructions are written.
    fn normalize(item: &Value, role: &str) -> Value {
        let mut item = item.clone();
        remove_fields(&mut item, &ITEM_FIELDS, &OTHER_ITEMS);
        if item["role"] == "developer" {
            item["role"] = role.into();
        }
        for part in item.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
            if part["type"] == "input_image" && part.get("image_url").is_some() {
                remove_fields(part, &["x", "detail"], &[]);
            }
            remove_fields(part, &["x", "annotations"], &["input_image", "input_file", "refusal"]);
        }
        if let Some(arguments) = item.get("arguments").and_then(Value::as_str) {
            let input = match arguments {
                "" => json!({}),
                _ => serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into()),
            };
            item["arguments"] = input.to_string().into();
        }
        item
    }

    proptest! {
        #[test]
        fn a_message_list_is_written_back_without_unknown_fields(list in vec(items(), 0..6)) {
            let ReadList { system, messages } = read_responses(&json!({"input": list})).unwrap();
            prop_assert_eq!(system.len() + messages.len(), list.len());
            let leading = list.iter().take_while(|item| item["role"] == "developer").count();
            let role = |index| if index < leading { "system" } else { "user" };
            let expected: Vec<Value> =
                list.iter().enumerate().map(|(index, item)| normalize(item, role(index))).collect();
            prop_assert_eq!(write_responses(&system, &messages), json!({"input": expected}));
        }
    }
}

#[test]
fn short_spellings_of_items_are_written_out() {
    let short = json!({"instructions": "Be brief.", "input": [
        {"role": "user", "content": "Hi."},
        {"type": "function_call_output", "call_id": "c", "output": "out"},
    ]});
    let message = |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
    let ReadList { system, messages } = read_responses(&short).unwrap();
    assert_eq!(
        write_responses(&system, &messages),
        json!({"input": [
            message("system", "Be brief."),
            message("user", "Hi."),
            {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "out"}]},
        ]})
    );
}

#[test]
fn instructions_are_converted_between_formats() {
    let list = json!([
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "Hi."},
        {"role": "system", "content": "It is late."},
    ]);
    let ReadList { system, messages } = read_openai(&list).unwrap();
    assert_eq!(messages[1].kind, MessageKind::SystemEvent);
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    assert_eq!(
        write_anthropic(&system, &messages),
        json!({"system": text("Be brief."), "messages": [
            {"role": "user", "content": text("Hi.")},
            {"role": "user", "content": text("It is late.")},
        ]})
    );
    let ReadList { system, messages } =
        read_anthropic(&json!({"system": "Be brief.", "messages": []})).unwrap();
    assert_eq!(
        write_openai(&system, &messages),
        json!({"messages": [{"role": "system", "content": "Be brief."}]})
    );
}

#[test]
fn foreign_blocks_become_plain_text_for_other_providers() {
    let foreign = |value: Value| ContentBlock::Foreign(Foreign { provider: ForeignProvider::OpenAi, value });
    let refusal = foreign(json!({"type": "refusal", "refusal": "No."}));
    let audio = foreign(json!({"type": "input_audio", "input_audio": {}}));
    let message = NewMessage::new(Role::Assistant, vec![refusal, audio]);
    let written = write_anthropic([], [&message]);
    assert_eq!(written["messages"][0]["content"], json!([{"type": "text", "text": "No."}]));
}

#[test]
fn cache_markers_inside_foreign_blocks_are_removed() {
    let text =
        |fields: Value| with_some(json!({"type": "text", "text": "x"}), &[("cache_control", Some(fields))]);
    let source = json!({"type": "content", "content": [text(json!({"type": "ephemeral"}))]});
    let list = json!([{"role": "user", "content": [{"type": "document", "source": source}]}]);
    let messages = read_anthropic(&list).unwrap().messages;
    let source = json!({"type": "content", "content": [{"type": "text", "text": "x"}]});
    let expected = json!([{"role": "user", "content": [{"type": "document", "source": source}]}]);
    assert_eq!(write_anthropic([], &messages)["messages"], expected);
}
