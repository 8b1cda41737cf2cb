//! Reads the texts and images of a finished body.

use serde_json::Value;
use strata_conversation::history::image_size;
use strata_conversation::providers::TextOrImage;

pub(super) fn pieces(body: &Value) -> Vec<TextOrImage<'_>> {
    let mut pieces = Vec::new();
    for item in body.get("input").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| item.get(key).and_then(Value::as_str).map(TextOrImage::text);
        match item.get("type").and_then(Value::as_str) {
            Some("message") => pieces.extend(parts_at(item, "content").filter_map(part_piece)),
            Some("function_call") => pieces.extend(text("name").into_iter().chain(text("arguments"))),
            Some("function_call_output") => match item.get("output") {
                // The format requires the empty string for a result without output, so it is not a piece.
                Some(Value::String(text)) if !text.is_empty() => pieces.push(TextOrImage::text(text)),
                _ => pieces.extend(parts_at(item, "output").filter_map(part_piece)),
            },
            _ => pieces.push(TextOrImage::json(item)),
        }
    }
    pieces
}

fn parts_at<'a>(item: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    item.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn part_piece(part: &Value) -> Option<TextOrImage<'_>> {
    match part.get("type").and_then(Value::as_str)? {
        "input_text" | "output_text" => part.get("text").and_then(Value::as_str).map(TextOrImage::text),
        "input_image" => {
            let url = part.get("image_url").and_then(Value::as_str)?;
            let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
            Some(TextOrImage::Picture(data.and_then(|(_, data)| image_size(data))))
        }
        _ => Some(TextOrImage::json(part)),
    }
}
