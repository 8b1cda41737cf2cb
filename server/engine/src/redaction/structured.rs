//! Messages and JSON as they may go out: every text in them is screened, and a value beside a name that says what it is
//! (`"password": ...`) with that name. Bytes of pictures and what a provider has sealed stay as they are.

use serde_json::{Map, Value};

use super::screen::Screen;
use crate::history::{ContentBlock, NewMessage, ResultPart};

/// The longest value that is looked at together with its name.
const LONGEST_VALUE: usize = 4_096;
/// The seal of a provider has at least so many characters.
const SEAL: usize = 100;

impl Screen {
    /// Screens everything that a message says.
    pub fn message(&self, message: &mut NewMessage) {
        message.content = self.blocks(std::mem::take(&mut message.content));
        message.extra.iter_mut().for_each(|(name, value)| self.value_under(name, value));
    }

    /// Content blocks as they may go out. Reasoning that holds a secret is left out: a provider takes it back unchanged or
    /// not at all.
    pub fn blocks(&self, blocks: Vec<ContentBlock>) -> Vec<ContentBlock> {
        blocks.into_iter().filter_map(|block| self.block(block)).collect()
    }

    /// The parts of a tool's result as they may go out.
    pub fn parts(&self, parts: Vec<ResultPart>) -> Vec<ResultPart> {
        let part = |part| match part {
            ResultPart::Text { text } => ResultPart::Text { text: self.owned(text) },
            ResultPart::Image(_) => part,
            ResultPart::Foreign(mut foreign) => {
                self.value(&mut foreign.value);
                ResultPart::Foreign(foreign)
            }
        };
        parts.into_iter().map(part).collect()
    }

    /// Screens every text in a JSON value.
    pub fn value(&self, value: &mut Value) {
        self.value_under("", value);
    }

    fn block(&self, block: ContentBlock) -> Option<ContentBlock> {
        Some(match block {
            ContentBlock::Text { text } => ContentBlock::Text { text: self.owned(text) },
            ContentBlock::Thinking { text, signature } => {
                let clean = self.text(&text) == text;
                return clean.then_some(ContentBlock::Thinking { text, signature });
            }
            ContentBlock::ToolCall { id, name, mut input } => {
                self.value(&mut input);
                ContentBlock::ToolCall { id: self.owned(id), name: self.owned(name), input }
            }
            ContentBlock::ToolResult { call_id, content, outcome } => ContentBlock::ToolResult {
                call_id: self.owned(call_id),
                content: self.parts(content),
                outcome,
            },
            ContentBlock::Foreign(mut foreign) => {
                self.value(&mut foreign.value);
                ContentBlock::Foreign(foreign)
            }
            ContentBlock::Image(_) | ContentBlock::RedactedThinking { .. } => block,
        })
    }

    fn value_under(&self, name: &str, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(screened) = self.beside(name, text) {
                    *text = screened;
                }
            }
            Value::Array(values) => {
                values.retain(|value| !self.is_sealed_with_a_secret(value));
                values.iter_mut().for_each(|value| self.value_under(name, value));
            }
            Value::Object(fields) => {
                let kept = kept_as_it_is(fields);
                for (name, value) in &mut *fields {
                    if Some(name.as_str()) != kept {
                        self.value_under(name, value);
                    }
                }
                if fields.keys().any(|name| self.text(name) != **name) {
                    *fields = std::mem::take(fields)
                        .into_iter()
                        .map(|(name, value)| (self.owned(name), value))
                        .collect();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Reasoning as a client sends it back, with a secret in it.
    fn is_sealed_with_a_secret(&self, value: &Value) -> bool {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        is_of_type(value.get("type"), "thinking")
            && [text("text"), text("thinking")].into_iter().flatten().any(|text| self.text(text) != text)
    }

    /// A value beside its name, when there is a secret in it.
    fn beside(&self, name: &str, text: &str) -> Option<String> {
        let screened = self.text(text);
        if name.is_empty() || screened != text || text.len() > LONGEST_VALUE {
            return (screened != text).then(|| screened.into_owned());
        }
        // As a settings file would say it.
        let opening = format!("{name}=\"");
        let both = format!("{opening}{text}\"");
        let screened = self.text(&both);
        let value = screened.strip_prefix(&*opening).and_then(|rest| rest.strip_suffix('"'))?;
        (value != text).then(|| value.to_owned())
    }

    fn owned(&self, text: String) -> String {
        match self.text(&text) {
            std::borrow::Cow::Borrowed(_) => text,
            std::borrow::Cow::Owned(screened) => screened,
        }
    }
}

/// The field of an object that no text stands in: what a provider has sealed, and the bytes of pictures and the like.
fn kept_as_it_is(fields: &Map<String, Value>) -> Option<&'static str> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    match text("type") {
        Some("thinking") => return Some("signature"),
        Some("redacted_thinking") => return Some("data"),
        _ => {}
    }
    let is_base64 =
        |data: &str| data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=\r\n".contains(&byte));
    // Other forms of reasoning have a seal, too, which is longer than any token of these characters.
    if text("signature").is_some_and(|seal| seal.len() >= SEAL && is_base64(seal)) {
        return Some("signature");
    }
    let media_type = text("mediaType").or_else(|| text("media_type"))?;
    let is_of_bytes =
        ["image/", "audio/", "video/", "application/pdf"].iter().any(|kind| media_type.starts_with(kind));
    (is_of_bytes && text("data").is_some_and(is_base64)).then_some("data")
}

fn is_of_type(value: Option<&Value>, name: &str) -> bool {
    value.and_then(Value::as_str) == Some(name)
}
