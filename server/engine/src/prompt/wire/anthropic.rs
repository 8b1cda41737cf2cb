//! Writes a request body for Anthropic's Messages API.

use serde_json::{Map, Value, json};

use super::body::{Body, Envelope, RenderedBody, Tool, ToolChoice};
use crate::conversation::dialect::anthropic::{SpelledMessages, messages};
use crate::prompt::layout::Layout;

/// Top-level fields reserved for Strata. Clients may not set them, even in a prompt that does not use them. A top-level
/// `cache_control` counts as one of the four breakpoints ("Prompt caching").
pub(super) const FIELDS: &[&str] = &["model", "tools", "system", "messages", "cache_control"];

pub(super) fn render(layout: &Layout, envelope: &Envelope<'_>) -> RenderedBody {
    let SpelledMessages { system, messages } = messages(&layout.spoken());
    let count = messages.len() + usize::from(!system.is_empty());
    let mut body = Map::new();
    body.insert("model".into(), envelope.model.into());
    if !envelope.tools.is_empty() {
        body.insert("tools".into(), envelope.tools.iter().map(tool).collect());
        if envelope.tool_choice == ToolChoice::None {
            body.insert("tool_choice".into(), json!({"type": "none"}));
        }
    }
    if !system.is_empty() {
        body.insert("system".into(), system.into());
    }
    body.insert("messages".into(), messages.into());
    RenderedBody { body: Body::Json(body.into()), messages: count }
}

fn tool(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema})
}
