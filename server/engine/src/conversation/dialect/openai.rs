//! Writes messages of OpenAI's Chat Completions API:
//! <https://platform.openai.com/docs/api-reference/chat/create>. The API has no reasoning blocks.
//!
//! Models up to GPT-5.5 cache automatically, so marks are not written. From GPT-5.6 on, a cache entry ends at
//! a breakpoint and is only read by a request with a breakpoint in the same position
//! (<https://developers.openai.com/api/docs/guides/prompt-caching>). For these models, marks become
//! `prompt_cache_breakpoint`, and messages that are sent again never change.

mod check;
pub(super) mod limits;

use serde_json::{Value, json};

use super::format::Breakpoints;
use super::piece::{Piece, arguments};
use super::spoken::{Carriers, Speaker, SpokenBlock, SpokenMessage, message_with, results_first};
use crate::conversation::history::{
    ContentBlock, Foreign, Image, ImageSource, OPENAI_STRING_CHARS, Provider, ResultPart, sides,
};

pub(super) use check::check;

pub(crate) fn messages(spoken: &[SpokenMessage<'_>], breakpoints: Breakpoints) -> Vec<Value> {
    let writer = Writer { breakpoints };
    let mut messages = Vec::new();
    for message in spoken {
        match message.speaker {
            Speaker::System => {
                let parts = message.blocks.iter().flat_map(|block| match block.content {
                    ContentBlock::Text { text } => writer.marked(text_parts(text), block),
                    _ => Vec::new(),
                });
                messages.extend(writer.spoken("system", parts.collect()));
            }
            Speaker::User => writer.user(message, &mut messages),
            Speaker::Assistant => messages.extend(assistant(message)),
        }
    }
    messages
}

pub(super) fn pieces(body: &Value) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for message in body.get("messages").and_then(Value::as_array).into_iter().flatten() {
        match message.get("content") {
            // The format requires the empty string for a result without output, so it is not a piece.
            Some(Value::String(text)) if !text.is_empty() => pieces.push(Piece::text(text)),
            Some(Value::Array(parts)) => pieces.extend(parts.iter().filter_map(part_piece)),
            _ => {}
        }
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let text = |path: &str| call.pointer(path).and_then(Value::as_str).map(Piece::text);
            pieces.extend(text("/function/name").into_iter().chain(text("/function/arguments")));
        }
    }
    pieces
}

/// Writes the messages that can carry breakpoints: all except assistant messages.
#[derive(Clone, Copy)]
struct Writer {
    breakpoints: Breakpoints,
}

impl Writer {
    /// Writes a user message: tool results as `tool` messages, then one user message with the remaining
    /// content and the images, which a `tool` message cannot contain. With explicit breakpoints, volatile
    /// content gets a separate message, so that the one before it stays unchanged.
    fn user(self, message: &SpokenMessage<'_>, messages: &mut Vec<Value>) {
        for blocks in sendings(message, self.breakpoints) {
            let mut parts = Vec::new();
            for block in results_first(blocks, |block| block.content) {
                match block.content {
                    ContentBlock::Text { text } => parts.extend(self.marked(text_parts(text), block)),
                    ContentBlock::Image(image) => parts.extend(self.marked(vec![image_part(image)], block)),
                    ContentBlock::ToolResult { call_id, content, .. } => {
                        let (texts, pictures) = result_parts(content);
                        // The breakpoint follows the whole result, including its images.
                        let (texts, pictures) = if pictures.is_empty() {
                            (self.marked(texts, block), pictures)
                        } else {
                            (texts, self.marked(pictures, block))
                        };
                        let content = self.contents(texts).unwrap_or_else(|| "".into());
                        messages.push(json!({"role": "tool", "tool_call_id": call_id, "content": content}));
                        parts.extend(pictures);
                    }
                    ContentBlock::Foreign(foreign) => parts.extend(foreign_part(foreign)),
                    ContentBlock::Thinking { .. }
                    | ContentBlock::RedactedThinking { .. }
                    | ContentBlock::ToolCall { .. } => {}
                }
            }
            messages.extend(self.spoken("user", parts));
        }
    }

    fn marked(self, parts: Vec<Value>, block: &SpokenBlock<'_>) -> Vec<Value> {
        marked(parts, block, self.breakpoints)
    }

    /// Builds a message from `parts`, or returns `None` if there are none.
    fn spoken(self, role: &str, parts: Vec<Value>) -> Option<Value> {
        self.contents(parts).map(|content| message_with(role, content))
    }

    /// Writes content as a plain string if it is a single text part, because every server accepts that, and
    /// otherwise as a list of parts. With explicit breakpoints, content that can carry one is always a list,
    /// so that adding or removing a breakpoint changes nothing else.
    fn contents(self, parts: Vec<Value>) -> Option<Value> {
        let is_empty = |part: &Value| part.get("text").and_then(Value::as_str) == Some("");
        match self.breakpoints {
            Breakpoints::Explicit if !parts.iter().all(is_empty) => Some(parts.into()),
            Breakpoints::Explicit | Breakpoints::Automatic => contents(parts),
        }
    }
}

/// Splits a user turn into the blocks of up to two messages. With explicit breakpoints, the second message
/// contains the volatile blocks; otherwise it is empty.
pub(super) fn sendings<'m, 's>(
    message: &'m SpokenMessage<'s>,
    breakpoints: Breakpoints,
) -> [&'m [SpokenBlock<'s>]; 2] {
    match breakpoints {
        Breakpoints::Automatic => [&message.blocks, &[]],
        Breakpoints::Explicit => message.parts().into(),
    }
}

/// Adds the breakpoint of `block`, if any, to the last of its `parts`.
pub(super) fn marked(mut parts: Vec<Value>, block: &SpokenBlock<'_>, breakpoints: Breakpoints) -> Vec<Value> {
    let is_marked = breakpoints == Breakpoints::Explicit
        && block.mark.is_some()
        && Carriers::Input.include(Speaker::User, block.content);
    if let (true, Some(last)) = (is_marked, parts.last_mut().and_then(Value::as_object_mut)) {
        // The only supported lifetime, 30 minutes, is the default.
        last.insert("prompt_cache_breakpoint".into(), json!({"mode": "explicit"}));
    }
    parts
}

/// Separates the text parts of a tool result from its images.
fn result_parts(content: &[ResultPart]) -> (Vec<Value>, Vec<Value>) {
    let (mut texts, mut pictures) = (Vec::new(), Vec::new());
    for part in content {
        match part {
            ResultPart::Text { text } => texts.extend(text_parts(text)),
            // A `tool` message can only contain text.
            ResultPart::Foreign(foreign) => texts.extend(foreign.text().map(text_parts).unwrap_or_default()),
            ResultPart::Image(image) => pictures.push(image_part(image)),
        }
    }
    (texts, pictures)
}

fn assistant(message: &SpokenMessage<'_>) -> Option<Value> {
    let texts = message.blocks.iter().flat_map(|block| said_parts(block.content)).collect();
    let calls: Vec<Value> = message.blocks.iter().filter_map(|block| call(block.content)).collect();
    let content = contents(texts);
    if content.is_none() && calls.is_empty() {
        return None;
    }
    let mut spoken = message_with("assistant", content.unwrap_or_default());
    if let (false, Some(object)) = (calls.is_empty(), spoken.as_object_mut()) {
        object.insert("tool_calls".into(), calls.into());
    }
    Some(spoken)
}

fn call(block: &ContentBlock) -> Option<Value> {
    let ContentBlock::ToolCall { id, name, input } = block else { return None };
    let function = json!({"name": name, "arguments": arguments(input)});
    Some(json!({"id": id, "type": "function", "function": function}))
}

/// Writes content as a plain string if it is a single text part, because every server accepts that, and
/// otherwise as a list of parts.
fn contents(mut parts: Vec<Value>) -> Option<Value> {
    if let [part] = parts.as_mut_slice()
        && let Some(text) = part.get_mut("text")
    {
        return Some(text.take());
    }
    (!parts.is_empty()).then(|| parts.into())
}

/// Writes a block of an assistant message, except for calls.
fn said_parts(block: &ContentBlock) -> Vec<Value> {
    match block {
        ContentBlock::Text { text } => text_parts(text),
        ContentBlock::Foreign(foreign) => foreign_part(foreign).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Writes a foreign block in its original form or as plain text; `None` if another provider's block has no
/// text.
pub(crate) fn foreign_part(foreign: &Foreign) -> Option<Value> {
    if foreign.provider == Provider::OpenAi {
        return Some(foreign.value.clone());
    }
    foreign.text().map(text_part)
}

pub(crate) fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Writes `text` as one part, or as several if it exceeds the API's limit for strings.
fn text_parts(text: &str) -> Vec<Value> {
    strings(text).into_iter().map(text_part).collect()
}

/// Splits `text` into parts that do not exceed the API's limit for strings.
pub(super) fn strings(text: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    // A text has at least as many bytes as characters, so most texts need no counting.
    while rest.len() > OPENAI_STRING_CHARS
        && let Some((end, _)) = rest.char_indices().nth(OPENAI_STRING_CHARS)
        && let Some((part, behind)) = rest.split_at_checked(end)
    {
        parts.push(part);
        rest = behind;
    }
    parts.push(rest);
    parts
}

pub(crate) fn image_part(image: &Image) -> Value {
    json!({"type": "image_url", "image_url": {"url": url_of(image)}})
}

/// Returns the URL of an image, which is a `data:` URL for inline images.
pub(crate) fn url_of(image: &Image) -> String {
    match &image.source {
        ImageSource::Base64 { media_type, data } => format!("data:{media_type};base64,{data}"),
        ImageSource::Url { url } => url.clone(),
    }
}

fn part_piece(part: &Value) -> Option<Piece<'_>> {
    match part.get("type").and_then(Value::as_str)? {
        "text" => part.get("text").and_then(Value::as_str).map(Piece::text),
        "image_url" => {
            let url = part.pointer("/image_url/url").and_then(Value::as_str)?;
            let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
            Some(Piece::Picture(data.and_then(|(_, data)| sides(data))))
        }
        _ => Some(Piece::json(part)),
    }
}
