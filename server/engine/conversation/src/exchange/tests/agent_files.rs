//! Conversations taken to other agents and back.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::exchange::{ConversationFormat, ExportOrigin, import_conversation, write_conversation};
use crate::history::{
    ContentBlock, Message, MessageId, MessageKind, NewMessage, ResultPart, Role, ToolOutcome, project,
};

const ORIGIN: ExportOrigin<'_> =
    ExportOrigin { session: "s-1", folder: "/projects/shop", version: "1.2.3", now_ms: 1_795_000_000_000 };

const FORMS: [ConversationFormat; 4] = [
    ConversationFormat::ClaudeCode,
    ConversationFormat::Codex,
    ConversationFormat::GeminiCli,
    ConversationFormat::Opencode,
];

fn numbered(messages: impl IntoIterator<Item = NewMessage>) -> Vec<Message> {
    (0..).zip(messages).map(|(id, body)| Message { id: MessageId(id), body }).collect()
}

/// Returns who said what, block by block, without the division into messages.
fn render<'a>(
    messages: impl IntoIterator<Item = (Role, &'a [ContentBlock])>,
    form: ConversationFormat,
) -> Vec<String> {
    let line = |role: Role, block: &ContentBlock| match block {
        ContentBlock::Text { text } => format!("{role:?}: {text}"),
        ContentBlock::ToolCall { id, name, input } => format!("call {id} {name} {input}"),
        ContentBlock::ToolResult { call_id, content, outcome } => {
            let text = |part: &ResultPart| match part {
                ResultPart::Text { text } => text.clone(),
                other => format!("{other:?}"),
            };
            let texts: Vec<String> = content.iter().map(text).collect();
            // Codex does not record whether a call failed.
            let outcome = if form == ConversationFormat::Codex { ToolOutcome::Ok } else { *outcome };
            format!("result {call_id} {outcome:?} {}", texts.join("\n"))
        }
        other => format!("{other:?}"),
    };
    messages
        .into_iter()
        .flat_map(|(role, blocks)| blocks.iter().map(move |block| line(role, block)))
        .collect()
}

fn check(messages: &[Message]) {
    let sent = project(messages, &[], None).history;
    for form in FORMS {
        let text = write_conversation(form, messages, &ORIGIN).unwrap();
        let read = import_conversation(&text).unwrap_or_else(|error| panic!("{form:?}: {error}: {text}"));
        assert_eq!(read.form, form, "{text}");
        let expected = render(sent.iter().map(|message| (message.role, &*message.content)), form);
        let imported = render(read.messages.iter().map(|message| (message.role, &*message.content)), form);
        assert_eq!(imported, expected, "{form:?}: {text}");
    }
}

#[test]
fn a_conversation_goes_to_another_agent_and_back() {
    let call =
        |id: &str| ContentBlock::ToolCall { id: id.into(), name: "read".into(), input: json!({"path": "x"}) };
    let result = |id: &str, outcome| ContentBlock::ToolResult {
        call_id: id.into(),
        content: vec![ResultPart::Text { text: "out\nput".into() }],
        outcome,
    };
    let messages = numbered([
        NewMessage { time_ms: Some(1_794_960_000_500), ..NewMessage::text(Role::User, "Look.") },
        NewMessage::new(Role::Assistant, vec![ContentBlock::text("I look."), call("a"), call("b")]),
        NewMessage {
            kind: MessageKind::ToolResult,
            ..NewMessage::new(Role::User, vec![result("a", ToolOutcome::Ok), result("b", ToolOutcome::Error)])
        },
        NewMessage::text(Role::Assistant, "> quoted\n#### heading"),
        NewMessage::text(Role::User, "Thanks."),
    ]);
    check(&messages);
    let codex = write_conversation(ConversationFormat::Codex, &messages, &ORIGIN).unwrap();
    let meta: Value = serde_json::from_str(codex.lines().next().unwrap()).unwrap();
    assert_eq!((&meta["type"], &meta["payload"]["cwd"]), (&json!("session_meta"), &json!("/projects/shop")));
    let claude = write_conversation(ConversationFormat::ClaudeCode, &messages, &ORIGIN).unwrap();
    let first: Value = serde_json::from_str(claude.lines().next().unwrap()).unwrap();
    assert_eq!(first["timestamp"], "2026-11-18T00:00:00.500Z");
    for form in [ConversationFormat::Aider, ConversationFormat::Chatgpt, ConversationFormat::Strata] {
        assert_eq!(write_conversation(form, &messages, &ORIGIN), None);
    }
}

#[test]
fn claude_code_gets_no_message_without_content() {
    let thinking = ContentBlock::Thinking { text: "Hm.".into(), signature: None };
    let messages = numbered([
        NewMessage::text(Role::User, "Look."),
        NewMessage::new(Role::Assistant, vec![thinking]),
        NewMessage::text(Role::User, "Well?"),
    ]);
    let text = write_conversation(ConversationFormat::ClaudeCode, &messages, &ORIGIN).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line["message"]["content"] != json!([])), "{text}");
    assert_eq!(lines.last().unwrap()["parentUuid"], lines[lines.len() - 2]["uuid"], "{text}");
}

/// opencode ignores a message with an id that it knows, and takes the message with the largest id for the last one.
#[test]
fn opencode_gets_ids_of_the_session_that_sort_before_its_own() {
    let messages =
        numbered([NewMessage::text(Role::User, "Look."), NewMessage::text(Role::Assistant, "Ada.")]);
    let ids = |session| {
        let text =
            write_conversation(ConversationFormat::Opencode, &messages, &ExportOrigin { session, ..ORIGIN })
                .unwrap();
        let export: Value = serde_json::from_str(&text).unwrap();
        let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
        let messages = export["messages"].as_array().unwrap();
        messages
            .iter()
            .flat_map(|message| [id(&message["info"]), id(&message["parts"][0])])
            .collect::<Vec<_>>()
    };
    let (one, other) = (ids("s-1"), ids("s-2"));
    assert_eq!(one, ids("s-1"));
    assert!(one.iter().all(|id| !other.contains(id)), "{one:?}");
    assert!(one[0] < one[2] && *one[2] < *"msg_000000000001", "{one:?}");
}

/// The fields that `opencode import` requires:
/// <https://github.com/anomalyco/opencode/blob/dev/packages/core/src/v1/session.ts>.
#[test]
fn opencode_gets_every_field_that_it_requires() {
    let call = |id: &str| ContentBlock::ToolCall { id: id.into(), name: "read".into(), input: json!({}) };
    let result =
        |id: &str, outcome| ContentBlock::ToolResult { call_id: id.into(), content: vec![], outcome };
    let messages = numbered([
        NewMessage::text(Role::User, "Look."),
        NewMessage::new(Role::Assistant, vec![ContentBlock::text("I look."), call("a"), call("b")]),
        NewMessage {
            kind: MessageKind::ToolResult,
            ..NewMessage::new(Role::User, vec![result("a", ToolOutcome::Ok), result("b", ToolOutcome::Error)])
        },
        NewMessage::text(Role::Assistant, "Ada."),
    ]);
    let export: Value =
        serde_json::from_str(&write_conversation(ConversationFormat::Opencode, &messages, &ORIGIN).unwrap())
            .unwrap();
    let check = |value: &Value, strings: &[&str], numbers: &[&str], objects: &[&str]| {
        for (pointers, is_right) in [
            (strings, Value::is_string as fn(&Value) -> bool),
            (numbers, Value::is_u64),
            (objects, Value::is_object),
        ] {
            for pointer in pointers {
                assert!(value.pointer(pointer).is_some_and(is_right), "{pointer} of {value}");
            }
        }
    };
    let session = ["/id", "/slug", "/projectID", "/directory", "/title", "/version"];
    check(&export["info"], &session, &["/time/created", "/time/updated"], &[]);
    let messages = export["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 3);
    for message in messages {
        let info = &message["info"];
        check(info, &["/id", "/sessionID", "/agent"], &["/time/created"], &[]);
        if info["role"] == "user" {
            check(info, &["/model/providerID", "/model/modelID"], &[], &[]);
        } else {
            let strings = ["/parentID", "/providerID", "/modelID", "/mode", "/path/cwd", "/path/root"];
            let tokens = ["input", "output", "reasoning", "cache/read", "cache/write"];
            let numbers = tokens.map(|name| format!("/tokens/{name}"));
            check(info, &strings, &numbers.each_ref().map(String::as_str), &[]);
            check(info, &[], &["/cost"], &[]);
            assert_eq!(info["parentID"], messages[0]["info"]["id"]);
        }
        for part in message["parts"].as_array().unwrap() {
            check(part, &["/id", "/sessionID", "/messageID"], &[], &[]);
            if part["type"] == "tool" {
                let state = &part["state"];
                check(
                    part,
                    &["/callID", "/tool"],
                    &["/state/time/start", "/state/time/end"],
                    &["/state/input"],
                );
                match state["status"].as_str() {
                    Some("completed") => check(state, &["/output", "/title"], &[], &["/metadata"]),
                    _ => check(state, &["/error"], &[], &[]),
                }
            } else {
                check(part, &["/text"], &[], &[]);
            }
        }
    }
}

fn exchange() -> impl Strategy<Value = Vec<NewMessage>> {
    let text = "[a-zé{}\"<>#\n-]{1,30}[a-z]";
    let call = ("[a-z]{1,6}", "[a-z ]{0,8}", any::<bool>(), text);
    (text, text, prop::collection::vec(call, 0..4), text).prop_map(|(request, reply, calls, end)| {
        let mut content = vec![ContentBlock::text(reply)];
        let mut results = Vec::new();
        for (number, (name, input, failed, output)) in calls.into_iter().enumerate() {
            let id = format!("call_{number}");
            content.push(ContentBlock::ToolCall { id: id.clone(), name, input: json!({"a": input}) });
            let outcome = if failed { ToolOutcome::Error } else { ToolOutcome::Ok };
            let content = vec![ResultPart::Text { text: output }];
            results.push(ContentBlock::ToolResult { call_id: id, content, outcome });
        }
        let results = NewMessage { kind: MessageKind::ToolResult, ..NewMessage::new(Role::User, results) };
        let answer = NewMessage::new(Role::Assistant, content);
        let mut messages = vec![NewMessage::text(Role::User, format!("u{request}")), answer];
        if !results.content.is_empty() {
            messages.extend([results, NewMessage::text(Role::Assistant, end)]);
        }
        messages
    })
}

proptest! {
    #[test]
    fn any_exported_conversation_is_imported_unchanged(exchanges in prop::collection::vec(exchange(), 1..5)) {
        check(&numbered(exchanges.concat()));
    }
}
