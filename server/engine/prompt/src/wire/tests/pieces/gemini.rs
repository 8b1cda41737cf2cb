//! Reads the texts and images of a finished body.

use serde_json::{Map, Value, json};
use strata_conversation::history::image_size;
use strata_conversation::providers::TextOrImage;

/// Stands for a missing signature.
const UNSIGNED: &str = "skip_thought_signature_validator";

pub(super) fn pieces(body: &Value) -> Vec<TextOrImage<'_>> {
    let contents = body.get("contents").and_then(Value::as_array).into_iter().flatten();
    let contents = body.get("systemInstruction").into_iter().chain(contents);
    let parts = contents.filter_map(|content| content.get("parts")?.as_array()).flatten();
    let mut pieces = Vec::new();
    for part in parts {
        part_pieces(part, &mut pieces);
    }
    pieces
}

fn part_pieces<'a>(part: &'a Value, pieces: &mut Vec<TextOrImage<'a>>) {
    let text = |pointer: &str| part.pointer(pointer).and_then(Value::as_str).map(TextOrImage::text);
    match part.get("thoughtSignature") {
        Some(signature) if signature != UNSIGNED => {
            let block = Map::from_iter([
                ("type".to_owned(), json!("thought_signature")),
                ("thoughtSignature".to_owned(), signature.clone()),
            ]);
            pieces.push(TextOrImage::json(&block.into()));
        }
        _ => {}
    }
    if part.get("text").is_some_and(|text| text != "") {
        pieces.extend(text("/text"));
    } else if let Some(call) = part.get("functionCall") {
        pieces.extend(text("/functionCall/name"));
        pieces.extend(call.get("args").map(TextOrImage::json));
    } else if let Some(response) = part.pointer("/functionResponse/response") {
        let message = ["output", "error"].into_iter().find_map(|key| response.get(key));
        match message {
            // The format requires the empty string for a result without output, so it is not a piece.
            Some(Value::String(text)) if !text.is_empty() => pieces.push(TextOrImage::text(text)),
            Some(Value::Array(texts)) => {
                pieces.extend(texts.iter().filter_map(Value::as_str).map(TextOrImage::text));
            }
            _ => {}
        }
    } else if let Some(data) = part.pointer("/inlineData/data").and_then(Value::as_str) {
        pieces.push(TextOrImage::Picture(image_size(data)));
    } else if part.get("fileData").is_some() {
        pieces.push(TextOrImage::Picture(None));
    }
}
