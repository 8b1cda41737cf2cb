//! Writes a request body for Google's `generateContent` API. The API expects the model in the URL, so the sender must
//! remove `model` from the body.

use serde_json::{Map, Value, json};

use super::body::{Body, Envelope, RenderedBody, Tool, ToolChoice};
use crate::conversation::dialect::gemini::{Signatures, SpelledContents, contents};
use crate::prompt::layout::Layout;

/// Top-level fields reserved for Strata. Clients may not set them, even in a prompt that does not use them.
pub(super) const FIELDS: &[&str] = &["model", "systemInstruction", "tools", "contents", "cachedContent"];

pub(super) fn render(layout: &Layout, envelope: &Envelope<'_>) -> RenderedBody {
    let SpelledContents { system, contents } = contents(&layout.spoken(), Signatures::of(envelope.model));
    let count = contents.len() + usize::from(!system.is_empty());
    let mut body = Map::new();
    body.insert("model".into(), envelope.model.into());
    if !system.is_empty() {
        body.insert("systemInstruction".into(), json!({"parts": system}));
    }
    if !envelope.tools.is_empty() {
        let declared: Vec<Value> = envelope.tools.iter().map(tool).collect();
        body.insert("tools".into(), json!([{"functionDeclarations": declared}]));
        if envelope.tool_choice == ToolChoice::None {
            body.insert("toolConfig".into(), json!({"functionCallingConfig": {"mode": "NONE"}}));
        }
    }
    body.insert("contents".into(), contents.into());
    RenderedBody { body: Body::Json(body.into()), messages: count }
}

fn tool(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": tool.input_schema,
    })
}
