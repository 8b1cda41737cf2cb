//! Classifies a message body as a call, an answer, or an invalid message.
//!
//! Reads only JSON-RPC 2.0 envelopes. Does not interpret `params` or `result`, and knows only the two methods that must
//! not fail because of their parameters.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::error::Category;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};

use super::refusal;

#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// A request or a notification.
    Call(Request),
    /// The client's answer to a request from the server.
    Answer(Response),
    /// An invalid message, with the response to send.
    Refused(Response),
    /// An answer with neither a result nor an error. `answer` is an error for the waiting caller, `reply` a response to
    /// the client.
    Hollow { answer: Response, reply: Response },
}

/// The fields of all kinds of messages, so that one pass over the text is enough.
#[derive(serde::Deserialize)]
struct Envelope {
    #[serde(default)]
    jsonrpc: Value,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    method: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    params: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    #[serde(default)]
    error: Value,
}

pub(super) fn read(body: &[u8]) -> Incoming {
    match body.trim_ascii_start().first() {
        Some(b'{') => {}
        Some(b'[') => return Incoming::Refused(refusal::batch()),
        _ => {
            let refused = match serde_json::from_slice::<IgnoredAny>(body) {
                Ok(_) => refusal::not_a_message(Id::Null, "a message must be a JSON object"),
                Err(error) => refusal::bad_json(Id::Null, &error),
            };
            return Incoming::Refused(refused);
        }
    }
    match serde_json::from_slice::<Envelope>(body) {
        Ok(envelope) => envelope.sort(),
        Err(error) if error.classify() == Category::Data => {
            Incoming::Refused(refusal::not_a_message(Id::Null, &error.to_string()))
        }
        Err(error) => Incoming::Refused(refusal::bad_json(request_id(body).unwrap_or(Id::Null), &error)),
    }
}

/// Extracts the `id` of a truncated or partly invalid request. Returns `None` unless the message looks like a request:
/// an answer's `id` belongs to a request from the server, and an error with this `id` could hit an unrelated request
/// from the client.
pub(super) fn request_id(opening: &[u8]) -> Option<Id> {
    struct Seen {
        id: Option<Id>,
        asks: Asks,
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Asks {
        Unknown,
        Yes,
        No,
    }

    impl<'de> Visitor<'de> for &mut Seen {
        type Value = ();

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                match key.as_ref() {
                    "id" => {
                        self.id = Some(map.next_value()?);
                        continue;
                    }
                    "method" | "params" if self.asks == Asks::Unknown => self.asks = Asks::Yes,
                    "result" | "error" => self.asks = Asks::No,
                    _ => {}
                }
                map.next_value::<IgnoredAny>()?;
            }
            Ok(())
        }
    }

    let mut seen = Seen { id: None, asks: Asks::Unknown };
    // Parsing fails where the message is truncated or invalid. The fields before this position are sufficient.
    let _ = serde_json::Deserializer::from_slice(opening).deserialize_map(&mut seen);
    seen.id.filter(|_| seen.asks == Asks::Yes)
}

impl Envelope {
    fn sort(self) -> Incoming {
        match self.method {
            Some(_) => self.call(),
            None => self.answer(),
        }
    }

    fn call(self) -> Incoming {
        let id = match self.id.map(read_id) {
            None => None,
            Some(Some(id)) => Some(id),
            Some(None) => {
                let why = "an id must be a string or an integer";
                return Incoming::Refused(refusal::not_a_message(Id::Null, why));
            }
        };
        let refuse = |why| Incoming::Refused(refusal::not_a_message(id.clone().unwrap_or(Id::Null), why));
        if self.jsonrpc != "2.0" {
            return refuse("jsonrpc must be \"2.0\"");
        }
        let Some(Value::String(method)) = self.method else { return refuse("a method must be a string") };
        // Neither method has parameters. Some clients send `null` or `{}` anyway, and must be able to shut down the
        // server.
        let params = self.params.filter(|_| method != "shutdown" && method != "exit");
        let mut request = Request::build(method);
        if let Some(params) = params {
            request = request.params(params);
        }
        Incoming::Call(match id {
            Some(id) => request.id(id).finish(),
            None => request.finish(),
        })
    }

    fn answer(self) -> Incoming {
        let reply = |why| refusal::not_a_message(Id::Null, why);
        let Some(id) = self.id.and_then(read_id) else {
            return Incoming::Refused(reply("neither a method nor a response"));
        };
        match (self.result, self.error) {
            (Some(result), Value::Null) => Incoming::Answer(Response::from_ok(id, result)),
            (None, Value::Null) => {
                let reply = reply("a response needs a result or an error");
                let mut error = Error::new(ErrorCode::InvalidRequest);
                error.message = "the response has neither a result nor an error".into();
                Incoming::Hollow { answer: Response::from_error(id, error), reply }
            }
            (_, error) => Incoming::Answer(Response::from_error(id, read_error(error))),
        }
    }
}

/// Converts a JSON-RPC id. LSP allows integers and strings; `null` is only for responses that belong to no request.
fn read_id(id: Value) -> Option<Id> {
    match id {
        Value::String(text) => Some(Id::String(text)),
        Value::Number(number) => number.as_i64().map(Id::Number),
        _ => None,
    }
}

/// Converts a client's error object. Accepts invalid objects, since the waiting caller must receive an error.
fn read_error(error: Value) -> Error {
    let Value::Object(mut fields) = error else {
        return Error {
            code: ErrorCode::InternalError,
            message: "unreadable error".into(),
            data: Some(error),
        };
    };
    let code = fields.get("code").and_then(Value::as_i64).map_or(ErrorCode::InternalError, ErrorCode::from);
    let message = match fields.remove("message") {
        Some(Value::String(message)) => message.into(),
        _ => code.description().into(),
    };
    Error { code, message, data: fields.remove("data") }
}

/// Distinguishes a `null` field from a missing one.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The id of a truncated request is found if the id and the method are complete.
        #[test]
        fn a_cut_request_keeps_its_id(id in any::<i64>(), text in ".{0,40}", cut in 0..100usize) {
            let method = serde_json::to_string(&text).unwrap();
            let opening = format!("{{\"jsonrpc\": \"2.0\", \"id\": {id}, \"method\": {method},");
            let whole = format!("{opening} \"params\": {{\"a\": [1, 2, {{}}]}}}}");
            let cut = whole.floor_char_boundary((opening.len() + cut).min(whole.len()));
            prop_assert_eq!(request_id(&whole.as_bytes()[..cut]), Some(Id::Number(id)));
        }

        #[test]
        fn bytes_of_any_kind_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (read(&bytes), request_id(&bytes));
        }
    }

    #[test]
    fn only_what_reads_like_a_request_keeps_its_id() {
        for (text, id) in [
            (r#"{"id":"a","method":"m""#, Some("a")),
            (r#"{"method":"m","id":"a","par"#, Some("a")),
            (r#"{"id":"a","params":{"#, Some("a")),
            (r#"{"id":"a","result":{"method":1}"#, None),
            (r#"{"id":"a","method":"m","error":"#, None),
            (r#"{"id":"a","other":"#, None),
            (r#"{"method":"m","params":{"id":"a"},"#, None),
            (r#"[{"id":"a","method":"m"}"#, None),
        ] {
            assert_eq!(request_id(text.as_bytes()), id.map(Id::from), "{text}");
        }
    }

    #[test]
    fn deep_json_is_refused_and_not_followed() {
        let deep =
            [br#"{"jsonrpc":"2.0","id":1,"method":"m","params":"#.to_vec(), vec![b'['; 1 << 20]].concat();
        let Incoming::Refused(reply) = read(&deep) else { unreachable!("it is not JSON") };
        assert_eq!((reply.id(), reply.error().unwrap().code), (&Id::Number(1), ErrorCode::ParseError));
        assert!(matches!(read(&vec![b'{'; 1 << 20]), Incoming::Refused(_)));
        assert!(matches!(read(&vec![b'['; 1 << 20]), Incoming::Refused(_)));
    }
}
