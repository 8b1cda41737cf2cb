//! Writes a request body for Bedrock's Converse API. Over HTTP, `modelId` is part of the URL. The SDKs accept it
//! alongside the other fields.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::body::{Body, Envelope, RenderedBody, Tool};
use crate::conversation::dialect::bedrock::{SpelledMessages, messages};
use crate::prompt::layout::Layout;

/// Top-level fields reserved for Strata. Clients may not set them, even in a prompt that does not use them.
pub(super) const FIELDS: &[&str] = &["modelId", "system", "toolConfig", "messages"];

pub(super) fn render(layout: &Layout, envelope: &Envelope<'_>) -> RenderedBody {
    let SpelledMessages { system, messages } = messages(&layout.spoken());
    let count = messages.len() + usize::from(!system.is_empty());
    let mut body = Map::new();
    body.insert("modelId".into(), envelope.model.into());
    let mut tools: Vec<Value> = envelope.tools.iter().map(tool).collect();
    if tools.is_empty() {
        tools = called(&messages);
    }
    if !tools.is_empty() {
        body.insert("toolConfig".into(), json!({"tools": tools}));
    }
    if !system.is_empty() {
        body.insert("system".into(), system.into());
    }
    body.insert("messages".into(), messages.into());
    RenderedBody { body: Body::Json(body.into()), messages: count }
}

/// Declares the tools that earlier messages called. "The toolConfig field must be defined when using toolUse and
/// toolResult content blocks": <https://github.com/vxcontrol/pentagi/pull/196>.
fn called(messages: &[Value]) -> Vec<Value> {
    let blocks = messages.iter().filter_map(|message| message.get("content")?.as_array()).flatten();
    let names: BTreeSet<&str> = blocks.filter_map(|block| block.pointer("/toolUse/name")?.as_str()).collect();
    names
        .into_iter()
        .map(|name| json!({"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}}))
        .collect()
}

fn tool(tool: &Tool) -> Value {
    let mut spec = json!({"name": tool.name, "inputSchema": {"json": tool.input_schema}});
    // The API rejects an empty description.
    if let (false, Some(fields)) = (tool.description.is_empty(), spec.as_object_mut()) {
        fields.insert("description".into(), tool.description.clone().into());
    }
    json!({"toolSpec": spec})
}
