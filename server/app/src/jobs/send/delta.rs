//! The pieces of an answer, as they are shown while the model writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strata_conversation::history::ToolOutcome;
use strata_tokens::redaction::RestoredText;

/// A piece of an answer that is being written. Has exactly one of `text`, `thinking`, `toolCall`, `toolResult` and
/// `notice`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delta {
    /// Name that the client chose for the stream.
    pub stream: String,
    /// Id of the session that the answer belongs to.
    pub session: String,
    /// Next piece of text. With `redaction.show_secrets`, known secrets are restored in answers of `strata.prompt.send`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub text: Option<RestoredText>,
    /// Next piece of reasoning, if the provider shows it. Secrets as in `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub thinking: Option<RestoredText>,
    /// Tool call that the model made. Known secrets are restored only in answers of `strata.model.send`, and only in
    /// calls of the tools in `redaction.edit_tools`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<DeltaToolCall>,
    /// Result of a tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_result: Option<DeltaToolResult>,
    /// Note for the user, as a sentence. For example, the prompt was too long and is sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A tool call that the model made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeltaToolCall {
    /// Id of the call in the conversation.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments of the call.
    pub input: Value,
}

/// The result of a tool call that the model made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DeltaToolResult {
    /// Id of the call in the conversation.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Whether the call succeeded or failed.
    pub outcome: ToolOutcome,
    /// Result that the model receives, truncated to 2,000 characters.
    pub text: String,
}

impl Delta {
    /// Creates a delta without content.
    pub(super) fn empty(stream: &str, session: &str) -> Self {
        Self { stream: stream.to_owned(), session: session.to_owned(), ..Self::default() }
    }
}
