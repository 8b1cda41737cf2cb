//! The connection from the application to its front end: messages to the user, and questions to a client. Front ends with a
//! client implement it; the command line does not.

use std::fmt;
use std::sync::mpsc::Sender;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strata_engine::conversation::compaction::Purpose;
use strata_engine::conversation::dialect::Format;
use strata_engine::key::FileKey;

use crate::compaction_job::CompactionNotice;

/// A front end for a user or another program.
pub trait FrontEnd: fmt::Debug + Send + Sync {
    /// The client's abilities. May change until the client has introduced itself.
    fn abilities(&self) -> Abilities;

    fn warn(&self, warning: Warning);

    /// Notifies the client of a compaction's state.
    fn notify_compaction(&self, news: CompactionNotice);

    /// Asks the client for a summary. The answer, or why there is none, goes to `answer` within `patience`.
    ///
    /// # Errors
    /// [`ClientGone`].
    fn summarize(
        &self,
        question: Summarize,
        patience: Duration,
        answer: Sender<Result<Summary, String>>,
    ) -> Result<(), ClientGone>;

    /// Asks the client how many tokens a request is by the provider's own count.
    ///
    /// # Errors
    /// [`ClientGone`].
    fn count_tokens(
        &self,
        request: CountTokens,
        patience: Duration,
        answer: Sender<Result<usize, String>>,
    ) -> Result<(), ClientGone>;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Abilities {
    pub summarizes: bool,
    /// Questions for token counts.
    pub counts_tokens: bool,
}

/// The client went away.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the client has disconnected")]
pub struct ClientGone;

/// Something the user should know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// The kind of warning, for programs: `outOfStep`, `settings`, `resume`, `store`, `watch`, `compaction`, `redacted`, ...
    pub code: String,
    /// It in a sentence.
    pub message: String,
    /// The file that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<FileKey>,
}

/// A question for the client's model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summarize {
    /// Its purpose.
    pub purpose: Purpose,
    /// The system prompt.
    pub system: String,
    /// The user's message.
    pub prompt: String,
    /// Maximum tokens of the answer.
    pub max_tokens: usize,
    /// The model that is set for it, as its provider calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A model's answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(from = "SummaryReply", into = "SummaryReply")]
#[schemars(with = "SummaryReply")]
pub struct Summary {
    /// Its text.
    pub text: String,
    /// The model that wrote it, by the name that its user knows.
    pub model: Option<String>,
}

/// How a client writes it.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Summary")]
enum SummaryReply {
    /// Its text.
    Text(String),
    /// The same inside an object, which may say more.
    Object {
        /// Its text.
        text: String,
        /// The user-visible name of the model that wrote it, shown in `strata/compaction`.
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

/// A request whose tokens the client is to have counted.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CountTokens {
    /// The model that it is for, by its name in the table.
    pub model: String,
    /// The form of the body.
    pub format: Format,
    /// The request body.
    pub body: Value,
}

/// How many tokens a provider counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TokenCount {
    /// The number.
    Number(usize),
    /// The same inside an object, which may say more.
    Object {
        /// The number.
        #[serde(rename = "inputTokens")]
        input_tokens: usize,
    },
}

impl TokenCount {
    pub fn get(self) -> usize {
        match self {
            Self::Number(tokens) | Self::Object { input_tokens: tokens } => tokens,
        }
    }
}
