//! Writes a request body for OpenAI's Responses API. The provider is told to store nothing, so the request asks for
//! encrypted reasoning, which later requests send back with the conversation.

use serde_json::{Map, Value, json};

use super::body::{Body, Envelope, RenderedBody, Tool, ToolChoice};
use super::openai::cache_fields;
use crate::conversation::dialect::responses;
use crate::prompt::layout::Layout;

/// Top-level fields reserved for Strata. Clients may not set them, even in a prompt that does not use them.
pub(super) const FIELDS: &[&str] = &[
    "model",
    "store",
    "previous_response_id",
    "conversation",
    "instructions",
    "prompt_cache_key",
    "prompt_cache_options",
    "tools",
    "input",
];

pub(super) fn render(layout: &Layout, envelope: &Envelope<'_>) -> RenderedBody {
    let items = responses::items(&layout.spoken(), envelope.breakpoints);
    let count = items.len();
    let mut body = Map::new();
    body.insert("model".into(), envelope.model.into());
    body.insert("store".into(), false.into());
    if reasons(envelope.model) {
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    cache_fields(&mut body, envelope);
    if !envelope.tools.is_empty() {
        body.insert("tools".into(), envelope.tools.iter().map(tool).collect());
        if envelope.tool_choice == ToolChoice::None {
            body.insert("tool_choice".into(), "none".into());
        }
    }
    body.insert("input".into(), items.into());
    RenderedBody { body: Body::Json(body.into()), messages: count }
}

/// Whether a model reasons, judging by its name. Other models reject the `include` field ("Encrypted content is not
/// supported with this model").
fn reasons(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    !["gpt-3", "gpt-4", "chatgpt-4"].iter().any(|older| name.starts_with(older))
}

/// Converts a tool to its declaration. Turns off strict mode, the API's default, because it rejects most schemas that
/// tools declare.
fn tool(tool: &Tool) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
        "strict": false,
    })
}
