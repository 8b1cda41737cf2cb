//! Reads message lists of Anthropic's Messages API:
//! <https://docs.anthropic.com/en/api/messages>.

#[cfg(test)]
pub(crate) mod tests;

use serde_json::{Value, json};

use super::messages::text_block;
use crate::exchange::{ReadError, ReadList, fields, message_list_in, read_each_item};
use crate::history::{
    ContentBlock, Foreign, ForeignProvider, Image, ImageSource, MessageKind, NewMessage, ResultPart, Role,
    ToolOutcome, remove_cache_marks,
};

/// Reads a list of messages, a body with `messages` and `system`, or a single message.
///
/// # Errors
/// [`ReadError`] if a part does not fit the format.
pub(crate) fn read_conversation(value: &Value) -> Result<ReadList, ReadError> {
    let messages = read_each_item(message_list_in(value, "messages")?, read_message)?;
    let system = match value.get("system") {
        None | Some(Value::Null) => Vec::new(),
        Some(system) => vec![read_system_prompt(system)?],
    };
    Ok(ReadList { system, messages })
}

/// Reads the system prompt as a separate message.
fn read_system_prompt(system: &Value) -> Result<NewMessage, ReadError> {
    let read = read_message(&json!({"role": "user", "content": system}));
    let path = |error: ReadError| ReadError {
        path: error.path.replacen("/content", "/system", 1),
        problem: error.problem,
    };
    Ok(NewMessage { kind: MessageKind::SystemEvent, ..read.map_err(path)? })
}

fn read_message(value: &Value) -> Result<NewMessage, ReadError> {
    parse_visible_fields(&normalize_message(value))
}

/// Parses those fields of a message that models see.
fn parse_visible_fields(value: &Value) -> Result<NewMessage, ReadError> {
    let role = match &*fields::string(value, "role")? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => {
            return Err(ReadError::new(format!("`{other}` is neither `user` nor `assistant`")).inside("role"));
        }
    };
    let content = fields::read_each(value, "content", read_block)?;
    let kind = if content.iter().any(ContentBlock::is_tool_result) {
        MessageKind::ToolResult
    } else {
        MessageKind::Normal
    };
    Ok(NewMessage { kind, ..NewMessage::new(role, content) })
}

/// Writes out short spellings of a message, and removes cache marks.
fn normalize_message(message: &Value) -> Value {
    let mut message = message.clone();
    if let Some(content) = message.get_mut("content") {
        normalize_content(content);
    }
    message
}

/// Writes out short spellings of the content of a message or a tool result, and removes cache marks.
pub(crate) fn normalize_content(content: &mut Value) {
    if let Value::String(text) = content {
        *content = json!([text_block(text)]);
    }
    for block in content.as_array_mut().into_iter().flatten() {
        remove_cache_marks(block);
        let Some(block) = block.as_object_mut() else { continue };
        if block.get("type").is_some_and(|kind| kind == "tool_result") {
            let content = block.entry("content").or_insert(Value::Null);
            if content.is_null() {
                *content = json!([]);
            }
            normalize_content(content);
        }
    }
}

pub(crate) fn read_block(value: &Value) -> Result<ContentBlock, ReadError> {
    Ok(match fields::kind(value)? {
        "text" => ContentBlock::Text { text: fields::string(value, "text")? },
        "image" => match read_image(value)? {
            Some(image) => ContentBlock::Image(image),
            None => ContentBlock::Foreign(wrap_foreign(value)),
        },
        "thinking" => ContentBlock::Thinking {
            text: fields::string(value, "thinking")?,
            signature: fields::optional_string(value, "signature")?,
        },
        "redacted_thinking" => ContentBlock::RedactedThinking { data: fields::string(value, "data")? },
        "tool_use" => ContentBlock::ToolCall {
            id: fields::string(value, "id")?,
            name: fields::string(value, "name")?,
            input: value.get("input").cloned().ok_or_else(|| ReadError::new("`input` is missing"))?,
        },
        "tool_result" => ContentBlock::ToolResult {
            call_id: fields::string(value, "tool_use_id")?,
            content: fields::read_each(value, "content", read_result_part)?,
            outcome: match value.get("is_error") {
                None | Some(Value::Bool(false) | Value::Null) => ToolOutcome::Ok,
                Some(Value::Bool(true)) => ToolOutcome::Error,
                Some(_) => return Err(ReadError::new("must be true or false").inside("is_error")),
            },
        },
        _ => ContentBlock::Foreign(wrap_foreign(value)),
    })
}

fn read_result_part(value: &Value) -> Result<ResultPart, ReadError> {
    Ok(match fields::kind(value)? {
        "text" => ResultPart::Text { text: fields::string(value, "text")? },
        "image" => match read_image(value)? {
            Some(image) => ResultPart::Image(image),
            None => ResultPart::Foreign(wrap_foreign(value)),
        },
        _ => ResultPart::Foreign(wrap_foreign(value)),
    })
}

/// Reads an image; `None` if Strata does not support its source.
fn read_image(value: &Value) -> Result<Option<Image>, ReadError> {
    let Some(source) = value.get("source") else { return Err(ReadError::new("`source` is missing")) };
    let read = || {
        Ok(match fields::kind(source)? {
            "base64" => Some(ImageSource::Base64 {
                media_type: fields::string(source, "media_type")?,
                data: fields::string(source, "data")?,
            }),
            "url" => Some(ImageSource::Url { url: fields::string(source, "url")? }),
            _ => None,
        })
    };
    let source = read().map_err(|error: ReadError| error.inside("source"))?;
    Ok(source.map(|source| Image { source, width: None, height: None }))
}

fn wrap_foreign(value: &Value) -> Foreign {
    Foreign { provider: ForeignProvider::Anthropic, value: value.clone() }
}
