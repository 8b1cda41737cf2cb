//! Reads the texts and images of a finished body.

use serde_json::Value;
use strata_conversation::history::image_size;
use strata_conversation::providers::TextOrImage;

pub(super) fn pieces(body: &Value) -> Vec<TextOrImage<'_>> {
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let contents = body.get("system").into_iter().chain(messages.filter_map(|m| m.get("content")));
    let mut pieces = Vec::new();
    for content in contents {
        content_pieces(content, &mut pieces);
    }
    pieces
}

fn content_pieces<'a>(content: &'a Value, pieces: &mut Vec<TextOrImage<'a>>) {
    let blocks = match content {
        Value::String(text) => return pieces.push(TextOrImage::text(text)),
        Value::Array(blocks) => blocks,
        _ => return,
    };
    for block in blocks {
        let text = |key: &str| block.get(key).and_then(Value::as_str).map(TextOrImage::text);
        match block.get("type").and_then(Value::as_str) {
            Some("text") => pieces.extend(text("text")),
            Some("thinking") => pieces.extend(text("thinking")),
            Some("redacted_thinking") => pieces.extend(text("data")),
            Some("image") if block.pointer("/source/type").and_then(Value::as_str) != Some("file") => {
                let data = block.pointer("/source/data").and_then(Value::as_str);
                pieces.push(TextOrImage::Picture(data.and_then(image_size)));
            }
            Some("tool_use") => {
                pieces.extend(text("name"));
                pieces.extend(block.get("input").map(TextOrImage::json));
            }
            Some("tool_result") => {
                if let Some(inner) = block.get("content") {
                    content_pieces(inner, pieces);
                }
            }
            _ => pieces.push(TextOrImage::json(block)),
        }
    }
}
