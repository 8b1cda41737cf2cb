//! Checks a Chat Completions body.

use std::collections::HashSet;

use serde_json::Value;

use super::limits;
use crate::providers::json_fields::{list, text};
use crate::providers::{Findings, Rule};

/// Maximum characters of a call id.
const MAX_CALL_ID_CHARS: usize = 40;

pub(in crate::providers) fn check(body: &Value) -> Findings {
    let mut findings = Findings::default();
    let messages = findings.require_messages(body);
    for (index, tool) in findings.declared_tools(body).iter().enumerate() {
        check_declaration(&mut findings, tool, &format!("/tools/{index}"));
    }
    for (index, message) in messages.iter().enumerate() {
        check_message(&mut findings, message, &format!("/messages/{index}"));
    }
    check_pairs(&mut findings, messages);
    limits::check_limits(&mut findings, body, "messages");
    findings
}

fn check_declaration(findings: &mut Findings, tool: &Value, path: &str) {
    let function = tool.get("function").unwrap_or(&Value::Null);
    if tool.get("type").and_then(Value::as_str) != Some("function") {
        findings.add(Rule::Shape, path, "a tool must have the type `function`");
    }
    findings.check_declaration(function, function.get("parameters"), path);
}

fn check_message(findings: &mut Findings, message: &Value, path: &str) {
    let role = text(message, "role");
    if !["system", "developer", "user", "assistant", "tool"].contains(&role) {
        findings.add(Rule::Role, format!("{path}/role"), format!("`{role}` is not a known role"));
    }
    let calls = message.get("tool_calls");
    if calls.is_some() && role != "assistant" {
        findings.add(Rule::BlockPlace, path, "only the assistant can call tools");
    }
    if let Some(calls) = calls {
        check_calls(findings, calls, path);
    }
    if role == "tool" {
        findings.require_string(message, "tool_call_id", path);
    }
    match message.get("content") {
        None | Some(Value::Null) if calls.is_some() => {}
        None | Some(Value::Null) => findings.add(Rule::EmptyMessage, path, "a message must have content"),
        // The result of a tool may be empty.
        Some(Value::String(text)) if text.is_empty() && role != "tool" => {
            findings.add(Rule::EmptyMessage, path, "a message must have content");
        }
        Some(Value::String(_)) => {}
        Some(Value::Array(parts)) if parts.is_empty() => {
            findings.add(Rule::EmptyMessage, path, "a message must have content");
        }
        Some(Value::Array(parts)) => {
            for (index, part) in parts.iter().enumerate() {
                check_part(findings, part, role, &format!("{path}/content/{index}"));
            }
        }
        Some(_) if role == "tool" => {
            findings.add(Rule::ToolText, path, "the content of a tool message must be text");
        }
        Some(_) => findings.add(Rule::Shape, path, "`content` must be a string or a list"),
    }
}

fn check_calls(findings: &mut Findings, calls: &Value, path: &str) {
    let Some(calls) = calls.as_array().filter(|calls| !calls.is_empty()) else {
        return findings.add(Rule::Shape, path, "`tool_calls` must be a non-empty list");
    };
    let mut ids = HashSet::new();
    for (index, call) in calls.iter().enumerate() {
        let path = format!("{path}/tool_calls/{index}");
        if let Some(id) = findings.check_call_id(call, "id", MAX_CALL_ID_CHARS, &path)
            && !ids.insert(id)
        {
            findings.add(Rule::CallTwice, path.clone(), format!("the call id `{id}` was used before"));
        }
        if call.get("type").and_then(Value::as_str) != Some("function") {
            findings.add(Rule::Shape, path.clone(), "a call must have the type `function`");
        }
        let function = call.get("function").unwrap_or(&Value::Null);
        findings.check_tool_name(function, &path);
        if !function.get("arguments").is_some_and(Value::is_string) {
            findings.add(Rule::CallInput, path, "a call's `arguments` must be a string");
        }
    }
}

fn check_part(findings: &mut Findings, part: &Value, role: &str, path: &str) {
    match part.get("type").and_then(Value::as_str) {
        Some("text") => {
            findings.require_string(part, "text", path);
        }
        _ if role == "tool" => findings.add(Rule::ToolText, path, "a tool message can only contain text"),
        Some("image_url") => {
            findings.check_image_url(
                part.get("image_url").map_or("", |image| text(image, "url")),
                role,
                path,
            );
        }
        Some(kind @ ("input_audio" | "file")) => {
            findings.check_object(part, kind, Rule::Shape, path, &format!("`{kind}` must be an object"));
            if role != "user" {
                findings.add(Rule::BlockPlace, path, "audio and files must come from the user");
            }
        }
        Some("refusal") => {
            findings.require_string(part, "refusal", path);
            if role != "assistant" {
                findings.add(Rule::BlockPlace, path, "only the assistant can refuse");
            }
        }
        _ => findings.add(Rule::Shape, path, "unknown part type"),
    }
}

/// Checks that each call is answered by a `tool` message directly after it, and that there are no other
/// `tool` messages.
fn check_pairs(findings: &mut Findings, messages: &[Value]) {
    let mut open: Vec<(&str, String)> = Vec::new();
    let mut waiting: HashSet<&str> = HashSet::new();
    for (index, message) in messages.iter().enumerate() {
        if text(message, "role") == "tool" {
            let id = text(message, "tool_call_id");
            if !waiting.remove(id) {
                let detail =
                    format!("the tool message for `{id}` does not follow an unanswered call with this id");
                findings.add(Rule::OrphanResult, format!("/messages/{index}"), detail);
            }
            continue;
        }
        report_unanswered(findings, &mut open, &waiting);
        open = calls_with_paths(message, index);
        waiting = open.iter().map(|(id, _)| *id).collect();
    }
    report_unanswered(findings, &mut open, &waiting);
}

fn report_unanswered(findings: &mut Findings, open: &mut Vec<(&str, String)>, waiting: &HashSet<&str>) {
    for (id, path) in open.drain(..).filter(|(id, _)| waiting.contains(id)) {
        let detail = format!("the call `{id}` must be followed by a tool message with its result");
        findings.add(Rule::CallAnswered, path, detail);
    }
}

fn calls_with_paths(message: &Value, index: usize) -> Vec<(&str, String)> {
    let calls = list(message, "tool_calls").iter().enumerate();
    calls
        .filter_map(|(at, call)| {
            Some((call.get("id")?.as_str()?, format!("/messages/{index}/tool_calls/{at}")))
        })
        .collect()
}
