//! Writes a request body for OpenAI's Chat Completions API. If the body has explicit breakpoints, the provider's
//! automatic breakpoint is turned off.

use serde_json::{Map, Value, json};

use super::body::{Body, Envelope, RenderedBody, Tool, ToolChoice};
use crate::conversation::dialect::{Breakpoints, openai};
use crate::hash::ContentHash;
use crate::prompt::layout::Layout;

/// Maximum length of `prompt_cache_key`, in characters, according to the API reference.
const CACHE_KEY_CHARS: usize = 64;

/// Top-level fields reserved for Strata. Clients may not set them, even in a prompt that does not use them.
/// `prompt_cache_retention` is not reserved, because it changes how long cache entries live, not where they end.
pub(super) const FIELDS: &[&str] =
    &["model", "prompt_cache_key", "prompt_cache_options", "tools", "messages"];

pub(super) fn render(layout: &Layout, envelope: &Envelope<'_>) -> RenderedBody {
    let messages = openai::messages(&layout.spoken(), envelope.breakpoints);
    let count = messages.len();
    let mut body = Map::new();
    body.insert("model".into(), envelope.model.into());
    cache_fields(&mut body, envelope);
    if !envelope.tools.is_empty() {
        body.insert("tools".into(), envelope.tools.iter().map(tool).collect());
        if envelope.tool_choice == ToolChoice::None {
            body.insert("tool_choice".into(), "none".into());
        }
    }
    body.insert("messages".into(), messages.into());
    RenderedBody { body: Body::Json(body.into()), messages: count }
}

fn tool(tool: &Tool) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.input_schema,
        },
    })
}

/// Writes the fields that select the cache for the request and where its entries end. Both of OpenAI's dialects have
/// these fields.
pub(super) fn cache_fields(body: &mut Map<String, Value>, envelope: &Envelope<'_>) {
    if let Some(key) = envelope.cache_key {
        body.insert("prompt_cache_key".into(), cache_key(key).into());
    }
    if envelope.breakpoints == Breakpoints::Explicit {
        body.insert("prompt_cache_options".into(), json!({"mode": "explicit"}));
    }
}

/// Returns the key, or its hash if the key is too long for the API.
fn cache_key(key: &str) -> String {
    if key.chars().count() <= CACHE_KEY_CHARS { key.to_owned() } else { ContentHash::of(key).to_string() }
}
