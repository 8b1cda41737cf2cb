//! Writes messages of Anthropic's Messages API: <https://docs.anthropic.com/en/api/messages>. Marks become
//! `cache_control` (<https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching>), and a mark on a
//! block that cannot carry one is dropped. Does not decide where marks go.

use serde_json::{Value, json};
use strata_tokens::models::Ttl;

use crate::history::{ContentBlock, Foreign, ForeignProvider, Image, ImageSource, ResultPart, ToolOutcome};
use crate::providers::{Speaker, SpokenBlock, SpokenMessage, build_message, order_results_first};

pub(crate) fn write_messages(spoken: &[SpokenMessage<'_>]) -> (Vec<Value>, Vec<Value>) {
    let (mut system, mut messages) = (Vec::new(), Vec::new());
    for message in spoken {
        match message.speaker {
            Speaker::System => {
                system.extend(message.texts().map(|(text, block)| with_breakpoint(text_block(text), block)));
            }
            Speaker::User => messages.extend(write_message("user", message)),
            Speaker::Assistant => messages.extend(write_message("assistant", message)),
        }
    }
    (system, messages)
}

/// Writes a message; `None` if none of its blocks can be written.
fn write_message(role: &str, spoken: &SpokenMessage<'_>) -> Option<Value> {
    if let [SpokenBlock { content: ContentBlock::Text { text }, mark: None }] = spoken.blocks.as_slice() {
        return Some(build_message(role, text.as_str().into()));
    }
    let blocks: Vec<Value> = order_results_first(&spoken.blocks, |block| block.content)
        .filter_map(|block| Some(with_breakpoint(content_block(block.content)?, block)))
        .collect();
    (!blocks.is_empty()).then(|| build_message(role, blocks.into()))
}

/// Adds the breakpoint of `block` to `value`, if the API accepts one there.
fn with_breakpoint(mut value: Value, block: &SpokenBlock<'_>) -> Value {
    let bearable = block.content.can_carry_breakpoint();
    if let (Some(ttl), true, Some(object)) = (block.mark, bearable, value.as_object_mut()) {
        object.insert("cache_control".into(), breakpoint(ttl));
    }
    value
}

/// Writes a breakpoint. Omits the lifetime if it is five minutes, the API's default.
fn breakpoint(ttl: Ttl) -> Value {
    match ttl {
        Ttl::FiveMinutes => json!({"type": "ephemeral"}),
        Ttl::OneHour => json!({"type": "ephemeral", "ttl": "1h"}),
    }
}

/// Writes a block; `None` for reasoning without the required signature, and for blocks that only another
/// provider supports.
pub(crate) fn content_block(block: &ContentBlock) -> Option<Value> {
    Some(match block {
        ContentBlock::Text { text } => text_block(text),
        ContentBlock::Image(image) => image_block(image),
        ContentBlock::Thinking { text, signature } => {
            json!({"type": "thinking", "thinking": text, "signature": signature.as_ref()?})
        }
        ContentBlock::RedactedThinking { data } => json!({"type": "redacted_thinking", "data": data}),
        ContentBlock::Foreign(foreign) => foreign_block(foreign)?,
        ContentBlock::ToolCall { id, name, input } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
        ContentBlock::ToolResult { call_id, content, outcome } => tool_result(call_id, content, *outcome),
    })
}

pub(crate) fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image_block(image: &Image) -> Value {
    let source = match &image.source {
        ImageSource::Base64 { media_type, data } => {
            json!({"type": "base64", "media_type": media_type, "data": data})
        }
        ImageSource::Url { url } => json!({"type": "url", "url": url}),
    };
    json!({"type": "image", "source": source})
}

fn tool_result(call_id: &str, content: &[ResultPart], outcome: ToolOutcome) -> Value {
    let mut result = json!({"type": "tool_result", "tool_use_id": call_id});
    match content {
        [] => {}
        [ResultPart::Text { text }] => result["content"] = text.as_str().into(),
        parts => result["content"] = parts.iter().filter_map(result_part).collect(),
    }
    if outcome == ToolOutcome::Error {
        result["is_error"] = true.into();
    }
    result
}

pub(crate) fn result_part(part: &ResultPart) -> Option<Value> {
    match part {
        ResultPart::Text { text } => Some(text_block(text)),
        ResultPart::Image(image) => Some(image_block(image)),
        ResultPart::Foreign(foreign) => foreign_block(foreign),
    }
}

fn foreign_block(foreign: &Foreign) -> Option<Value> {
    if foreign.provider == ForeignProvider::Anthropic {
        return Some(foreign.value.clone());
    }
    foreign.text().map(text_block)
}
