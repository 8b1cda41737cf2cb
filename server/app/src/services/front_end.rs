//! The interface between the application and its front end: messages to the user, and requests to the client.
//! Implemented by front ends that have a client, which the command line does not.

use std::fmt;
use std::sync::mpsc::Sender;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strata_base::key::FileKey;
use strata_conversation::compaction::SummaryPurpose;
use strata_conversation::providers::Format;

use crate::services::compaction_notice::CompactionNotice;

/// The connection of the application to the user and to the client.
pub trait FrontEnd: fmt::Debug + Send + Sync {
    /// Returns the abilities of the client, which may change until the client has been initialized.
    fn abilities(&self) -> ClientAbilities;

    fn warn(&self, warning: Warning);

    fn notify_compaction(&self, notice: CompactionNotice);

    /// Asks the client for a summary. Sends the answer, or the reason why there is none, to `answer` within `timeout`.
    ///
    /// # Errors
    /// Returns [`ClientGone`] if the client has disconnected.
    fn summarize(
        &self,
        question: Summarize,
        timeout: Duration,
        answer: Sender<Result<Summary, String>>,
    ) -> Result<(), ClientGone>;

    /// Asks the client for the provider's own token count of a request. Sends the count, or the reason why there is
    /// none, to `answer` within `timeout`.
    ///
    /// # Errors
    /// Returns [`ClientGone`] if the client has disconnected.
    fn count_tokens(
        &self,
        request: CountTokens,
        timeout: Duration,
        answer: Sender<Result<usize, String>>,
    ) -> Result<(), ClientGone>;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClientAbilities {
    pub summarizes: bool,
    /// Whether the client answers requests for token counts.
    pub counts_tokens: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the client has disconnected")]
pub struct ClientGone;

/// A warning for the user.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Machine-readable kind of the warning: `outOfStep`, `settings`, `resume`, `store`, `watch`, `compaction`,
    /// `redacted`, ...
    pub code: String,
    /// Text of the warning, as a sentence.
    pub message: String,
    /// File that the warning is about. Absent if it is not about a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<FileKey>,
}

/// A question for the client's model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summarize {
    /// What the answer is used for.
    pub purpose: SummaryPurpose,
    /// System prompt of the request.
    pub system: String,
    /// User message of the request.
    pub prompt: String,
    /// Token limit for the answer.
    pub max_tokens: usize,
    /// Model from the settings, as the provider names it. Absent if the settings name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// The answer of the client's model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(from = "SummaryReply", into = "SummaryReply")]
#[schemars(with = "SummaryReply")]
pub struct Summary {
    /// Text of the answer.
    pub text: String,
    /// Display name of the model that wrote the answer.
    pub model: Option<String>,
}

/// The answer of the client's model, in either of the forms that clients may send.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Summary")]
enum SummaryReply {
    /// Text of the answer.
    Text(String),
    /// An object with the answer, and optionally the model that wrote it.
    Object {
        /// Text of the answer.
        text: String,
        /// Display name of the model that wrote the answer, shown in `strata/compaction`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
}

impl From<SummaryReply> for Summary {
    fn from(reply: SummaryReply) -> Self {
        match reply {
            SummaryReply::Text(text) => Self { text, model: None },
            SummaryReply::Object { text, model } => Self { text, model },
        }
    }
}

impl From<Summary> for SummaryReply {
    fn from(Summary { text, model }: Summary) -> Self {
        Self::Object { text, model }
    }
}

/// A request to count the tokens in the body of a model request.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CountTokens {
    /// Model of the request, by its name in the model table.
    pub model: String,
    /// Format of `body`.
    pub format: Format,
    /// Request body whose tokens to count.
    pub body: Value,
}

/// The provider's token count, in either of the forms that clients may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TokenCount {
    /// A bare number of tokens.
    Number(usize),
    /// An object with the number of tokens. Further fields are ignored.
    Object {
        /// Number of input tokens.
        #[serde(rename = "inputTokens")]
        input_tokens: usize,
    },
}

impl From<TokenCount> for usize {
    fn from(count: TokenCount) -> Self {
        match count {
            TokenCount::Number(tokens) | TokenCount::Object { input_tokens: tokens } => tokens,
        }
    }
}
