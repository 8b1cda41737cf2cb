//! Reads a Chat Completions body and names each rule it breaks. Shares no code with the renderer, so that
//! a mistake there is seen here. Linear in the size of the body.

use std::collections::HashSet;

use serde_json::Value;

use super::super::findings::{Findings, is_web_address};
use super::super::rule::{Rule, Violation};

/// Characters of `prompt_cache_key`.
const CACHE_KEY_CHARS: usize = 64;
/// Characters of a call's id.
const CALL_ID_CHARS: usize = 40;
/// Characters of any one string ("string too long. Expected a string with maximum length 1048576").
const STRING_CHARS: usize = 1_048_576;
/// Cache entries that one request writes at most.
const WRITES: usize = 4;
/// Parts that can carry a breakpoint.
const CARRIERS: [&str; 4] = ["text", "image_url", "input_audio", "file"];
/// Where strings are longer.
const BASE64: [&str; 3] = ["/image_url/url", "/file/file_data", "/input_audio/data"];

/// The rules that `body` breaks.
pub(in crate::conversation::dialect) fn check(body: &Value) -> Vec<Violation> {
    let mut findings = Findings::default();
    let messages = findings.messages(body);
    cache_key(&mut findings, body);
    for (index, tool) in findings.tools(body).iter().enumerate() {
        declaration(&mut findings, tool, &format!("/tools/{index}"));
    }
    for (index, message) in messages.iter().enumerate() {
        check_message(&mut findings, message, &format!("/messages/{index}"));
    }
    pairs(&mut findings, messages);
    breakpoints(&mut findings, body, messages);
    strings(&mut findings, body, &mut String::new());
    findings.into_vec()
}

fn cache_key(findings: &mut Findings, body: &Value) {
    match body.get("prompt_cache_key") {
        None => {}
        Some(Value::String(key)) if key.chars().count() <= CACHE_KEY_CHARS => {}
        Some(_) => {
            let detail = format!("the cache key must be a string of at most {CACHE_KEY_CHARS} characters");
            findings.add(Rule::CacheKey, "/prompt_cache_key", detail);
        }
    }
}

/// Cache breakpoints: their form, place and number, and whether the model takes any.
fn breakpoints(findings: &mut Findings, body: &Value, messages: &[Value]) {
    let options = body.get("prompt_cache_options");
    if let Some(options) = options
        && !are_cache_options(options)
    {
        let detail = "the cache options are a `mode`, `implicit` or `explicit`, and a `ttl`, `30m`";
        findings.add(Rule::BreakpointForm, "/prompt_cache_options", detail);
    }
    let is_explicit = options.and_then(|options| options.get("mode")?.as_str()) == Some("explicit");
    let limit = if is_explicit { WRITES } else { WRITES - 1 };
    let mut found = 0;
    for (index, message) in messages.iter().enumerate() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        let parts = message.get("content").and_then(Value::as_array).into_iter().flatten();
        for (at, part) in parts.enumerate() {
            let Some(breakpoint) = part.get("prompt_cache_breakpoint") else { continue };
            let path = format!("/messages/{index}/content/{at}");
            found += 1;
            if breakpoint.as_object().is_none_or(|fields| fields.len() != 1)
                || breakpoint.get("mode").and_then(Value::as_str) != Some("explicit")
            {
                findings.add(
                    Rule::BreakpointForm,
                    path.clone(),
                    "a breakpoint is `{\"mode\": \"explicit\"}`",
                );
            }
            let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
            if role == "assistant" || !CARRIERS.contains(&kind) {
                findings.add(Rule::BreakpointPlace, path.clone(), "only input carries a breakpoint");
            }
            if found == limit + 1 {
                let detail = format!("at most {limit} breakpoints of a request are written");
                findings.add(Rule::BreakpointLimit, path, detail);
            }
        }
    }
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    if (found > 0 || options.is_some()) && is_before_breakpoints(model) {
        let detail = format!("`{model}` caches by itself and refuses breakpoints");
        findings.add(Rule::BreakpointModel, "/model", detail);
    }
}

fn are_cache_options(options: &Value) -> bool {
    options.as_object().is_some_and(|fields| {
        fields.iter().all(|(field, value)| match field.as_str() {
            "mode" => matches!(value.as_str(), Some("implicit" | "explicit")),
            "ttl" => value.as_str() == Some("30m"),
            _ => false,
        })
    })
}

/// Whether a name is that of one of OpenAI's models before GPT-5.6, as OpenAI spells it.
fn is_before_breakpoints(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let Some(version) = name.strip_prefix("gpt-") else {
        let mut letters = name.strip_prefix('o').unwrap_or_default().bytes();
        return letters.next().is_some_and(|byte| byte.is_ascii_digit());
    };
    let mut numbers =
        version.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default().split('.');
    let mut number = || numbers.next().and_then(|digits| digits.parse::<u32>().ok());
    match number() {
        Some(5) => number().unwrap_or_default() < 6,
        Some(major) => major < 5,
        None => false,
    }
}

fn declaration(findings: &mut Findings, tool: &Value, path: &str) {
    let function = tool.get("function").unwrap_or(&Value::Null);
    if tool.get("type").and_then(Value::as_str) != Some("function") {
        findings.add(Rule::Shape, path, "a tool has the type `function`");
    }
    if let Some(name) = findings.string(function, "name", path) {
        findings.declaration(name, function.get("parameters"), path);
    }
}

fn check_message(findings: &mut Findings, message: &Value, path: &str) {
    let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
    if !["system", "developer", "user", "assistant", "tool"].contains(&role) {
        findings.add(Rule::Role, format!("{path}/role"), format!("`{role}` is not a known role"));
    }
    let calls = message.get("tool_calls");
    if calls.is_some() && role != "assistant" {
        findings.add(Rule::BlockPlace, path, "only the assistant calls tools");
    }
    if let Some(calls) = calls {
        check_calls(findings, calls, path);
    }
    if role == "tool" {
        findings.string(message, "tool_call_id", path);
    }
    match message.get("content") {
        None | Some(Value::Null) if calls.is_some() => {}
        None | Some(Value::Null) => findings.add(Rule::EmptyMessage, path, "a message must have content"),
        // A tool may have nothing to say, and still its call is answered.
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
        return findings.add(Rule::Shape, path, "`tool_calls` must be a list that is not empty");
    };
    let mut ids = HashSet::new();
    for (index, call) in calls.iter().enumerate() {
        let path = format!("{path}/tool_calls/{index}");
        if let Some(id) = findings.string(call, "id", &path) {
            if !(1..=CALL_ID_CHARS).contains(&id.chars().count()) {
                let detail = format!("a call's id has 1 to {CALL_ID_CHARS} characters");
                findings.add(Rule::CallId, path.clone(), detail);
            }
            if !ids.insert(id) {
                findings.add(Rule::CallTwice, path.clone(), format!("the call id `{id}` was used before"));
            }
        }
        if call.get("type").and_then(Value::as_str) != Some("function") {
            findings.add(Rule::Shape, path.clone(), "a call has the type `function`");
        }
        let function = call.get("function").unwrap_or(&Value::Null);
        if let Some(name) = findings.string(function, "name", &path) {
            findings.tool_name(name, &path);
        }
        if !function.get("arguments").is_some_and(Value::is_string) {
            findings.add(Rule::CallInput, path, "a call's `arguments` must be a string");
        }
    }
}

fn check_part(findings: &mut Findings, part: &Value, role: &str, path: &str) {
    match part.get("type").and_then(Value::as_str) {
        Some("text") => {
            findings.string(part, "text", path);
        }
        _ if role == "tool" => findings.add(Rule::ToolText, path, "a tool message holds text only"),
        Some("image_url") => {
            if role != "user" {
                findings.add(Rule::BlockPlace, path, "pictures come from the user");
            }
            let url = part.pointer("/image_url/url").and_then(Value::as_str).unwrap_or_default();
            if !url.starts_with("data:image/") && !is_web_address(url) {
                findings.add(Rule::ImageForm, path, "a picture is a `data:` or http(s) address");
            }
        }
        Some(kind @ ("input_audio" | "file")) => {
            if !part.get(kind).is_some_and(Value::is_object) {
                findings.add(Rule::Shape, path, format!("`{kind}` must be an object"));
            }
            if role != "user" {
                findings.add(Rule::BlockPlace, path, "recordings and files come from the user");
            }
        }
        Some("refusal") => {
            findings.string(part, "refusal", path);
            if role != "assistant" {
                findings.add(Rule::BlockPlace, path, "only the assistant refuses");
            }
        }
        _ => findings.add(Rule::Shape, path, "not a known part type"),
    }
}

/// Each call is answered by a `tool` message directly after; nothing else is.
fn pairs(findings: &mut Findings, messages: &[Value]) {
    let mut open: Vec<(&str, String)> = Vec::new();
    let mut waiting: HashSet<&str> = HashSet::new();
    for (index, message) in messages.iter().enumerate() {
        if message.get("role").and_then(Value::as_str) == Some("tool") {
            let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
            if !waiting.remove(id) {
                let detail = format!("the tool message for `{id}` answers no open call directly before it");
                findings.add(Rule::OrphanResult, format!("/messages/{index}"), detail);
            }
            continue;
        }
        unanswered(findings, &mut open, &waiting);
        open = calls(message, index);
        waiting = open.iter().map(|(id, _)| *id).collect();
    }
    unanswered(findings, &mut open, &waiting);
}

fn unanswered(findings: &mut Findings, open: &mut Vec<(&str, String)>, waiting: &HashSet<&str>) {
    for (id, path) in open.drain(..).filter(|(id, _)| waiting.contains(id)) {
        let detail = format!("the call `{id}` is not answered by a tool message directly after");
        findings.add(Rule::CallAnswered, path, detail);
    }
}

fn calls(message: &Value, index: usize) -> Vec<(&str, String)> {
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    calls
        .enumerate()
        .filter_map(|(at, call)| {
            Some((call.get("id")?.as_str()?, format!("/messages/{index}/tool_calls/{at}")))
        })
        .collect()
}

/// Every string of the body; `path` is the pointer so far and is left as it was.
fn strings(findings: &mut Findings, value: &Value, path: &mut String) {
    let here = path.len();
    match value {
        // Pictures, files and recordings travel as base64 and have limits of their own.
        Value::String(_) if BASE64.iter().any(|place| path.ends_with(*place)) => {}
        // A byte count within the limit spares counting characters.
        Value::String(text) if text.len() > STRING_CHARS && text.chars().count() > STRING_CHARS => {
            let detail = format!("one string has at most {STRING_CHARS} characters");
            findings.add(Rule::StringLength, path.clone(), detail);
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!("/{index}"));
                strings(findings, item, path);
                path.truncate(here);
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                path.push('/');
                path.push_str(&key.replace('~', "~0").replace('/', "~1"));
                strings(findings, item, path);
                path.truncate(here);
            }
        }
        _ => {}
    }
}
