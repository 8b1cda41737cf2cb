//! Screens JSON. Every string is screened, and a short one also together with its field name, so that
//! `"password": ...` is recognized. Image data and content sealed by a provider stay unchanged if they are
//! base64.

use serde_json::{Map, Value};

use super::key_lines::is_base64;
use super::screen::SecretRedactor;

/// Maximum length, in bytes, of a value that is searched for secrets together with its field name.
const MAX_VALUE_BYTES: usize = 4_096;
/// Minimum length of a `signature` field that counts as a provider's seal, in bytes: longer than any base64
/// credential (those of Amazon Bedrock have up to 304).
const MIN_SIGNATURE_BYTES: usize = 320;

impl SecretRedactor {
    /// Replaces the secrets in every string of a JSON value, and removes reasoning blocks that contain a secret.
    pub fn redact_value(&self, value: &mut Value) {
        self.redact_field("", value);
    }

    pub fn has_no_secrets(&self, text: &str) -> bool {
        self.redact_text(text) == text
    }

    /// Whether the signature or the encrypted text of a reasoning block may be sent back to its provider unchanged:
    /// it is base64 or contains no secret.
    pub fn is_safe_reasoning_data(&self, text: &str) -> bool {
        is_base64_text(text) || self.has_no_secrets(text)
    }

    /// Replaces the secrets in the value of the field `name`, like [`Self::redact_value`].
    fn redact_field(&self, name: &str, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(screened) = self.redact_field_text(name, text) {
                    *text = screened;
                }
            }
            Value::Array(values) => {
                values.retain(|value| !self.is_reasoning_with_secret(value));
                values.iter_mut().for_each(|value| self.redact_field(name, value));
            }
            Value::Object(fields) => {
                let unchanged = unchanged_field(fields);
                for (name, value) in &mut *fields {
                    if Some(name.as_str()) != unchanged {
                        self.redact_field(name, value);
                    }
                }
                if !fields.keys().all(|name| self.has_no_secrets(name)) {
                    *fields = std::mem::take(fields)
                        .into_iter()
                        .map(|(name, value)| (self.redact_string(name), value))
                        .collect();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Whether a value is a reasoning block that contains a secret. Such blocks are removed, since providers
    /// accept them only unchanged.
    fn is_reasoning_with_secret(&self, value: &Value) -> bool {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let is_reasoning =
            ["thinking", "redacted_thinking"].iter().any(|kind| is_exact_string(value.get("type"), kind));
        let are_clean = || {
            ["text", "thinking"].into_iter().filter_map(text).all(|text| self.has_no_secrets(text))
                && ["signature", "data"]
                    .into_iter()
                    .filter_map(text)
                    .all(|seal| self.is_safe_reasoning_data(seal))
        };
        is_reasoning && !are_clean()
    }

    /// Returns the screened value of the field `name`, or `None` if it contains no secret. Short values are
    /// screened together with the name.
    fn redact_field_text(&self, name: &str, text: &str) -> Option<String> {
        let mut screened = self.redact_text(text);
        if !name.is_empty() && text.len() <= MAX_VALUE_BYTES {
            // Write the field like an assignment in a settings file, which the rules recognize.
            let opening = format!("{}=\"", self.redact_text(name));
            let assignment = format!("{opening}{screened}\"");
            let value = self.redact_text(&assignment);
            if let Some(value) = value.strip_prefix(&*opening).and_then(|rest| rest.strip_suffix('"')) {
                screened = value.to_owned().into();
            }
        }
        (screened != text).then(|| screened.into_owned())
    }

    pub fn redact_string(&self, text: String) -> String {
        match self.redact_text(&text) {
            std::borrow::Cow::Borrowed(_) => text,
            std::borrow::Cow::Owned(screened) => screened,
        }
    }
}

/// Returns the name of the field that must not be redacted, if any: the signature of reasoning, encrypted reasoning,
/// or the bytes of an image or other media.
fn unchanged_field(fields: &Map<String, Value>) -> Option<&'static str> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let is_base64 = |name: &str| text(name).is_some_and(is_base64_text);
    let media_type = text("mediaType").or_else(|| text("media_type")).unwrap_or_default();
    let is_media =
        ["image/", "audio/", "video/", "application/pdf"].iter().any(|kind| media_type.starts_with(kind));
    match text("type") {
        Some("thinking") if is_base64("signature") => Some("signature"),
        Some("redacted_thinking") if is_base64("data") => Some("data"),
        // Other formats of reasoning also have a seal.
        _ if is_base64("signature")
            && text("signature").is_some_and(|seal| seal.len() >= MIN_SIGNATURE_BYTES) =>
        {
            Some("signature")
        }
        _ => (is_media && is_base64("data")).then_some("data"),
    }
}

/// Whether a text consists only of base64 characters and line breaks.
pub fn is_base64_text(text: &str) -> bool {
    text.bytes().all(|byte| is_base64(byte) || matches!(byte, b'\r' | b'\n'))
}

fn is_exact_string(value: Option<&Value>, name: &str) -> bool {
    value.and_then(Value::as_str) == Some(name)
}
