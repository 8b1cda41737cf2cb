//! Checks a `generateContent` body.

use std::collections::HashMap;

use serde_json::Value;

use crate::providers::json_fields::text;
use crate::providers::{Findings, Rule, is_web_address};

/// Fields of a request, and `model`, which belongs in the URL but tells the sender of the body which model to
/// use.
const REQUEST_FIELDS: [&str; 9] = [
    "model",
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "generationConfig",
    "safetySettings",
    "labels",
    "store",
];
/// Media types of images (Gemini, "Image understanding", "Supported image formats").
const IMAGE_TYPES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];

/// What is wrong with a content whose `parts` are missing or empty.
const MISSING_PARTS_DETAILS: [&str; 2] = ["`parts` must be a list", "`parts` must not be empty"];

pub(in crate::providers) fn check(body: &Value) -> Findings {
    let mut findings = Findings::default();
    check_fields(&mut findings, body);
    check_tools(&mut findings, body);
    if let Some(instructions) = body.get("systemInstruction") {
        let parts = findings.require_non_empty_list(
            instructions,
            "parts",
            "/systemInstruction",
            MISSING_PARTS_DETAILS,
        );
        for (index, part) in parts.iter().enumerate() {
            if !part.get("text").is_some_and(Value::is_string) {
                let path = format!("/systemInstruction/parts/{index}");
                findings.add(Rule::Shape, path, "the instructions can only contain text");
            }
        }
    }
    let details = ["`contents` must be a list", "`contents` must not be empty"];
    let contents = findings.require_non_empty_list(body, "contents", "/contents", details);
    check_contents(&mut findings, body, contents);
    findings
}

fn check_fields(findings: &mut Findings, body: &Value) {
    findings.check_model(body, "model");
    for field in body.as_object().into_iter().flat_map(|body| body.keys()) {
        if !REQUEST_FIELDS.contains(&field.as_str()) {
            findings.add(Rule::Shape, format!("/{field}"), format!("unknown field `{field}`"));
        }
    }
}

fn check_tools(findings: &mut Findings, body: &Value) {
    for (index, tool) in findings.declared_tools(body).iter().enumerate() {
        let path = format!("/tools/{index}/functionDeclarations");
        let Some(declared) = tool.get("functionDeclarations").and_then(Value::as_array) else {
            findings.add(Rule::Shape, path, "a tool must be a list of `functionDeclarations`");
            continue;
        };
        for (at, function) in declared.iter().enumerate() {
            let path = format!("{path}/{at}");
            let schema = function.get("parametersJsonSchema").or_else(|| function.get("parameters"));
            findings.check_declaration(function, schema, &path);
        }
    }
}

fn check_contents(findings: &mut Findings, body: &Value, contents: &[Value]) {
    let model = text(body, "model");
    let mut calls: Vec<FunctionCall<'_>> = Vec::new();
    // Signatures are only required in the current turn, which begins with the user's last message.
    let mut unsigned: Option<String> = None;
    for (index, content) in contents.iter().enumerate() {
        let path = format!("/contents/{index}");
        let role = text(content, "role");
        if role != "user" && role != "model" {
            findings.add(Rule::Role, format!("{path}/role"), "a content's role must be `user` or `model`");
        }
        let parts = findings.require_non_empty_list(content, "parts", &path, MISSING_PARTS_DETAILS);
        for (at, part) in parts.iter().enumerate() {
            check_part(findings, part, role, &format!("{path}/parts/{at}"));
        }
        check_responses(findings, &calls, parts, &path);
        if role != "model" && parts.iter().any(|part| part.get("functionResponse").is_none()) {
            unsigned = None;
        }
        calls = FunctionCall::from_parts(parts, &path);
        if let Some(first) = calls.first()
            && text(first.part, "thoughtSignature").is_empty()
        {
            unsigned.get_or_insert_with(|| first.path.clone());
        }
    }
    check_responses(findings, &calls, &[], "");
    if let (Some(path), true) = (unsigned, needs_signatures(model)) {
        let detail = "the first call of a turn must be returned with its `thoughtSignature`";
        findings.add(Rule::ThinkingSeal, path, detail);
    }
}

/// Whether a model requires thought signatures, as Gemini 3 and later do.
fn needs_signatures(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let generation = name.strip_prefix("gemini-").and_then(|rest| rest.chars().next());
    generation.and_then(|digit| digit.to_digit(10)).is_some_and(|generation| generation >= 3)
}

struct FunctionCall<'a> {
    part: &'a Value,
    path: String,
}

impl<'a> FunctionCall<'a> {
    fn from_parts(parts: &'a [Value], path: &str) -> Vec<Self> {
        let calls = parts.iter().enumerate().filter(|(_, part)| part.get("functionCall").is_some());
        calls.map(|(at, part)| FunctionCall { part, path: format!("{path}/parts/{at}") }).collect()
    }

    fn field(&self, name: &str) -> &'a str {
        self.part.get("functionCall").map(|call| text(call, name)).unwrap_or_default()
    }
}

/// Checks that each of the preceding `calls` has exactly one response in `parts`, with the same id and name,
/// and that there are no other responses.
fn check_responses(findings: &mut Findings, calls: &[FunctionCall<'_>], parts: &[Value], path: &str) {
    let mut open: HashMap<(&str, &str), usize> = HashMap::new();
    for call in calls {
        *open.entry((call.field("id"), call.field("name"))).or_default() += 1;
    }
    for (at, part) in parts.iter().enumerate() {
        let Some(response) = part.get("functionResponse") else { continue };
        match open.get_mut(&(text(response, "id"), text(response, "name"))) {
            Some(left) if *left > 0 => *left -= 1,
            _ => findings.add(
                Rule::OrphanResult,
                format!("{path}/parts/{at}"),
                "the response matches no call in the previous content",
            ),
        }
    }
    for call in calls {
        if let Some(left) = open.get_mut(&(call.field("id"), call.field("name")))
            && *left > 0
        {
            *left -= 1;
            let detail = "a call must be answered in the next content";
            findings.add(Rule::CallAnswered, call.path.clone(), detail);
        }
    }
}

fn check_part(findings: &mut Findings, part: &Value, role: &str, path: &str) {
    let is_user = role != "model";
    if let Some(text) = part.get("text") {
        if !text.is_string() {
            findings.add(Rule::Shape, path, "`text` must be a string");
        }
    } else if let Some(call) = part.get("functionCall") {
        if is_user {
            findings.add(Rule::BlockPlace, path, "only the model can call functions");
        }
        findings.check_tool_name(call, path);
        findings.check_object(call, "args", Rule::CallInput, path, "a call's `args` must be an object");
    } else if let Some(response) = part.get("functionResponse") {
        if !is_user {
            findings.add(Rule::BlockPlace, path, "function responses must come from the user");
        }
        findings.require_string(response, "name", path);
        findings.check_object(response, "response", Rule::Shape, path, "a `response` must be an object");
    } else if let Some(data) = part.get("inlineData") {
        check_image_role(findings, is_user, path);
        let kind = findings.require_string(data, "mimeType", path).unwrap_or_default();
        let has_data = findings.require_string(data, "data", path).is_some_and(|data| !data.is_empty());
        if !IMAGE_TYPES.contains(&kind) || !has_data {
            findings.add(Rule::ImageForm, path, "an image must be PNG, JPEG, WebP, HEIC or HEIF");
        }
    } else if let Some(file) = part.get("fileData") {
        check_image_role(findings, is_user, path);
        if !findings.require_string(file, "fileUri", path).is_some_and(is_web_address) {
            findings.add(Rule::ImageForm, path, "an image URL must begin with http: or https:");
        }
    } else {
        findings.add(Rule::Shape, path, "unknown part");
    }
}

fn check_image_role(findings: &mut Findings, is_user: bool, path: &str) {
    if !is_user {
        findings.add(Rule::BlockPlace, path, "only user messages can contain images");
    }
}
