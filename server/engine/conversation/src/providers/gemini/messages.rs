//! Writes contents for Google's `generateContent`: <https://ai.google.dev/api/generate-content>. Prefixes are
//! cached automatically (<https://ai.google.dev/gemini-api/docs/caching>), so marks are not written. From
//! Gemini 3 on, the first call of a turn must carry a thought signature
//! (<https://ai.google.dev/gemini-api/docs/thought-signatures>). Calls made by other models get the
//! placeholder documented on that page.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::history::{ContentBlock, ForeignProvider, Image, ImageSource, ResultPart, ToolOutcome};
use crate::providers::{Speaker, SpokenMessage, order_results_first};

/// Placeholder for the signature of a call that Gemini did not make ("Thought signatures", "FAQs").
pub(super) const SIGNATURE_PLACEHOLDER: &str = "skip_thought_signature_validator";

/// Whether the calls of `model` need thought signatures, by its name. Gemini before version 3 and Gemma do not.
fn needs_signatures(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    !["gemini-1", "gemini-2", "gemma"].iter().any(|older| name.starts_with(older))
}

/// Writes the system instruction and the messages. If `model` needs signatures, calls without one get
/// [`SIGNATURE_PLACEHOLDER`].
pub(crate) fn system_and_contents(spoken: &[SpokenMessage<'_>], model: &str) -> (Vec<Value>, Vec<Value>) {
    let mut writer = ContentWriter { needs_signatures: needs_signatures(model), names: HashMap::new() };
    let (mut system, mut contents) = (Vec::new(), Vec::new());
    for message in spoken {
        match message.speaker {
            Speaker::System => system.extend(message.texts().map(|(text, _)| json!({"text": text}))),
            Speaker::User => contents.extend(content("user", writer.user_parts(message))),
            Speaker::Assistant => contents.extend(content("model", writer.model_parts(message))),
        }
    }
    (system, contents)
}

fn content(role: &str, parts: Vec<Value>) -> Option<Value> {
    (!parts.is_empty()).then(|| json!({"role": role, "parts": parts}))
}

struct ContentWriter<'a> {
    needs_signatures: bool,
    /// Names of the tools by call id, because results must repeat both.
    names: HashMap<&'a str, &'a str>,
}

impl<'a> ContentWriter<'a> {
    /// Writes a user message: results first, then everything else. Images in results follow as separate
    /// parts, because not all generations accept them in results.
    fn user_parts(&self, message: &SpokenMessage<'a>) -> Vec<Value> {
        let (mut results, mut rest) = (Vec::new(), Vec::new());
        for block in order_results_first(&message.blocks, |block| block.content) {
            match block.content {
                ContentBlock::Text { text } => rest.push(json!({"text": text})),
                ContentBlock::Image(image) => rest.push(image_part(image)),
                ContentBlock::ToolResult { call_id, content, outcome } => {
                    results.push(self.function_response(call_id, content, *outcome));
                    rest.extend(block.content.images().map(image_part));
                }
                ContentBlock::Foreign(foreign) => {
                    rest.extend(foreign.text().map(|text| json!({"text": text})));
                }
                ContentBlock::Thinking { .. }
                | ContentBlock::RedactedThinking { .. }
                | ContentBlock::ToolCall { .. } => {}
            }
        }
        results.extend(rest);
        results
    }

    fn function_response(&self, call_id: &str, content: &[ResultPart], outcome: ToolOutcome) -> Value {
        let texts: Vec<&str> = content.iter().filter_map(ResultPart::text).collect();
        let output = match texts.as_slice() {
            [] => json!(""),
            [text] => json!(text),
            texts => json!(texts),
        };
        // The API reference names these keys for output and errors.
        let key = if outcome == ToolOutcome::Error { "error" } else { "output" };
        let name = self.names.get(call_id).copied().unwrap_or("tool");
        json!({"functionResponse": {"id": call_id, "name": name, "response": {key: output}}})
    }

    fn model_parts(&mut self, message: &SpokenMessage<'a>) -> Vec<Value> {
        let mut parts: Vec<Value> = Vec::new();
        let mut signature: Option<&Value> = None;
        let mut has_called = false;
        for block in &message.blocks {
            let mut part = match block.content {
                ContentBlock::Text { text } => json!({"text": text}),
                ContentBlock::ToolCall { id, name, input } => {
                    self.names.insert(id, name);
                    json!({"functionCall": {"id": id, "name": name, "args": input}})
                }
                ContentBlock::Foreign(foreign) if foreign.provider == ForeignProvider::Gemini => {
                    if let Some(earlier) = signature.replace(&foreign.value) {
                        parts.push(add_signature(json!({"text": ""}), earlier));
                    }
                    continue;
                }
                ContentBlock::Foreign(foreign) => match foreign.text() {
                    Some(text) => json!({"text": text}),
                    None => continue,
                },
                ContentBlock::Image(_)
                | ContentBlock::Thinking { .. }
                | ContentBlock::RedactedThinking { .. }
                | ContentBlock::ToolResult { .. } => continue,
            };
            let is_call = matches!(block.content, ContentBlock::ToolCall { .. });
            if let Some(signature) = signature.take() {
                part = add_signature(part, signature);
            } else if is_call && !has_called && self.needs_signatures {
                part = add_signature(part, &json!({"thoughtSignature": SIGNATURE_PLACEHOLDER}));
            }
            has_called |= is_call;
            parts.push(part);
        }
        if let Some(signature) = signature {
            parts.push(add_signature(json!({"text": ""}), signature));
        }
        parts
    }
}

/// Adds the signature in `block` to `part`.
fn add_signature(mut part: Value, block: &Value) -> Value {
    if let Some(signature) = block.get("thoughtSignature") {
        part["thoughtSignature"] = signature.clone();
    }
    part
}

fn image_part(image: &Image) -> Value {
    match &image.source {
        ImageSource::Base64 { media_type, data } => {
            json!({"inlineData": {"mimeType": media_type, "data": data}})
        }
        ImageSource::Url { url } => json!({"fileData": {"fileUri": url}}),
    }
}
