//! Reads input and output items of OpenAI's Responses API:
//! <https://platform.openai.com/docs/api-reference/responses>.
//!
//! The arguments of a call are preserved byte for byte, whether or not they are JSON. Items without an
//! equivalent in Strata, including reasoning, become foreign blocks.
//!
//! The format cannot express other models' reasoning, failed results, images in results, or several items in
//! one message (they become several messages).

#[cfg(test)]
pub(crate) mod tests;

use serde_json::{Value, json};

use super::messages::{image_part, message_item};
use crate::exchange::{ReadError, ReadList, extra, fields};
use crate::history::{
    ContentBlock, Foreign, MessageKind, NewMessage, Provider, ResultPart, Role, ToolOutcome,
};
use crate::providers::json_fields::text;
use crate::providers::openai::exchange::{image_from_url, parse_arguments, part_types, read_list, role};

/// Types of message parts without an equivalent in Strata. Other foreign blocks are items.
const FOREIGN_PARTS: [&str; 4] = ["input_file", "input_audio", "input_image", "refusal"];

/// Reads a list of items, a body with `input`, or a single item.
///
/// # Errors
/// [`ReadError`] if a part does not fit the format.
pub(crate) fn read(value: &Value) -> Result<ReadList, ReadError> {
    let mut system = Vec::new();
    if let Some(text) = fields::optional_string(value, "instructions")? {
        system.push(item(&json!({"role": "system", "content": text}))?);
    }
    if let Some(Value::String(prompt)) = value.get("input") {
        return Ok(ReadList { system, messages: vec![NewMessage::text(Role::User, prompt)] });
    }
    let ReadList { system: leading, messages } = read_list(value, "input", item)?;
    system.extend(leading);
    Ok(ReadList { system, messages })
}

/// Whether only this format has items like `item`.
pub(crate) fn is_format_specific_item(item: &Value) -> bool {
    let parts = part_types(item)
        .any(|kind| matches!(kind, "input_text" | "output_text" | "input_image" | "input_file"));
    let kind = text(item, "type");
    let typed = matches!(kind, "reasoning" | "item_reference")
        || kind.ends_with("_call")
        || kind.ends_with("_call_output");
    parts || (typed && item.get("role").is_none())
}

fn item(value: &Value) -> Result<NewMessage, ReadError> {
    extra::parse_with_extra(&normalize_responses_item(value), Provider::OpenAiResponses, parse, |message| {
        write_model_visible_fields(message, message.role.as_str()).into_iter().next().unwrap_or_default()
    })
}

/// Parses those fields of an item that models see.
fn parse(value: &Value) -> Result<NewMessage, ReadError> {
    let message_with = |role, kind, block| NewMessage { kind, ..NewMessage::new(role, vec![block]) };
    Ok(match fields::kind(value)? {
        "message" => {
            let (role, kind) = role(value)?;
            NewMessage { kind, ..NewMessage::new(role, fields::read_each(value, "content", part)?) }
        }
        "function_call" => {
            let input = parse_arguments(&fields::string(value, "arguments")?);
            let (id, name) = (fields::string(value, "call_id")?, fields::string(value, "name")?);
            message_with(Role::Assistant, MessageKind::Normal, ContentBlock::ToolCall { id, name, input })
        }
        "function_call_output" => {
            let result = ContentBlock::ToolResult {
                call_id: fields::string(value, "call_id")?,
                content: fields::read_each(value, "output", result_part)?,
                outcome: ToolOutcome::Ok,
            };
            message_with(Role::User, MessageKind::ToolResult, result)
        }
        kind => {
            let role = if kind.ends_with("_output") { Role::User } else { Role::Assistant };
            message_with(role, MessageKind::Normal, ContentBlock::Foreign(to_foreign(value)))
        }
    })
}

/// Normalizes equivalent spellings of an item, so that they can be compared.
fn normalize_responses_item(item: &Value) -> Value {
    let mut item = item.clone();
    let text_kind = text_kind(text(&item, "role"));
    let Some(fields) = item.as_object_mut() else { return item };
    if fields.contains_key("role") {
        fields.entry("type").or_insert_with(|| "message".into());
    }
    let (key, kind) = match fields.get("type").and_then(Value::as_str) {
        Some("message") => ("content", text_kind),
        Some("function_call_output") => ("output", "input_text"),
        _ => return item,
    };
    if let Some(Value::String(text)) = fields.get(key) {
        let parts = json!([{"type": kind, "text": text}]);
        fields.insert(key.to_owned(), parts);
    }
    item
}

fn part(value: &Value) -> Result<ContentBlock, ReadError> {
    Ok(match fields::kind(value)? {
        "input_text" | "output_text" | "text" => ContentBlock::Text { text: fields::string(value, "text")? },
        "input_image" if value.get("image_url").is_some_and(Value::is_string) => {
            ContentBlock::Image(image_from_url(&fields::string(value, "image_url")?))
        }
        kind if FOREIGN_PARTS.contains(&kind) => ContentBlock::Foreign(to_foreign(value)),
        kind => return Err(ReadError::new(format!("`{kind}` is not a known part type")).inside("type")),
    })
}

fn result_part(value: &Value) -> Result<ResultPart, ReadError> {
    Ok(match fields::kind(value)? {
        "input_text" => ResultPart::Text { text: fields::string(value, "text")? },
        _ => ResultPart::Foreign(to_foreign(value)),
    })
}

fn to_foreign(value: &Value) -> Foreign {
    Foreign { provider: Provider::OpenAiResponses, value: value.clone() }
}

fn text_kind(role: &str) -> &'static str {
    if role == "assistant" { "output_text" } else { "input_text" }
}

/// Writes those fields of a message that models see, as items in order.
fn write_model_visible_fields(message: &NewMessage, role: &str) -> Vec<Value> {
    let text_part = |text: &str| json!({"type": text_kind(role), "text": text});
    let (mut items, mut parts) = (Vec::new(), Vec::new());
    for block in &message.content {
        let (part, item) = match block {
            ContentBlock::Text { text } => (Some(text_part(text)), None),
            ContentBlock::Image(image) => (Some(image_part(image)), None),
            ContentBlock::Foreign(Foreign { provider: Provider::OpenAiResponses, value }) => {
                let is_part = FOREIGN_PARTS.contains(&text(value, "type"));
                if is_part { (Some(value.clone()), None) } else { (None, Some(value.clone())) }
            }
            ContentBlock::Foreign(foreign) => (foreign.text().map(text_part), None),
            ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. } => (None, None),
            ContentBlock::ToolCall { id, name, input } => {
                let kind = "function_call";
                let arguments = input.to_string();
                (None, Some(json!({"type": kind, "call_id": id, "name": name, "arguments": arguments})))
            }
            ContentBlock::ToolResult { call_id, content, .. } => {
                let output: Vec<Value> = content.iter().filter_map(output_part).collect();
                (None, Some(json!({"type": "function_call_output", "call_id": call_id, "output": output})))
            }
        };
        parts.extend(part);
        if item.is_some() {
            items.extend(message_item(role, std::mem::take(&mut parts)).into_iter().chain(item));
        }
    }
    if items.is_empty() || !parts.is_empty() {
        items.push(json!({"type": "message", "role": role, "content": parts}));
    }
    items
}

fn output_part(part: &ResultPart) -> Option<Value> {
    match part {
        ResultPart::Foreign(foreign) if foreign.provider == Provider::OpenAiResponses => {
            Some(foreign.value.clone())
        }
        part => part.text().map(|text| json!({"type": "input_text", "text": text})),
    }
}
