//! The transport's own replies, with their codes.
//!
//! Owns their wording, which never repeats the client's text. Never decides when one is due.

use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Response};

use super::frame::Fault;

/// Too many requests are pending. LSP 3.17 `RequestFailed` ("syntactically correct, but the request failed"), which
/// clients know; JSON-RPC's own range below -32000 is closed to servers by LSP. The error's `data.reason` is
/// `serverBusy`.
pub const SERVER_BUSY: i64 = -32803;

/// A request before `initialize` is answered. LSP 3.17, `ServerNotInitialized`.
pub const NOT_INITIALIZED: i64 = -32002;

/// Bytes that are no message.
pub(super) fn fault(id: Id, fault: &Fault) -> Response {
    let code = match fault {
        Fault::TooLarge { .. } => ErrorCode::InvalidRequest,
        _ => ErrorCode::ParseError,
    };
    reply(id, code, fault.to_string())
}

/// A body that is not JSON. The position is given, the text is not.
pub(super) fn bad_json(id: Id, error: &serde_json::Error) -> Response {
    reply(id, ErrorCode::ParseError, format!("not JSON: line {}, column {}", error.line(), error.column()))
}

/// JSON that is not a JSON-RPC 2.0 message of LSP.
pub(super) fn not_a_message(id: Id, why: &str) -> Response {
    reply(id, ErrorCode::InvalidRequest, format!("not a JSON-RPC message: {why}"))
}

/// LSP uses JSON-RPC without batches.
pub(super) fn batch() -> Response {
    let why = "LSP has no batches; send each message in its own frame";
    reply(Id::Null, ErrorCode::InvalidRequest, why.to_owned())
}

/// Request number `limit + 1`.
pub(super) fn busy(id: Id, limit: usize) -> Response {
    let mut error = Error::new(ErrorCode::ServerError(SERVER_BUSY));
    error.message = format!("server busy: {limit} requests are pending").into();
    error.data = Some(serde_json::json!({ "reason": "serverBusy", "pending": limit }));
    Response::from_error(id, error)
}

/// A request that cannot even be kept until `initialize` is answered.
pub(super) fn not_initialized(id: Id) -> Response {
    reply(id, ErrorCode::ServerError(NOT_INITIALIZED), "Server not initialized".to_owned())
}

pub(super) fn unknown_method(id: Id, method: &str) -> Response {
    let mut error = Error::method_not_found();
    error.data = Some(method.into());
    Response::from_error(id, error)
}

pub(super) fn panicked(id: Id, method: &str) -> Response {
    reply(id, ErrorCode::InternalError, format!("the handler of {method} panicked; the server continues"))
}

/// The client took its request back.
pub(super) fn cancelled(id: Id) -> Response {
    Response::from_error(id, Error::request_cancelled())
}

/// A request after `exit`.
pub(super) fn exited(id: Id) -> Response {
    reply(id, ErrorCode::InvalidRequest, "the server has exited".to_owned())
}

fn reply(id: Id, code: ErrorCode, message: String) -> Response {
    Response::from_error(id, Error { code, message: message.into(), data: None })
}
