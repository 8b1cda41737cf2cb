//! Blocks of one provider that the model has no form for, kept as they came. Says where they may go again;
//! never looks at what they mean.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Role;

/// Whose form of messages a block is in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ForeignProvider")]
pub enum Provider {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Chat Completions API, which many others speak too.
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenAI's Responses API.
    #[serde(rename = "openai_responses")]
    OpenAiResponses,
}

/// A block, or a part of a tool's result, of one provider: a document, a call that ran on its servers, a
/// recording. It goes back to that provider only; others get its plain text or nothing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Foreign {
    /// Whose it is.
    pub provider: Provider,
    /// The block as it came, without cache marks.
    pub value: Value,
}

/// Where in a message a foreign block stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Among what one side says.
    Said(Role),
    /// In a tool's result.
    Result,
}

impl Foreign {
    /// What it says in plain text, when it says something.
    pub fn text(&self) -> Option<&str> {
        let said = ["text", "refusal"].into_iter().find_map(|key| self.value.get(key)?.as_str());
        said.filter(|text| !text.trim().is_empty())
    }

    /// Whether `recipient` takes it back at `place`. What a newer version of an API sends and takes is not known
    /// here, and is not risked: one refused block refuses the whole request.
    pub fn is_taken_by(&self, recipient: Option<Provider>, place: Place) -> bool {
        let kind = self.value.get("type").and_then(Value::as_str).unwrap_or_default();
        recipient == Some(self.provider)
            && returnable(self.provider, place).contains(&kind)
            && self.is_sound(kind)
    }

    /// Whether it has what the provider cannot do without, where that could be missing.
    fn is_sound(&self, kind: &str) -> bool {
        let named =
            |pointer| self.value.pointer(pointer).and_then(Value::as_str).is_some_and(|id| !id.is_empty());
        match kind {
            "image" => {
                self.value.pointer("/source/type").is_some_and(|of| of == "file") && named("/source/file_id")
            }
            "container_upload" => named("/file_id"),
            "refusal" => named("/refusal"),
            _ => true,
        }
    }
}

/// The kinds of blocks, besides those that the model has a form for, that a request may hold. Anthropic:
/// Messages API, "Input content blocks" (`image` is one of a file that was uploaded); OpenAI: Chat
/// Completions, "Content parts".
fn returnable(provider: Provider, place: Place) -> &'static [&'static str] {
    match (provider, place) {
        (Provider::Anthropic, Place::Said(Role::User)) => {
            &["document", "search_result", "container_upload", "image"]
        }
        (Provider::Anthropic, Place::Said(Role::Assistant)) => &[
            "server_tool_use",
            "web_search_tool_result",
            "web_fetch_tool_result",
            "code_execution_tool_result",
            "bash_code_execution_tool_result",
            "text_editor_code_execution_tool_result",
            "tool_search_tool_result",
            "mcp_tool_use",
            "mcp_tool_result",
        ],
        (Provider::Anthropic, Place::Result) => &["document", "search_result", "tool_reference", "image"],
        (Provider::OpenAi, Place::Said(Role::User)) => &["input_audio", "file"],
        (Provider::OpenAi, Place::Said(Role::Assistant)) => &["refusal"],
        (Provider::OpenAi, Place::Result) | (Provider::OpenAiResponses, _) => &[],
    }
}
