//! A client's request: the next message and options for the prompt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conversation::dialect::Format;
use crate::conversation::history::{ContentBlock, Image, Kind, NewMessage, Outcome, ResultPart, Role};
use crate::prompt::tiers::PolicyName;
use crate::prompt::wire::Tool;

use crate::tokens::models::Ttl;

/// The content of the next message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Request {
    /// A prompt of the user.
    Prompt {
        /// The text.
        text: String,
        /// Pictures shown with it.
        images: Vec<Image>,
    },
    /// The results of the tool calls in the last answer.
    ToolResults(Vec<ToolResult>),
    /// Nothing: the rest is only weighed, not sent.
    Nothing,
}

/// The result of one tool call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolResult {
    /// The `id` of the call.
    pub call_id: String,
    /// The output.
    pub content: Vec<ResultPart>,
    /// Whether the tool failed.
    #[serde(default)]
    pub outcome: Outcome,
}

impl Request {
    /// The message that this becomes in the history; `None` when nothing is sent.
    pub fn message(&self) -> Option<NewMessage> {
        let (kind, content) = match self {
            Self::Nothing => return None,
            Self::Prompt { text, images } => {
                let images = images.iter().cloned().map(ContentBlock::Image);
                (Kind::Normal, images.chain([ContentBlock::text(text)]).collect())
            }
            Self::ToolResults(results) => {
                let results = results.iter().cloned();
                let block = |ToolResult { call_id, content, outcome }| ContentBlock::ToolResult {
                    call_id,
                    content,
                    outcome,
                };
                (Kind::ToolResult, results.map(block).collect())
            }
        };
        Some(NewMessage { kind, ..NewMessage::new(Role::User, content) })
    }
}

/// One wish for a prompt.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PromptRequest {
    /// The content of the next message.
    pub request: Request,
    /// The tools that the client declares.
    pub tools: Vec<Tool>,
    /// The dialect; the setting's when absent.
    pub format: Option<Format>,
    /// The tiering rule; the setting's when absent.
    pub policy: Option<PolicyName>,
    /// The model; the setting's when absent.
    pub model: Option<String>,
    /// Maximum input tokens that the client passes on; the model's window when absent or larger.
    pub max_input_tokens: Option<usize>,
    /// Maximum tokens of code that the prompt brings along; the session's or the setting's when absent.
    pub auto_budget: Option<usize>,
    /// Lifetime of cache entries; the setting's when absent.
    pub ttl: Option<Ttl>,
    /// Time of the prompt, in milliseconds since 1970. The time since the last prompt decides what is still cached.
    pub now_ms: u64,
}

impl PromptRequest {
    /// A plain prompt with everything else as set.
    pub fn prompt(text: impl Into<String>) -> Self {
        Self::new(Request::Prompt { text: text.into(), images: Vec::new() })
    }

    /// A request with everything else as set.
    pub fn new(request: Request) -> Self {
        let tools = Vec::new();
        Self {
            request,
            tools,
            format: None,
            policy: None,
            model: None,
            max_input_tokens: None,
            auto_budget: None,
            ttl: None,
            now_ms: 0,
        }
    }
}
