//! Checks a Converse body.

use std::collections::HashSet;

use serde_json::Value;

use crate::providers::json_fields::{list, text};
use crate::providers::{Findings, Rule, is_word_byte};

/// Maximum characters of `ToolUseBlock.toolUseId`, which matches `[a-zA-Z0-9_-]+`.
const MAX_CALL_ID_CHARS: usize = 64;
/// Maximum number of cache points in a request to a Claude model (Bedrock, "Prompt caching").
const MAX_CACHE_POINTS: usize = 4;
/// Values of `ImageBlock.format`.
const IMAGE_FORMATS: [&str; 4] = ["png", "jpeg", "gif", "webp"];

/// State while checking one body.
#[derive(Default)]
struct RequestChecker<'a> {
    findings: Findings,
    /// JSON pointer and TTL (`5m` or `1h`) of each cache point, in the order tools, system, messages.
    breakpoints: Vec<(String, &'a str)>,
}

pub(in crate::providers) fn check(body: &Value) -> Findings {
    let mut checker = RequestChecker::default();
    checker.findings.check_model(body, "modelId");
    checker.check_tools(body);
    if let Some(system) = body.get("system") {
        for (index, block) in checker.require_list(system, "/system").iter().enumerate() {
            let path = format!("/system/{index}");
            if let Some(point) = block.get("cachePoint") {
                checker.check_cache_point(point, index.checked_sub(1).is_some(), path);
            } else {
                checker.check_text(block, &path);
            }
        }
    }
    let messages =
        body.get("messages").map_or(&[][..], |messages| checker.require_list(messages, "/messages"));
    if messages.is_empty() {
        checker.findings.add(Rule::EmptyMessage, "/messages", "at least one message is required");
    }
    for (index, message) in messages.iter().enumerate() {
        checker.check_message(message, index);
    }
    checker.check_turns(messages);
    checker.check_pairs(messages);
    checker.check_limits();
    checker.findings
}

impl<'a> RequestChecker<'a> {
    fn require_list(&mut self, value: &'a Value, path: &str) -> &'a [Value] {
        value.as_array().map_or_else(
            || {
                self.findings.add(Rule::Shape, path, "must be a list");
                &[][..]
            },
            Vec::as_slice,
        )
    }

    fn check_tools(&mut self, body: &'a Value) {
        let Some(config) = body.get("toolConfig") else {
            let mut blocks = list(body, "messages").iter().flat_map(|message| list(message, "content"));
            if blocks.any(|block| block.get("toolUse").is_some() || block.get("toolResult").is_some()) {
                let detail = "must be defined if messages contain `toolUse` or `toolResult`";
                self.findings.add(Rule::Shape, "/toolConfig", detail);
            }
            return;
        };
        let Some(tools) = config.get("tools").and_then(Value::as_array).filter(|tools| !tools.is_empty())
        else {
            return self.findings.add(Rule::Shape, "/toolConfig", "`tools` must be a non-empty list");
        };
        for (index, tool) in tools.iter().enumerate() {
            let path = format!("/toolConfig/tools/{index}");
            if let Some(point) = tool.get("cachePoint") {
                self.check_cache_point(point, index > 0, path);
                continue;
            }
            let spec = tool.get("toolSpec").unwrap_or(&Value::Null);
            self.findings.check_declaration(spec, spec.pointer("/inputSchema/json"), &path);
        }
    }

    fn check_message(&mut self, message: &'a Value, index: usize) {
        let path = format!("/messages/{index}");
        let role = text(message, "role");
        if role != "user" && role != "assistant" {
            let detail = "a message must be from `user` or `assistant`";
            self.findings.add(Rule::Role, format!("{path}/role"), detail);
        }
        let details = ["`content` must be a list", "a message must have content"];
        let blocks = self.findings.require_non_empty_list(message, "content", &path, details);
        for (at, block) in blocks.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| blocks.get(before));
            self.check_block(block, before, role, format!("{path}/content/{at}"));
        }
    }

    fn check_block(&mut self, block: &'a Value, before: Option<&Value>, role: &str, path: String) {
        let mut require_role = |expected_role: &str, subject: &str| {
            if role != expected_role {
                let detail = format!("{subject} must come from the {expected_role}");
                self.findings.add(Rule::BlockPlace, path.clone(), detail);
            }
        };
        if let Some(point) = block.get("cachePoint") {
            let carries = before.is_some_and(|before| before.get("reasoningContent").is_none());
            self.check_cache_point(point, carries, path);
        } else if block.get("text").is_some() {
            self.check_text(block, &path);
        } else if let Some(image) = block.get("image") {
            require_role("user", "pictures");
            self.check_image(image, &path);
        } else if let Some(call) = block.get("toolUse") {
            require_role("assistant", "calls");
            self.check_call(call, &path);
        } else if let Some(result) = block.get("toolResult") {
            require_role("user", "results");
            self.check_result(result, &path);
        } else if let Some(reasoning) = block.get("reasoningContent") {
            require_role("assistant", "thoughts");
            let seal = ["/reasoningText/signature", "/redactedContent"]
                .into_iter()
                .find_map(|at| reasoning.pointer(at)?.as_str());
            if seal.is_none_or(str::is_empty) {
                let detail = "reasoning must be returned with its signature";
                self.findings.add(Rule::ThinkingSeal, path, detail);
            }
        } else {
            self.findings.add(Rule::Shape, path, "unknown block type");
        }
    }

    fn check_text(&mut self, block: &Value, path: &str) {
        if let Some(text) = self.findings.require_string(block, "text", path)
            && text.trim().is_empty()
        {
            self.findings.add(Rule::EmptyText, path, "text must not be empty or blank");
        }
    }

    fn check_image(&mut self, image: &Value, path: &str) {
        let format = text(image, "format");
        let bytes = image.pointer("/source/bytes").and_then(Value::as_str).unwrap_or_default();
        if !IMAGE_FORMATS.contains(&format) || bytes.is_empty() {
            let detail = "an image must be the bytes of a PNG, JPEG, GIF or WebP file";
            self.findings.add(Rule::ImageForm, path, detail);
        }
    }

    fn check_call(&mut self, call: &Value, path: &str) {
        self.check_id(call, path);
        self.findings.check_tool_name(call, path);
        self.findings.check_object(
            call,
            "input",
            Rule::CallInput,
            path,
            "a call's `input` must be an object",
        );
    }

    fn check_result(&mut self, result: &'a Value, path: &str) {
        self.check_id(result, path);
        let failed = result.get("status").and_then(Value::as_str) == Some("error");
        let content = result.get("content").map_or(&[][..], |content| self.require_list(content, path));
        if failed && content.is_empty() {
            self.findings.add(Rule::ErrorContent, path, "a failed result cannot be empty");
        }
        for (at, part) in content.iter().enumerate() {
            let path = format!("{path}/toolResult/content/{at}");
            if part.get("text").is_some() {
                self.check_text(part, &path);
            } else if let Some(image) = part.get("image") {
                if failed {
                    let detail = "the content of a failed result must be text";
                    self.findings.add(Rule::ErrorContent, path.clone(), detail);
                }
                self.check_image(image, &path);
            } else {
                self.findings.add(Rule::Shape, path, "a tool result can only contain text and images");
            }
        }
    }

    fn check_id(&mut self, block: &Value, path: &str) {
        let Some(id) = self.findings.require_string(block, "toolUseId", path) else { return };
        if !(1..=MAX_CALL_ID_CHARS).contains(&id.len()) || !id.bytes().all(is_word_byte) {
            let detail =
                format!("the call id {id:?} does not match ^[a-zA-Z0-9_-]{{1,{MAX_CALL_ID_CHARS}}}$");
            self.findings.add(Rule::CallId, path, detail);
        }
    }

    fn check_cache_point(&mut self, point: &'a Value, carries: bool, path: String) {
        let ttl = point.get("ttl").map_or(Some("5m"), Value::as_str).unwrap_or_default();
        if point.get("type").and_then(Value::as_str) != Some("default") || !["5m", "1h"].contains(&ttl) {
            let detail =
                "a breakpoint's `type` must be `default`, and its `ttl`, if present, must be `5m` or `1h`";
            self.findings.add(Rule::BreakpointForm, path.clone(), detail);
        }
        if !carries {
            let detail = "a breakpoint cannot follow reasoning";
            self.findings.add(Rule::BreakpointPlace, path.clone(), detail);
        }
        self.breakpoints.push((path, ttl));
    }

    fn check_turns(&mut self, messages: &[Value]) {
        let role = |message| text(message, "role");
        if messages.first().is_some_and(|first| role(first) != "user") {
            let detail = "the first message must be from the user";
            self.findings.add(Rule::FirstUser, "/messages/0", detail);
        }
        for (index, pair) in messages.windows(2).enumerate() {
            if let [before, after] = pair
                && role(before) == role(after)
            {
                let path = format!("/messages/{}", index + 1);
                self.findings.add(Rule::Alternation, path, "user and assistant messages must alternate");
            }
        }
        if messages.last().is_some_and(|last| role(last) == "assistant") {
            let path = format!("/messages/{}", messages.len() - 1);
            self.findings.add(Rule::TrailingAssistant, path, "the last message must be from the user");
        }
    }

    fn check_pairs(&mut self, messages: &[Value]) {
        let mut open: Vec<(&str, String)> = Vec::new();
        for (index, message) in messages.iter().enumerate() {
            let blocks = || list(message, "content").iter().enumerate();
            let ids = |kind: &'static str| {
                let pointer = format!("/{kind}/toolUseId");
                blocks().filter_map(move |(at, block)| {
                    Some((block.pointer(&pointer)?.as_str()?, format!("/messages/{index}/content/{at}")))
                })
            };
            for (id, path) in ids("toolResult") {
                match open.iter().position(|(open, _)| *open == id) {
                    Some(at) => drop(open.remove(at)),
                    None => {
                        let detail =
                            format!("the result for `{id}` matches no open call in the previous message");
                        self.findings.add(Rule::OrphanResult, path, detail);
                    }
                }
            }
            self.findings.report_unanswered(open.drain(..));
            let mut ids_in_message = HashSet::new();
            for (id, path) in ids("toolUse") {
                if !ids_in_message.insert(id) {
                    let detail = format!("the call id `{id}` was used before");
                    self.findings.add(Rule::CallTwice, path.clone(), detail);
                }
                open.push((id, path));
            }
        }
        self.findings.report_unanswered(open);
    }

    fn check_limits(&mut self) {
        if let Some((path, _)) = self.breakpoints.get(MAX_CACHE_POINTS) {
            let detail = format!(
                "a request can have at most {MAX_CACHE_POINTS} breakpoints, not {}",
                self.breakpoints.len()
            );
            self.findings.add(Rule::BreakpointLimit, path.clone(), detail);
        }
        let shorter = self.breakpoints.iter().position(|(_, ttl)| *ttl == "5m");
        let later = shorter.and_then(|from| self.breakpoints.get(from..)).unwrap_or_default();
        if let Some((path, _)) = later.iter().find(|(_, ttl)| *ttl == "1h") {
            let detail = "one-hour breakpoints must precede five-minute breakpoints";
            self.findings.add(Rule::BreakpointOrder, path.clone(), detail);
        }
    }
}
