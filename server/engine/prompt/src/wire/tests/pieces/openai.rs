//! Reads the texts and images of a finished body.

use serde_json::Value;
use strata_conversation::history::image_size;
use strata_conversation::providers::TextOrImage;

pub(super) fn pieces(body: &Value) -> Vec<TextOrImage<'_>> {
    let mut pieces = Vec::new();
    for message in body.get("messages").and_then(Value::as_array).into_iter().flatten() {
        match message.get("content") {
            // The format requires the empty string for a result without output, so it is not a piece.
            Some(Value::String(text)) if !text.is_empty() => pieces.push(TextOrImage::text(text)),
            Some(Value::Array(parts)) => pieces.extend(parts.iter().filter_map(part_piece)),
            _ => {}
        }
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let text = |path: &str| call.pointer(path).and_then(Value::as_str).map(TextOrImage::text);
            pieces.extend(text("/function/name").into_iter().chain(text("/function/arguments")));
        }
    }
    pieces
}

fn part_piece(part: &Value) -> Option<TextOrImage<'_>> {
    match part.get("type").and_then(Value::as_str)? {
        "text" => part.get("text").and_then(Value::as_str).map(TextOrImage::text),
        "image_url" => {
            let url = part.pointer("/image_url/url").and_then(Value::as_str)?;
            let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
            Some(TextOrImage::Picture(data.and_then(|(_, data)| image_size(data))))
        }
        _ => Some(TextOrImage::json(part)),
    }
}
