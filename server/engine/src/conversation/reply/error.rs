//! Errors of providers, classified by how to react to them.

use std::time::Duration;

use serde_json::Value;

use crate::json;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ProviderErrorKind {
    /// The request exceeds the model's window or the provider's size limit.
    ContextLimit,
    /// The provider is overloaded. A later retry may succeed.
    Overloaded,
    /// The account's rate limit is exceeded. A retry before the stated time fails.
    RateLimit,
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
}

/// Maximum characters of the provider's message that an error quotes.
const MESSAGE_CHARS: usize = 300;

impl ProviderError {
    /// Creates the error for a response with an HTTP error status. `retry_after` is the value of its
    /// `Retry-After` header.
    pub fn of_status(status: u16, body: &[u8], retry_after: Option<Duration>) -> Self {
        let value: Value = json::from_slice(body).unwrap_or_default();
        let stated = Self::stated(&value);
        let message = match &stated {
            Some(error) => error.message.clone(),
            None => one_line(&String::from_utf8_lossy(body)),
        };
        let by_status = match status {
            401 | 403 => ProviderErrorKind::Authentication,
            // Anthropic: the request exceeds the size limit ("request_too_large").
            413 => ProviderErrorKind::ContextLimit,
            429 => ProviderErrorKind::RateLimit,
            503 | 529 => ProviderErrorKind::Overloaded,
            500..=599 => ProviderErrorKind::Server,
            _ => ProviderErrorKind::Refused,
        };
        let kind = match stated.as_ref().map(|error| error.kind) {
            Some(kind @ (ProviderErrorKind::ContextLimit | ProviderErrorKind::Content)) => kind,
            _ => by_status,
        };
        let delay = stated.and_then(|error| error.retry_after);
        Self { kind, message, retry_after: retry_after.or(delay) }
    }

    /// Returns the error stated in a body or event, if any. Covers Anthropic ("Errors"), OpenAI ("Error
    /// codes"; in a stream of the Responses API, the event itself is the error), Gemini ("Troubleshooting"; a
    /// stream without events is a list), and Ollama (the error is a string).
    pub(super) fn stated(value: &Value) -> Option<Self> {
        let error = match value.get("error").or_else(|| value.pointer("/0/error")) {
            Some(error) if !error.is_null() => error,
            _ if value.get("type").and_then(Value::as_str) == Some("error") => value,
            _ => return None,
        };
        let field = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        let message = error.as_str().unwrap_or_else(|| field("message"));
        let names = [field("type"), field("code"), field("status")];
        let kind = if is_context_limit(&names, message) {
            ProviderErrorKind::ContextLimit
        } else {
            names.into_iter().find_map(kind_of).unwrap_or(ProviderErrorKind::Refused)
        };
        Some(Self { kind, message: one_line(message), retry_after: stated_delay(error) })
    }

    pub(super) fn garbage(body: &[u8]) -> Self {
        Self::new(ProviderErrorKind::Garbage, &String::from_utf8_lossy(body))
    }

    pub(super) fn content(message: &str) -> Self {
        Self::new(ProviderErrorKind::Content, message)
    }

    pub(super) fn incomplete(message: &str) -> Self {
        Self::new(ProviderErrorKind::Incomplete, message)
    }

    pub(super) fn server(message: &str) -> Self {
        Self::new(ProviderErrorKind::Server, message)
    }

    fn new(kind: ProviderErrorKind, message: &str) -> Self {
        Self { kind, message: one_line(message), retry_after: None }
    }
}

/// Classifies an error by its type, code or status name.
fn kind_of(name: &str) -> Option<ProviderErrorKind> {
    Some(match name {
        "overloaded_error" | "UNAVAILABLE" | "server_is_overloaded" | "slow_down" => {
            ProviderErrorKind::Overloaded
        }
        "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" | "insufficient_quota" => {
            ProviderErrorKind::RateLimit
        }
        "authentication_error"
        | "permission_error"
        | "invalid_api_key"
        | "UNAUTHENTICATED"
        | "PERMISSION_DENIED" => ProviderErrorKind::Authentication,
        "content_filter" | "content_policy_violation" => ProviderErrorKind::Content,
        "request_too_large" => ProviderErrorKind::ContextLimit,
        "api_error" | "timeout_error" | "server_error" | "INTERNAL" | "DEADLINE_EXCEEDED" => {
            ProviderErrorKind::Server
        }
        _ => return None,
    })
}

/// Whether an error reports that the request is too long, by its code (OpenAI) or by a phrase that Anthropic,
/// OpenAI, Google, vLLM or llama.cpp uses.
fn is_context_limit(names: &[&str], message: &str) -> bool {
    const WORDS: [&str; 6] = [
        "prompt is too long",
        "exceed context limit",
        "maximum context length",
        "exceeds the context window",
        "exceeds the maximum number of tokens",
        "exceeds the available context size",
    ];
    let message = message.to_lowercase();
    names.contains(&"context_length_exceeded") || WORDS.iter().any(|words| message.contains(words))
}

/// Parses the delay in Google's `RetryInfo`: seconds followed by `s`.
fn stated_delay(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

/// Joins the beginning of `text` into a single line.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > MESSAGE_CHARS * 4 {
            break;
        }
    }
    match line.char_indices().nth(MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None if line.is_empty() => "nothing".to_owned(),
        None => line,
    }
}
