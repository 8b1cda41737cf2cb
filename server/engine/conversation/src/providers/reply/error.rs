//! Errors of providers, classified by how to react to them.

use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use serde_json::Value;
use strata_base::json;
use strata_base::text::ellipsize;

use super::context_limit::{self, ContextSize};
use crate::providers::json_fields::text;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ProviderErrorKind {
    /// The request exceeds the model's window or the provider's size limit.
    ContextLimit,
    /// The provider is overloaded. A later retry may succeed.
    Overloaded,
    /// The account's rate limit is exceeded. A retry before the stated time fails.
    RateLimit,
    /// The account has no credit left, or its plan does not include the model. A retry fails until the user pays.
    Quota,
    /// The key is missing, invalid, or not allowed to use the model.
    Authentication,
    /// The provider rejects the request for another reason. Repeating the same request would fail.
    Refused,
    /// The provider's content policy stopped the answer.
    Content,
    /// The provider ended the answer for a reason that is unknown to Strata, so the answer is incomplete.
    Incomplete,
    /// The provider had an internal error. A retry may succeed.
    Server,
    /// The reply is invalid in this dialect.
    Garbage,
}

/// An error reported by a provider, or an invalid reply.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    pub kind: ProviderErrorKind,
    /// The provider's message, clipped to one line.
    pub message: String,
    /// Minimum time to wait before a retry, if the provider states it.
    pub retry_after: Option<Duration>,
    /// Sizes that the provider states with [`ProviderErrorKind::ContextLimit`].
    pub size: ContextSize,
}

/// Maximum characters of the provider's message that an error quotes.
const MAX_PROVIDER_MESSAGE_CHARS: usize = 300;

impl ProviderError {
    /// Creates the error for a response with an HTTP error status. `retry_after` is the value of its
    /// `Retry-After` header.
    pub fn from_status(status: u16, body: &[u8], retry_after: Option<Duration>) -> Self {
        let value: Value = json::from_slice(body).unwrap_or_default();
        let stated = Self::from_error_body(&value);
        let by_status = match status {
            402 => ProviderErrorKind::Quota,
            401 | 403 => ProviderErrorKind::Authentication,
            // Anthropic: the request exceeds the size limit ("request_too_large").
            413 => ProviderErrorKind::ContextLimit,
            429 => ProviderErrorKind::RateLimit,
            503 | 529 => ProviderErrorKind::Overloaded,
            500..=599 => ProviderErrorKind::Server,
            _ => ProviderErrorKind::Refused,
        };
        let Some(stated) = stated else {
            return Self {
                kind: by_status,
                message: describe_body(body),
                retry_after,
                size: ContextSize::default(),
            };
        };
        let kind = match stated.kind {
            kind @ (ProviderErrorKind::ContextLimit
            | ProviderErrorKind::Content
            | ProviderErrorKind::Quota) => kind,
            _ => by_status,
        };
        Self { kind, retry_after: retry_after.or(stated.retry_after), ..stated }
    }

    /// Returns the error in a body that is no reply, whether or not it is marked as one.
    fn from_error_body(body: &Value) -> Option<Self> {
        Self::from_value(body).or_else(|| Self::from_body_without_error_field(body))
    }

    /// Returns the error stated in a body or event, if any. Covers Anthropic ("Errors"), OpenAI ("Error
    /// codes"; in a stream of the Responses API, the event itself is the error), Gemini ("Troubleshooting"; a
    /// stream without events is a list), Ollama (the error is a string), vLLM and SGLang (the body itself is the
    /// error), and MiniMax (`base_resp`: <https://platform.minimax.io/docs/api-reference/errorcode>).
    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        let error = value.get("error").or_else(|| value.pointer("/0/error"));
        if let Some(error) = error.filter(|error| !error.is_null()) {
            return Some(Self::from_fields(error, value));
        }
        if text(value, "type") == "error" || text(value, "object") == "error" {
            return Some(Self::from_fields(value, value));
        }
        let base = value.get("base_resp")?;
        (base.get("status_code")?.as_i64()? != 0).then(|| Self::from_fields(base, value))
    }

    /// Returns the error in a body that has no field that marks it as one: `message` (Bedrock, Cohere), `detail`
    /// (FastAPI).
    fn from_body_without_error_field(value: &Value) -> Option<Self> {
        let texts = ["message", "Message", "detail", "msg"].map(|name| value.get(name));
        texts.into_iter().flatten().next().map(|_| Self::from_fields(value, value))
    }

    /// Reads an error object of `body`.
    fn from_fields(error: &Value, body: &Value) -> Self {
        let field = |name: &str| text(error, name);
        let raw = error.pointer("/metadata/raw").map(upstream_message).unwrap_or_default();
        let texts = ["message", "Message", "status_msg", "detail", "msg"].map(field);
        let message = match error.as_str().or(texts.into_iter().find(|text| !text.is_empty())) {
            Some(message) if raw.is_empty() => message.to_owned(),
            Some(message) => format!("{message}: {raw}"),
            None if raw.is_empty() => error.to_string(),
            None => raw,
        };
        let sizes = ["n_ctx", "n_prompt_tokens"].map(|name| error.get(name).and_then(Value::as_u64));
        let context_limit = context_limit::parse_context_size(&message)
            .or_else(|| contains_context_limit_code(body).then(ContextSize::default))
            .map(|size| ContextSize {
                limit: size.limit.or(sizes[0]),
                requested: size.requested.or(sizes[1]),
            });
        let names = [field("type"), field("code"), field("status")];
        let kind = match context_limit {
            Some(_) => ProviderErrorKind::ContextLimit,
            None => names.into_iter().find_map(kind_from_name).unwrap_or(ProviderErrorKind::Refused),
        };
        let size = context_limit.unwrap_or_default();
        Self { size, retry_after: stated_delay(error), ..Self::new(kind, &message) }
    }

    /// Returns the error in a body that is not a reply: the one that it contains, or else that it is invalid.
    pub(crate) fn from_body(body: &[u8]) -> Self {
        let value: Value = json::from_slice(body).unwrap_or_default();
        Self::from_error_body(&value).unwrap_or_else(|| Self::invalid_body(body))
    }

    pub(crate) fn invalid_body(body: &[u8]) -> Self {
        Self::new(ProviderErrorKind::Garbage, &describe_body(body))
    }

    pub(crate) fn server(message: &str) -> Self {
        Self::new(ProviderErrorKind::Server, message)
    }

    pub fn new(kind: ProviderErrorKind, message: &str) -> Self {
        Self { kind, message: one_line(message), retry_after: None, size: ContextSize::default() }
    }
}

/// Classifies an error by its type, code or status name.
fn kind_from_name(name: &str) -> Option<ProviderErrorKind> {
    Some(match name {
        "overloaded_error" | "UNAVAILABLE" | "server_is_overloaded" | "slow_down" => {
            ProviderErrorKind::Overloaded
        }
        "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" => ProviderErrorKind::RateLimit,
        "insufficient_quota"
        | "billing_error"
        | "billing_hard_limit_reached"
        | "exceeded_current_quota_error" => ProviderErrorKind::Quota,
        "authentication_error"
        | "permission_error"
        | "invalid_api_key"
        | "UNAUTHENTICATED"
        | "PERMISSION_DENIED" => ProviderErrorKind::Authentication,
        "content_filter" | "content_policy_violation" => ProviderErrorKind::Content,
        "api_error" | "timeout_error" | "server_error" | "INTERNAL" | "DEADLINE_EXCEEDED" => {
            ProviderErrorKind::Server
        }
        _ => return None,
    })
}

/// Whether any code or type in a body says that the request is too long. Gateways nest the errors of other
/// providers, also as JSON in a string.
fn contains_context_limit_code(body: &Value) -> bool {
    match body {
        Value::String(text) if text.starts_with('{') => {
            json::from_str(text).is_ok_and(|nested: Value| contains_context_limit_code(&nested))
        }
        Value::String(text) => context_limit::is_context_limit_code(text),
        Value::Array(list) => list.iter().any(contains_context_limit_code),
        Value::Object(fields) => fields.values().any(contains_context_limit_code),
        _ => false,
    }
}

/// Returns the message of an upstream provider in OpenRouter's `metadata.raw`, which is text or JSON in a string:
/// <https://github.com/diegosouzapw/OmniRoute/issues/3044>.
fn upstream_message(raw: &Value) -> String {
    let Some(text) = raw.as_str() else {
        return ProviderError::from_value(raw).map(|error| error.message).unwrap_or_default();
    };
    match json::from_str::<Value>(text).ok().filter(Value::is_object) {
        Some(nested) => {
            ProviderError::from_error_body(&nested).map(|error| error.message).unwrap_or_default()
        }
        None => text.to_owned(),
    }
}

/// Parses the delay in Google's `RetryInfo`: seconds followed by `s`.
fn stated_delay(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

/// Describes a body that is not JSON: its text, that of a page without the markup, or what it is instead.
fn describe_body(body: &[u8]) -> String {
    if body.starts_with(&[0x1f, 0x8b]) || body.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return "a compressed body".to_owned();
    }
    let text = match std::str::from_utf8(body) {
        Ok(text) => text,
        // The end may be cut within a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(body.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or_default()
        }
        Err(_) => return format!("{} bytes that are not text", body.len()),
    };
    if text.chars().any(|c| c.is_control() && !c.is_whitespace()) {
        return format!("{} bytes that are not text", body.len());
    }
    let start = text.trim_start();
    if ["<!", "<html", "<HTML", "<?xml"].iter().any(|tag| start.starts_with(tag)) {
        return one_line(&format!("a web page: {}", strip_markup(start)));
    }
    one_line(text)
}

/// Returns the text of a web page, or only its title if it has one.
fn strip_markup(page: &str) -> String {
    static HIDDEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?s)<(?:script|style)\b.*?</(?:script|style)>|<!--.*?-->|<[^>]*>").ok()
    });
    static TITLE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?s)<title[^>]*>(.*?)</title>").ok());
    let title = TITLE.as_ref().and_then(|title| title.captures(page)?.get(1)).map(|title| title.as_str());
    let text = title.filter(|title| !title.trim().is_empty()).unwrap_or(page);
    match HIDDEN.as_ref() {
        Some(hidden) => hidden.replace_all(text, " ").into_owned(),
        None => String::new(),
    }
}

/// Joins the beginning of `text` into a single line.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > MAX_PROVIDER_MESSAGE_CHARS * 4 {
            break;
        }
    }
    if line.is_empty() { "nothing".to_owned() } else { ellipsize(&line, MAX_PROVIDER_MESSAGE_CHARS) }
}
