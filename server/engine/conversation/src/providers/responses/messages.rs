//! Writes items of OpenAI's Responses API: <https://platform.openai.com/docs/api-reference/responses>.
//! Caching works as in Chat Completions (`openai`): marks become `prompt_cache_breakpoint` if the model
//! supports it. Encrypted reasoning is sent back as the item that was received.

use serde_json::{Value, json};

use crate::history::{ContentBlock, Foreign, ForeignProvider, Image, ResultPart};
use crate::providers::openai::messages::{add_breakpoint, image_url, typed_texts};
use crate::providers::{BreakpointMode, Speaker, SpokenMessage, order_results_first};

pub(crate) fn items(spoken: &[SpokenMessage<'_>], breakpoints: BreakpointMode) -> Vec<Value> {
    let mut items = Vec::new();
    for message in spoken {
        match message.speaker {
            Speaker::System => {
                let parts = message
                    .texts()
                    .flat_map(|(text, block)| add_breakpoint(input_texts(text), block, breakpoints));
                items.extend(message_item("developer", parts.collect()));
            }
            Speaker::User => write_user(message, breakpoints, &mut items),
            Speaker::Assistant => write_assistant(message, &mut items),
        }
    }
    items
}

/// Writes a user message: tool results as separate items, then the remaining content. With explicit breakpoints,
/// volatile content gets a separate message, so that the one before it stays unchanged.
fn write_user(message: &SpokenMessage<'_>, breakpoints: BreakpointMode, items: &mut Vec<Value>) {
    for blocks in message.split_volatile_blocks(breakpoints) {
        let mut parts = Vec::new();
        for block in order_results_first(blocks, |block| block.content) {
            match block.content {
                ContentBlock::Text { text } => {
                    parts.extend(add_breakpoint(input_texts(text), block, breakpoints));
                }
                ContentBlock::Image(image) => {
                    parts.extend(add_breakpoint(vec![image_part(image)], block, breakpoints));
                }
                ContentBlock::ToolResult { call_id, content, .. } => {
                    let output =
                        add_breakpoint(content.iter().flat_map(result_part).collect(), block, breakpoints);
                    let output = if output.is_empty() { json!("") } else { output.into() };
                    let kind = "function_call_output";
                    items.push(json!({"type": kind, "call_id": call_id, "output": output}));
                }
                ContentBlock::Foreign(foreign) => {
                    parts.extend(foreign.text().map(input_texts).into_iter().flatten());
                }
                ContentBlock::Thinking { .. }
                | ContentBlock::RedactedThinking { .. }
                | ContentBlock::ToolCall { .. } => {}
            }
        }
        items.extend(message_item("user", parts));
    }
}

fn write_assistant(message: &SpokenMessage<'_>, items: &mut Vec<Value>) {
    let mut parts = Vec::new();
    for block in &message.blocks {
        match block.content {
            ContentBlock::Text { text } => parts.extend(typed_texts("output_text", text)),
            ContentBlock::ToolCall { id, name, input } => {
                items.extend(message_item("assistant", std::mem::take(&mut parts)));
                let arguments = input.to_string();
                let kind = "function_call";
                items.push(json!({"type": kind, "call_id": id, "name": name, "arguments": arguments}));
            }
            ContentBlock::Foreign(Foreign { provider: ForeignProvider::OpenAiResponses, value }) => {
                items.extend(message_item("assistant", std::mem::take(&mut parts)));
                items.push(value.clone());
            }
            ContentBlock::Foreign(foreign) => {
                parts.extend(
                    foreign.text().map(|text| typed_texts("output_text", text)).into_iter().flatten(),
                );
            }
            ContentBlock::Image(_)
            | ContentBlock::Thinking { .. }
            | ContentBlock::RedactedThinking { .. }
            | ContentBlock::ToolResult { .. } => {}
        }
    }
    items.extend(message_item("assistant", parts));
}

/// Builds a message item from `parts`; `None` if there are none.
pub(super) fn message_item(role: &str, parts: Vec<Value>) -> Option<Value> {
    (!parts.is_empty()).then(|| json!({"type": "message", "role": role, "content": parts}))
}

fn result_part(part: &ResultPart) -> Vec<Value> {
    match part {
        ResultPart::Image(image) => vec![image_part(image)],
        part => part.text().map(input_texts).unwrap_or_default(),
    }
}

pub(super) fn image_part(image: &Image) -> Value {
    json!({"type": "input_image", "image_url": image_url(image)})
}

fn input_texts(text: &str) -> Vec<Value> {
    typed_texts("input_text", text)
}
