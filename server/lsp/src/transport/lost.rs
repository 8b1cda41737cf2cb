//! What is known about a message that could not be read.
//!
//! Reads as much of its bytes as possible, because a lost notification leaves a document out of sync, and the document
//! should be known. Does not decide what a loss means.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use strata_base::json::replace_lone_surrogates;
use tower_lsp::jsonrpc::Id;

/// A message from the client that was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostClientMessage {
    /// The message's method, if it could be read.
    pub method: Option<String>,
    /// URI of the document that the message is about, if it could be read.
    pub document: Option<String>,
    /// Why the message was lost. Quotes no text of it.
    pub problem: String,
}

/// The fields at the beginning of a message, as far as they can be read.
#[derive(Debug, Default)]
pub(super) struct PartialMessage {
    id: Option<Id>,
    kind: MessageKind,
    method: Option<String>,
    document: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
enum MessageKind {
    #[default]
    Unknown,
    Call,
    Answer,
}

impl LostClientMessage {
    /// Creates a lost message about which nothing is known.
    pub(super) fn from_problem(problem: String) -> Self {
        Self { method: None, document: None, problem }
    }
}

impl PartialMessage {
    /// Reads the fields of a truncated or partly invalid message. Bytes that text cannot contain do not end the reading.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let bytes = replace_lone_surrogates(bytes);
        let text = String::from_utf8_lossy(&bytes).replace(|character: char| character < ' ', " ");
        let mut opening = Self::default();
        // Parsing fails where the message is truncated or invalid. The fields before this position are sufficient.
        let _ = serde_json::Deserializer::from_str(&text).deserialize_map(FieldsVisitor(&mut opening));
        opening
    }

    /// Returns the `id` if the message looks like a request: an answer's `id` belongs to a request from the server, and an
    /// error with this `id` could hit an unrelated request from the client.
    pub(super) fn request_id(&self) -> Option<Id> {
        self.id.clone().filter(|_| self.kind == MessageKind::Call)
    }

    /// Returns the message as a lost one, or `None` if it is an answer, which is about no document.
    pub(super) fn into_lost(self, problem: String) -> Option<LostClientMessage> {
        let Self { id, kind, method, document } = self;
        match (kind, &method, id) {
            (MessageKind::Answer, ..) | (_, None, Some(_)) => None,
            _ => Some(LostClientMessage { method, document, problem }),
        }
    }
}

/// Reads the fields of a message.
struct FieldsVisitor<'a>(&'a mut PartialMessage);

impl<'de> Visitor<'de> for FieldsVisitor<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(opening) = self;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match key.as_ref() {
                "id" => {
                    opening.id = Some(map.next_value()?);
                    continue;
                }
                "method" | "params" if opening.kind == MessageKind::Unknown => {
                    opening.kind = MessageKind::Call;
                }
                "result" | "error" => opening.kind = MessageKind::Answer,
                _ => {}
            }
            match key.as_ref() {
                "method" => opening.method = Some(map.next_value()?),
                "params" => map.next_value_seed(StringMember {
                    names: &["textDocument", "uri"],
                    value: &mut opening.document,
                })?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// Reads the string in a member of an object, given by the names on the way to it.
struct StringMember<'a> {
    names: &'a [&'a str],
    value: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for StringMember<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.names {
            [] => {
                *self.value = Some(serde::Deserialize::deserialize(deserializer)?);
                Ok(())
            }
            _ => deserializer.deserialize_map(self),
        }
    }
}

impl<'de> Visitor<'de> for StringMember<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match self.names {
                [name, inner @ ..] if *name == key => {
                    map.next_value_seed(StringMember { names: inner, value: &mut *self.value })?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_lost(bytes: &[u8]) -> Option<(Option<String>, Option<String>)> {
        PartialMessage::read(bytes).into_lost(String::new()).map(|lost| (lost.method, lost.document))
    }

    #[test]
    fn a_lost_notification_keeps_its_document() {
        let lost_fields =
            |method: &str, document: &str| Some((Some(method.to_owned()), Some(document.to_owned())));
        let prefix = br#"{"jsonrpc":"2.0","method":"m","params":{"text":[{}],"textDocument":{"v":1,"uri":"file:///a"},"#;
        for suffix in [&b""[..], b"\"text\": \"\xFF\"}}", b"\"text\": \"\x01\"}}", b"\"text\": oops}}"] {
            assert_eq!(read_lost(&[prefix, suffix].concat()), lost_fields("m", "file:///a"));
        }
        assert_eq!(
            read_lost(b"{\"params\":{\"textDocument\":{\"uri\":\"a\xFF\"}},\"method\":\"m\"}"),
            lost_fields("m", "a\u{FFFD}")
        );
        assert_eq!(read_lost(br#"{"method":"m","params":[]}"#), Some((Some("m".to_owned()), None)));
        for bytes in [&b""[..], b"\xFF", b"{", br#"{"jsonrpc":"2.0","method":"tex"#, br#"[{"method":"m"}]"#] {
            assert_eq!(read_lost(bytes), Some((None, None)));
        }
    }

    #[test]
    fn answers_and_requests_without_a_method_are_about_no_document() {
        for bytes in
            [&br#"{"id":1,"result":oops"#[..], br#"{"result":oops"#, br#"{"id":"a","params":{},oops"#]
        {
            assert_eq!(read_lost(bytes), None);
        }
    }
}
