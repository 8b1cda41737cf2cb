//! OpenAI's Chat Completions API: <https://platform.openai.com/docs/api-reference/chat/create>. It has no
//! place for reasoning, and caches by itself: marks are not written, the cache key is.

mod check;

use serde_json::{Map, Value, json};

use super::piece::arguments;
use super::{Body, Dialect, Envelope, Piece, Rendered, Tool, Violation, results_first};
use crate::hash::ContentHash;
use crate::history::{
    ContentBlock, Foreign, Image, ImageSource, OPENAI_STRING_CHARS, Provider, ResultPart, sides,
};
use crate::prompt::{LaidMessage, Layout, Speaker};

/// `prompt_cache_key` "has a maximum length of 64 characters".
const CACHE_KEY_CHARS: usize = 64;

/// The dialect.
pub(super) struct OpenAi;

impl Dialect for OpenAi {
    fn fields(&self) -> &'static [&'static str] {
        &["model", "prompt_cache_key", "tools", "messages"]
    }

    fn render(&self, layout: &Layout, envelope: &Envelope<'_>) -> Rendered {
        let mut messages = Vec::new();
        for message in layout.messages() {
            match message.speaker {
                Speaker::System => {
                    let texts = message.blocks.iter().filter_map(|block| text_of(&block.content));
                    messages.extend(spoken("system", texts.flat_map(text_parts).collect()));
                }
                Speaker::User => user(message, &mut messages),
                Speaker::Assistant => messages.extend(assistant(message)),
            }
        }
        let count = messages.len();
        let mut body = Map::new();
        body.insert("model".into(), envelope.model.into());
        if let Some(key) = envelope.cache_key {
            body.insert("prompt_cache_key".into(), cache_key(key).into());
        }
        if !envelope.tools.is_empty() {
            body.insert("tools".into(), envelope.tools.iter().map(tool).collect());
        }
        body.insert("messages".into(), messages.into());
        Rendered { body: Body::Json(body.into()), messages: count }
    }

    fn check(&self, body: &Value) -> Vec<Violation> {
        check::check(body)
    }

    fn pieces<'a>(&self, body: &'a Value) -> Vec<Piece<'a>> {
        let mut pieces = Vec::new();
        for message in body.get("messages").and_then(Value::as_array).into_iter().flatten() {
            match message.get("content") {
                // An empty answer of a tool is the format's, not the layout's.
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
}

fn tool(tool: &Tool) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.input_schema,
        },
    })
}

/// The key itself, or its hash when the API would refuse its length.
fn cache_key(key: &str) -> String {
    if key.chars().count() <= CACHE_KEY_CHARS { key.to_owned() } else { ContentHash::of(key).to_string() }
}

/// Tool results become `tool` messages; their pictures, which such a message cannot hold, and everything
/// else of the turn go into one user message behind them.
fn user(message: &LaidMessage, messages: &mut Vec<Value>) {
    let mut parts = Vec::new();
    for block in results_first(&message.blocks) {
        match &block.content {
            ContentBlock::Text { text } => parts.extend(text_parts(text)),
            ContentBlock::Image(image) => parts.push(image_part(image)),
            ContentBlock::ToolResult { call_id, content, .. } => {
                messages.push(tool_message(call_id, content));
                parts.extend(content.iter().filter_map(|part| match part {
                    ResultPart::Image(image) => Some(image_part(image)),
                    ResultPart::Text { .. } | ResultPart::Foreign(_) => None,
                }));
            }
            ContentBlock::Foreign(foreign) => parts.extend(foreign_part(foreign)),
            ContentBlock::Thinking { .. }
            | ContentBlock::RedactedThinking { .. }
            | ContentBlock::ToolCall { .. } => {}
        }
    }
    messages.extend(spoken("user", parts));
}

fn tool_message(call_id: &str, content: &[ResultPart]) -> Value {
    let texts: Vec<Value> = content
        .iter()
        .filter_map(|part| match part {
            ResultPart::Text { text } => Some(text.as_str()),
            // The content of such a message is text.
            ResultPart::Foreign(foreign) => foreign.text(),
            ResultPart::Image(_) => None,
        })
        .flat_map(text_parts)
        .collect();
    let content = contents(texts).unwrap_or_else(|| "".into());
    json!({"role": "tool", "tool_call_id": call_id, "content": content})
}

fn assistant(message: &LaidMessage) -> Option<Value> {
    let texts = message.blocks.iter().flat_map(|block| said_parts(&block.content)).collect();
    let calls: Vec<Value> = message.blocks.iter().filter_map(|block| call(&block.content)).collect();
    let content = contents(texts);
    if content.is_none() && calls.is_empty() {
        return None;
    }
    let mut spoken = json!({"role": "assistant", "content": content});
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

/// A message of the given parts; `None` when there are none.
fn spoken(role: &str, parts: Vec<Value>) -> Option<Value> {
    contents(parts).map(|content| json!({"role": role, "content": content}))
}

/// A single text part as the plain string that every server of this dialect takes, otherwise the parts.
fn contents(mut parts: Vec<Value>) -> Option<Value> {
    if let [part] = parts.as_mut_slice()
        && let Some(text) = part.get_mut("text")
    {
        return Some(text.take());
    }
    (!parts.is_empty()).then(|| parts.into())
}

/// What the assistant says beside its calls.
fn said_parts(block: &ContentBlock) -> Vec<Value> {
    match block {
        ContentBlock::Text { text } => text_parts(text),
        ContentBlock::Foreign(foreign) => foreign_part(foreign).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A foreign block as it came, or what it says in plain text; `None` when it says nothing there.
pub(crate) fn foreign_part(foreign: &Foreign) -> Option<Value> {
    if foreign.provider == Provider::OpenAi {
        return Some(foreign.value.clone());
    }
    foreign.text().map(text_part)
}

fn text_of(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text { text } => Some(text),
        _ => None,
    }
}

pub(crate) fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// A text in as many parts as the length of a string asks for: mostly one.
fn text_parts(text: &str) -> Vec<Value> {
    let (mut parts, mut rest) = (Vec::new(), text);
    // A byte count within the limit spares counting characters.
    while rest.len() > OPENAI_STRING_CHARS
        && let Some((end, _)) = rest.char_indices().nth(OPENAI_STRING_CHARS)
        && let Some((part, behind)) = rest.split_at_checked(end)
    {
        parts.push(text_part(part));
        rest = behind;
    }
    parts.push(text_part(rest));
    parts
}

pub(crate) fn image_part(image: &Image) -> Value {
    json!({"type": "image_url", "image_url": {"url": url_of(image)}})
}

/// A picture's address as the API takes it.
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
