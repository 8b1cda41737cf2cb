//! Imports of conversations that other programs recorded.

use serde_json::{Value, json};

use crate::exchange::{ConversationFormat, import_conversation};
use crate::history::{ContentBlock, NewMessage, Role};

fn render(messages: &[NewMessage]) -> Vec<String> {
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text { text } => text.clone(),
        ContentBlock::ToolCall { id, name, input } => format!("{name}:{id}{input}"),
        ContentBlock::ToolResult { call_id, content, outcome } => {
            format!("{outcome:?}:{call_id}:{}", serde_json::to_string(content).unwrap())
        }
        other => format!("{other:?}"),
    };
    let line = |message: &NewMessage| {
        let speaker = if message.role == Role::User { "user" } else { "model" };
        let blocks: Vec<String> = message.content.iter().map(block).collect();
        format!("{speaker}: {}", blocks.join(" "))
    };
    messages.iter().map(line).collect()
}

fn lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_known_recording_becomes_the_same_conversation() {
    let item = |payload: Value| json!({"timestamp": "2026-11-26T10:00:00Z", "type": "response_item", "payload": payload});
    let message_item = |role: &str, kind: &str, text: &str| {
        item(json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
    };
    let codex = lines(&[
        json!({"timestamp": "2026-11-26T10:00:00Z", "type": "session_meta", "payload": {"id": "x", "cwd": "/w"}}),
        message_item("developer", "input_text", "Be brief."),
        message_item("user", "input_text", "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"),
        json!({"type": "event_msg", "payload": {"type": "user_message", "message": "Look."}}),
        message_item("user", "input_text", "Look."),
        item(json!({"type": "reasoning", "summary": [], "encrypted_content": "c2VhbA=="})),
        item(
            json!({"type": "function_call", "name": "read", "call_id": "a", "arguments": "{\"path\":\"x\"}"}),
        ),
        item(json!({"type": "function_call_output", "call_id": "a", "output": "text"})),
        message_item("assistant", "output_text", "Seen."),
    ]);
    let gemini = json!({"sessionId": "s", "projectHash": "h", "messages": [
        {"id": "0", "type": "info", "content": "Welcome"},
        {"id": "1", "type": "user", "content": [{"text": "Look."}]},
        {"id": "2", "type": "gemini", "content": "", "toolCalls": [{"id": "a", "name": "read", "args": {"path": "x"},
            "status": "success", "result": [{"functionResponse": {"response": {"output": "text"}}}]}]},
        {"id": "3", "type": "gemini", "content": "Seen."},
    ]});
    let opencode = json!({"info": {"id": "ses_1"}, "messages": [
        {"info": {"role": "user"}, "parts": [{"type": "text", "text": "Look."}]},
        {"info": {"role": "assistant"}, "parts": [{"type": "step-start"}, {"type": "tool", "tool": "read",
            "callID": "a", "state": {"status": "completed", "input": {"path": "x"}, "output": "text"}}]},
        {"info": {"role": "assistant"}, "parts": [{"type": "text", "text": "Seen."}]},
    ]});
    let with_call = [
        "user: Look.",
        "model: read:a{\"path\":\"x\"}",
        "user: Ok:a:[{\"type\":\"text\",\"text\":\"text\"}]",
        "model: Seen.",
    ];
    let node = |id: &str, parent: Value, role: &str, text: &str| {
        let message = json!({"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}});
        (id.to_owned(), json!({"id": id, "parent": parent, "children": [], "message": message}))
    };
    let mapping: serde_json::Map<String, Value> = [
        ("root".to_owned(), json!({"id": "root", "parent": null, "message": null})),
        node("1", json!("root"), "system", ""),
        node("2", json!("1"), "user", "Look."),
        node("3", json!("2"), "assistant", "Regenerated."),
        node("4", json!("2"), "assistant", "Seen."),
    ]
    .into_iter()
    .collect();
    let chatgpt = json!([
        {"title": "old", "update_time": 1.0, "mapping": {}, "current_node": "1"},
        {"title": "new", "update_time": 2.0, "mapping": mapping, "current_node": "4"},
    ]);
    let aider = "\n# aider chat started at 2026-11-26 10:00:00\n\n> Aider v0.90\n> Model: x\n\n#### Look.  \n\nSeen.\n\n> Tokens: 1k sent\n";
    let plain = ["user: Look.", "model: Seen."];
    let cases: [(ConversationFormat, String, &[&str]); 5] = [
        (ConversationFormat::Codex, codex, &with_call),
        (ConversationFormat::GeminiCli, gemini.to_string(), &with_call),
        (ConversationFormat::Opencode, opencode.to_string(), &with_call),
        (ConversationFormat::Chatgpt, chatgpt.to_string(), &plain),
        (ConversationFormat::Aider, aider.to_owned(), &plain),
    ];
    for (form, text, expected) in cases {
        for text in [text.clone(), format!("\u{feff}{text}")] {
            let read = import_conversation(&text).unwrap();
            assert_eq!(
                (read.form, render(&read.messages)),
                (form, expected.iter().map(ToString::to_string).collect())
            );
        }
    }
}

#[test]
fn an_unknown_file_is_answered_with_the_known_formats() {
    for text in ["no conversation", "{}", "[1, 2]", ""] {
        let problem = import_conversation(text).unwrap_err().to_string();
        for known in
            ["Claude Code", "Codex", "Gemini CLI", "opencode", "Aider", "ChatGPT", "Anthropic", "OpenAI"]
        {
            assert!(problem.contains(known), "{text:?}: {problem}");
        }
    }
}
