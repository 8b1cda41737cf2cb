//! Imports conversations that other programs recorded. Their formats are undocumented. This module follows files of
//! November 2026, and skips what is no message of the conversation.

use serde_json::{Value, json};

use super::ReadError;
use crate::history::{ContentBlock, MessageKind, NewMessage, ResultPart, Role, ToolOutcome};
use crate::providers::json_fields::{list, text as text_of};
use crate::providers::responses::exchange as responses;

/// Beginnings of the user messages that Codex writes itself.
const CODEX_CONTEXT: [&str; 3] = ["<environment_context>", "<user_instructions>", "# AGENTS.md instructions"];

/// Line that begins a session in Aider's chat history.
pub(super) const AIDER_START: &str = "# aider chat started at ";

/// Messages of an imported conversation, and the number of items that are not messages.
pub(super) type ImportedMessages = (Vec<NewMessage>, usize);

/// Whether a line is one of Codex's rollout files (`~/.codex/sessions`):
/// <https://github.com/openai/codex/blob/main/codex-rs/protocol/src/protocol.rs>.
pub(super) fn is_codex(line: &Value) -> bool {
    line.get("payload").is_some_and(Value::is_object)
        && line.get("type").is_some_and(|kind| kind == "session_meta" || kind == "response_item")
}

/// Reads the lines of a Codex rollout file.
///
/// # Errors
/// [`ReadError`] if an item does not fit the Responses API.
pub(super) fn read_codex<'a>(
    lines: impl IntoIterator<Item = &'a Value>,
) -> Result<ImportedMessages, ReadError> {
    let (mut messages, mut skipped) = (Vec::new(), 0);
    for (index, line) in lines.into_iter().enumerate() {
        let item =
            line.get("payload").filter(|_| line.get("type").is_some_and(|kind| kind == "response_item"));
        let Some(item) = item.filter(|item| is_codex_message(item)) else {
            skipped += 1;
            continue;
        };
        let read = responses::read_conversation(&json!([item])).map_err(|error| error.inside(index))?;
        messages.extend(read.messages);
    }
    Ok((messages, skipped))
}

fn is_codex_message(item: &Value) -> bool {
    let text = item.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
    let is_context = CODEX_CONTEXT.iter().any(|start| text.trim_start().starts_with(start));
    let kind = text_of(item, "type");
    let role = text_of(item, "role");
    (kind == "message" && !is_context && matches!(role, "user" | "assistant"))
        || matches!(kind, "function_call" | "function_call_output")
}

/// Whether a value is a session of Gemini CLI (`~/.gemini/tmp/*/chats`):
/// <https://github.com/google-gemini/gemini-cli/blob/main/packages/core/src/services/chatRecordingService.ts>.
pub(super) fn is_gemini_cli(value: &Value) -> bool {
    value.get("sessionId").is_some() && value.get("messages").is_some_and(Value::is_array)
}

pub(super) fn read_gemini_cli(value: &Value) -> ImportedMessages {
    let (mut messages, mut skipped) = (Vec::new(), 0);
    for message in list(value, "messages") {
        let text = parts_text(message.get("content").unwrap_or(&Value::Null));
        match text_of(message, "type") {
            "user" => push(&mut messages, Role::User, vec![ContentBlock::text(text)]),
            "gemini" => {
                let mut content = vec![ContentBlock::text(text)];
                let mut results = Vec::new();
                for call in list(message, "toolCalls") {
                    let id = text_of(call, "id");
                    content.push(tool_call(id, text_of(call, "name"), call.get("args")));
                    let response = call.pointer("/result/0/functionResponse/response");
                    let output =
                        response.map(|response| match response.get("output").and_then(Value::as_str) {
                            Some(output) => output.to_owned(),
                            None => response.to_string(),
                        });
                    results.push(tool_result(id, output, text_of(call, "status") == "error"));
                }
                push(&mut messages, Role::Assistant, content);
                push_results(&mut messages, results);
            }
            _ => skipped += 1,
        }
    }
    (messages, skipped)
}

/// Whether a value is an export of opencode (`opencode export`):
/// <https://opencode.ai/docs/cli/#export>.
pub(super) fn is_opencode(value: &Value) -> bool {
    value.get("info").is_some()
        && list(value, "messages")
            .iter()
            .any(|message| message.get("info").is_some() && message.get("parts").is_some())
}

pub(super) fn read_opencode(value: &Value) -> ImportedMessages {
    let (mut messages, mut skipped) = (Vec::new(), 0);
    for message in list(value, "messages") {
        let Some(role) = role_at(message, "/info/role") else {
            skipped += 1;
            continue;
        };
        let (mut content, mut results) = (Vec::new(), Vec::new());
        for part in list(message, "parts") {
            match text_of(part, "type") {
                "text" => content.push(ContentBlock::text(text_of(part, "text"))),
                "tool" => {
                    let (id, state) = (text_of(part, "callID"), part.get("state").unwrap_or(&Value::Null));
                    content.push(tool_call(id, text_of(part, "tool"), state.get("input")));
                    let failed = text_of(state, "status") == "error";
                    let output = state.get(if failed { "error" } else { "output" }).and_then(Value::as_str);
                    results.push(tool_result(id, output.map(str::to_owned), failed));
                }
                _ => {}
            }
        }
        push(&mut messages, role, content);
        push_results(&mut messages, results);
    }
    (messages, skipped)
}

/// Returns the conversations of a ChatGPT export (`conversations.json`), or of one conversation in it:
/// <https://help.openai.com/en/articles/7260999>.
pub(super) fn chatgpt_conversations(value: &Value) -> Vec<&Value> {
    let all = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    all.iter().filter(|conversation| conversation.get("mapping").is_some_and(Value::is_object)).collect()
}

/// Reads the conversation of a ChatGPT export that was updated last. Reads the branch that was shown last.
pub(super) fn read_chatgpt(conversations: &[&Value]) -> ImportedMessages {
    let updated = |value: &Value| value.get("update_time").and_then(Value::as_f64).unwrap_or_default();
    let latest = conversations.iter().max_by(|one, other| updated(one).total_cmp(&updated(other)));
    let Some(conversation) = latest else { return (Vec::new(), 0) };
    let nodes = conversation.get("mapping").and_then(Value::as_object);
    let mut branch = Vec::new();
    let mut next = conversation.get("current_node").and_then(Value::as_str);
    while let Some(node) =
        next.and_then(|id| nodes?.get(id)).filter(|_| branch.len() <= nodes.map_or(0, serde_json::Map::len))
    {
        branch.extend(node.get("message").filter(|message| message.is_object()));
        next = node.get("parent").and_then(Value::as_str);
    }
    let (mut messages, mut skipped) = (Vec::new(), conversations.len() - 1);
    for message in branch.into_iter().rev() {
        let text = parts_text(message.pointer("/content/parts").unwrap_or(&Value::Null));
        let Some(role) = role_at(message, "/author/role") else {
            skipped += 1;
            continue;
        };
        push(&mut messages, role, vec![ContentBlock::text(text)]);
    }
    (messages, skipped)
}

/// Reads Aider's chat history, in which `#### ` begins the user's lines and `> ` those of
/// Aider itself: <https://aider.chat/docs/faq.html>.
pub(super) fn read_aider(text: &str) -> ImportedMessages {
    let (mut messages, mut skipped) = (Vec::<NewMessage>::new(), 0);
    let (mut role, mut pending) = (Role::Assistant, String::new());
    for line in text.lines() {
        let (speaker, line) = match line.strip_prefix("####") {
            _ if line.starts_with(AIDER_START) || line.starts_with("> ") || line == ">" => {
                skipped += 1;
                continue;
            }
            Some(prompt) => (Role::User, prompt.trim()),
            None => (Role::Assistant, line),
        };
        if speaker != role {
            push(&mut messages, role, vec![ContentBlock::text(std::mem::take(&mut pending).trim())]);
            role = speaker;
        }
        pending.push_str(line);
        pending.push('\n');
    }
    push(&mut messages, role, vec![ContentBlock::text(pending.trim())]);
    (messages, skipped)
}

/// Returns the role at a JSON pointer; `None` if it is neither the user's nor the assistant's.
fn role_at(message: &Value, pointer: &str) -> Option<Role> {
    match message.pointer(pointer)?.as_str()? {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        _ => None,
    }
}

/// Joins the texts of a string or a list of parts, which are strings or objects with `text`.
fn parts_text(content: &Value) -> String {
    let part = |part: &Value| part.as_str().unwrap_or_else(|| text_of(part, "text")).to_owned();
    match content {
        Value::Array(parts) => {
            parts.iter().map(part).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        other => part(other),
    }
}

fn tool_call(id: &str, name: &str, input: Option<&Value>) -> ContentBlock {
    let input = input.cloned().unwrap_or_else(|| json!({}));
    ContentBlock::ToolCall { id: id.to_owned(), name: name.to_owned(), input }
}

fn tool_result(id: &str, text: Option<String>, failed: bool) -> ContentBlock {
    let outcome = if failed { ToolOutcome::Error } else { ToolOutcome::Ok };
    let content = text.map(|text| ResultPart::Text { text }).into_iter().collect();
    ContentBlock::ToolResult { call_id: id.to_owned(), content, outcome }
}

fn push(messages: &mut Vec<NewMessage>, role: Role, content: Vec<ContentBlock>) {
    let is_said =
        |block: &ContentBlock| !matches!(block, ContentBlock::Text { text } if text.trim().is_empty());
    let content: Vec<ContentBlock> = content.into_iter().filter(is_said).collect();
    if !content.is_empty() {
        messages.push(NewMessage::new(role, content));
    }
}

fn push_results(messages: &mut Vec<NewMessage>, results: Vec<ContentBlock>) {
    if !results.is_empty() {
        messages.push(NewMessage { kind: MessageKind::ToolResult, ..NewMessage::new(Role::User, results) });
    }
}
