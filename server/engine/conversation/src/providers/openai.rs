//! OpenAI's Chat Completions API, which many other providers and servers accept:
//! <https://platform.openai.com/docs/api-reference/chat/create>.

pub(super) mod check;
pub(crate) mod exchange;
pub(super) mod limits;
pub(super) mod messages;
pub(super) mod models;
mod reply;
mod window;

use serde_json::{Value, json};
use strata_base::hash::ContentHash;

use super::{
    BEARER, BreakpointMode, BreakpointTargets, Dialect, DialectProperties, Endpoint, Envelope, Fields,
    KeyHeader, SpokenMessage, Tool,
};
use crate::history::ForeignProvider;

pub(super) static ENDPOINT: Endpoint = Endpoint {
    base_url: "https://api.openai.com/v1",
    superfluous: &["/chat/completions"],
    path: "chat/completions",
    key_variable: Some("OPENAI_API_KEY"),
    is_key_optional_elsewhere: true,
    // The header of Azure, which serves OpenAI's models:
    // <https://learn.microsoft.com/azure/ai-foundry/openai/reference#authentication>
    key_headers: &[KeyHeader { host: ".azure.com", name: "api-key", scheme: "" }, BEARER],
    implied_by: &["gpt", "chatgpt", "o#"],
    window: window::next_lookup_step,
    ..Endpoint::PLAIN
};

static PROPERTIES: DialectProperties = DialectProperties {
    origin: Some(ForeignProvider::OpenAi),
    breakpoint_targets: BreakpointTargets::Input,
    // `prompt_cache_retention` changes how long cache entries live, not where they end.
    reserved_fields: &["model", "prompt_cache_key", "prompt_cache_options", "tools", "messages"],
    // A stream does not report the usage by default.
    stream_fields: || json!({"stream": true, "stream_options": {"include_usage": true}}),
    ..DialectProperties::new(check::check, || Box::<reply::StreamedChat>::default())
};

#[derive(Debug)]
pub(super) struct ChatCompletionsDialect;

impl Dialect for ChatCompletionsDialect {
    fn properties(&self) -> &'static DialectProperties {
        &PROPERTIES
    }

    /// "`max_tokens` is not supported with this model. Use `max_completion_tokens` instead." Gateways, whose names of
    /// models have a prefix, accept the older field.
    fn output_limit_path(&self, model: &str) -> &'static [&'static str] {
        match models::is_reasoning_model(model) {
            Some(true) => &["max_completion_tokens"],
            _ => PROPERTIES.output_limit,
        }
    }

    fn write(&self, spoken: &[SpokenMessage<'_>], envelope: &Envelope<'_>, body: &mut Fields) -> usize {
        let messages = messages::write_messages(spoken, envelope.breakpoints);
        let count = messages.len();
        write_cache_fields(body, envelope);
        envelope.write_tools(body, tool, "none".into());
        body.insert("messages".into(), messages.into());
        count
    }
}

/// Maximum length of `prompt_cache_key`, in characters, according to the API reference.
const MAX_CACHE_KEY_CHARS: usize = 64;

/// Converts a tool to its declaration.
pub(super) fn tool(tool: &Tool) -> Value {
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
pub(super) fn write_cache_fields(body: &mut Fields, envelope: &Envelope<'_>) {
    if let Some(key) = envelope.cache_key {
        body.insert("prompt_cache_key".into(), cache_key(key).into());
    }
    if envelope.breakpoints == BreakpointMode::Explicit {
        body.insert("prompt_cache_options".into(), json!({"mode": "explicit"}));
    }
}

/// Returns the key, or its hash if the key is too long for the API.
fn cache_key(key: &str) -> String {
    if key.chars().count() <= MAX_CACHE_KEY_CHARS {
        key.to_owned()
    } else {
        ContentHash::from_text(key).to_string()
    }
}
