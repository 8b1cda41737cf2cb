//! Checks a Responses body and reports each broken rule, in time linear in the size of the body. Shares no code
//! with the renderer, so that mistakes of the renderer are found.

use std::collections::HashSet;

use serde_json::Value;

use super::super::findings::{Findings, is_web_address};
use super::super::openai::limits;
use super::super::rule::{Rule, Violation};

/// Maximum characters of a call id ("string too long. Expected a string with maximum length 64").
const CALL_ID_CHARS: usize = 64;

/// Returns the rules that `body` breaks.
pub(in crate::conversation::dialect) fn check(body: &Value) -> Vec<Violation> {
    let mut findings = Findings::default();
    if body.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
        findings.add(Rule::Shape, "/model", "`model` must name a model");
    }
    for (index, tool) in findings.tools(body).iter().enumerate() {
        let path = format!("/tools/{index}");
        if tool.get("type").and_then(Value::as_str) != Some("function") {
            findings.add(Rule::Shape, path.clone(), "a tool must have the type `function`");
        }
        if let Some(name) = findings.string(tool, "name", &path) {
            findings.declaration(name, tool.get("parameters"), &path);
        }
    }
    let items = match body.get("input").and_then(Value::as_array) {
        None => {
            findings.add(Rule::Shape, "/input", "`input` must be a list of items");
            &[][..]
        }
        Some(items) if items.is_empty() => {
            findings.add(Rule::EmptyMessage, "/input", "at least one item is required");
            &[][..]
        }
        Some(items) => items,
    };
    for (index, item) in items.iter().enumerate() {
        check_item(&mut findings, body, item, &format!("/input/{index}"));
    }
    pairs(&mut findings, items);
    thoughts(&mut findings, items);
    limits::check(&mut findings, body, "input");
    findings.into_vec()
}

fn check_item(findings: &mut Findings, body: &Value, item: &Value, path: &str) {
    match item.get("type").and_then(Value::as_str).unwrap_or_default() {
        "message" => message(findings, item, path),
        "function_call" => {
            call_id(findings, item, path);
            if let Some(name) = findings.string(item, "name", path) {
                findings.tool_name(name, path);
            }
            if !item.get("arguments").is_some_and(Value::is_string) {
                findings.add(Rule::CallInput, path, "a call's `arguments` must be a string");
            }
        }
        "function_call_output" => {
            call_id(findings, item, path);
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
            let is_sealed =
                item.get("encrypted_content").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
            if !is_sealed && body.get("store").and_then(Value::as_bool) == Some(false) {
                let detail = "reasoning that the provider does not store must have `encrypted_content`";
                findings.add(Rule::ThinkingSeal, path, detail);
            }
        }
        kind => findings.add(Rule::Shape, path, format!("`{kind}` is not a known item type")),
    }
}

fn call_id(findings: &mut Findings, item: &Value, path: &str) {
    if let Some(id) = findings.string(item, "call_id", path)
        && !(1..=CALL_ID_CHARS).contains(&id.chars().count())
    {
        let detail = format!("a call's id must have 1 to {CALL_ID_CHARS} characters");
        findings.add(Rule::CallId, path, detail);
    }
}

fn message(findings: &mut Findings, item: &Value, path: &str) {
    let role = item.get("role").and_then(Value::as_str).unwrap_or_default();
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
            findings.string(part, "text", path);
            if (kind == "output_text") != is_assistant {
                findings.add(
                    Rule::BlockPlace,
                    path,
                    format!("a message of this role cannot contain `{kind}`"),
                );
            }
        }
        Some("input_image") => {
            if role != "user" {
                findings.add(Rule::BlockPlace, path, "only user messages can contain images");
            }
            let url = part.get("image_url").and_then(Value::as_str).unwrap_or_default();
            if !url.starts_with("data:image/") && !is_web_address(url) {
                findings.add(Rule::ImageForm, path, "an image must be a `data:`, `http:` or `https:` URL");
            }
        }
        Some("refusal") if is_assistant => {
            findings.string(part, "refusal", path);
        }
        _ => findings.add(Rule::Shape, path, "unknown part type"),
    }
}

/// Checks that each call has exactly one output after it, and each output a call before it.
fn pairs(findings: &mut Findings, items: &[Value]) {
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut called: HashSet<&str> = HashSet::new();
    for (index, item) in items.iter().enumerate() {
        let id = item.get("call_id").and_then(Value::as_str).unwrap_or_default();
        match item.get("type").and_then(Value::as_str) {
            Some("function_call") => {
                if called.insert(id) {
                    open.push((id, index));
                } else {
                    let detail = format!("the call id `{id}` was used before");
                    findings.add(Rule::CallTwice, format!("/input/{index}"), detail);
                }
            }
            Some("function_call_output") => match open.iter().position(|(open, _)| *open == id) {
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
fn thoughts(findings: &mut Findings, items: &[Value]) {
    let kind = |item: &Value| item.get("type").and_then(Value::as_str).map(str::to_owned);
    for (index, item) in items.iter().enumerate() {
        let next = items[index + 1..].iter().find(|next| kind(next).as_deref() != Some("reasoning"));
        let is_followed = next.is_some_and(|next| match kind(next).as_deref() {
            Some("function_call") => true,
            Some("message") => next.get("role").and_then(Value::as_str) == Some("assistant"),
            _ => false,
        });
        if kind(item).as_deref() == Some("reasoning") && !is_followed {
            let detail = "reasoning must be followed by the item it produced";
            findings.add(Rule::ThinkingPlace, format!("/input/{index}"), detail);
        }
    }
}
