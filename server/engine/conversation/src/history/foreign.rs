//! Blocks in one provider's format that have no equivalent in Strata, kept as received. Determines where they
//! may be sent back, without interpreting them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::role::Role;

/// Provider that defines the format of a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForeignProvider {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Chat Completions API and compatible ones.
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenAI's Responses API.
    #[serde(rename = "openai_responses")]
    OpenAiResponses,
    /// Google's `generateContent` API.
    Gemini,
    /// Bedrock's Converse API.
    Bedrock,
}

/// A block, or a part of a tool result, in the format of one provider, such as a document, a server-side
/// tool call or an audio recording. It is sent back only to that provider; others get its plain text, if
/// any.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Foreign {
    /// Provider that the block came from.
    pub provider: ForeignProvider,
    /// Block as received, without cache markers.
    pub value: Value,
}

/// Where a foreign block is in a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ForeignPosition {
    /// In the content of a message with this role.
    Said(Role),
    /// In a tool result.
    Result,
}

impl Foreign {
    /// Returns the block's plain text, if any.
    pub fn text(&self) -> Option<&str> {
        let text = ["text", "refusal"].into_iter().find_map(|key| self.value.get(key)?.as_str());
        text.filter(|text| !text.trim().is_empty())
    }

    /// Whether `recipient` accepts the block at `place`. Types that Strata does not know are not sent,
    /// because one rejected block fails the whole request.
    pub fn is_accepted_by(&self, recipient: Option<ForeignProvider>, place: ForeignPosition) -> bool {
        let kind = self.value.get("type").and_then(Value::as_str).unwrap_or_default();
        recipient == Some(self.provider)
            && accepted_foreign_types(self.provider, place).contains(&kind)
            && self.has_required_fields(kind)
    }

    /// Returns the block without its cache markers, because Strata sets its own and their number is limited.
    pub(crate) fn without_cache_marks(&self) -> Self {
        let mut foreign = self.clone();
        remove_cache_marks(&mut foreign.value);
        foreign
    }

    /// Whether the block is an image stored with the provider.
    pub(crate) fn is_uploaded_image(&self) -> bool {
        self.value.get("type").is_some_and(|kind| kind == "image")
    }

    /// Whether the block is encrypted reasoning, which belongs to the next item and is rejected on its own
    /// (OpenAI, Responses: "reasoning was provided without its required following item").
    pub(super) fn is_encrypted_reasoning(&self) -> bool {
        let kind = self.value.get("type").and_then(Value::as_str);
        matches!(
            (self.provider, kind),
            (ForeignProvider::OpenAiResponses, Some("reasoning"))
                | (ForeignProvider::Gemini, Some("thought_signature"))
        )
    }

    /// Returns the block as the call or the result of a server-side tool call; `None` for other blocks.
    pub(super) fn server_tool_block(&self) -> Option<ServerToolBlock<'_>> {
        let text = |key: &str| self.value.get(key).and_then(Value::as_str).unwrap_or_default();
        Some(match text("type") {
            "server_tool_use" => ServerToolBlock::Call("server_tool_use", text("id")),
            "mcp_tool_use" => ServerToolBlock::Call("mcp_tool_use", text("id")),
            "mcp_tool_result" => ServerToolBlock::Result("mcp_tool_use", text("tool_use_id")),
            kind if kind.ends_with("_tool_result") => {
                ServerToolBlock::Result("server_tool_use", text("tool_use_id"))
            }
            _ => return None,
        })
    }

    /// Whether the block has the fields that the provider requires for the type `kind`.
    fn has_required_fields(&self, kind: &str) -> bool {
        let named =
            |pointer| self.value.pointer(pointer).and_then(Value::as_str).is_some_and(|id| !id.is_empty());
        match kind {
            "image" => {
                self.value.pointer("/source/type").is_some_and(|kind| kind == "file")
                    && named("/source/file_id")
            }
            "container_upload" => named("/file_id"),
            "document" => self.value.get("source").is_some_and(is_usable_source),
            "search_result" => {
                let content = self.value.get("content").and_then(Value::as_array);
                named("/source") && named("/title") && content.is_some_and(|blocks| !blocks.is_empty())
            }
            "tool_reference" => named("/tool_name"),
            "server_tool_use" | "mcp_tool_use" => {
                let id = self.value.get("id").and_then(Value::as_str).unwrap_or_default();
                let input = self.value.get("input").is_some_and(Value::is_object);
                let server = kind == "server_tool_use" || named("/server_name");
                is_valid_server_call_id(kind, id) && named("/name") && server && input
            }
            "mcp_tool_result" => named("/tool_use_id"),
            // Reasoning that the provider has not stored is only accepted in encrypted form.
            "reasoning" => named("/encrypted_content"),
            "thought_signature" => named("/thoughtSignature"),
            "refusal" => named("/refusal"),
            "input_audio" => named("/input_audio/data") && named("/input_audio/format"),
            "file" => named("/file/file_id") || named("/file/file_data"),
            kind if kind.ends_with("_tool_result") => {
                named("/tool_use_id") && self.value.get("content").is_some_and(|content| !content.is_null())
            }
            _ => true,
        }
    }
}

/// The call or the result of a server-side tool call, with the type of the calling block and the id of the
/// call.
pub(super) enum ServerToolBlock<'a> {
    Call(&'static str, &'a str),
    Result(&'static str, &'a str),
}

/// Removes the cache markers of a block and of nested blocks. Does not change the arguments of a call.
pub(crate) fn remove_cache_marks(block: &mut Value) {
    match block {
        Value::Array(blocks) => blocks.iter_mut().for_each(remove_cache_marks),
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            for key in ["content", "source"] {
                if let Some(inside) = fields.get_mut(key) {
                    remove_cache_marks(inside);
                }
            }
        }
        _ => {}
    }
}

/// Whether the field `source` of a document block is usable: it contains the document's data, or names the document by
/// URL or file id.
fn is_usable_source(source: &Value) -> bool {
    let key = match source.get("type").and_then(Value::as_str) {
        Some("base64" | "text") => "data",
        Some("url") => "url",
        Some("file") => "file_id",
        Some("content") => "content",
        _ => return false,
    };
    match source.get(key) {
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(blocks)) => key == "content" && !blocks.is_empty(),
        _ => false,
    }
}

/// Whether the id of a server-side tool call has the form that the provider requires ("server_tool_use.id:
/// String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'").
fn is_valid_server_call_id(kind: &str, id: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if kind == "server_tool_use" {
        let rest = id.strip_prefix("srvtoolu_").unwrap_or_default();
        !rest.is_empty() && rest.bytes().all(is_word)
    } else {
        !id.is_empty() && id.bytes().all(|byte| is_word(byte) || byte == b'-')
    }
}

/// Returns the types of foreign blocks that a request may contain at `place`. Sources: Anthropic, Messages
/// API, "Input content blocks" (`image` is an uploaded file); OpenAI, Chat Completions, "Content parts";
/// OpenAI, Responses, "Reasoning items"; Gemini, "Thought signatures".
fn accepted_foreign_types(provider: ForeignProvider, place: ForeignPosition) -> &'static [&'static str] {
    match (provider, place) {
        (ForeignProvider::Anthropic, ForeignPosition::Said(Role::User)) => {
            &["document", "search_result", "container_upload", "image"]
        }
        (ForeignProvider::Anthropic, ForeignPosition::Said(Role::Assistant)) => &[
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
        (ForeignProvider::Anthropic, ForeignPosition::Result) => {
            &["document", "search_result", "tool_reference", "image"]
        }
        (ForeignProvider::OpenAi, ForeignPosition::Said(Role::User)) => &["input_audio", "file"],
        (ForeignProvider::OpenAi, ForeignPosition::Said(Role::Assistant)) => &["refusal"],
        (ForeignProvider::OpenAiResponses, ForeignPosition::Said(Role::Assistant)) => &["reasoning"],
        // This type is defined by Strata. The signature precedes the part that it was received with.
        (ForeignProvider::Gemini, ForeignPosition::Said(Role::Assistant)) => &["thought_signature"],
        (ForeignProvider::OpenAi, ForeignPosition::Result)
        | (ForeignProvider::Bedrock, _)
        | (ForeignProvider::OpenAiResponses | ForeignProvider::Gemini, ForeignPosition::Said(Role::User))
        | (ForeignProvider::OpenAiResponses | ForeignProvider::Gemini, ForeignPosition::Result) => &[],
    }
}
