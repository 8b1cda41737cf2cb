//! Imports and exports input and output items of OpenAI's Responses API:
//! <https://platform.openai.com/docs/api-reference/responses>.
//!
//! The exported form is always `{"input": [...]}`. Besides dropping what no format can express (`exchange`),
//! a round trip makes these changes:
//!
//! - A string becomes one text part.
//! - `instructions` become a first item with the role `system`.
//! - An item with a role and no type becomes a `message`.
//! - Fields of a body other than `input` are removed.
//!
//! The arguments of a call are preserved byte for byte, whether or not they are JSON. Items without an
//! equivalent in Strata, including reasoning, become foreign blocks.
//!
//! The format cannot express other models' reasoning, failed results, images in results, or several items in
//! one message (they become several messages).

use serde_json::{Value, json};

use super::openai::{arguments, image_at, is_instruction, role_of};
use super::{ReadError, ReadList, each, extra, fields, list_in};
use crate::conversation::dialect::openai::url_of;
use crate::conversation::history::{
    ContentBlock, Foreign, Kind, NewMessage, Outcome, Provider, ResultPart, Role,
};

/// Types of message parts without an equivalent in Strata. Other foreign blocks are items.
const FOREIGN_PARTS: [&str; 4] = ["input_file", "input_audio", "input_image", "refusal"];

/// Reads a list of items, a body with `input`, or a single item.
///
/// # Errors
/// [`ReadError`] if a part does not fit the format.
pub(crate) fn read_responses(value: &Value) -> Result<ReadList, ReadError> {
    let mut system = Vec::new();
    if let Some(text) = fields::optional_string(value, "instructions")? {
        system.push(item(&json!({"role": "system", "content": text}))?);
    }
    if let Some(Value::String(prompt)) = value.get("input") {
        return Ok(ReadList { system, messages: vec![NewMessage::text(Role::User, prompt)] });
    }
    let (list, path) = list_in(value, "input")?;
    let leading = list.iter().take_while(|item| is_instruction(item)).count();
    let mut all = each((list, path), item)?;
    let messages = all.split_off(leading.min(all.len()));
    system.extend(all);
    Ok(ReadList { system, messages })
}

/// Writes the whole conversation, including hidden messages.
#[cfg(test)]
pub(crate) fn write_responses<'a>(
    system: impl IntoIterator<Item = &'a NewMessage>,
    messages: impl IntoIterator<Item = &'a NewMessage>,
) -> Value {
    let system = system.into_iter().flat_map(|message| written(message, "system"));
    let messages = messages.into_iter().flat_map(|message| written(message, role_of(message)));
    json!({"input": system.chain(messages).collect::<Vec<_>>()})
}

fn item(value: &Value) -> Result<NewMessage, ReadError> {
    let came = normal(value);
    let message = parse(&came)?;
    let plain = plain(&message, role_of(&message)).into_iter().next().unwrap_or_default();
    Ok(extra::keep(message, Provider::OpenAiResponses, &came, &plain))
}

/// Parses those fields of an item that models see.
fn parse(value: &Value) -> Result<NewMessage, ReadError> {
    let of = |role, kind, block| NewMessage { kind, ..NewMessage::new(role, vec![block]) };
    Ok(match fields::kind(value)? {
        "message" => said(value)?,
        "function_call" => {
            let input = arguments(&fields::string(value, "arguments")?);
            let (id, name) = (fields::string(value, "call_id")?, fields::string(value, "name")?);
            of(Role::Assistant, Kind::Normal, ContentBlock::ToolCall { id, name, input })
        }
        "function_call_output" => {
            let result = ContentBlock::ToolResult {
                call_id: fields::string(value, "call_id")?,
                content: fields::each(value, "output", result_part)?,
                outcome: Outcome::Ok,
            };
            of(Role::User, Kind::ToolResult, result)
        }
        kind => {
            let role = if kind.ends_with("_output") { Role::User } else { Role::Assistant };
            of(role, Kind::Normal, ContentBlock::Foreign(foreign(value)))
        }
    })
}

fn said(value: &Value) -> Result<NewMessage, ReadError> {
    let (role, kind) = match &*fields::string(value, "role")? {
        "user" => (Role::User, Kind::Normal),
        "assistant" => (Role::Assistant, Kind::Normal),
        "system" | "developer" => (Role::User, Kind::SystemEvent),
        other => return Err(ReadError::new(format!("`{other}` is not a role in this format")).inside("role")),
    };
    Ok(NewMessage { kind, ..NewMessage::new(role, fields::each(value, "content", part)?) })
}

/// Normalizes equivalent spellings of an item, so that they can be compared.
fn normal(item: &Value) -> Value {
    let mut item = item.clone();
    let text_kind = text_kind(item.get("role").and_then(Value::as_str).unwrap_or_default());
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
            ContentBlock::Image(image_at(&fields::string(value, "image_url")?))
        }
        kind if FOREIGN_PARTS.contains(&kind) => ContentBlock::Foreign(foreign(value)),
        kind => return Err(ReadError::new(format!("`{kind}` is not a known part type")).inside("type")),
    })
}

fn result_part(value: &Value) -> Result<ResultPart, ReadError> {
    Ok(match fields::kind(value)? {
        "input_text" => ResultPart::Text { text: fields::string(value, "text")? },
        _ => ResultPart::Foreign(foreign(value)),
    })
}

fn foreign(value: &Value) -> Foreign {
    Foreign { provider: Provider::OpenAiResponses, value: value.clone() }
}

fn text_kind(role: &str) -> &'static str {
    if role == "assistant" { "output_text" } else { "input_text" }
}

/// Writes the items of a message. If it was read from this format, restores the original form.
#[cfg(test)]
fn written(message: &NewMessage, role: &str) -> Vec<Value> {
    let mut items = plain(message, role);
    if let [only] = items.as_mut_slice() {
        let reads_back = |whole: &Value| {
            parse(whole).is_ok_and(|r| r.role == message.role && r.content == message.content)
        };
        *only = extra::restore(message, Provider::OpenAiResponses, only.take(), reads_back);
    }
    items
}

/// Writes those fields of a message that models see, as items in order.
fn plain(message: &NewMessage, role: &str) -> Vec<Value> {
    let mut items = Vec::new();
    let mut parts = Vec::new();
    for block in &message.content {
        let item = match block {
            ContentBlock::Text { text } => {
                parts.push(json!({"type": text_kind(role), "text": text}));
                continue;
            }
            ContentBlock::Image(image) => {
                parts.push(json!({"type": "input_image", "image_url": url_of(image)}));
                continue;
            }
            ContentBlock::Foreign(foreign) => match foreign_item(foreign, role, &mut parts) {
                Some(item) => item,
                None => continue,
            },
            ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. } => continue,
            ContentBlock::ToolCall { id, name, input } => {
                json!({"type": "function_call", "call_id": id, "name": name, "arguments": input.to_string()})
            }
            ContentBlock::ToolResult { call_id, content, .. } => {
                let output: Vec<Value> = content.iter().filter_map(output_part).collect();
                json!({"type": "function_call_output", "call_id": call_id, "output": output})
            }
        };
        say(&mut items, role, &mut parts);
        items.push(item);
    }
    if items.is_empty() || !parts.is_empty() {
        items.push(json!({"type": "message", "role": role, "content": parts}));
    }
    items
}

/// Returns a foreign block that is an item. Adds a block that is a message part, or the text of another
/// provider's block, to `parts` instead.
fn foreign_item(foreign: &Foreign, role: &str, parts: &mut Vec<Value>) -> Option<Value> {
    let kind = foreign.value.get("type").and_then(Value::as_str).unwrap_or_default();
    match (foreign.provider, foreign.text()) {
        (Provider::OpenAiResponses, _) if !FOREIGN_PARTS.contains(&kind) => {
            return Some(foreign.value.clone());
        }
        (Provider::OpenAiResponses, _) => parts.push(foreign.value.clone()),
        (_, Some(text)) => parts.push(json!({"type": text_kind(role), "text": text})),
        (_, None) => {}
    }
    None
}

fn say(items: &mut Vec<Value>, role: &str, parts: &mut Vec<Value>) {
    if !parts.is_empty() {
        items.push(json!({"type": "message", "role": role, "content": std::mem::take(parts)}));
    }
}

fn output_part(part: &ResultPart) -> Option<Value> {
    let text = |text: &str| json!({"type": "input_text", "text": text});
    match part {
        ResultPart::Text { text: said } => Some(text(said)),
        ResultPart::Foreign(foreign) if foreign.provider == Provider::OpenAiResponses => {
            Some(foreign.value.clone())
        }
        ResultPart::Foreign(foreign) => foreign.text().map(text),
        ResultPart::Image(_) => None,
    }
}
