//! Exports conversations as files of other agents, so that they can be continued there. Writes what the model sees.
//! Reading a file back (`agents`, `transcript`) gives the same texts, calls and results, except for what a form cannot
//! express: reasoning and images become texts or are omitted, and Codex does not record whether a call failed.
//!
//! There is no export for Aider, whose chat history has no calls and treats quotes and headings as its own lines, or
//! for ChatGPT, which imports nothing.

use std::collections::HashMap;

use serde_json::{Value, json};
use strata_base::hash::ContentHash;

use super::ConversationFormat;
use crate::history::{
    ContentBlock, Message, MessageId, ProjectedMessage, ResultPart, Role, ToolOutcome, project,
};
use crate::transcript::format_timestamp;

/// Replacement for an image.
const IMAGE_REPLACEMENT: &str = "[image omitted]";

/// opencode's default agent, which continues the conversation.
const OPENCODE_AGENT: &str = "build";

/// The program that exports, and the session.
#[derive(Clone, Copy, Debug)]
pub struct ExportOrigin<'a> {
    /// Id of the session.
    pub session: &'a str,
    /// Absolute path of the working directory.
    pub folder: &'a str,
    /// Version of Strata.
    pub version: &'a str,
    /// Time of the export, in milliseconds since 1970, for messages without a time.
    pub now_ms: u64,
}

struct TimedMessage {
    time: String,
    message: ProjectedMessage,
}

/// Writes messages in the form of another agent, in which `import_conversation` recognizes them. `None` if it cannot be
/// written.
pub fn write_conversation<'a>(
    form: ConversationFormat,
    messages: impl IntoIterator<Item = &'a Message>,
    origin: &ExportOrigin<'_>,
) -> Option<String> {
    let messages: Vec<&Message> = messages.into_iter().collect();
    let times: HashMap<MessageId, u64> =
        messages.iter().filter_map(|message| Some((message.id, message.body.time_ms?))).collect();
    let entry = |message: ProjectedMessage| {
        let time = times.get(&message.id).copied().unwrap_or(origin.now_ms);
        TimedMessage { time: format_timestamp(time), message }
    };
    let entries: Vec<TimedMessage> = project(messages, &[], None).history.into_iter().map(entry).collect();
    match form {
        ConversationFormat::ClaudeCode => Some(json_lines(write_claude_code(&entries, origin))),
        ConversationFormat::Codex => Some(json_lines(write_codex(&entries, origin))),
        ConversationFormat::GeminiCli => Some(write_gemini_cli(&entries, origin).to_string()),
        ConversationFormat::Opencode => Some(write_opencode(&entries, origin).to_string()),
        ConversationFormat::Aider
        | ConversationFormat::Chatgpt
        | ConversationFormat::Anthropic
        | ConversationFormat::OpenAi
        | ConversationFormat::OpenAiResponses
        | ConversationFormat::Strata => None,
    }
}

fn json_lines(values: Vec<Value>) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// Writes the lines of a Claude Code transcript (`~/.claude/projects/*/SESSION.jsonl`).
fn write_claude_code(entries: &[TimedMessage], origin: &ExportOrigin<'_>) -> Vec<Value> {
    let (session, mut parent) = (uuid(origin.session, 0), Value::Null);
    let mut written = Vec::new();
    for (number, TimedMessage { time, message }) in (1..).zip(entries) {
        let role = message.role.as_str();
        let content: Vec<Value> = message.content.iter().filter_map(anthropic_block).collect();
        let id = Value::from(uuid(origin.session, number));
        written.push(json!({
            "parentUuid": std::mem::replace(&mut parent, id.clone()), "isSidechain": false, "userType": "external",
            "cwd": origin.folder, "sessionId": session, "version": origin.version, "type": role,
            "message": {"role": role, "content": content}, "uuid": id, "timestamp": time,
        }));
    }
    written
}

fn anthropic_block(block: &ContentBlock) -> Option<Value> {
    Some(match block {
        ContentBlock::ToolCall { id, name, input } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
        ContentBlock::ToolResult { call_id, content, outcome } => {
            let parts: Vec<Value> =
                result_texts(content).map(|text| json!({"type": "text", "text": text})).collect();
            let is_error = *outcome == ToolOutcome::Error;
            json!({"type": "tool_result", "tool_use_id": call_id, "content": parts, "is_error": is_error})
        }
        other => json!({"type": "text", "text": block_text(other)?}),
    })
}

/// Writes the lines of a Codex rollout file (`~/.codex/sessions`). Codex shows the events and sends the items.
fn write_codex(entries: &[TimedMessage], origin: &ExportOrigin<'_>) -> Vec<Value> {
    let now = format_timestamp(origin.now_ms);
    let line =
        |time: &str, kind: &str, payload: Value| json!({"timestamp": time, "type": kind, "payload": payload});
    let meta = json!({
        "id": uuid(origin.session, 0), "timestamp": now, "cwd": origin.folder, "originator": "strata",
        "cli_version": origin.version, "source": "cli",
    });
    let mut written = vec![line(&now, "session_meta", meta)];
    for TimedMessage { time, message } in entries {
        let (part, event) = match message.role {
            Role::User => ("input_text", "user_message"),
            Role::Assistant => ("output_text", "agent_message"),
        };
        for block in &message.content {
            let item = match block {
                ContentBlock::ToolCall { id, name, input } => {
                    json!({"type": "function_call", "name": name, "arguments": input.to_string(), "call_id": id})
                }
                ContentBlock::ToolResult { call_id, content, .. } => {
                    json!({"type": "function_call_output", "call_id": call_id, "output": join_texts(content)})
                }
                other => {
                    let Some(text) = block_text(other) else { continue };
                    written.push(line(time, "event_msg", json!({"type": event, "message": text})));
                    let content = [json!({"type": part, "text": text})];
                    json!({"type": "message", "role": message.role.as_str(), "content": content})
                }
            };
            written.push(line(time, "response_item", item));
        }
    }
    written
}

/// Writes a session of Gemini CLI (`~/.gemini/tmp/*/chats`), in which calls contain their results.
fn write_gemini_cli(entries: &[TimedMessage], origin: &ExportOrigin<'_>) -> Value {
    let results = results_by_call_id(entries);
    let mut messages = Vec::new();
    for TimedMessage { time, message } in entries {
        let kind = if message.role == Role::User { "user" } else { "gemini" };
        let mut calls = Vec::new();
        let mut entry = |content: &str, calls: &mut Vec<Value>| {
            let id = uuid(origin.session, messages.len() + 1);
            let mut entry = json!({"id": id, "timestamp": time, "type": kind, "content": content});
            if !calls.is_empty() {
                entry["toolCalls"] = std::mem::take(calls).into();
            }
            messages.push(entry);
        };
        for block in &message.content {
            match block {
                ContentBlock::ToolCall { id, name, input } => {
                    let (output, outcome) = results.get(id.as_str()).cloned().unwrap_or_default();
                    let status = if outcome == ToolOutcome::Error { "error" } else { "success" };
                    let response = json!({"id": id, "name": name, "response": {"output": output}});
                    calls.push(json!({
                        "id": id, "name": name, "args": input, "status": status, "timestamp": time,
                        "result": [{"functionResponse": response}],
                    }));
                }
                other => {
                    if let Some(text) = block_text(other) {
                        entry(text, &mut Vec::new());
                    }
                }
            }
        }
        if !calls.is_empty() {
            entry("", &mut calls);
        }
    }
    let start = entries.first().map_or_else(|| format_timestamp(origin.now_ms), |entry| entry.time.clone());
    json!({
        "sessionId": uuid(origin.session, 0), "startTime": start, "lastUpdated": format_timestamp(origin.now_ms),
        "messages": messages,
    })
}

/// Writes an export of opencode (`opencode import`), in which calls contain their results.
///
/// Ids of messages and parts are unique in opencode's database, which ignores rows with an id that it knows, so they
/// contain the session. opencode's own ids begin with the time in hexadecimal digits, and it compares them to find the
/// last message. The zeros sort before any time.
///
/// `opencode import` rejects an export that lacks a field of its schema. The model, the usage and the time of each
/// message are therefore written as `strata`, zero and the time of the export, although they are unknown:
/// <https://github.com/anomalyco/opencode/blob/dev/packages/core/src/v1/session.ts>.
fn write_opencode(entries: &[TimedMessage], origin: &ExportOrigin<'_>) -> Value {
    let results = results_by_call_id(entries);
    let hash = ContentHash::from_text(origin.session);
    let session = format!("ses_{hash}");
    let time = json!({"created": origin.now_ms, "updated": origin.now_ms});
    let during = json!({"start": origin.now_ms, "end": origin.now_ms});
    let mut messages = Vec::new();
    let mut parent = None;
    for TimedMessage { message, .. } in entries {
        let number = format!("000000000000{hash}{:06}", messages.len());
        let id = format!("msg_{number}");
        let mut parts = Vec::new();
        for block in &message.content {
            let part_id = format!("prt_{number}_{:06}", parts.len());
            let ids = json!({"id": part_id, "sessionID": session, "messageID": id});
            let part = match block {
                ContentBlock::ToolCall { id, name, input } => {
                    let (output, outcome) = results.get(id.as_str()).cloned().unwrap_or_default();
                    let result = match outcome {
                        ToolOutcome::Ok => {
                            json!({"status": "completed", "output": output, "title": name, "metadata": {}})
                        }
                        ToolOutcome::Error => json!({"status": "error", "error": output}),
                    };
                    let state = overwrite_fields(result, &json!({"input": input, "time": during}));
                    json!({"type": "tool", "tool": name, "callID": id, "state": state})
                }
                ContentBlock::ToolResult { .. } => continue,
                other => match block_text(other) {
                    Some(text) => json!({"type": "text", "text": text}),
                    None => continue,
                },
            };
            parts.push(overwrite_fields(part, &ids));
        }
        if parts.is_empty() {
            continue;
        }
        let role_fields = match message.role {
            Role::User => {
                parent = Some(id.clone());
                json!({"agent": OPENCODE_AGENT, "model": {"providerID": "strata", "modelID": "strata"}})
            }
            Role::Assistant => json!({
                "parentID": parent.as_ref().unwrap_or(&id), "providerID": "strata", "modelID": "strata",
                "mode": OPENCODE_AGENT, "agent": OPENCODE_AGENT, "cost": 0,
                "path": {"cwd": origin.folder, "root": origin.folder},
                "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}},
            }),
        };
        let info = json!({
            "id": id, "sessionID": session, "role": message.role.as_str(), "time": {"created": origin.now_ms},
        });
        messages.push(json!({"info": overwrite_fields(info, &role_fields), "parts": parts}));
    }
    let info = json!({
        "id": session, "slug": format!("strata-{}", hash.short()), "projectID": "global", "title": "Strata",
        "version": origin.version, "directory": origin.folder, "time": time,
    });
    json!({"info": info, "messages": messages})
}

/// Returns the texts and outcomes of all results by call id. Ids are unique in what the model sees.
fn results_by_call_id(entries: &[TimedMessage]) -> HashMap<&str, (String, ToolOutcome)> {
    let blocks = entries.iter().flat_map(|entry| &entry.message.content);
    blocks
        .filter_map(|block| match block {
            ContentBlock::ToolResult { call_id, content, outcome } => {
                Some((call_id.as_str(), (join_texts(content), *outcome)))
            }
            _ => None,
        })
        .collect()
}

fn block_text(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text { text } => Some(text),
        ContentBlock::Image(_) => Some(IMAGE_REPLACEMENT),
        ContentBlock::Foreign(foreign) => foreign.text(),
        ContentBlock::Thinking { .. }
        | ContentBlock::RedactedThinking { .. }
        | ContentBlock::ToolCall { .. }
        | ContentBlock::ToolResult { .. } => None,
    }
}

fn result_texts(parts: &[ResultPart]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(|part| match part {
        ResultPart::Image(_) => Some(IMAGE_REPLACEMENT),
        part => part.text(),
    })
}

/// Returns the texts of a result, one per line.
fn join_texts(parts: &[ResultPart]) -> String {
    result_texts(parts).collect::<Vec<_>>().join("\n")
}

/// Adds the fields of `other` to an object.
fn overwrite_fields(mut object: Value, other: &Value) -> Value {
    if let (Some(fields), Some(other)) = (object.as_object_mut(), other.as_object()) {
        fields.extend(other.clone());
    }
    object
}

/// Returns an id in the form of a UUID (version 8, RFC 9562) for a part of a session.
fn uuid(session: &str, part: usize) -> String {
    let hash = ContentHash::from_parts([session.as_bytes(), &part.to_be_bytes()]).to_string();
    let digits = |from: usize, to: usize| hash.get(from..to).unwrap_or_default();
    format!("{}-{}-8{}-8{}-{}", digits(0, 8), digits(8, 12), digits(13, 16), digits(17, 20), digits(20, 32))
}
