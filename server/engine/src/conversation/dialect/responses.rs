//! Writes items of OpenAI's Responses API: <https://platform.openai.com/docs/api-reference/responses>.
//! Caching works as in Chat Completions (`openai`): marks become `prompt_cache_breakpoint` if the model
//! supports it. Encrypted reasoning is sent back as the item that was received.

mod check;

use serde_json::{Value, json};

use super::format::Breakpoints;
use super::openai::{marked, sendings, strings, url_of};
use super::piece::{Piece, arguments};
use super::spoken::{Speaker, SpokenBlock, SpokenMessage, results_first};
use crate::conversation::history::{ContentBlock, Foreign, Provider, ResultPart, sides};

pub(super) use check::check;

pub(crate) fn items(spoken: &[SpokenMessage<'_>], breakpoints: Breakpoints) -> Vec<Value> {
    let writer = Writer { breakpoints };
    let mut items = Vec::new();
    for message in spoken {
        match message.speaker {
            Speaker::System => {
                let parts = message.blocks.iter().flat_map(|block| match block.content {
                    ContentBlock::Text { text } => writer.marked(input_texts(text), block),
                    _ => Vec::new(),
                });
                items.extend(said("developer", parts.collect()));
            }
            Speaker::User => writer.user(message, &mut items),
            Speaker::Assistant => assistant(message, &mut items),
        }
    }
    items
}

pub(super) fn pieces(body: &Value) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for item in body.get("input").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| item.get(key).and_then(Value::as_str).map(Piece::text);
        match item.get("type").and_then(Value::as_str) {
            Some("message") => pieces.extend(parts_at(item, "content").filter_map(part_piece)),
            Some("function_call") => pieces.extend(text("name").into_iter().chain(text("arguments"))),
            Some("function_call_output") => match item.get("output") {
                // The format requires the empty string for a result without output, so it is not a piece.
                Some(Value::String(text)) if !text.is_empty() => pieces.push(Piece::text(text)),
                _ => pieces.extend(parts_at(item, "output").filter_map(part_piece)),
            },
            _ => pieces.push(Piece::json(item)),
        }
    }
    pieces
}

fn parts_at<'a>(item: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    item.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn part_piece(part: &Value) -> Option<Piece<'_>> {
    match part.get("type").and_then(Value::as_str)? {
        "input_text" | "output_text" => part.get("text").and_then(Value::as_str).map(Piece::text),
        "input_image" => {
            let url = part.get("image_url").and_then(Value::as_str)?;
            let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
            Some(Piece::Picture(data.and_then(|(_, data)| sides(data))))
        }
        _ => Some(Piece::json(part)),
    }
}

/// Writes the items that can carry breakpoints: all except assistant messages.
#[derive(Clone, Copy)]
struct Writer {
    breakpoints: Breakpoints,
}

impl Writer {
    /// Writes a user message: tool results as separate items, then the remaining content. With explicit
    /// breakpoints, volatile content gets a separate message, so that the one before it stays unchanged.
    fn user(self, message: &SpokenMessage<'_>, items: &mut Vec<Value>) {
        for blocks in sendings(message, self.breakpoints) {
            let mut parts = Vec::new();
            for block in results_first(blocks, |block| block.content) {
                match block.content {
                    ContentBlock::Text { text } => parts.extend(self.marked(input_texts(text), block)),
                    ContentBlock::Image(image) => {
                        let picture = json!({"type": "input_image", "image_url": url_of(image)});
                        parts.extend(self.marked(vec![picture], block));
                    }
                    ContentBlock::ToolResult { call_id, content, .. } => {
                        let output = self.marked(content.iter().flat_map(result_part).collect(), block);
                        let output = if output.is_empty() { json!("") } else { output.into() };
                        let kind = "function_call_output";
                        items.push(json!({"type": kind, "call_id": call_id, "output": output}));
                    }
                    ContentBlock::Foreign(foreign) => {
                        parts.extend(foreign.text().map(input_texts).into_iter().flatten());
                    }
                    ContentBlock::Thinking { .. }
                    | ContentBlock::RedactedThinking { .. }
                    | ContentBlock::ToolCall { .. } => {}
                }
            }
            items.extend(said("user", parts));
        }
    }

    fn marked(self, parts: Vec<Value>, block: &SpokenBlock<'_>) -> Vec<Value> {
        marked(parts, block, self.breakpoints)
    }
}

fn assistant(message: &SpokenMessage<'_>, items: &mut Vec<Value>) {
    let mut parts = Vec::new();
    for block in &message.blocks {
        match block.content {
            ContentBlock::Text { text } => parts.extend(typed("output_text", text)),
            ContentBlock::ToolCall { id, name, input } => {
                items.extend(said("assistant", std::mem::take(&mut parts)));
                let arguments = arguments(input);
                let kind = "function_call";
                items.push(json!({"type": kind, "call_id": id, "name": name, "arguments": arguments}));
            }
            ContentBlock::Foreign(Foreign { provider: Provider::OpenAiResponses, value }) => {
                items.extend(said("assistant", std::mem::take(&mut parts)));
                items.push(value.clone());
            }
            ContentBlock::Foreign(foreign) => {
                parts.extend(foreign.text().map(|text| typed("output_text", text)).into_iter().flatten());
            }
            ContentBlock::Image(_)
            | ContentBlock::Thinking { .. }
            | ContentBlock::RedactedThinking { .. }
            | ContentBlock::ToolResult { .. } => {}
        }
    }
    items.extend(said("assistant", parts));
}

/// Builds a message item from `parts`; `None` if there are none.
fn said(role: &str, parts: Vec<Value>) -> Option<Value> {
    (!parts.is_empty()).then(|| json!({"type": "message", "role": role, "content": parts}))
}

fn result_part(part: &ResultPart) -> Vec<Value> {
    match part {
        ResultPart::Text { text } => input_texts(text),
        ResultPart::Image(image) => vec![json!({"type": "input_image", "image_url": url_of(image)})],
        ResultPart::Foreign(foreign) => foreign.text().map(input_texts).unwrap_or_default(),
    }
}

fn input_texts(text: &str) -> Vec<Value> {
    typed("input_text", text)
}

/// Writes `text` as one part, or as several if it exceeds the API's limit for strings.
fn typed(kind: &str, text: &str) -> Vec<Value> {
    strings(text).into_iter().map(|text| json!({"type": kind, "text": text})).collect()
}
