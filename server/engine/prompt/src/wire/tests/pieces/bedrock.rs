//! Reads the texts and images of a finished body.

use serde_json::Value;
use strata_conversation::history::image_size;
use strata_conversation::providers::TextOrImage;

pub(super) fn pieces(body: &Value) -> Vec<TextOrImage<'_>> {
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let lists = body.get("system").into_iter().chain(messages.filter_map(|message| message.get("content")));
    let mut pieces = Vec::new();
    for block in lists.filter_map(Value::as_array).flatten() {
        block_pieces(block, &mut pieces);
    }
    pieces
}

fn block_pieces<'a>(block: &'a Value, pieces: &mut Vec<TextOrImage<'a>>) {
    let text = |pointer: &str| block.pointer(pointer).and_then(Value::as_str).map(TextOrImage::text);
    if let Some(text) = block.get("text").and_then(Value::as_str) {
        // The text that replaces the URL of an image.
        let is_picture = text.strip_prefix("[picture at http").is_some_and(|rest| rest.ends_with(']'));
        pieces.push(if is_picture { TextOrImage::Picture(None) } else { TextOrImage::text(text) });
    } else if let Some(data) = block.pointer("/image/source/bytes").and_then(Value::as_str) {
        pieces.push(TextOrImage::Picture(image_size(data)));
    } else if block.get("reasoningContent").is_some() {
        pieces.extend(text("/reasoningContent/reasoningText/text"));
        pieces.extend(text("/reasoningContent/redactedContent"));
    } else if let Some(call) = block.get("toolUse") {
        pieces.extend(text("/toolUse/name"));
        pieces.extend(call.get("input").map(TextOrImage::json));
    } else if let Some(content) = block.pointer("/toolResult/content").and_then(Value::as_array) {
        for part in content {
            block_pieces(part, pieces);
        }
    }
}
