//! Checks a Responses body.

use std::collections::HashSet;

use serde_json::Value;

use crate::providers::json_fields::text;
use crate::providers::openai::limits;
use crate::providers::{Findings, Rule};

/// Maximum characters of a call id ("string too long. Expected a string with maximum length 64").
const MAX_CALL_ID_CHARS: usize = 64;

pub(in crate::providers) fn check(body: &Value) -> Findings {
    let mut findings = Findings::default();
    findings.check_model(body, "model");
    for (index, tool) in findings.declared_tools(body).iter().enumerate() {
        let path = format!("/tools/{index}");
        if tool.get("type").and_then(Value::as_str) != Some("function") {
            findings.add(Rule::Shape, path.clone(), "a tool must have the type `function`");
        }
        findings.check_declaration(tool, tool.get("parameters"), &path);
    }
    let details = ["`input` must be a list of items", "at least one item is required"];
    let items = findings.require_non_empty_list(body, "input", "/input", details);
    for (index, item) in items.iter().enumerate() {
        check_item(&mut findings, body, item, &format!("/input/{index}"));
    }
    check_pairs(&mut findings, items);
    check_reasoning_order(&mut findings, items);
    limits::check_limits(&mut findings, body, "input");
    findings
}

fn check_item(findings: &mut Findings, body: &Value, item: &Value, path: &str) {
    match text(item, "type") {
        "message" => check_message(findings, item, path),
        "function_call" => {
            findings.check_call_id(item, "call_id", MAX_CALL_ID_CHARS, path);
            findings.check_tool_name(item, path);
            if !item.get("arguments").is_some_and(Value::is_string) {
                findings.add(Rule::CallInput, path, "a call's `arguments` must be a string");
            }
        }
        "function_call_output" => {
            findings.check_call_id(item, "call_id", MAX_CALL_ID_CHARS, path);
            match item.get("output") {
                Some(Value::String(_)) => {}
                Some(Value::Array(parts)) => {
                    for (at, part) in parts.iter().enumerate() {
                        check_part(findings, part, "user", &format!("{path}/output/{at}"));
                    }
                }
                _ => findings.add(Rule::Shape, path, "`output` must be a string or a list"),
            }
        }
        "reasoning" => {
            let is_sealed = !text(item, "encrypted_content").is_empty();
            if !is_sealed && body.get("store").and_then(Value::as_bool) == Some(false) {
                let detail = "reasoning that the provider does not store must have `encrypted_content`";
                findings.add(Rule::ThinkingSeal, path, detail);
            }
        }
        kind => findings.add(Rule::Shape, path, format!("`{kind}` is not a known item type")),
    }
}

fn check_message(findings: &mut Findings, item: &Value, path: &str) {
    let role = text(item, "role");
    if !["system", "developer", "user", "assistant"].contains(&role) {
        findings.add(Rule::Role, format!("{path}/role"), format!("`{role}` is not a known role"));
    }
    match item.get("content") {
        Some(Value::String(text)) if !text.is_empty() => {}
        Some(Value::Array(parts)) if !parts.is_empty() => {
            for (at, part) in parts.iter().enumerate() {
                check_part(findings, part, role, &format!("{path}/content/{at}"));
            }
        }
        None | Some(Value::Null | Value::String(_) | Value::Array(_)) => {
            findings.add(Rule::EmptyMessage, path, "a message must have content");
        }
        Some(_) => findings.add(Rule::Shape, path, "`content` must be a string or a list"),
    }
}

fn check_part(findings: &mut Findings, part: &Value, role: &str, path: &str) {
    let is_assistant = role == "assistant";
    match part.get("type").and_then(Value::as_str) {
        Some(kind @ ("input_text" | "output_text")) => {
            findings.require_string(part, "text", path);
            if (kind == "output_text") != is_assistant {
                let detail = format!("a message of this role cannot contain `{kind}`");
                findings.add(Rule::BlockPlace, path, detail);
            }
        }
        Some("input_image") => findings.check_image_url(text(part, "image_url"), role, path),
        Some("refusal") if is_assistant => {
            findings.require_string(part, "refusal", path);
        }
        _ => findings.add(Rule::Shape, path, "unknown part type"),
    }
}

/// Checks that each call has exactly one output after it, and each output a call before it.
fn check_pairs(findings: &mut Findings, items: &[Value]) {
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut call_ids: HashSet<&str> = HashSet::new();
    for (index, item) in items.iter().enumerate() {
        let id = text(item, "call_id");
        match text(item, "type") {
            "function_call" => {
                if call_ids.insert(id) {
                    open.push((id, index));
                } else {
                    let detail = format!("the call id `{id}` was used before");
                    findings.add(Rule::CallTwice, format!("/input/{index}"), detail);
                }
            }
            "function_call_output" => match open.iter().position(|(open, _)| *open == id) {
                Some(at) => drop(open.remove(at)),
                None => findings.add(
                    Rule::OrphanResult,
                    format!("/input/{index}"),
                    format!("no open call has the id `{id}`"),
                ),
            },
            _ => {}
        }
    }
    for (id, index) in open {
        findings.add(Rule::CallAnswered, format!("/input/{index}"), format!("the call `{id}` has no output"));
    }
}

/// Checks that each reasoning item is followed by the call or assistant message that it led to.
fn check_reasoning_order(findings: &mut Findings, items: &[Value]) {
    for (index, item) in items.iter().enumerate() {
        let next = items[index + 1..].iter().find(|next| text(next, "type") != "reasoning");
        let is_followed = next.is_some_and(|next| match text(next, "type") {
            "function_call" => true,
            "message" => text(next, "role") == "assistant",
            _ => false,
        });
        if text(item, "type") == "reasoning" && !is_followed {
            let detail = "reasoning must be followed by the item it produced";
            findings.add(Rule::ThinkingPlace, format!("/input/{index}"), detail);
        }
    }
}
