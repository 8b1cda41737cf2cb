//! `strata/delta`: a piece of an answer as it comes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strata_engine::conversation::history::Outcome;

/// A piece of an answer that is being written: exactly one of `text`, `thinking`, `toolCall`, `toolResult` and `notice`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delta {
    /// The client's name for the answer.
    pub stream: String,
    /// The session.
    pub session: String,
    /// The next piece of text. Known secrets are restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The next piece of reasoning, if the provider shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// A tool that it calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<DeltaToolCall>,
    /// The outcome of such a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_result: Option<DeltaToolResult>,
    /// A note for the user, in a sentence, such as that a too long prompt is sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A tool call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeltaToolCall {
    /// Its name in the conversation.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub input: Value,
}

/// The outcome of a tool call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeltaToolResult {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Whether it failed.
    pub outcome: Outcome,
    /// The result for the model, at most 2,000 characters.
    pub text: String,
}

impl Delta {
    /// An empty piece of one answer.
    pub(super) fn of(stream: &str, session: &str) -> Self {
        Self { stream: stream.to_owned(), session: session.to_owned(), ..Self::default() }
    }
}
