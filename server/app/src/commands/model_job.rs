//! Requests to models that commands start: a question in a session, or a conversation that the client keeps. Describes
//! them; `jobs` runs them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strata_conversation::providers::{Format, Tool};
use strata_host::preview_file::PreviewFiles;

use super::model_reply::SendReply;
use super::prompt::AssembleParams;
use super::reply::DeferredReply;
use crate::model::snapshot::Snapshot;
use crate::services::provider_client::ModelClient;

/// A request to a model, which a command starts and a job carries out.
#[derive(Clone, Debug)]
pub enum ModelJob {
    Send(SendJob),
    Forward(ForwardJob),
}

impl ModelJob {
    pub fn session(&self) -> &str {
        match self {
            Self::Send(SendJob { connection, .. }) | Self::Forward(ForwardJob { connection, .. }) => {
                &connection.session
            }
        }
    }

    /// Returns whether the request continues the session's conversation, so that no other request may run in the
    /// session.
    pub fn occupies_session(&self) -> bool {
        matches!(self, Self::Send(_))
    }

    /// Returns whether the answer is shown only when it is complete.
    pub fn is_shown_when_complete(&self) -> bool {
        matches!(self, Self::Send(SendJob { page: Some(_), .. }))
    }
}

/// The tools that the model may use while it answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SendTools")]
pub enum ToolAccess {
    /// No tools.
    #[default]
    None,
    /// Strata's read-only tools, such as the map, outlines, references, searches, files and notes.
    Read,
}

/// One question to a model, including its rounds of tool calls.
#[derive(Clone, Debug)]
pub struct SendJob {
    pub(crate) connection: ModelConnection,
    /// Arguments for `strata.prompt.assemble`.
    pub(crate) ask: Box<AssembleParams>,
    pub(crate) tools: ToolAccess,
    /// Tools that the session's last request declared.
    pub(crate) last_tools: Vec<Tool>,
    pub(crate) tool_rounds: u32,
    /// Document to write the answer to, for editors that cannot show replies.
    pub(crate) page: Option<AnswerDocument>,
    pub(crate) reply: DeferredReply<SendReply>,
}

/// A request that continues a conversation which the client stores itself.
#[derive(Clone, Debug)]
pub struct ForwardJob {
    pub(crate) connection: ModelConnection,
    pub(crate) model: String,
    pub(crate) body: Value,
    /// Tokens reserved for the answer.
    pub(crate) output_reserve: usize,
}

/// A connection to a model, and to the client that receives the answer.
#[derive(Clone, Debug)]
pub(crate) struct ModelConnection {
    /// Id of the session.
    pub(crate) session: String,
    /// Name under which the answer is streamed to the client. If `None`, the answer is not streamed.
    pub(crate) stream: Option<String>,
    pub(crate) client: Arc<dyn ModelClient>,
    pub(crate) format: Format,
    pub(crate) max_output_tokens: Option<usize>,
    /// Provides the prices, and the secrets behind placeholders.
    pub(crate) workspace: Snapshot,
}

/// The document to write an answer to.
#[derive(Clone, Debug)]
pub(crate) struct AnswerDocument {
    pub(crate) previews: PreviewFiles,
    /// Question as shown to the user. It becomes the heading of the document.
    pub(crate) question: String,
}
