//! Messages and JSON as they may go out: every text in them is screened, and a value beside a name that says what it is
//! (`"password": ...`) with that name. Bytes of pictures and what a provider has sealed stay as they are.

use serde_json::Value;

use super::screen::Screen;
use crate::history::{ContentBlock, NewMessage, ResultPart};

/// The longest value that is looked at together with its name.
const LONGEST_VALUE: usize = 4_096;

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
                ContentBlock::ToolCall { id, name, input }
            }
            ContentBlock::ToolResult { call_id, content, outcome } => {
                ContentBlock::ToolResult { call_id, content: self.parts(content), outcome }
            }
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
                let picture = fields.contains_key("mediaType") || fields.contains_key("media_type");
                let sealed =
                    fields.contains_key("signature") || is_of_type(fields.get("type"), "redacted_thinking");
                for (name, value) in fields {
                    if !(name == "data" && (picture || sealed) || name == "signature") {
                        self.value_under(name, value);
                    }
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

fn is_of_type(value: Option<&Value>, name: &str) -> bool {
    value.and_then(Value::as_str) == Some(name)
}
