//! Writes messages of Bedrock's Converse API:
//! <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html>. A mark becomes a
//! separate `cachePoint` block after the marked one
//! (<https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html>). Inline images are sent as
//! bytes. The API does not accept URLs of images, so these are written as text.

use serde_json::{Value, json};
use strata_tokens::models::Ttl;

use crate::history::{ContentBlock, Image, ImageSource, ResultPart, ToolOutcome};
use crate::providers::{Speaker, SpokenBlock, SpokenMessage, order_results_first};

/// Writes the system prompt and the messages.
pub(crate) fn system_and_messages(spoken: &[SpokenMessage<'_>]) -> (Vec<Value>, Vec<Value>) {
    let (mut system, mut messages) = (Vec::new(), Vec::new());
    for message in spoken {
        match message.speaker {
            Speaker::System => {
                system.extend(message.texts().flat_map(|(_, block)| block_with_cache_point(block)));
            }
            Speaker::User => messages.extend(write_message("user", message)),
            Speaker::Assistant => messages.extend(write_message("assistant", message)),
        }
    }
    (system, messages)
}

/// Writes a message; `None` if none of its blocks can be written.
fn write_message(role: &str, message: &SpokenMessage<'_>) -> Option<Value> {
    let blocks: Vec<Value> = order_results_first(&message.blocks, |block| block.content)
        .flat_map(block_with_cache_point)
        .collect();
    (!blocks.is_empty()).then(|| json!({"role": role, "content": blocks}))
}

/// Writes a block, followed by its cache point, if any.
fn block_with_cache_point(block: &SpokenBlock<'_>) -> Vec<Value> {
    let Some(written) = content_block(block.content) else { return Vec::new() };
    let mark = block.mark.filter(|_| block.content.can_carry_breakpoint());
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
            let parts = content.iter().filter_map(|part| match part {
                ResultPart::Image(image) => Some(image_block(image)),
                part => Some(json!({"text": part.text()?})),
            });
            let mut result = json!({"toolUseId": call_id, "content": parts.collect::<Vec<_>>()});
            // Success is the default status.
            if *outcome == ToolOutcome::Error {
                result["status"] = "error".into();
            }
            json!({"toolResult": result})
        }
    })
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
