//! Imports and exports message lists of OpenAI's Chat Completions API:
//! <https://platform.openai.com/docs/api-reference/chat/create>.
//!
//! The exported form is always `{"messages": [...]}`. Besides dropping what no format can express
//! (`exchange`), a round trip makes these changes:
//!
//! - Content with a single text part becomes a string.
//! - A tool message without content gets an empty string, and an assistant message without content gets `null`.
//! - A call without a type becomes a `function`.
//! - Fields of a body other than `messages` are removed.
//!
//! The arguments of a call are preserved byte for byte, whether or not they are JSON and however deeply they
//! are nested. Empty arguments are read as no arguments.
//!
//! The format cannot express reasoning, failed results, several results in one message (they become several
//! messages), images in results (they follow in a user message, as in requests), or text after a call.

use serde_json::{Map, Value, json};

use super::{ReadError, ReadList, each, extra, fields, list_in};
use crate::conversation::dialect::openai::{foreign_part, image_part, text_part};
use crate::conversation::history::{
    ContentBlock, Foreign, Image, ImageSource, Kind, NewMessage, Outcome, Provider, ResultPart, Role,
};

/// Reads a list of messages, a body with `messages`, or a single message. Instructions before the
/// conversation become its system prompt, and later ones become system events.
///
/// # Errors
/// [`ReadError`] if a part does not fit the format.
pub(crate) fn read_openai(value: &Value) -> Result<ReadList, ReadError> {
    let (list, path) = list_in(value, "messages")?;
    let leading = list.iter().take_while(|message| is_instruction(message)).count();
    let mut all = each((list, path), message)?;
    let messages = all.split_off(leading.min(all.len()));
    Ok(ReadList { system: all, messages })
}

/// Writes the whole conversation, including hidden messages.
#[cfg(test)]
pub(crate) fn write_openai<'a>(
    system: impl IntoIterator<Item = &'a NewMessage>,
    messages: impl IntoIterator<Item = &'a NewMessage>,
) -> Value {
    let system = system.into_iter().flat_map(|message| written(message, "system"));
    let messages = messages.into_iter().flat_map(|message| written(message, role_of(message)));
    json!({"messages": system.chain(messages).collect::<Vec<_>>()})
}

/// Converts a URL to an image. A `data:` URL becomes an inline image.
pub(super) fn image_at(url: &str) -> Image {
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
const MAX_LEVELS: usize = 100;

/// Parses the arguments of a call. Returns `text` as a string if it is not JSON, or is nested too deeply to
/// be read inside a message.
pub(super) fn arguments(text: &str) -> Value {
    if text.is_empty() {
        return json!({});
    }
    match serde_json::from_str(text) {
        Ok(value) if is_within(MAX_LEVELS, &value) => value,
        _ => text.into(),
    }
}

/// Whether lists and objects in `value` are nested at most `levels` deep.
fn is_within(levels: usize, value: &Value) -> bool {
    let inside = |value: &Value| levels.checked_sub(1).is_some_and(|left| is_within(left, value));
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(inside),
        Value::Object(fields) => levels > 0 && fields.values().all(inside),
        _ => true,
    }
}

/// Whether a message, or an item of the Responses API, contains instructions.
pub(super) fn is_instruction(message: &Value) -> bool {
    message.get("role").is_some_and(|role| role == "system" || role == "developer")
}

fn message(value: &Value) -> Result<NewMessage, ReadError> {
    let came = normal(value);
    let message = parse(&came)?;
    let plain = plain(&message, role_of(&message)).into_iter().next().unwrap_or_default();
    Ok(extra::keep(message, Provider::OpenAi, &came, &plain))
}

/// Parses those fields of a message that models see.
fn parse(value: &Value) -> Result<NewMessage, ReadError> {
    let (role, kind) = match &*fields::string(value, "role")? {
        "user" => (Role::User, Kind::Normal),
        "assistant" => (Role::Assistant, Kind::Normal),
        "tool" => (Role::User, Kind::ToolResult),
        "system" | "developer" => (Role::User, Kind::SystemEvent),
        other => return Err(ReadError::new(format!("`{other}` is not a role in this format")).inside("role")),
    };
    if kind == Kind::ToolResult {
        let result = ContentBlock::ToolResult {
            call_id: fields::string(value, "tool_call_id")?,
            content: fields::each(value, "content", result_part)?,
            outcome: Outcome::Ok,
        };
        return Ok(NewMessage { kind, ..NewMessage::new(role, vec![result]) });
    }
    let mut content = match value.get("content") {
        Some(Value::Null) if role == Role::Assistant => Vec::new(),
        _ => fields::each(value, "content", part)?,
    };
    if role == Role::Assistant && value.get("tool_calls").is_some_and(|calls| !calls.is_null()) {
        content.extend(fields::each(value, "tool_calls", call)?);
    }
    Ok(NewMessage { kind, ..NewMessage::new(role, content) })
}

/// Normalizes equivalent spellings of a message, so that they can be compared: content becomes a list of
/// parts.
fn normal(message: &Value) -> Value {
    let mut message = message.clone();
    let speaks = message.get("role").is_some_and(|role| role == "assistant");
    let answers = message.get("role").is_some_and(|role| role == "tool");
    let Some(fields) = message.as_object_mut() else { return message };
    match fields.get_mut("content") {
        Some(Value::String(text)) => {
            let parts = if answers && text.is_empty() { json!([]) } else { json!([text_part(text)]) };
            fields.insert("content".into(), parts);
        }
        None if speaks => {
            fields.insert("content".into(), Value::Null);
        }
        Some(Value::Array(parts)) if speaks && parts.is_empty() => {
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

fn part(value: &Value) -> Result<ContentBlock, ReadError> {
    Ok(match fields::kind(value)? {
        "text" => ContentBlock::Text { text: fields::string(value, "text")? },
        "image_url" => {
            let Some(image) = value.get("image_url") else {
                return Err(ReadError::new("`image_url` is missing"));
            };
            let url = fields::string(image, "url").map_err(|error| error.inside("image_url"))?;
            ContentBlock::Image(image_at(&url))
        }
        _ => ContentBlock::Foreign(foreign(value)),
    })
}

fn result_part(value: &Value) -> Result<ResultPart, ReadError> {
    Ok(match fields::kind(value)? {
        "text" => ResultPart::Text { text: fields::string(value, "text")? },
        _ => ResultPart::Foreign(foreign(value)),
    })
}

fn call(value: &Value) -> Result<ContentBlock, ReadError> {
    if fields::kind(value)? != "function" {
        let foreign = foreign(value);
        let problem = "must have a string `id` and an object in the field that its `type` names";
        return if is_call(&foreign) {
            Ok(ContentBlock::Foreign(foreign))
        } else {
            Err(ReadError::new(problem))
        };
    }
    let Some(function) = value.get("function") else { return Err(ReadError::new("`function` is missing")) };
    let text = |key| fields::string(function, key).map_err(|error| error.inside("function"));
    let input = arguments(&text("arguments")?);
    Ok(ContentBlock::ToolCall { id: fields::string(value, "id")?, name: text("name")?, input })
}

fn foreign(value: &Value) -> Foreign {
    Foreign { provider: Provider::OpenAi, value: value.clone() }
}

pub(super) fn role_of(message: &NewMessage) -> &'static str {
    match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

/// Writes a message. If it was read from this format, restores the original form.
#[cfg(test)]
pub(super) fn written(message: &NewMessage, role: &str) -> Vec<Value> {
    let mut messages = plain(message, role);
    if let [only] = messages.as_mut_slice() {
        let reads_back = |whole: &Value| {
            parse(whole).is_ok_and(|r| r.role == message.role && r.content == message.content)
        };
        *only = extra::restore(message, Provider::OpenAi, only.take(), reads_back);
    }
    messages.iter_mut().for_each(shorten);
    messages
}

/// Replaces content that is a single text part with its string, which every compatible server accepts, and
/// the content of an empty tool result with an empty string.
#[cfg(test)]
fn shorten(message: &mut Value) {
    let answers = message.get("role").is_some_and(|role| role == "tool");
    let Some(content) = message.get_mut("content") else { return };
    let text = match content.as_array_mut().map(Vec::as_mut_slice) {
        Some([Value::Object(part)])
            if part.len() == 2 && part.get("type").is_some_and(|kind| kind == "text") =>
        {
            part.get_mut("text").filter(|text| text.is_string()).map(Value::take)
        }
        Some([]) if answers => Some("".into()),
        _ => None,
    };
    if let Some(text) = text {
        *content = text;
    }
}

/// Writes those fields of a message that models see. Tool results come first, then the remaining blocks.
fn plain(message: &NewMessage, role: &str) -> Vec<Value> {
    let mut messages = Vec::new();
    let (mut parts, mut calls) = (Vec::new(), Vec::new());
    for block in &message.content {
        match block {
            ContentBlock::Text { text } => parts.push(text_part(text)),
            ContentBlock::Image(image) => parts.push(image_part(image)),
            ContentBlock::ToolCall { id, name, input } => {
                let function = json!({"name": name, "arguments": input.to_string()});
                calls.push(json!({"id": id, "type": "function", "function": function}));
            }
            ContentBlock::ToolResult { call_id, content, .. } => {
                messages.push(tool_message(call_id, content));
                parts.extend(content.iter().filter_map(|part| match part {
                    ResultPart::Image(image) => Some(image_part(image)),
                    ResultPart::Text { .. } | ResultPart::Foreign(_) => None,
                }));
            }
            ContentBlock::Foreign(foreign) if message.role == Role::Assistant && is_call(foreign) => {
                calls.push(foreign.value.clone());
            }
            ContentBlock::Foreign(foreign) => parts.extend(foreign_part(foreign)),
            ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. } => {}
        }
    }
    if messages.is_empty() || !parts.is_empty() || !calls.is_empty() {
        let silent = parts.is_empty() && message.role == Role::Assistant;
        let mut said = Map::new();
        said.insert("role".into(), role.into());
        said.insert("content".into(), if silent { Value::Null } else { parts.into() });
        if !calls.is_empty() {
            said.insert("tool_calls".into(), calls.into());
        }
        messages.push(said.into());
    }
    messages
}

fn tool_message(call_id: &str, content: &[ResultPart]) -> Value {
    let part = |part: &ResultPart| match part {
        ResultPart::Text { text } => Some(text_part(text)),
        ResultPart::Foreign(foreign) => foreign_part(foreign),
        ResultPart::Image(_) => None,
    };
    let content: Vec<Value> = content.iter().filter_map(part).collect();
    json!({"role": "tool", "tool_call_id": call_id, "content": content})
}

/// Whether a foreign block is a call of a type other than `function`:
/// `{"id": .., "type": "custom", "custom": {..}}`.
fn is_call(foreign: &Foreign) -> bool {
    let field = |key: &str| foreign.value.get(key);
    let held = field("type").and_then(Value::as_str).and_then(field);
    foreign.provider == Provider::OpenAi
        && field("id").is_some_and(Value::is_string)
        && held.is_some_and(Value::is_object)
}
