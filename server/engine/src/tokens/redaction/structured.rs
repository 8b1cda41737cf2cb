//! Messages and JSON as they may go out: every text in them is screened, and a value beside a name that says what it is
//! (`"password": ...`) with that name. Bytes of pictures and what a provider has sealed stay as they are, as long as they look
//! like that.

use serde_json::{Map, Value};

use super::key_lines::is_base64;
use super::screen::Screen;
use crate::conversation::history::{ContentBlock, Image, ImageSource, NewMessage, ResultPart};

/// The longest value that is looked at together with its name.
const LONGEST_VALUE: usize = 4_096;
/// What may be any field called `signature` is taken for the seal of a provider when it has at least so many characters: more
/// than any credential in base64 (those of Amazon Bedrock have up to 304).
const SEAL: usize = 320;

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
            ResultPart::Image(image) => ResultPart::Image(self.image(image)),
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
                let clean =
                    self.is_clean(&text) && signature.as_deref().is_none_or(|seal| self.is_seal(seal));
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
            ContentBlock::Image(image) => ContentBlock::Image(self.image(image)),
            ContentBlock::RedactedThinking { ref data } => return self.is_seal(data).then_some(block),
        })
    }

    fn is_clean(&self, text: &str) -> bool {
        self.text(text) == text
    }

    /// What a provider takes back unchanged or not at all.
    fn is_seal(&self, text: &str) -> bool {
        is_bytes(text) || self.is_clean(text)
    }

    fn image(&self, image: Image) -> Image {
        let source = match image.source {
            ImageSource::Base64 { media_type, data } => ImageSource::Base64 {
                media_type: self.owned(media_type),
                data: if is_bytes(&data) { data } else { self.owned(data) },
            },
            ImageSource::Url { url } => ImageSource::Url { url: self.owned(url) },
        };
        Image { source, ..image }
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
                if !fields.keys().all(|name| self.is_clean(name)) {
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
        let is_reasoning =
            ["thinking", "redacted_thinking"].iter().any(|kind| is_of_type(value.get("type"), kind));
        let are_clean = || {
            ["text", "thinking"].into_iter().filter_map(text).all(|text| self.is_clean(text))
                && ["signature", "data"].into_iter().filter_map(text).all(|seal| self.is_seal(seal))
        };
        is_reasoning && !are_clean()
    }

    /// A value beside its name, when there is a secret in it.
    fn beside(&self, name: &str, text: &str) -> Option<String> {
        let mut screened = self.text(text);
        if !name.is_empty() && text.len() <= LONGEST_VALUE {
            // As a settings file would say it.
            let opening = format!("{}=\"", self.text(name));
            let both = format!("{opening}{screened}\"");
            let value = self.text(&both);
            if let Some(value) = value.strip_prefix(&*opening).and_then(|rest| rest.strip_suffix('"')) {
                screened = value.to_owned().into();
            }
        }
        (screened != text).then(|| screened.into_owned())
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
    let are_bytes = |name: &str| text(name).is_some_and(is_bytes);
    let media_type = text("mediaType").or_else(|| text("media_type")).unwrap_or_default();
    let is_of_bytes =
        ["image/", "audio/", "video/", "application/pdf"].iter().any(|kind| media_type.starts_with(kind));
    match text("type") {
        Some("thinking") if are_bytes("signature") => Some("signature"),
        Some("redacted_thinking") if are_bytes("data") => Some("data"),
        // Other forms of reasoning have a seal, too.
        _ if are_bytes("signature") && text("signature").is_some_and(|seal| seal.len() >= SEAL) => {
            Some("signature")
        }
        _ => (is_of_bytes && are_bytes("data")).then_some("data"),
    }
}

/// Whether a text can be nothing but bytes in base64.
fn is_bytes(text: &str) -> bool {
    text.bytes().all(|byte| is_base64(byte) || matches!(byte, b'\r' | b'\n'))
}

fn is_of_type(value: Option<&Value>, name: &str) -> bool {
    value.and_then(Value::as_str) == Some(name)
}
