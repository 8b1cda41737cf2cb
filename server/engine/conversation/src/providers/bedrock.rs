//! Bedrock's Converse API: <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html>.

mod check;
mod event_stream;
mod messages;
mod reply;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Dialect, DialectProperties, Endpoint, Envelope, Fields, SpokenMessage, Tool};
use crate::history::ForeignProvider;

pub(super) static ENDPOINT: Endpoint = Endpoint {
    base_url: "https://bedrock-runtime.REGION.amazonaws.com",
    region_variables: &["AWS_REGION", "AWS_DEFAULT_REGION"],
    superfluous: &["/model"],
    path: "model/{model}/converse",
    stream_path: Some("model/{model}/converse-stream"),
    models_path: "foundation-models",
    models_host: model_list_host,
    // https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html
    key_variable: Some("AWS_BEARER_TOKEN_BEDROCK"),
    // Gateways such as LiteLLM name their models `bedrock/…` in OpenAI's format.
    prefix_hosts: &[".amazonaws.com", ".amazonaws.com.cn"],
    ..Endpoint::PLAIN
};

/// Returns the host of the list of models for a public host of Amazon that answers requests. `None` for other hosts,
/// such as gateways and private endpoints: the key must not go to a host that the user did not name.
/// <https://docs.aws.amazon.com/general/latest/gr/bedrock.html>
fn model_list_host(host: &str) -> Option<String> {
    if !host.ends_with(".amazonaws.com") || host.contains(".vpce.") {
        return None;
    }
    let renamed = |from: &str, to: &str| host.strip_prefix(from).map(|rest| format!("{to}{rest}"));
    renamed("bedrock-runtime.", "bedrock.").or_else(|| renamed("bedrock-runtime-fips.", "bedrock-fips."))
}

static PROPERTIES: DialectProperties = DialectProperties {
    origin: Some(ForeignProvider::Bedrock),
    model_field: "modelId",
    reserved_fields: &["modelId", "system", "toolConfig", "messages"],
    output_limit: &["inferenceConfig", "maxTokens"],
    stream_fields: || json!({}),
    // The API cannot forbid calls.
    caches_across_tool_choices: false,
    framing: || Box::<event_stream::FrameDecoder>::default(),
    ..DialectProperties::new(check::check, || Box::<reply::StreamedConverse>::default())
};

#[derive(Debug)]
pub(super) struct BedrockConverse;

impl Dialect for BedrockConverse {
    fn properties(&self) -> &'static DialectProperties {
        &PROPERTIES
    }

    fn write(&self, spoken: &[SpokenMessage<'_>], envelope: &Envelope<'_>, body: &mut Fields) -> usize {
        let (system, messages) = messages::system_and_messages(spoken);
        let count = messages.len() + usize::from(!system.is_empty());
        let mut tools: Vec<Value> = envelope.tools.iter().map(tool).collect();
        if tools.is_empty() {
            tools = declarations_of_called_tools(&messages);
        }
        if !tools.is_empty() {
            body.insert("toolConfig".into(), json!({"tools": tools}));
        }
        if !system.is_empty() {
            body.insert("system".into(), system.into());
        }
        body.insert("messages".into(), messages.into());
        count
    }
}

/// Declares the tools that earlier messages called. "The toolConfig field must be defined when using toolUse and
/// toolResult content blocks": <https://github.com/vxcontrol/pentagi/pull/196>.
fn declarations_of_called_tools(messages: &[Value]) -> Vec<Value> {
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
    if !tool.description.is_empty() {
        spec["description"] = tool.description.as_str().into();
    }
    json!({"toolSpec": spec})
}
