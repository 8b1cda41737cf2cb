//! Writes messages of Bedrock's Converse API:
//! <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html>. A mark becomes a
//! separate `cachePoint` block after the marked one
//! (<https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html>). Inline images are sent as
//! bytes. The API does not accept URLs of images, so these are written as text.

mod check;

use serde_json::{Value, json};

use super::piece::Piece;
use super::spoken::{Speaker, SpokenBlock, SpokenMessage, results_first};
use crate::conversation::history::{ContentBlock, Image, ImageSource, Outcome, ResultPart, sides};
use crate::tokens::models::Ttl;

pub(super) use check::check;

/// Messages and system prompt as they appear in a request body.
pub(crate) struct SpelledMessages {
    pub(crate) system: Vec<Value>,
    pub(crate) messages: Vec<Value>,
}

pub(crate) fn messages(spoken: &[SpokenMessage<'_>]) -> SpelledMessages {
    let (mut system, mut messages) = (Vec::new(), Vec::new());
    for message in spoken {
        match message.speaker {
            Speaker::System => {
                let texts =
                    message.blocks.iter().filter(|block| matches!(block.content, ContentBlock::Text { .. }));
                system.extend(texts.flat_map(marked));
            }
            Speaker::User => messages.extend(turn("user", message)),
            Speaker::Assistant => messages.extend(turn("assistant", message)),
        }
    }
    SpelledMessages { system, messages }
}

pub(super) fn pieces(body: &Value) -> Vec<Piece<'_>> {
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let lists = body.get("system").into_iter().chain(messages.filter_map(|message| message.get("content")));
    let mut pieces = Vec::new();
    for block in lists.filter_map(Value::as_array).flatten() {
        block_pieces(block, &mut pieces);
    }
    pieces
}

/// Writes a message; `None` if none of its blocks can be written.
fn turn(role: &str, message: &SpokenMessage<'_>) -> Option<Value> {
    let blocks: Vec<Value> = results_first(&message.blocks, |block| block.content).flat_map(marked).collect();
    (!blocks.is_empty()).then(|| json!({"role": role, "content": blocks}))
}

/// Writes a block, followed by its cache point, if any.
fn marked(block: &SpokenBlock<'_>) -> Vec<Value> {
    let Some(written) = content_block(block.content) else { return Vec::new() };
    let mark = block.mark.filter(|_| block.content.can_carry_a_mark());
    // Five minutes is the API's default lifetime.
    let point = mark.map(|ttl| match ttl {
        Ttl::FiveMinutes => json!({"cachePoint": {"type": "default"}}),
        Ttl::OneHour => json!({"cachePoint": {"type": "default", "ttl": "1h"}}),
    });
    [written].into_iter().chain(point).collect()
}

/// Writes a block; `None` for reasoning without a signature, and for blocks that the API does not support.
fn content_block(block: &ContentBlock) -> Option<Value> {
    Some(match block {
        ContentBlock::Text { text } => json!({"text": text}),
        ContentBlock::Image(image) => image_block(image),
        ContentBlock::Thinking { text, signature } => {
            json!({"reasoningContent": {"reasoningText": {"text": text, "signature": signature.as_ref()?}}})
        }
        ContentBlock::RedactedThinking { data } => json!({"reasoningContent": {"redactedContent": data}}),
        ContentBlock::Foreign(foreign) => json!({"text": foreign.text()?}),
        ContentBlock::ToolCall { id, name, input } => {
            json!({"toolUse": {"toolUseId": id, "name": name, "input": input}})
        }
        ContentBlock::ToolResult { call_id, content, outcome } => {
            let content: Vec<Value> = content.iter().filter_map(result_part).collect();
            // Success is the default status.
            match outcome {
                Outcome::Ok => json!({"toolResult": {"toolUseId": call_id, "content": content}}),
                Outcome::Error => {
                    json!({"toolResult": {"toolUseId": call_id, "content": content, "status": "error"}})
                }
            }
        }
    })
}

fn result_part(part: &ResultPart) -> Option<Value> {
    match part {
        ResultPart::Text { text } => Some(json!({"text": text})),
        ResultPart::Image(image) => Some(image_block(image)),
        ResultPart::Foreign(foreign) => foreign.text().map(|text| json!({"text": text})),
    }
}

fn image_block(image: &Image) -> Value {
    match &image.source {
        ImageSource::Base64 { media_type, data } => {
            let format = media_type.strip_prefix("image/").unwrap_or(media_type);
            json!({"image": {"format": format, "source": {"bytes": data}}})
        }
        ImageSource::Url { url } => json!({"text": format!("[picture at {url}]")}),
    }
}

fn block_pieces<'a>(block: &'a Value, pieces: &mut Vec<Piece<'a>>) {
    let text = |pointer: &str| block.pointer(pointer).and_then(Value::as_str).map(Piece::text);
    if let Some(text) = block.get("text").and_then(Value::as_str) {
        // The text that replaces the URL of an image.
        let is_picture = text.strip_prefix("[picture at http").is_some_and(|rest| rest.ends_with(']'));
        pieces.push(if is_picture { Piece::Picture(None) } else { Piece::text(text) });
    } else if let Some(data) = block.pointer("/image/source/bytes").and_then(Value::as_str) {
        pieces.push(Piece::Picture(sides(data)));
    } else if block.get("reasoningContent").is_some() {
        pieces.extend(text("/reasoningContent/reasoningText/text"));
        pieces.extend(text("/reasoningContent/redactedContent"));
    } else if let Some(call) = block.get("toolUse") {
        pieces.extend(text("/toolUse/name"));
        pieces.extend(call.get("input").map(Piece::json));
    } else if let Some(content) = block.pointer("/toolResult/content").and_then(Value::as_array) {
        for part in content {
            block_pieces(part, pieces);
        }
    }
}
