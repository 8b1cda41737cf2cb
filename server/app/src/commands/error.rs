//! Why a command failed, in words that say what to do.

use serde_json::{Value, json};
use strata_engine::cancel::Cancelled;
use strata_engine::conversation::compaction::{DraftRefusal, NoSuchProfile};
use strata_engine::conversation::dialect::Rule;
use strata_engine::conversation::history::NoSuchMessage;
use strata_engine::prompt::assembly::AssembleError;
use strata_engine::prompt::session::{AlreadyRecovered, NoSuchPrompt, NothingToUndo, RecordError};
use strata_host::preview_file::PreviewError;
use strata_host::store::StoreError;

use crate::session_store::SessionStoreError;

/// A command that did nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CommandError {
    /// There is no such command.
    #[error("there is no command `{0}`")]
    Unknown(String),
    /// The arguments are not what the command takes.
    #[error("{}{message}", if path.is_empty() { String::new() } else { format!("`{path}`: ") })]
    InvalidParams {
        /// The field, as a path from the top of the argument object.
        path: String,
        /// What is wrong with it.
        message: String,
        /// The same for programs, where one may want to know.
        kind: Option<&'static str>,
    },
    /// The arguments are well-formed, but what they ask for cannot be done.
    #[error("{message}")]
    Failed {
        /// Why, and what to do.
        message: String,
        /// The same for programs.
        data: Option<Value>,
    },
    /// Nobody waits for the answer any more.
    #[error("cancelled")]
    Cancelled,
    /// A fault of Strata, whatever was asked for.
    #[error("an internal error stopped this command; nothing was changed, please report it")]
    Internal,
}

impl CommandError {
    /// Arguments that are not what the command takes.
    pub fn invalid(path: &str, message: &str) -> Self {
        let path = if path == "." { "" } else { path };
        Self::InvalidParams { path: path.to_owned(), message: message.to_owned(), kind: None }
    }

    /// A file is named that is not taken unless a person says so.
    pub(crate) fn secret(path: &str, message: &str) -> Self {
        Self::InvalidParams { path: path.to_owned(), message: message.to_owned(), kind: Some("secret") }
    }

    /// Something that cannot be done.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), data: None }
    }
}

impl From<Cancelled> for CommandError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// Errors whose own words say all there is to say.
macro_rules! answer_content {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                Self::failed(error.to_string())
            }
        })+
    };
}

answer_content!(
    SessionStoreError,
    PreviewError,
    NoSuchPrompt,
    RecordError,
    StoreError,
    NoSuchMessage,
    NothingToUndo,
    NoSuchProfile,
    DraftRefusal,
    AlreadyRecovered
);

/// Whether the rule is about what a client hands over with its request and is sent as it is: pictures, declared tools.
fn is_for_the_client(rule: Rule) -> bool {
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
                if violations.iter().all(|violation| is_for_the_client(violation.rule)) =>
            {
                let told: Vec<String> = violations.iter().map(ToString::to_string).collect();
                format!(
                    "the provider would refuse what came with the request: {}; give it in another form, or leave it out",
                    told.join("; ")
                )
            }
            error => error.to_string(),
        };
        let data = match &error {
            AssembleError::TooLarge { model, tokens, limit, largest } => Some(json!({
                "kind": "tooLarge", "model": model, "tokens": tokens, "limit": limit, "largest": largest,
            })),
            AssembleError::Empty => Some(json!({ "kind": "empty" })),
            AssembleError::NoSuchCall(id) => Some(json!({ "kind": "noSuchCall", "callId": id })),
            AssembleError::Invalid { violations } => {
                let violations: Vec<String> = violations.iter().map(ToString::to_string).collect();
                Some(json!({ "kind": "invalid", "violations": violations }))
            }
        };
        Self::Failed { message, data }
    }
}

#[cfg(test)]
mod tests {
    use strata_engine::conversation::dialect::Violation;

    use super::*;

    #[test]
    fn who_hands_over_what_a_provider_refuses_is_not_told_to_report_it() {
        let told = |rules: &[Rule]| {
            let violation = |rule: &Rule| Violation {
                path: "/messages/0/content/0".to_owned(),
                rule: *rule,
                detail: "a picture must be PNG, JPEG, GIF or WebP".to_owned(),
            };
            let violations = rules.iter().map(violation).collect();
            CommandError::from(AssembleError::Invalid { violations }).to_string()
        };
        let picture = told(&[Rule::ImageForm]);
        assert!(picture.contains("must be PNG") && !picture.contains("report"), "{picture}");
        assert!(told(&[Rule::ImageForm, Rule::Alternation]).contains("please report"));
    }
}
