//! A client's request for a prompt (the content of the next message, and options), and the services that assembly uses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_conversation::history::{
    ContentBlock, Image, MessageKind, NewMessage, ResultPart, Role, TextOrList, ToolOutcome,
};
use strata_conversation::providers::{Format, Tool, ToolChoice};
use strata_tokens::counting::TokenCounter;
use strata_tokens::models::{CacheTtl, Models};

use crate::settings::Settings;
use crate::tiers::PolicyName;

/// The content of the next message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Request {
    /// A prompt from the user.
    Prompt { text: String, images: Vec<Image> },
    /// The results of the tool calls in the last answer, and late ones of earlier calls.
    ToolResults(Vec<ToolResult>),
    /// No message: the prompt is measured but not sent.
    Nothing,
}

/// The result of one tool call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolResult {
    /// Id of the tool call that this result answers.
    pub call_id: String,
    /// Output of the tool: a string or a list of parts.
    pub content: TextOrList<ResultPart>,
    /// Whether the tool failed.
    #[serde(default)]
    pub outcome: ToolOutcome,
}

impl Request {
    /// Converts the request to the message that it adds to the history. Returns `None` for [`Request::Nothing`].
    pub fn message(&self) -> Option<NewMessage> {
        let (kind, content) = match self {
            Self::Nothing => return None,
            Self::Prompt { text, images } => {
                let images = images.iter().cloned().map(ContentBlock::Image);
                (MessageKind::Normal, images.chain([ContentBlock::text(text)]).collect())
            }
            Self::ToolResults(results) => {
                let results = results.iter().cloned();
                let block = |ToolResult { call_id, content, outcome }| {
                    let TextOrList(content) = content;
                    ContentBlock::ToolResult { call_id, content, outcome }
                };
                (MessageKind::ToolResult, results.map(block).collect())
            }
        };
        Some(NewMessage { kind, ..NewMessage::new(Role::User, content) })
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PromptRequest {
    /// The content of the next message.
    pub request: Request,
    /// The tools that the client declares.
    pub tools: Vec<Tool>,
    /// Whether the model may call them.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// Dialect of the request body; `None` uses the configured one.
    pub format: Option<Format>,
    /// Layout policy; `None` uses the configured one.
    pub policy: Option<PolicyName>,
    /// Model to build the prompt for; `None` uses the configured one.
    pub model: Option<String>,
    /// Maximum input tokens that the client accepts; the model's window applies if this is `None` or larger.
    pub max_input_tokens: Option<usize>,
    /// Token limit for code to add automatically; `None` uses the session's value, or else the configured one.
    pub auto_budget: Option<usize>,
    /// Lifetime of cache entries; `None` uses the configured one.
    pub ttl: Option<CacheTtl>,
    /// Time of the prompt, in milliseconds since 1970. The time elapsed since the last prompt determines what is still
    /// cached.
    pub now_ms: u64,
}

impl PromptRequest {
    pub fn prompt(text: impl Into<String>) -> Self {
        Self::new(Request::Prompt { text: text.into(), images: Vec::new() })
    }

    pub fn new(request: Request) -> Self {
        let tools = Vec::new();
        Self {
            request,
            tools,
            tool_choice: ToolChoice::Auto,
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

/// Services that prompt assembly uses, independent of the content of the prompt.
#[derive(Clone, Copy)]
pub struct PromptServices<'a> {
    pub models: &'a Models,
    pub counter: &'a TokenCounter,
    pub settings: &'a Settings,
}
