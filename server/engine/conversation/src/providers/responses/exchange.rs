//! Reads input and output items of OpenAI's Responses API:
//! <https://platform.openai.com/docs/api-reference/responses>.
//!
//! Arguments of a call that are not JSON are read as a string. Items without an equivalent in Strata, including
//! reasoning, become foreign blocks.

#[cfg(test)]
pub(crate) mod tests;

use serde_json::{Value, json};

use crate::exchange::{ReadError, ReadList, fields};
use crate::history::{
    ContentBlock, Foreign, ForeignProvider, MessageKind, NewMessage, ResultPart, Role, ToolOutcome,
};
use crate::providers::json_fields::text;
use crate::providers::openai::exchange::{image_from_url, parse_arguments, part_types, read_list, read_role};

/// Types of message parts without an equivalent in Strata. Other foreign blocks are items.
const FOREIGN_PARTS: [&str; 4] = ["input_file", "input_audio", "input_image", "refusal"];

/// Reads a list of items, a body with `input`, or a single item.
///
/// # Errors
/// [`ReadError`] if a part does not fit the format.
pub(crate) fn read_conversation(value: &Value) -> Result<ReadList, ReadError> {
    let mut system = Vec::new();
    if let Some(text) = fields::optional_string(value, "instructions")? {
        system.push(read_item(&json!({"role": "system", "content": text}))?);
    }
    if let Some(Value::String(prompt)) = value.get("input") {
        return Ok(ReadList { system, messages: vec![NewMessage::text(Role::User, prompt)] });
    }
    let ReadList { system: leading, messages } = read_list(value, "input", read_item)?;
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

fn read_item(value: &Value) -> Result<NewMessage, ReadError> {
    parse_visible_fields(&normalize_responses_item(value))
}

/// Parses those fields of an item that models see.
fn parse_visible_fields(value: &Value) -> Result<NewMessage, ReadError> {
    let message_with = |role, kind, block| NewMessage { kind, ..NewMessage::new(role, vec![block]) };
    Ok(match fields::kind(value)? {
        "message" => {
            let (role, kind) = read_role(value)?;
            NewMessage { kind, ..NewMessage::new(role, fields::read_each(value, "content", read_part)?) }
        }
        "function_call" => {
            let input = parse_arguments(&fields::string(value, "arguments")?);
            let (id, name) = (fields::string(value, "call_id")?, fields::string(value, "name")?);
            message_with(Role::Assistant, MessageKind::Normal, ContentBlock::ToolCall { id, name, input })
        }
        "function_call_output" => {
            let result = ContentBlock::ToolResult {
                call_id: fields::string(value, "call_id")?,
                content: fields::read_each(value, "output", read_result_part)?,
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

/// Writes out short spellings of an item.
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

fn read_part(value: &Value) -> Result<ContentBlock, ReadError> {
    Ok(match fields::kind(value)? {
        "input_text" | "output_text" | "text" => ContentBlock::Text { text: fields::string(value, "text")? },
        "input_image" if value.get("image_url").is_some_and(Value::is_string) => {
            ContentBlock::Image(image_from_url(&fields::string(value, "image_url")?))
        }
        kind if FOREIGN_PARTS.contains(&kind) => ContentBlock::Foreign(to_foreign(value)),
        kind => return Err(ReadError::new(format!("`{kind}` is not a known part type")).inside("type")),
    })
}

fn read_result_part(value: &Value) -> Result<ResultPart, ReadError> {
    Ok(match fields::kind(value)? {
        "input_text" => ResultPart::Text { text: fields::string(value, "text")? },
        _ => ResultPart::Foreign(to_foreign(value)),
    })
}

fn to_foreign(value: &Value) -> Foreign {
    Foreign { provider: ForeignProvider::OpenAiResponses, value: value.clone() }
}

fn text_kind(role: &str) -> &'static str {
    if role == "assistant" { "output_text" } else { "input_text" }
}
