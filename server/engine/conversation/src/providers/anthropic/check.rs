//! Checks a Messages API body.

use std::collections::{HashMap, HashSet};
use std::io;

use serde_json::Value;
use strata_tokens::counting::ImageSize;

use crate::history::{detect_media_type, image_size};
use crate::providers::json_fields::{list, text};
use crate::providers::{Findings, Rule, is_web_address, is_word_byte};

/// Maximum number of breakpoints in a request.
const MAX_BREAKPOINTS: usize = 4;
/// Length in bytes that a request body must stay below ("Maximum request size: 32 MB" for the Messages API).
const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;
/// Number of images in a request at which the stricter limit on their size applies.
const MANY_IMAGES_THRESHOLD: usize = 21;
/// Maximum pixels per side of an image in a request with at least `MANY_IMAGES_THRESHOLD` images.
const MANY_IMAGES_MAX_SIDE: u32 = 2_000;
/// Maximum pixels per side of an image in a request with fewer than `MANY_IMAGES_THRESHOLD` images.
const MAX_IMAGE_SIDE_PIXELS: u32 = 8_000;
/// Maximum base64 characters of an image ("image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes").
const MAX_IMAGE_BASE64_CHARS: usize = 5 * 1024 * 1024;

/// Types of blocks that have no equivalent in Strata and may appear in user messages (Messages API, "Input content
/// blocks").
const FOREIGN_USER_BLOCK_TYPES: [&str; 2] = ["document", "search_result"];
const FOREIGN_RESULT_BLOCK_TYPES: [&str; 3] = ["document", "search_result", "tool_reference"];
const FOREIGN_ASSISTANT_BLOCK_TYPES: [&str; 9] = [
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
];

/// State while checking one body.
#[derive(Default)]
struct RequestChecker<'a> {
    findings: Findings,
    /// Pointers and lifetimes of the breakpoints, in the order tools, system, messages.
    breakpoints: Vec<(String, &'a str)>,
    /// Pointers to the images, with the longest side of inline ones.
    pictures: Vec<(String, Option<u32>)>,
    /// Ids of all calls, to find duplicates.
    calls: HashSet<&'a str>,
}

pub(in crate::providers) fn check(body: &Value) -> Findings {
    let mut checker = RequestChecker::default();
    let messages = checker.findings.require_messages(body);
    // Automatic caching uses one of the four breakpoints, and its breakpoint comes last.
    if let Some(control) = body.get("cache_control") {
        checker.check_breakpoint(control, String::new());
    }
    let automatic = checker.breakpoints.pop();
    checker.check_tools(body);
    checker.check_system(body);
    for (index, message) in messages.iter().enumerate() {
        checker.check_message(message, index);
    }
    checker.check_turns(messages);
    checker.check_pairs(messages);
    checker.check_server_pairs(messages);
    checker.breakpoints.extend(automatic);
    checker.check_limits(body);
    checker.findings
}

impl<'a> RequestChecker<'a> {
    fn check_tools(&mut self, body: &'a Value) {
        for (index, tool) in self.findings.declared_tools(body).iter().enumerate() {
            let path = format!("/tools/{index}");
            self.findings.check_declaration(tool, tool.get("input_schema"), &path);
            if let Some(control) = tool.get("cache_control") {
                self.check_breakpoint(control, path);
            }
        }
    }

    fn check_system(&mut self, body: &'a Value) {
        match body.get("system") {
            None => {}
            Some(Value::String(text)) => self.check_text(text, "/system"),
            Some(Value::Array(blocks)) => {
                for (index, block) in blocks.iter().enumerate() {
                    let path = format!("/system/{index}");
                    if block.get("type").and_then(Value::as_str) == Some("text") {
                        self.check_block(block, None, path);
                    } else {
                        self.findings.add(Rule::Shape, path, "`system` can only contain text blocks");
                    }
                }
            }
            Some(_) => self.findings.add(Rule::Shape, "/system", "`system` must be a string or a list"),
        }
    }

    fn check_message(&mut self, message: &'a Value, index: usize) {
        let path = format!("/messages/{index}");
        let role = role(message);
        if role.is_none() {
            let detail = "a message must be from `user` or `assistant`";
            self.findings.add(Rule::Role, path.clone() + "/role", detail);
        }
        match message.get("content") {
            Some(Value::String(text)) if text.is_empty() => self.report_empty(path),
            Some(Value::String(text)) => self.check_text(text, &(path + "/content")),
            Some(Value::Array(blocks)) if blocks.is_empty() => self.report_empty(path),
            Some(Value::Array(blocks)) => {
                for (at, block) in blocks.iter().enumerate() {
                    self.check_block(block, role, format!("{path}/content/{at}"));
                }
                self.check_thinking_position(blocks, &path);
            }
            _ => self.findings.add(Rule::Shape, path, "`content` must be a string or a list"),
        }
    }

    fn report_empty(&mut self, path: String) {
        self.findings.add(Rule::EmptyMessage, path, "a message must have content");
    }

    fn check_text(&mut self, text: &str, path: &str) {
        if text.trim().is_empty() {
            self.findings.add(Rule::EmptyText, path, "text must not be empty or blank");
        }
    }

    /// Checks a block of a message with a known `role`, or of the system prompt.
    fn check_block(&mut self, block: &'a Value, role: Option<&str>, path: String) {
        let kind = text(block, "type");
        let owner = match kind {
            "tool_use" | "thinking" | "redacted_thinking" => Some("assistant"),
            "tool_result" | "image" | "container_upload" => Some("user"),
            _ if FOREIGN_USER_BLOCK_TYPES.contains(&kind) => Some("user"),
            _ if FOREIGN_ASSISTANT_BLOCK_TYPES.contains(&kind) => Some("assistant"),
            _ => None,
        };
        if owner.is_some() && role.is_some() && owner != role {
            let detail = format!("a message of this role cannot contain a `{kind}` block");
            self.findings.add(Rule::BlockPlace, path.clone(), detail);
        }
        match kind {
            "text" => {
                if let Some(text) = self.findings.require_string(block, "text", &path) {
                    self.check_text(text, &path);
                }
            }
            "image" => self.check_image(block, &path),
            "thinking" => {
                self.findings.require_string(block, "thinking", &path);
                self.check_signature(block, "signature", &path);
            }
            "redacted_thinking" => self.check_signature(block, "data", &path),
            "tool_use" => self.check_call(block, &path),
            "tool_result" => self.check_result(block, &path),
            "container_upload" => {
                self.findings.require_string(block, "file_id", &path);
            }
            _ if owner.is_some() => self.check_other_block(kind, block, &path),
            _ => self.findings.add(Rule::Shape, path.clone(), format!("`{kind}` is not a known block type")),
        }
        if let Some(control) = block.get("cache_control") {
            let blank = kind == "text"
                && block.get("text").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty());
            if blank || matches!(kind, "thinking" | "redacted_thinking") {
                let detail = "empty text or reasoning cannot have a breakpoint";
                self.findings.add(Rule::BreakpointPlace, path.clone(), detail);
            }
            self.check_breakpoint(control, path);
        }
    }

    /// Checks a block without an equivalent in Strata: its required fields and nested breakpoints.
    fn check_other_block(&mut self, kind: &str, block: &'a Value, path: &str) {
        match kind {
            "document" => {
                self.findings.check_object(
                    block,
                    "source",
                    Rule::Shape,
                    path,
                    "a document must have a `source`",
                );
            }
            "search_result" => {
                self.findings.require_string(block, "source", path);
                self.findings.require_string(block, "title", path);
                if !block.get("content").is_some_and(Value::is_array) {
                    self.findings.add(Rule::Shape, path, "a search result must have a list as its `content`");
                }
            }
            "tool_reference" => {
                self.findings.require_string(block, "tool_name", path);
            }
            "server_tool_use" | "mcp_tool_use" => self.check_server_call(kind, block, path),
            _ => {
                self.findings.require_string(block, "tool_use_id", path);
            }
        }
        for key in ["source", "content"] {
            if let Some(inside) = block.get(key) {
                self.check_inner_breakpoints(inside, format!("{path}/{key}"));
            }
        }
    }

    fn check_server_call(&mut self, kind: &str, block: &Value, path: &str) {
        self.findings.require_string(block, "name", path);
        self.findings.check_object(
            block,
            "input",
            Rule::CallInput,
            path,
            "a call's `input` must be an object",
        );
        let Some(id) = self.findings.require_string(block, "id", path) else { return };
        let (start, more) = if kind == "server_tool_use" { ("srvtoolu_", "") } else { ("", "-") };
        let is_more = |c: char| c.is_ascii_alphanumeric() || c == '_' || more.contains(c);
        if !id.strip_prefix(start).is_some_and(|rest| !rest.is_empty() && rest.chars().all(is_more)) {
            let detail = format!("the call id {id:?} does not match ^{start}[a-zA-Z0-9_{more}]+$");
            self.findings.add(Rule::CallId, path, detail);
        }
    }

    fn check_inner_breakpoints(&mut self, value: &'a Value, path: String) {
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.check_inner_breakpoints(item, format!("{path}/{index}"));
                }
            }
            Value::Object(fields) => {
                for key in ["source", "content"] {
                    if let Some(inside) = fields.get(key) {
                        self.check_inner_breakpoints(inside, format!("{path}/{key}"));
                    }
                }
                if let Some(control) = fields.get("cache_control") {
                    self.check_breakpoint(control, path);
                }
            }
            _ => {}
        }
    }

    fn check_signature(&mut self, block: &Value, key: &str, path: &str) {
        if block.get(key).and_then(Value::as_str).is_none_or(str::is_empty) {
            let detail = format!("reasoning must be returned with its original `{key}`");
            self.findings.add(Rule::ThinkingSeal, path, detail);
        }
    }

    fn check_call(&mut self, block: &'a Value, path: &str) {
        self.findings.check_tool_name(block, path);
        self.findings.check_object(
            block,
            "input",
            Rule::CallInput,
            path,
            "a call's `input` must be an object",
        );
        let Some(id) = self.findings.require_string(block, "id", path) else { return };
        if id.is_empty() || !id.bytes().all(is_word_byte) {
            let detail = format!("the call id {id:?} does not match ^[a-zA-Z0-9_-]+$");
            self.findings.add(Rule::CallId, path, detail);
        }
        if !self.calls.insert(id) {
            self.findings.add(Rule::CallTwice, path, format!("the call id `{id}` was used before"));
        }
    }

    fn check_result(&mut self, block: &'a Value, path: &str) {
        self.findings.require_string(block, "tool_use_id", path);
        let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        let content = block.get("content");
        match content {
            None | Some(Value::String(_)) => {}
            Some(Value::Array(parts)) => {
                for (index, part) in parts.iter().enumerate() {
                    let path = format!("{path}/content/{index}");
                    match part.get("type").and_then(Value::as_str) {
                        Some(kind)
                            if failed && (kind == "image" || FOREIGN_RESULT_BLOCK_TYPES.contains(&kind)) =>
                        {
                            let detail = "the content of a failed result must be text";
                            self.findings.add(Rule::ErrorContent, path, detail);
                        }
                        Some("text" | "image") => self.check_block(part, None, path),
                        Some(kind) if FOREIGN_RESULT_BLOCK_TYPES.contains(&kind) => {
                            self.check_other_block(kind, part, &path);
                            if let Some(control) = part.get("cache_control") {
                                self.check_breakpoint(control, path);
                            }
                        }
                        _ => self.findings.add(
                            Rule::Shape,
                            path,
                            "a tool result can only contain text and images",
                        ),
                    }
                }
            }
            Some(_) => self.findings.add(Rule::Shape, path, "`content` must be a string or a list"),
        }
        if failed && text(block, "content").is_empty() && list(block, "content").is_empty() {
            self.findings.add(Rule::ErrorContent, path, "a failed result cannot be empty");
        }
    }

    fn check_image(&mut self, block: &Value, path: &str) {
        let field = |name: &str| block.pointer(&format!("/source/{name}")).and_then(Value::as_str);
        let mut longest = None;
        match field("type") {
            Some("url") => {
                if !field("url").is_some_and(is_web_address) {
                    self.findings.add(Rule::ImageForm, path, "an image URL must begin with http: or https:");
                }
            }
            Some("base64") => {
                let data = field("data").unwrap_or_default();
                longest = image_size(data).map(ImageSize::longer_side);
                if !is_base64(data) {
                    self.findings.add(Rule::ImageForm, path, "an image must be base64 without line breaks");
                } else if longest.is_none() {
                    let detail = "an image must be PNG, JPEG, GIF or WebP";
                    self.findings.add(Rule::ImageForm, path, detail);
                } else if field("media_type") != detect_media_type(data) {
                    let detail = "an image's `media_type` must match its bytes";
                    self.findings.add(Rule::ImageForm, path, detail);
                }
                if data.len() > MAX_IMAGE_BASE64_CHARS {
                    let detail = format!("an image cannot exceed {MAX_IMAGE_BASE64_CHARS} bytes of base64");
                    self.findings.add(Rule::ImageSize, path, detail);
                }
            }
            // An image uploaded earlier.
            Some("file") => {
                if field("file_id").is_none_or(str::is_empty) {
                    let detail = "an image of the type `file` must have a `file_id`";
                    self.findings.add(Rule::ImageForm, path, detail);
                }
            }
            _ => self.findings.add(Rule::Shape, path, "an image's source must be `base64`, `url` or `file`"),
        }
        self.pictures.push((path.to_owned(), longest));
    }

    fn check_thinking_position(&mut self, blocks: &[Value], path: &str) {
        let reasons = |block: &Value| {
            matches!(block.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"))
        };
        if !blocks.iter().any(reasons) {
            return;
        }
        if !blocks.first().is_some_and(reasons) {
            let detail = "a message with reasoning must start with it";
            self.findings.add(Rule::ThinkingPlace, path, detail);
        }
        if blocks.last().is_some_and(reasons) {
            self.findings.add(Rule::ThinkingPlace, path, "a message cannot end with reasoning");
        }
    }

    /// Checks that user and assistant alternate.
    fn check_turns(&mut self, messages: &[Value]) {
        if messages.first().and_then(role) == Some("assistant") {
            self.findings.add(Rule::FirstUser, "/messages/0", "the first message must be from the user");
        }
        for (index, pair) in messages.windows(2).enumerate() {
            if let [before, after] = pair
                && role(before).is_some()
                && role(before) == role(after)
            {
                let detail = "two consecutive messages have the same role";
                self.findings.add(Rule::Alternation, format!("/messages/{}", index + 1), detail);
            }
        }
        if messages.last().and_then(role) == Some("assistant") {
            let path = format!("/messages/{}", messages.len() - 1);
            let detail = "the last message cannot be from the assistant";
            self.findings.add(Rule::TrailingAssistant, path, detail);
        }
    }

    /// Checks that every call has a result, and every result a call.
    fn check_pairs(&mut self, messages: &[Value]) {
        let mut pending: Vec<(&str, String)> = Vec::new();
        for (index, message) in messages.iter().enumerate() {
            let mut open: HashSet<&str> = pending.iter().map(|(id, _)| *id).collect();
            let mut has_other_content = false;
            for (at, block) in list(message, "content").iter().enumerate() {
                if block.get("type").and_then(Value::as_str) != Some("tool_result") {
                    has_other_content = true;
                    continue;
                }
                let path = format!("/messages/{index}/content/{at}");
                let id = text(block, "tool_use_id");
                if !open.remove(id) {
                    let detail =
                        format!("the result for `{id}` matches no open call in the previous message");
                    self.findings.add(Rule::OrphanResult, path, detail);
                } else if has_other_content {
                    let detail = format!("the result for `{id}` must precede all other content");
                    self.findings.add(Rule::ResultsFirst, path, detail);
                }
            }
            self.findings.report_unanswered(pending.drain(..).filter(|(id, _)| open.contains(id)));
            if role(message) == Some("assistant") {
                pending = call_ids_with_paths(message, index);
            }
        }
        self.findings.report_unanswered(pending);
    }

    /// Checks that every server-side call is followed by its result in the same message.
    fn check_server_pairs(&mut self, messages: &[Value]) {
        for (index, message) in messages.iter().enumerate() {
            let mut open: HashMap<(&str, &str), usize> = HashMap::new();
            let mut alone: Vec<usize> = Vec::new();
            for (at, block) in list(message, "content").iter().enumerate() {
                match text(block, "type") {
                    kind @ ("server_tool_use" | "mcp_tool_use") => {
                        alone.extend(open.insert((kind, text(block, "id")), at));
                    }
                    kind if kind.ends_with("_tool_result") => {
                        let calling =
                            if kind == "mcp_tool_result" { "mcp_tool_use" } else { "server_tool_use" };
                        if open.remove(&(calling, text(block, "tool_use_id"))).is_none() {
                            alone.push(at);
                        }
                    }
                    _ => {}
                }
            }
            alone.extend(open.into_values());
            alone.sort_unstable();
            for at in alone {
                let detail = "a server-side call and its result must be in one message";
                self.findings.add(Rule::ServerCall, format!("/messages/{index}/content/{at}"), detail);
            }
        }
    }

    fn check_breakpoint(&mut self, control: &'a Value, path: String) {
        let ttl = match control.get("ttl") {
            None => Some("5m"),
            Some(ttl) => ttl.as_str().filter(|ttl| ["5m", "1h"].contains(ttl)),
        };
        let ephemeral = control.get("type").and_then(Value::as_str) == Some("ephemeral");
        if !ephemeral || ttl.is_none() {
            let detail =
                "a breakpoint's `type` must be `ephemeral`, and its `ttl`, if present, must be `5m` or `1h`";
            self.findings.add(Rule::BreakpointForm, path.clone(), detail);
        }
        self.breakpoints.push((path, ttl.unwrap_or("5m")));
    }

    fn check_limits(&mut self, body: &Value) {
        for (path, _) in self.breakpoints.iter().skip(MAX_BREAKPOINTS) {
            let detail = format!("a request can have at most {MAX_BREAKPOINTS} breakpoints");
            self.findings.add(Rule::BreakpointLimit, path.clone(), detail);
        }
        let mut short = false;
        for (path, ttl) in &self.breakpoints {
            if *ttl == "1h" && short {
                let detail = "a one-hour breakpoint cannot follow a five-minute breakpoint";
                self.findings.add(Rule::BreakpointOrder, path.clone(), detail);
            }
            short |= *ttl == "5m";
        }
        let limit = if self.pictures.len() >= MANY_IMAGES_THRESHOLD {
            MANY_IMAGES_MAX_SIDE
        } else {
            MAX_IMAGE_SIDE_PIXELS
        };
        for (path, side) in &self.pictures {
            if side.is_some_and(|side| side > limit) {
                let detail = format!(
                    "with {} images, no image can be wider or taller than {limit} px",
                    self.pictures.len()
                );
                self.findings.add(Rule::ImageSize, path.clone(), detail);
            }
        }
        if json_size(body) >= MAX_BODY_BYTES {
            self.findings.add(Rule::BodySize, "", "the body must be smaller than 32 MB");
        }
    }
}

/// Returns the role of a message, if it is known.
fn role(message: &Value) -> Option<&str> {
    Some(text(message, "role")).filter(|role| ["user", "assistant"].contains(role))
}

fn call_ids_with_paths(message: &Value, index: usize) -> Vec<(&str, String)> {
    let blocks = list(message, "content").iter().enumerate();
    blocks
        .filter(|(_, block)| text(block, "type") == "tool_use")
        .filter_map(|(at, block)| {
            Some((block.get("id")?.as_str()?, format!("/messages/{index}/content/{at}")))
        })
        .collect()
}

fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let padded = text.len().is_multiple_of(4) && text.len() - digits.len() <= 2;
    padded && !digits.is_empty() && digits.bytes().all(is_digit)
}

/// Returns the number of bytes of `body` as compact JSON, without writing it to memory.
fn json_size(body: &Value) -> usize {
    let mut counter = ByteCounter(0);
    // Counting cannot fail, and a `Value` can always be serialized.
    let _ = serde_json::to_writer(&mut counter, body);
    counter.0
}

struct ByteCounter(usize);

impl io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
