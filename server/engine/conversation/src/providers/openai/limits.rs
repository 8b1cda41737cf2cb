//! Checks the limits that OpenAI's dialects share: cache keys, breakpoints and string lengths.

use serde_json::Value;

use crate::providers::json_fields::{self, text};
use crate::providers::{Findings, Rule};

/// Maximum characters of `prompt_cache_key`.
const MAX_CACHE_KEY_CHARS: usize = 64;
/// Maximum characters of any string ("string too long. Expected a string with maximum length 1048576").
const MAX_STRING_CHARS: usize = 1_048_576;
/// Maximum number of breakpoints that the provider compares with cache entries.
const MAX_COMPARED_BREAKPOINTS: usize = 80;
/// Fields that contain the parts of a message or item.
const PART_FIELDS: [&str; 2] = ["content", "output"];
/// Types of parts that can carry a breakpoint.
const BREAKPOINT_PART_TYPES: [&str; 7] =
    ["text", "image_url", "input_audio", "file", "input_text", "input_image", "input_file"];
/// Suffixes of JSON pointers to base64 data, to which [`MAX_STRING_CHARS`] does not apply.
const BASE64_POINTER_SUFFIXES: [&str; 5] =
    ["/image_url/url", "/image_url", "/file/file_data", "/input_audio/data", "/encrypted_content"];

/// Checks cache keys, breakpoints and string lengths. `list` names the field of `body` that contains the
/// messages or items.
pub(in crate::providers) fn check_limits(findings: &mut Findings, body: &Value, list: &str) {
    check_cache_key(findings, body);
    check_breakpoints(findings, body, list);
    check_string_lengths(findings, body, &mut String::new());
}

fn check_cache_key(findings: &mut Findings, body: &Value) {
    match body.get("prompt_cache_key") {
        None => {}
        Some(Value::String(key)) if key.chars().count() <= MAX_CACHE_KEY_CHARS => {}
        Some(_) => {
            let detail =
                format!("the cache key must be a string of at most {MAX_CACHE_KEY_CHARS} characters");
            findings.add(Rule::CacheKey, "/prompt_cache_key", detail);
        }
    }
}

/// Checks the form, position and number of breakpoints, and whether the model supports them.
fn check_breakpoints(findings: &mut Findings, body: &Value, list: &str) {
    let options = body.get("prompt_cache_options");
    if let Some(options) = options
        && !are_cache_options(options)
    {
        let detail = "the cache options must have a `mode` of `implicit` or `explicit` and a `ttl` of `30m`";
        findings.add(Rule::BreakpointForm, "/prompt_cache_options", detail);
    }
    let is_explicit = options.and_then(|options| options.get("mode")?.as_str()) == Some("explicit");
    let limit = if is_explicit { MAX_COMPARED_BREAKPOINTS } else { MAX_COMPARED_BREAKPOINTS - 1 };
    let mut count = 0;
    let items = json_fields::list(body, list).iter().enumerate();
    let fields = items.flat_map(|(index, item)| PART_FIELDS.map(|field| (index, item, field)));
    for (index, item, field) in fields {
        for (at, part) in json_fields::list(item, field).iter().enumerate() {
            let Some(breakpoint) = part.get("prompt_cache_breakpoint") else { continue };
            let path = format!("/{list}/{index}/{field}/{at}");
            count += 1;
            if breakpoint.as_object().is_none_or(|fields| fields.len() != 1)
                || breakpoint.get("mode").and_then(Value::as_str) != Some("explicit")
            {
                let detail = "a breakpoint must be `{\"mode\": \"explicit\"}`";
                findings.add(Rule::BreakpointForm, path.clone(), detail);
            }
            if text(item, "role") == "assistant" || !BREAKPOINT_PART_TYPES.contains(&text(part, "type")) {
                let detail = "only supported input content can have a breakpoint";
                findings.add(Rule::BreakpointPlace, path.clone(), detail);
            }
            if count == limit + 1 {
                let detail = format!("only the last {limit} breakpoints of a request have an effect");
                findings.add(Rule::BreakpointLimit, path, detail);
            }
        }
    }
    let model = text(body, "model");
    if (count > 0 || options.is_some()) && is_pre_breakpoint_model(model) {
        let detail = format!("`{model}` caches automatically and rejects breakpoints");
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

/// Whether `model` is one of OpenAI's own models before GPT-5.6, by its official name.
fn is_pre_breakpoint_model(model: &str) -> bool {
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

/// Checks the length of every string in `value`. `path` is the JSON pointer to `value`, and is unchanged on
/// return.
fn check_string_lengths(findings: &mut Findings, value: &Value, path: &mut String) {
    let length = path.len();
    match value {
        // Images, files and recordings are base64 and have separate limits.
        Value::String(_) if BASE64_POINTER_SUFFIXES.iter().any(|place| path.ends_with(*place)) => {}
        // A string has at least as many bytes as characters, so most strings need no counting.
        Value::String(text) if text.len() > MAX_STRING_CHARS && text.chars().count() > MAX_STRING_CHARS => {
            let detail = format!("a string cannot exceed {MAX_STRING_CHARS} characters");
            findings.add(Rule::StringLength, path.clone(), detail);
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!("/{index}"));
                check_string_lengths(findings, item, path);
                path.truncate(length);
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                path.push('/');
                path.push_str(&key.replace('~', "~0").replace('/', "~1"));
                check_string_lengths(findings, item, path);
                path.truncate(length);
            }
        }
        _ => {}
    }
}
