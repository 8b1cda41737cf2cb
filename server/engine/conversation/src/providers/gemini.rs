//! Google's `generateContent` API: <https://ai.google.dev/api/generate-content>.

mod check;
mod messages;
mod reply;

use serde_json::{Value, json};

use super::{
    Dialect, DialectProperties, Endpoint, Envelope, Fields, KeyHeader, SpokenMessage, Tool, ToolChoice,
};
use crate::history::ForeignProvider;

pub(super) static ENDPOINT: Endpoint = Endpoint {
    base_url: "https://generativelanguage.googleapis.com",
    superfluous: &["/v1beta/models", "/v1beta"],
    path: "v1beta/models/{model}:generateContent",
    stream_path: Some("v1beta/models/{model}:streamGenerateContent?alt=sse"),
    model_prefix: "models/",
    models_path: "v1beta/models",
    key_variable: Some("GEMINI_API_KEY"),
    key_headers: &[KeyHeader { host: "", name: "x-goog-api-key", scheme: "" }],
    implied_by: &["gemini"],
    ..Endpoint::PLAIN
};

static PROPERTIES: DialectProperties = DialectProperties {
    origin: Some(ForeignProvider::Gemini),
    reserved_fields: &["model", "systemInstruction", "tools", "contents", "cachedContent"],
    output_limit: &["generationConfig", "maxOutputTokens"],
    stream_fields: || json!({}),
    ..DialectProperties::new(check::check, || Box::<reply::StreamedContent>::default())
};

#[derive(Debug)]
pub(super) struct GenerateContentDialect;

impl Dialect for GenerateContentDialect {
    fn properties(&self) -> &'static DialectProperties {
        &PROPERTIES
    }

    fn write(&self, spoken: &[SpokenMessage<'_>], envelope: &Envelope<'_>, body: &mut Fields) -> usize {
        let (system, contents) = messages::system_and_contents(spoken, envelope.model);
        let count = contents.len() + usize::from(!system.is_empty());
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
        count
    }
}

fn tool(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": tool.input_schema,
    })
}
