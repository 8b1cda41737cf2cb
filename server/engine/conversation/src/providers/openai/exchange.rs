//! Reads message lists of OpenAI's Chat Completions API:
//! <https://platform.openai.com/docs/api-reference/chat/create>.
//!
//! Arguments of a call that are not JSON, or are nested too deeply, are read as a string. Empty arguments are read
//! as no arguments.

#[cfg(test)]
pub(crate) mod tests;

use serde_json::{Value, json};

use super::messages::text_part;
use crate::exchange::{ReadError, ReadList, fields, message_list_in, read_each_item};
use crate::history::{
    ContentBlock, Foreign, ForeignProvider, Image, ImageSource, MessageKind, NewMessage, ResultPart, Role,
    ToolOutcome,
};
use crate::providers::json_fields::{list, text};

/// Reads a list of messages, a body with `messages`, or a single message. Instructions before the
/// conversation become its system prompt, and later ones become system events.
///
/// # Errors
/// [`ReadError`] if a part does not fit the format.
pub(crate) fn read_conversation(value: &Value) -> Result<ReadList, ReadError> {
    read_list(value, "messages", read_message)
}

/// Reads the list that `message_list_in` finds in `value`. Instructions before the conversation become its system
/// prompt.
pub(crate) fn read_list(
    value: &Value,
    name: &str,
    read: fn(&Value) -> Result<NewMessage, ReadError>,
) -> Result<ReadList, ReadError> {
    let (list, path) = message_list_in(value, name)?;
    let is_instruction = |message: &&Value| matches!(text(message, "role"), "system" | "developer");
    let leading = list.iter().take_while(is_instruction).count();
    let mut system = read_each_item((list, path), read)?;
    let messages = system.split_off(leading.min(system.len()));
    Ok(ReadList { system, messages })
}

/// Whether only this format has messages like `item`.
pub(crate) fn is_format_specific_message(item: &Value) -> bool {
    matches!(text(item, "role"), "tool" | "system" | "developer")
        || item.get("tool_calls").is_some()
        || item.get("content").is_some_and(Value::is_null)
        || part_types(item).any(|kind| matches!(kind, "image_url" | "input_audio" | "file" | "refusal"))
}

/// Returns the types of the parts of a message.
pub(crate) fn part_types(item: &Value) -> impl Iterator<Item = &str> {
    list(item, "content").iter().map(|part| text(part, "type"))
}

/// Converts a URL to an image. A `data:` URL becomes an inline image.
pub(crate) fn image_from_url(url: &str) -> Image {
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let source = match inline {
        Some((media_type, data)) => {
            ImageSource::Base64 { media_type: media_type.to_owned(), data: data.to_owned() }
        }
        None => ImageSource::Url { url: url.to_owned() },
    };
    Image { source, width: None, height: None }
}

/// Maximum nesting of arguments. `serde_json` reads at most 127 levels, and the surrounding message needs
/// some of them.
const MAX_ARGUMENT_DEPTH: usize = 100;

/// Parses the arguments of a call. Returns `text` as a string if it is not JSON, or is nested too deeply to
/// be read inside a message.
pub(crate) fn parse_arguments(text: &str) -> Value {
    if text.is_empty() {
        return json!({});
    }
    match serde_json::from_str(text) {
        Ok(value) if is_nested_at_most(MAX_ARGUMENT_DEPTH, &value) => value,
        _ => text.into(),
    }
}

/// Whether lists and objects in `value` are nested at most `levels` deep.
fn is_nested_at_most(levels: usize, value: &Value) -> bool {
    let inside = |value: &Value| levels.checked_sub(1).is_some_and(|left| is_nested_at_most(left, value));
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(inside),
        Value::Object(fields) => levels > 0 && fields.values().all(inside),
        _ => true,
    }
}

/// Reads the role of a message. Instructions are system events.
pub(crate) fn read_role(value: &Value) -> Result<(Role, MessageKind), ReadError> {
    Ok(match &*fields::string(value, "role")? {
        "user" => (Role::User, MessageKind::Normal),
        "assistant" => (Role::Assistant, MessageKind::Normal),
        "system" | "developer" => (Role::User, MessageKind::SystemEvent),
        other => return Err(ReadError::new(format!("`{other}` is not a role in this format")).inside("role")),
    })
}

fn read_message(value: &Value) -> Result<NewMessage, ReadError> {
    parse_visible_fields(&normalize_message(value))
}

/// Parses those fields of a message that models see.
fn parse_visible_fields(value: &Value) -> Result<NewMessage, ReadError> {
    if text(value, "role") == "tool" {
        let result = ContentBlock::ToolResult {
            call_id: fields::string(value, "tool_call_id")?,
            content: fields::read_each(value, "content", read_result_part)?,
            outcome: ToolOutcome::Ok,
        };
        return Ok(NewMessage { kind: MessageKind::ToolResult, ..NewMessage::new(Role::User, vec![result]) });
    }
    let (role, kind) = read_role(value)?;
    let mut content = match value.get("content") {
        Some(Value::Null) if role == Role::Assistant => Vec::new(),
        _ => fields::read_each(value, "content", read_part)?,
    };
    if role == Role::Assistant && value.get("tool_calls").is_some_and(|calls| !calls.is_null()) {
        content.extend(fields::read_each(value, "tool_calls", read_tool_call)?);
    }
    Ok(NewMessage { kind, ..NewMessage::new(role, content) })
}

/// Writes out short spellings of a message: content becomes a list of parts.
fn normalize_message(message: &Value) -> Value {
    let mut message = message.clone();
    let is_assistant = message.get("role").is_some_and(|role| role == "assistant");
    let answers = message.get("role").is_some_and(|role| role == "tool");
    let Some(fields) = message.as_object_mut() else { return message };
    match fields.get_mut("content") {
        Some(Value::String(text)) => {
            let parts = if answers && text.is_empty() { json!([]) } else { json!([text_part(text)]) };
            fields.insert("content".into(), parts);
        }
        content if is_assistant && content.as_deref().is_none_or(|content| *content == json!([])) => {
            fields.insert("content".into(), Value::Null);
        }
        _ => {}
    }
    let calls = fields.get_mut("tool_calls").and_then(Value::as_array_mut);
    for call in calls.into_iter().flatten().filter_map(Value::as_object_mut) {
        call.entry("type").or_insert_with(|| "function".into());
    }
    message
}

fn read_part(value: &Value) -> Result<ContentBlock, ReadError> {
    Ok(match fields::kind(value)? {
        "text" => ContentBlock::Text { text: fields::string(value, "text")? },
        "image_url" => {
            let Some(image) = value.get("image_url") else {
                return Err(ReadError::new("`image_url` is missing"));
            };
            let url = fields::string(image, "url").map_err(|error| error.inside("image_url"))?;
            ContentBlock::Image(image_from_url(&url))
        }
        _ => ContentBlock::Foreign(wrap_foreign(value)),
    })
}

fn read_result_part(value: &Value) -> Result<ResultPart, ReadError> {
    Ok(match fields::kind(value)? {
        "text" => ResultPart::Text { text: fields::string(value, "text")? },
        _ => ResultPart::Foreign(wrap_foreign(value)),
    })
}

fn read_tool_call(value: &Value) -> Result<ContentBlock, ReadError> {
    if fields::kind(value)? != "function" {
        let problem = "must have a string `id` and an object in the field that its `type` names";
        let foreign = Some(wrap_foreign(value)).filter(is_custom_call);
        return foreign.map(ContentBlock::Foreign).ok_or_else(|| ReadError::new(problem));
    }
    let Some(function) = value.get("function") else { return Err(ReadError::new("`function` is missing")) };
    let text = |key| fields::string(function, key).map_err(|error| error.inside("function"));
    let input = parse_arguments(&text("arguments")?);
    Ok(ContentBlock::ToolCall { id: fields::string(value, "id")?, name: text("name")?, input })
}

fn wrap_foreign(value: &Value) -> Foreign {
    Foreign { provider: ForeignProvider::OpenAi, value: value.clone() }
}

/// Whether a foreign block is a call of a type other than `function`:
/// `{"id": .., "type": "custom", "custom": {..}}`.
fn is_custom_call(foreign: &Foreign) -> bool {
    let field = |key: &str| foreign.value.get(key);
    let custom_field = field("type").and_then(Value::as_str).and_then(field);
    foreign.provider == ForeignProvider::OpenAi
        && field("id").is_some_and(Value::is_string)
        && custom_field.is_some_and(Value::is_object)
}
