//! Anthropic's Messages API: <https://docs.anthropic.com/en/api/messages>.

mod check;
pub(crate) mod exchange;
mod messages;
pub(super) mod reply;

use serde_json::{Value, json};

use super::{Dialect, DialectProperties, Endpoint, Envelope, Fields, KeyHeader, SpokenMessage, Tool};
use crate::history::ForeignProvider;

pub(super) static ENDPOINT: Endpoint = Endpoint {
    base_url: "https://api.anthropic.com",
    superfluous: &["/v1/messages", "/v1"],
    path: "v1/messages",
    models_path: "v1/models",
    key_variable: Some("ANTHROPIC_API_KEY"),
    key_headers: &[KeyHeader { host: "", name: "x-api-key", scheme: "" }],
    headers: &[("anthropic-version", "2023-06-01")],
    implied_by: &["claude"],
    ..Endpoint::PLAIN
};

static PROPERTIES: DialectProperties = DialectProperties {
    origin: Some(ForeignProvider::Anthropic),
    // A top-level `cache_control` counts as one of the four breakpoints ("Prompt caching").
    reserved_fields: &["model", "tools", "system", "messages", "cache_control"],
    requires_output_limit: true,
    // A change of `tool_choice` invalidates the cached messages:
    // <https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-use-with-prompt-caching>
    caches_across_tool_choices: false,
    ..DialectProperties::new(check::check, || Box::<reply::StreamedMessage>::default())
};

#[derive(Debug)]
pub(super) struct AnthropicMessages;

impl Dialect for AnthropicMessages {
    fn properties(&self) -> &'static DialectProperties {
        &PROPERTIES
    }

    fn write(&self, spoken: &[SpokenMessage<'_>], envelope: &Envelope<'_>, body: &mut Fields) -> usize {
        let (system, messages) = messages::write_messages(spoken);
        let count = messages.len() + usize::from(!system.is_empty());
        envelope.write_tools(body, tool, json!({"type": "none"}));
        if !system.is_empty() {
            body.insert("system".into(), system.into());
        }
        body.insert("messages".into(), messages.into());
        count
    }
}

fn tool(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema})
}
