//! Writes messages of OpenAI's Chat Completions API:
//! <https://platform.openai.com/docs/api-reference/chat/create>. The API has no reasoning blocks.
//!
//! Models up to GPT-5.5 cache automatically, so marks are not written. From GPT-5.6 on, a cache entry ends at
//! a breakpoint and is only read by a request with a breakpoint in the same position
//! (<https://developers.openai.com/api/docs/guides/prompt-caching>). For these models, marks become
//! `prompt_cache_breakpoint`, and messages that are sent again never change.

use serde_json::{Value, json};

use crate::history::{
    ContentBlock, Foreign, ForeignProvider, Image, ImageSource, MAX_OPENAI_STRING_CHARS, ResultPart,
};
use crate::providers::{
    BreakpointMode, BreakpointTargets, Speaker, SpokenBlock, SpokenMessage, build_message,
    order_results_first,
};

pub(crate) fn write_messages(spoken: &[SpokenMessage<'_>], breakpoints: BreakpointMode) -> Vec<Value> {
    let mut messages = Vec::new();
    for message in spoken {
        match message.speaker {
            Speaker::System => {
                let parts = message
                    .texts()
                    .flat_map(|(text, block)| add_breakpoint(text_parts(text), block, breakpoints));
                messages.extend(chat_message("system", parts.collect(), breakpoints));
            }
            Speaker::User => write_user(message, breakpoints, &mut messages),
            Speaker::Assistant => messages.extend(assistant_message(message)),
        }
    }
    messages
}

/// Writes a user message: tool results as `tool` messages, then one user message with the remaining content and the
/// images, which a `tool` message cannot contain. With explicit breakpoints, volatile content gets a separate message,
/// so that the one before it stays unchanged.
fn write_user(message: &SpokenMessage<'_>, breakpoints: BreakpointMode, messages: &mut Vec<Value>) {
    for blocks in message.split_volatile_blocks(breakpoints) {
        let mut parts = Vec::new();
        for block in order_results_first(blocks, |block| block.content) {
            match block.content {
                ContentBlock::Text { text } => {
                    parts.extend(add_breakpoint(text_parts(text), block, breakpoints));
                }
                ContentBlock::Image(image) => {
                    parts.extend(add_breakpoint(vec![image_part(image)], block, breakpoints));
                }
                ContentBlock::ToolResult { call_id, content, .. } => {
                    let mut texts: Vec<Value> =
                        content.iter().filter_map(ResultPart::text).flat_map(text_parts).collect();
                    let mut pictures: Vec<Value> = block.content.images().map(image_part).collect();
                    // The breakpoint follows the whole result, including its images.
                    let last = if pictures.is_empty() { &mut texts } else { &mut pictures };
                    *last = add_breakpoint(std::mem::take(last), block, breakpoints);
                    let content = message_content(texts, breakpoints).unwrap_or_else(|| "".into());
                    messages.push(json!({"role": "tool", "tool_call_id": call_id, "content": content}));
                    parts.extend(pictures);
                }
                ContentBlock::Foreign(foreign) => parts.extend(foreign_part(foreign)),
                ContentBlock::Thinking { .. }
                | ContentBlock::RedactedThinking { .. }
                | ContentBlock::ToolCall { .. } => {}
            }
        }
        messages.extend(chat_message("user", parts, breakpoints));
    }
}

/// Builds a message from `parts`, or returns `None` if there are none.
fn chat_message(role: &str, parts: Vec<Value>, breakpoints: BreakpointMode) -> Option<Value> {
    message_content(parts, breakpoints).map(|content| build_message(role, content))
}

/// Writes content as a plain string if it is a single text part, because every server accepts that, and otherwise as a
/// list of parts. With explicit breakpoints, content that can carry one is always a list, so that adding or removing a
/// breakpoint changes nothing else.
fn message_content(mut parts: Vec<Value>, breakpoints: BreakpointMode) -> Option<Value> {
    let is_empty = |part: &Value| part.get("text").and_then(Value::as_str) == Some("");
    let may_be_plain = breakpoints == BreakpointMode::Automatic || parts.iter().all(is_empty);
    if may_be_plain
        && let [part] = parts.as_mut_slice()
        && let Some(text) = part.get_mut("text")
    {
        return Some(text.take());
    }
    (!parts.is_empty()).then(|| parts.into())
}

/// Adds the breakpoint of `block`, if any, to the last of its `parts`.
pub(in crate::providers) fn add_breakpoint(
    mut parts: Vec<Value>,
    block: &SpokenBlock<'_>,
    breakpoints: BreakpointMode,
) -> Vec<Value> {
    let is_marked = breakpoints == BreakpointMode::Explicit
        && block.mark.is_some()
        && BreakpointTargets::Input.can_carry_breakpoint(Speaker::User, block.content);
    if let (true, Some(last)) = (is_marked, parts.last_mut().and_then(Value::as_object_mut)) {
        // The only supported lifetime, 30 minutes, is the default.
        last.insert("prompt_cache_breakpoint".into(), json!({"mode": "explicit"}));
    }
    parts
}

fn assistant_message(message: &SpokenMessage<'_>) -> Option<Value> {
    let texts = message.blocks.iter().flat_map(|block| assistant_parts(block.content)).collect();
    let calls: Vec<Value> = message.blocks.iter().filter_map(|block| tool_call(block.content)).collect();
    // Assistant messages cannot carry breakpoints.
    let content = message_content(texts, BreakpointMode::Automatic);
    if content.is_none() && calls.is_empty() {
        return None;
    }
    let mut spoken = build_message("assistant", content.unwrap_or_default());
    if !calls.is_empty() {
        spoken["tool_calls"] = calls.into();
    }
    Some(spoken)
}

pub(super) fn tool_call(block: &ContentBlock) -> Option<Value> {
    let ContentBlock::ToolCall { id, name, input } = block else { return None };
    let function = json!({"name": name, "arguments": input.to_string()});
    Some(json!({"id": id, "type": "function", "function": function}))
}

/// Writes a block of an assistant message, except for calls.
fn assistant_parts(block: &ContentBlock) -> Vec<Value> {
    match block {
        ContentBlock::Text { text } => text_parts(text),
        ContentBlock::Foreign(foreign) => foreign_part(foreign).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Writes a foreign block in its original form or as plain text; `None` if another provider's block has no
/// text.
pub(crate) fn foreign_part(foreign: &Foreign) -> Option<Value> {
    if foreign.provider == ForeignProvider::OpenAi {
        return Some(foreign.value.clone());
    }
    foreign.text().map(text_part)
}

pub(crate) fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Writes `text` as one part, or as several if it exceeds the API's limit for strings.
fn text_parts(text: &str) -> Vec<Value> {
    typed_texts("text", text)
}

/// Writes `text` as one part of the type `kind`, or as several if it exceeds the API's limit for strings.
pub(in crate::providers) fn typed_texts(kind: &str, text: &str) -> Vec<Value> {
    let (mut parts, mut rest) = (Vec::new(), text);
    // A text has at least as many bytes as characters, so most texts need no counting.
    while rest.len() > MAX_OPENAI_STRING_CHARS
        && let Some((end, _)) = rest.char_indices().nth(MAX_OPENAI_STRING_CHARS)
        && let Some((part, remainder)) = rest.split_at_checked(end)
    {
        parts.push(json!({"type": kind, "text": part}));
        rest = remainder;
    }
    parts.push(json!({"type": kind, "text": rest}));
    parts
}

pub(crate) fn image_part(image: &Image) -> Value {
    json!({"type": "image_url", "image_url": {"url": image_url(image)}})
}

/// Returns the URL of an image, which is a `data:` URL for inline images.
pub(crate) fn image_url(image: &Image) -> String {
    match &image.source {
        ImageSource::Base64 { media_type, data } => format!("data:{media_type};base64,{data}"),
        ImageSource::Url { url } => url.clone(),
    }
}
