//! Why a provider gave no answer, as a type: what to do about it depends on the kind alone.

use std::time::Duration;

use serde_json::Value;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ProviderErrorKind {
    /// The request is larger than the model's window, or than the provider takes.
    ContextLimit,
    /// The provider has too much to do: asking again later helps.
    Overloaded,
    /// The account has asked too much: asking again later helps, at the stated time at the earliest.
    RateLimit,
    /// The key is missing, wrong, or may not use the model.
    Authentication,
    /// The provider rejects the request as it is.
    Refused,
    /// The provider's rules on content stopped the answer.
    Content,
    /// The provider failed: asking again may help.
    Server,
    /// The reply is not valid in this dialect.
    Garbage,
}

/// An error reported by a provider, or an invalid reply.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    pub kind: ProviderErrorKind,
    /// The provider's message, in one clipped line.
    pub message: String,
    /// The earliest time for another try, where the provider names one.
    pub retry_after: Option<Duration>,
}

/// Characters of a provider's words that an error repeats.
const MESSAGE_CHARS: usize = 300;

impl ProviderError {
    /// The error of a reply with an HTTP status other than success. `retry_after` is what its header says.
    pub fn of_status(status: u16, body: &[u8], retry_after: Option<Duration>) -> Self {
        let value: Value = serde_json::from_slice(body).unwrap_or_default();
        let stated = Self::stated(&value);
        let message = match &stated {
            Some(error) => error.message.clone(),
            None => one_line(&String::from_utf8_lossy(body)),
        };
        let by_status = match status {
            401 | 403 => ProviderErrorKind::Authentication,
            // Anthropic's limit on the size of a request ("request_too_large").
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

    /// The error that a body or an event states, if it states one. All dialects have it in one of these places: Anthropic
    /// ("Errors"), OpenAI ("Error codes"; in a stream of Responses the event itself), Gemini ("Troubleshooting"; in a stream without
    /// events as a list), Ollama (a text).
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

    pub(super) fn server(message: &str) -> Self {
        Self::new(ProviderErrorKind::Server, message)
    }

    fn new(kind: ProviderErrorKind, message: &str) -> Self {
        Self { kind, message: one_line(message), retry_after: None }
    }
}

/// Classifies an error by its name.
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

/// Whether an error says that the request does not fit: by its code (OpenAI), else by the words that Anthropic, OpenAI, Google,
/// vLLM and llama.cpp use.
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

/// Google's `RetryInfo`: seconds with an `s`.
fn stated_delay(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

/// The beginning of a text in one line.
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
