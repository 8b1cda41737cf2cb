//! Classifies a message body as a call, an answer, or an invalid message.
//!
//! Reads only JSON-RPC 2.0 envelopes. Does not interpret `params` or `result`, and knows only the two methods that must
//! not fail because of their parameters.

use serde::de::{Deserialize, Deserializer, IgnoredAny};
use serde_json::Value;
use serde_json::error::Category;
use strata_base::json;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};

use super::lost::{LostClientMessage, PartialMessage};
use super::refusal;

#[derive(Debug, PartialEq)]
pub(super) enum IncomingMessage {
    /// A request or a notification.
    Call(Request),
    /// The client's answer to a request from the server.
    Answer(Response),
    /// An invalid message, with the response to send, and what is lost with it.
    Invalid(Response, Option<LostClientMessage>),
    /// An answer with neither a result nor an error. `answer` is an error for the waiting caller, `reply` a response to
    /// the client.
    EmptyAnswer { answer: Response, reply: Response },
}

/// The fields of all kinds of messages, so that one pass over the text is enough.
#[derive(serde::Deserialize)]
struct Envelope {
    #[serde(default)]
    jsonrpc: Value,
    #[serde(default, deserialize_with = "null_as_some")]
    id: Option<Value>,
    #[serde(default, deserialize_with = "null_as_some")]
    method: Option<Value>,
    #[serde(default, deserialize_with = "null_as_some")]
    params: Option<Value>,
    #[serde(default, deserialize_with = "null_as_some")]
    result: Option<Value>,
    #[serde(default)]
    error: Value,
}

pub(super) fn read(body: &[u8]) -> IncomingMessage {
    match body.trim_ascii_start().first() {
        Some(b'{') => {}
        Some(b'[') => return IncomingMessage::unreadable(refusal::batch_error()),
        _ => {
            return match json::from_slice::<IgnoredAny>(body) {
                Ok(_) => IncomingMessage::Invalid(
                    refusal::invalid_message_error(Id::Null, "a message must be a JSON object"),
                    None,
                ),
                Err(error) => IncomingMessage::unreadable(refusal::json_error(Id::Null, &error)),
            };
        }
    }
    match json::from_slice::<Envelope>(body) {
        Ok(envelope) => envelope.classify(),
        Err(error) => {
            let opening = PartialMessage::read(body);
            let reply = match error.classify() {
                Category::Data => refusal::invalid_message_error(Id::Null, &error.to_string()),
                _ => refusal::json_error(opening.request_id().unwrap_or(Id::Null), &error),
            };
            let lost = opening.into_lost(problem(&reply));
            IncomingMessage::Invalid(reply, lost)
        }
    }
}

/// Returns why a message was refused.
fn problem(reply: &Response) -> String {
    reply.error().map(|error| error.message.clone().into_owned()).unwrap_or_default()
}

impl IncomingMessage {
    /// Refuses a message whose fields cannot be read.
    fn unreadable(reply: Response) -> Self {
        let lost = LostClientMessage::from_problem(problem(&reply));
        Self::Invalid(reply, Some(lost))
    }
}

impl Envelope {
    fn classify(self) -> IncomingMessage {
        match self.method {
            Some(_) => self.into_call(),
            None => self.into_answer(),
        }
    }

    fn into_call(self) -> IncomingMessage {
        let id = match self.id.map(read_id) {
            None => None,
            Some(Some(id)) => Some(id),
            Some(None) => {
                return refuse_call(
                    self.method,
                    self.params.as_ref(),
                    None,
                    "an id must be a string or an integer",
                );
            }
        };
        if self.jsonrpc != "2.0" {
            return refuse_call(self.method, self.params.as_ref(), id, "jsonrpc must be \"2.0\"");
        }
        let Some(Value::String(method)) = self.method else {
            return refuse_call(self.method, self.params.as_ref(), id, "a method must be a string");
        };
        // Neither method has parameters. Some clients send `null` or `{}` anyway, and must be able to shut down the
        // server.
        let params = self.params.filter(|_| method != "shutdown" && method != "exit");
        let mut request = Request::build(method);
        if let Some(params) = params {
            request = request.params(params);
        }
        IncomingMessage::Call(match id {
            Some(id) => request.id(id).finish(),
            None => request.finish(),
        })
    }

    fn into_answer(self) -> IncomingMessage {
        let reply = |reason| refusal::invalid_message_error(Id::Null, reason);
        let Some(id) = self.id.and_then(read_id) else {
            return IncomingMessage::Invalid(reply("it has neither a method nor a valid id"), None);
        };
        match (self.result, self.error) {
            (Some(result), Value::Null) => IncomingMessage::Answer(Response::from_ok(id, result)),
            (None, Value::Null) => {
                let reply = reply("a response needs a result or an error");
                let mut error = Error::new(ErrorCode::InvalidRequest);
                error.message = "the response has neither a result nor an error".into();
                IncomingMessage::EmptyAnswer { answer: Response::from_error(id, error), reply }
            }
            (_, error) => IncomingMessage::Answer(Response::from_error(id, error_from_json(error))),
        }
    }
}

/// Refuses a call whose envelope is invalid.
fn refuse_call(
    method: Option<Value>,
    params: Option<&Value>,
    id: Option<Id>,
    reason: &str,
) -> IncomingMessage {
    let reply = refusal::invalid_message_error(id.unwrap_or(Id::Null), reason);
    let method = match method {
        Some(Value::String(method)) => Some(method),
        _ => None,
    };
    let document = params.and_then(|params| params.pointer("/textDocument/uri")?.as_str()).map(str::to_owned);
    let lost = LostClientMessage { method, document, problem: problem(&reply) };
    IncomingMessage::Invalid(reply, Some(lost))
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
fn error_from_json(error: Value) -> Error {
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
fn null_as_some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The id of a truncated request is found if the id and the method are complete.
        #[test]
        fn the_id_of_a_truncated_request_is_read(id in any::<i64>(), text in ".{0,40}", cut in 0..100usize) {
            let method = serde_json::to_string(&text).unwrap();
            let opening = format!("{{\"jsonrpc\": \"2.0\", \"id\": {id}, \"method\": {method},");
            let complete = format!("{opening} \"params\": {{\"a\": [1, 2, {{}}]}}}}");
            let cut = complete.floor_char_boundary((opening.len() + cut).min(complete.len()));
            prop_assert_eq!(PartialMessage::read(&complete.as_bytes()[..cut]).request_id(), Some(Id::Number(id)));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (read(&bytes), PartialMessage::read(&bytes));
        }
    }

    #[test]
    fn only_the_id_of_a_request_is_read() {
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
            assert_eq!(PartialMessage::read(text.as_bytes()).request_id(), id.map(Id::from), "{text}");
        }
    }

    #[test]
    fn the_document_of_an_invalid_call_is_read() {
        let params = r#""params":{"textDocument":{"uri":"file:///a"}}"#;
        for envelope in [
            r#""method":"m""#,
            r#""jsonrpc":"2.0","id":null,"method":"m""#,
            r#""jsonrpc":"2.0","method":"m","method":"m""#,
            r#""jsonrpc":2.0,"id":7,"method":"m""#,
        ] {
            let IncomingMessage::Invalid(_, lost) = read(format!("{{{envelope},{params}}}").as_bytes())
            else {
                unreachable!("{envelope}");
            };
            let lost = lost.unwrap();
            assert_eq!((lost.method.as_deref(), lost.document.as_deref()), (Some("m"), Some("file:///a")));
        }
    }

    #[test]
    fn a_lone_surrogate_is_replaced() {
        let body = br#"{"jsonrpc":"2.0","method":"m","params":{"text":"\ud83d"}}"#;
        let IncomingMessage::Call(request) = read(body) else { unreachable!("it is a call") };
        assert_eq!(request.params().unwrap()["text"], "\u{FFFD}");
    }

    #[test]
    fn deeply_nested_json_is_rejected() {
        let deep =
            [br#"{"jsonrpc":"2.0","id":1,"method":"m","params":"#.to_vec(), vec![b'['; 1 << 20]].concat();
        let IncomingMessage::Invalid(reply, _) = read(&deep) else { unreachable!("it is not JSON") };
        assert_eq!((reply.id(), reply.error().unwrap().code), (&Id::Number(1), ErrorCode::ParseError));
        assert!(matches!(read(&vec![b'{'; 1 << 20]), IncomingMessage::Invalid(..)));
        assert!(matches!(read(&vec![b'['; 1 << 20]), IncomingMessage::Invalid(..)));
    }
}
