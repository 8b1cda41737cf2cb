//! Writes contents for Google's `generateContent`: <https://ai.google.dev/api/generate-content>. Prefixes are
//! cached automatically (<https://ai.google.dev/gemini-api/docs/caching>), so marks are not written. From
//! Gemini 3 on, the first call of a turn must carry a thought signature
//! (<https://ai.google.dev/gemini-api/docs/thought-signatures>). Calls made by other models get the
//! placeholder documented on that page.

mod check;

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::piece::Piece;
use super::spoken::{Speaker, SpokenBlock, SpokenMessage, results_first};
use crate::conversation::history::{ContentBlock, Image, ImageSource, Outcome, Provider, ResultPart, sides};

pub(super) use check::check;

/// Placeholder for the signature of a call that Gemini did not make ("Thought signatures", "FAQs").
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Contents and system instruction as they appear in a request body.
pub(crate) struct SpelledContents {
    pub(crate) system: Vec<Value>,
    pub(crate) contents: Vec<Value>,
}

/// Whether calls need thought signatures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signatures {
    Required,
    Optional,
}

impl Signatures {
    /// Determines from its name whether `model` needs signatures. Gemini before version 3 and Gemma do not.
    pub(crate) fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        match ["gemini-1", "gemini-2", "gemma"].iter().any(|older| name.starts_with(older)) {
            true => Self::Optional,
            false => Self::Required,
        }
    }
}

/// Writes messages. If signatures are required, calls without one get [`UNSIGNED`].
pub(crate) fn contents(spoken: &[SpokenMessage<'_>], signatures: Signatures) -> SpelledContents {
    let mut writer = Writer { signatures, names: HashMap::new() };
    let (mut system, mut contents) = (Vec::new(), Vec::new());
    for message in spoken {
        match message.speaker {
            Speaker::System => system.extend(message.blocks.iter().filter_map(system_part)),
            Speaker::User => contents.extend(content("user", writer.user(message))),
            Speaker::Assistant => contents.extend(content("model", writer.model(message))),
        }
    }
    SpelledContents { system, contents }
}

pub(super) fn pieces(body: &Value) -> Vec<Piece<'_>> {
    let contents = body.get("contents").and_then(Value::as_array).into_iter().flatten();
    let contents = body.get("systemInstruction").into_iter().chain(contents);
    let parts = contents.filter_map(|content| content.get("parts")?.as_array()).flatten();
    let mut pieces = Vec::new();
    for part in parts {
        part_pieces(part, &mut pieces);
    }
    pieces
}

/// Writes a part of the system instruction, which may only contain text.
fn system_part(block: &SpokenBlock<'_>) -> Option<Value> {
    match block.content {
        ContentBlock::Text { text } => Some(json!({"text": text})),
        _ => None,
    }
}

fn content(role: &str, parts: Vec<Value>) -> Option<Value> {
    (!parts.is_empty()).then(|| json!({"role": role, "parts": parts}))
}

struct Writer<'a> {
    signatures: Signatures,
    /// Names of the tools by call id, because results must repeat both.
    names: HashMap<&'a str, &'a str>,
}

impl<'a> Writer<'a> {
    /// Writes a user message: results first, then everything else. Images in results follow as separate
    /// parts, because not all generations accept them in results.
    fn user(&self, message: &SpokenMessage<'a>) -> Vec<Value> {
        let (mut results, mut rest) = (Vec::new(), Vec::new());
        for block in results_first(&message.blocks, |block| block.content) {
            match block.content {
                ContentBlock::Text { text } => rest.push(json!({"text": text})),
                ContentBlock::Image(image) => rest.push(image_part(image)),
                ContentBlock::ToolResult { call_id, content, outcome } => {
                    results.push(self.result(call_id, content, *outcome));
                    rest.extend(content.iter().filter_map(|part| match part {
                        ResultPart::Image(image) => Some(image_part(image)),
                        ResultPart::Text { .. } | ResultPart::Foreign(_) => None,
                    }));
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

    fn result(&self, call_id: &str, content: &[ResultPart], outcome: Outcome) -> Value {
        let texts: Vec<&str> = content
            .iter()
            .filter_map(|part| match part {
                ResultPart::Text { text } => Some(text.as_str()),
                ResultPart::Foreign(foreign) => foreign.text(),
                ResultPart::Image(_) => None,
            })
            .collect();
        let said = match texts.as_slice() {
            [] => json!(""),
            [text] => json!(text),
            texts => json!(texts),
        };
        // The API reference names these keys for output and errors.
        let key = if outcome == Outcome::Error { "error" } else { "output" };
        let name = self.names.get(call_id).copied().unwrap_or("tool");
        json!({"functionResponse": {"id": call_id, "name": name, "response": {key: said}}})
    }

    fn model(&mut self, message: &SpokenMessage<'a>) -> Vec<Value> {
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
                ContentBlock::Foreign(foreign) if foreign.provider == Provider::Gemini => {
                    if let Some(earlier) = signature.replace(&foreign.value) {
                        parts.push(signed(json!({"text": ""}), earlier));
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
            if let Some(came) = signature.take() {
                part = signed(part, came);
            } else if is_call && !has_called && self.signatures == Signatures::Required {
                part = signed(part, &json!({"thoughtSignature": UNSIGNED}));
            }
            has_called |= is_call;
            parts.push(part);
        }
        if let Some(came) = signature {
            parts.push(signed(json!({"text": ""}), came));
        }
        parts
    }
}

/// Adds the signature in `block` to `part`.
fn signed(mut part: Value, block: &Value) -> Value {
    if let (Some(fields), Some(signature)) = (part.as_object_mut(), block.get("thoughtSignature")) {
        fields.insert("thoughtSignature".into(), signature.clone());
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

fn part_pieces<'a>(part: &'a Value, pieces: &mut Vec<Piece<'a>>) {
    let text = |pointer: &str| part.pointer(pointer).and_then(Value::as_str).map(Piece::text);
    match part.get("thoughtSignature") {
        Some(signature) if signature != UNSIGNED => {
            let block = Map::from_iter([
                ("type".to_owned(), json!("thought_signature")),
                ("thoughtSignature".to_owned(), signature.clone()),
            ]);
            pieces.push(Piece::json(&block.into()));
        }
        _ => {}
    }
    if part.get("text").is_some_and(|text| text != "") {
        pieces.extend(text("/text"));
    } else if let Some(call) = part.get("functionCall") {
        pieces.extend(text("/functionCall/name"));
        pieces.extend(call.get("args").map(Piece::json));
    } else if let Some(response) = part.pointer("/functionResponse/response") {
        let said = ["output", "error"].into_iter().find_map(|key| response.get(key));
        match said {
            // The format requires the empty string for a result without output, so it is not a piece.
            Some(Value::String(text)) if !text.is_empty() => pieces.push(Piece::text(text)),
            Some(Value::Array(texts)) => {
                pieces.extend(texts.iter().filter_map(Value::as_str).map(Piece::text));
            }
            _ => {}
        }
    } else if let Some(data) = part.pointer("/inlineData/data").and_then(Value::as_str) {
        pieces.push(Piece::Picture(sides(data)));
    } else if part.get("fileData").is_some() {
        pieces.push(Piece::Picture(None));
    }
}
