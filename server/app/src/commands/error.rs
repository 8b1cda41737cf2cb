//! Errors of commands, with messages that tell the user what to do.

use serde::Serialize;
use strata_base::cancel::Cancelled;
use strata_base::external::ExternalText;
use strata_conversation::compaction::{DraftRefusal, NoSuchProfile};
use strata_conversation::history::NoSuchMessage;
use strata_conversation::providers::Rule;
use strata_host::preview_file::PreviewError;
use strata_host::store::StoreError;
use strata_prompt::assembly::{AssembleError, LargePart};
use strata_prompt::session::SessionError;

use crate::model::index::NotReady;
use crate::model::session_store::SessionStoreError;
use crate::services::compaction::InstallError;

/// Maximum characters of an argument quoted in an error message.
const MAX_QUOTE_CHARS: usize = 80;
/// Maximum characters of an error message about an argument. One message may quote several strings.
const MAX_ERROR_MESSAGE_CHARS: usize = 2_000;

/// Why a command failed. A failed command changes nothing. The message is one line without links, whatever it quotes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CommandError {
    #[error("unknown command `{}`", ExternalText::new(&shorten_middle(.0, MAX_QUOTE_CHARS)).notice())]
    Unknown(String),
    #[error("{}{}", field_prefix(path), ExternalText::new(message).notice())]
    InvalidParams {
        /// Path of the invalid field within the argument object.
        path: String,
        message: String,
        /// Machine-readable kind of the error, for clients that handle it specially.
        kind: Option<&'static str>,
    },
    /// The arguments are well-formed, but the command cannot be carried out.
    #[error("{}", ExternalText::new(message).notice())]
    Failed {
        /// What went wrong, and how to fix it.
        message: String,
        details: Option<FailureDetails>,
    },
    /// The caller no longer waits for the reply.
    #[error("cancelled")]
    Cancelled,
    /// A bug in Strata rather than a problem with the arguments.
    #[error("an internal error stopped this command; nothing was changed. Please report it")]
    Internal,
}

/// What kind of failure an error is, for clients that handle it specially.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FailureDetails {
    /// The index is not complete enough.
    NotReady,
    /// No provider is configured.
    NoProvider,
    /// The variable with the key of the provider is not set.
    NoKey,
    /// The command that prints the key of the provider printed none.
    #[serde(rename = "unreachable")]
    EmptyKey,
    Authentication,
    RateLimit,
    Quota,
    Overloaded,
    ContextLimit,
    Content,
    /// The provider rejected the request, or failed.
    Provider,
    Unreachable,
    /// The prompt does not fit.
    TooLarge {
        model: String,
        tokens: usize,
        limit: usize,
        window: usize,
        largest: Vec<LargePart>,
    },
    /// The prompt is empty.
    Empty,
    /// No tool call without a result has this id.
    NoSuchCall {
        call_id: String,
    },
    /// The provider would reject the request.
    Invalid {
        violations: Vec<String>,
    },
}

/// Names the invalid field before a message.
fn field_prefix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("`{}`: ", ExternalText::new(path).notice()) }
}

impl CommandError {
    /// Puts the cause before the message of a failure.
    pub(crate) fn with_cause(self, cause: &str) -> Self {
        match self {
            Self::Failed { message, details } => {
                Self::Failed { message: format!("{cause}; {message}"), details }
            }
            other => other,
        }
    }

    pub fn invalid(path: &str, message: &str) -> Self {
        let path = if path == "." { "" } else { path };
        Self::InvalidParams {
            path: shorten_middle(path, MAX_QUOTE_CHARS),
            message: with_short_quotes(message),
            kind: None,
        }
    }

    /// Creates an error for a file that was rejected because its name suggests secrets. The command accepts the file
    /// once the user has confirmed it.
    pub(crate) fn unconfirmed_secret(path: &str, message: &str) -> Self {
        Self::InvalidParams { path: path.to_owned(), message: message.to_owned(), kind: Some("secret") }
    }

    /// Returns whether the key of the model's provider is missing.
    pub fn is_missing_key(&self) -> bool {
        let details = if let Self::Failed { details, .. } = self { details.as_ref() } else { None };
        matches!(details, Some(FailureDetails::NoKey | FailureDetails::EmptyKey))
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), details: None }
    }
}

impl From<Cancelled> for CommandError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<NotReady> for CommandError {
    fn from(error: NotReady) -> Self {
        Self::Failed { message: error.to_string(), details: Some(FailureDetails::NotReady) }
    }
}

/// Implements `From` for errors whose `Display` output is already a complete message.
macro_rules! from_display {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                Self::failed(error.to_string())
            }
        })+
    };
}

from_display!(
    SessionStoreError,
    PreviewError,
    SessionError,
    StoreError,
    NoSuchMessage,
    NoSuchProfile,
    DraftRefusal,
    InstallError
);

/// Truncates each quotation in a message to [`MAX_QUOTE_CHARS`] characters, because arguments can be arbitrarily long.
fn with_short_quotes(message: &str) -> String {
    let mut short = String::new();
    let mut rest = message;
    while let Some((before, quote, inside)) = split_at_quote(rest) {
        let is_end = |at: &usize| !inside.get(..*at).is_some_and(|quote_text| quote_text.ends_with('\\'));
        let close = inside.match_indices(quote).map(|(at, _)| at).find(is_end).unwrap_or(inside.len());
        let (quote_text, after) = inside.split_at(close);
        short.extend([before, quote, &shorten_middle(quote_text, MAX_QUOTE_CHARS)]);
        rest = after.strip_prefix(quote).map_or("", |after| {
            short.push_str(quote);
            after
        });
    }
    short.push_str(rest);
    shorten_middle(&short, MAX_ERROR_MESSAGE_CHARS)
}

/// Splits a message at its first quote character. Returns the text before it, the quote character, and the text after
/// it, or `None` if nothing is quoted.
fn split_at_quote(text: &str) -> Option<(&str, &'static str, &str)> {
    let position = text.find(['`', '"'])?;
    let (before, rest) = text.split_at(position);
    let quote = if rest.starts_with('`') { "`" } else { "\"" };
    Some((before, quote, rest.strip_prefix(quote)?))
}

/// Shortens `text` to about `chars` characters by replacing its middle with `...`. Leaves shorter strings unchanged.
fn shorten_middle(text: &str, chars: usize) -> String {
    let count = text.chars().count();
    if count <= chars {
        return text.to_owned();
    }
    let (head, tail) = (chars * 2 / 3, chars / 3);
    text.chars().take(head).chain("...".chars()).chain(text.chars().skip(count - tail)).collect()
}

/// Returns whether the rule concerns content that the client provides and Strata sends unchanged: images and declared
/// tools.
fn is_about_images_or_tools(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::ImageForm
            | Rule::ImageSize
            | Rule::ToolName
            | Rule::ToolTwice
            | Rule::ToolSchema
            | Rule::BodySize
    )
}

impl From<AssembleError> for CommandError {
    fn from(error: AssembleError) -> Self {
        let message = match &error {
            AssembleError::Invalid { violations }
                if violations.iter().all(|violation| is_about_images_or_tools(violation.rule)) =>
            {
                let messages: Vec<String> = violations.iter().map(ToString::to_string).collect();
                format!(
                    "the provider would reject part of the request: {}; change it or leave it out",
                    messages.join("; ")
                )
            }
            error => error.to_string(),
        };
        let details = match error {
            AssembleError::TooLarge { model, tokens, limit, window, largest } => {
                FailureDetails::TooLarge { model, tokens, limit, window, largest }
            }
            AssembleError::Empty => FailureDetails::Empty,
            AssembleError::NoSuchCall(call_id) => FailureDetails::NoSuchCall { call_id },
            AssembleError::Invalid { violations } => {
                FailureDetails::Invalid { violations: violations.iter().map(ToString::to_string).collect() }
            }
        };
        Self::Failed { message, details: Some(details) }
    }
}

#[cfg(test)]
mod tests {
    use strata_conversation::providers::Violation;

    use super::*;

    #[test]
    fn an_error_about_an_argument_quotes_little_of_it() {
        let message_for = |message: &str| CommandError::invalid("profile", message).to_string();
        assert_eq!(message_for("`short` is no profile"), "`profile`: `short` is no profile");
        let long = format!("{}{}", "a".repeat(5_000), "z".repeat(5_000));
        let cut = format!("{}...{}", "a".repeat(53), "z".repeat(26));
        assert_eq!(
            message_for(&format!("`{long}` is no profile")),
            format!("`profile`: `{cut}` is no profile")
        );
        assert_eq!(
            message_for(&format!("invalid type: string {long:?}, expected u64")),
            format!("`profile`: invalid type: string {cut:?}, expected u64")
        );
        for quotes in ["`", "\"", "` x", "\\\"", "\u{1F980}`\""] {
            let message = message_for(&format!("`{}` is no profile", quotes.repeat(10_000)));
            assert!(message.chars().count() < 2_100, "{}", message.chars().count());
        }
        let unknown = CommandError::Unknown(long).to_string();
        assert_eq!(unknown, format!("unknown command `{cut}`"));
        let path = CommandError::invalid(&"p".repeat(5_000), "is unknown").to_string();
        assert!(path.chars().count() < 120, "{path}");
    }

    #[test]
    fn only_errors_that_the_client_did_not_cause_ask_for_a_report() {
        let message_for = |rules: &[Rule]| {
            let violation = |rule: &Rule| Violation {
                path: "/messages/0/content/0".to_owned(),
                rule: *rule,
                detail: "an image must be PNG, JPEG, GIF or WebP".to_owned(),
            };
            let violations = rules.iter().map(violation).collect();
            CommandError::from(AssembleError::Invalid { violations }).to_string()
        };
        let picture = message_for(&[Rule::ImageForm]);
        assert!(picture.contains("must be PNG") && !picture.contains("report"), "{picture}");
        assert!(message_for(&[Rule::ImageForm, Rule::Alternation]).contains("please report"));
    }
}
