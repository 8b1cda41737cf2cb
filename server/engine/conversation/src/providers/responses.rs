//! OpenAI's Responses API: <https://platform.openai.com/docs/api-reference/responses>. The provider is told to store
//! nothing, so requests ask for encrypted reasoning, which later requests send back with the conversation.

mod check;
pub(crate) mod exchange;
mod messages;
mod reply;

use serde_json::{Value, json};

use super::{
    BreakpointTargets, Dialect, DialectProperties, Endpoint, Envelope, Fields, SpokenMessage, Tool, openai,
};
use crate::history::ForeignProvider;

pub(super) static ENDPOINT: Endpoint = Endpoint {
    superfluous: &["/responses"],
    path: "responses",
    // The names of OpenAI's models imply Chat Completions.
    implied_by: &[],
    ..openai::ENDPOINT
};

static PROPERTIES: DialectProperties = DialectProperties {
    origin: Some(ForeignProvider::OpenAiResponses),
    breakpoint_targets: BreakpointTargets::Input,
    reserved_fields: &[
        "model",
        "store",
        "previous_response_id",
        "conversation",
        "instructions",
        "prompt_cache_key",
        "prompt_cache_options",
        "tools",
        "input",
    ],
    output_limit: &["max_output_tokens"],
    ..DialectProperties::new(check::check, || Box::<reply::StreamedResponse>::default())
};

#[derive(Debug)]
pub(super) struct ResponsesDialect;

impl Dialect for ResponsesDialect {
    fn properties(&self) -> &'static DialectProperties {
        &PROPERTIES
    }

    fn write(&self, spoken: &[SpokenMessage<'_>], envelope: &Envelope<'_>, body: &mut Fields) -> usize {
        let items = messages::items(spoken, envelope.breakpoints);
        let count = items.len();
        body.insert("store".into(), false.into());
        // Other models reject the field ("Encrypted content is not supported with this model").
        if openai::models::is_reasoning_model(envelope.model.rsplit('/').next().unwrap_or_default())
            != Some(false)
        {
            body.insert("include".into(), json!(["reasoning.encrypted_content"]));
        }
        openai::write_cache_fields(body, envelope);
        envelope.write_tools(body, tool, "none".into());
        body.insert("input".into(), items.into());
        count
    }

    /// Every compatible server accepts plain instructions.
    fn question_body(&self, model: &str, system: &str, prompt: &str) -> Value {
        let content = json!([{"type": "input_text", "text": prompt}]);
        let mut body = json!({
            "model": model,
            "store": false,
            "input": [{"type": "message", "role": "user", "content": content}],
        });
        if !system.is_empty() {
            body["instructions"] = system.into();
        }
        body
    }
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
