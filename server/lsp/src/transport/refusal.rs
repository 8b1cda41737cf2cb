//! Responses that the transport sends itself, with their error codes.
//!
//! Their messages never quote the client's text. Other modules decide when to send them.

use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Response};

use super::frame::Fault;

/// Error code for a request that exceeds the limit of pending requests. Uses `RequestFailed` of LSP 3.17, which clients
/// know, since LSP reserves JSON-RPC's own range below -32000. The error's `data.reason` is `serverBusy`.
const SERVER_BUSY: i64 = -32803;

/// Error code for a request before `initialize` is answered (`ServerNotInitialized` of LSP 3.17).
const NOT_INITIALIZED: i64 = -32002;

/// Returns the error response to bytes that are not a message.
pub(super) fn fault_error(id: Id, fault: &Fault) -> Response {
    let code = match fault {
        Fault::TooLarge { .. } => ErrorCode::InvalidRequest,
        _ => ErrorCode::ParseError,
    };
    error_response(id, code, fault.to_string())
}

/// Returns the error response to a body that is not JSON. It contains the position of the error, but not the text.
pub(super) fn json_error(id: Id, error: &serde_json::Error) -> Response {
    error_response(
        id,
        ErrorCode::ParseError,
        format!("not JSON: line {}, column {}", error.line(), error.column()),
    )
}

/// Returns the error response to JSON that is not a JSON-RPC 2.0 message as LSP defines it.
pub(super) fn invalid_message_error(id: Id, reason: &str) -> Response {
    error_response(id, ErrorCode::InvalidRequest, format!("not a JSON-RPC message: {reason}"))
}

/// Returns the error response to a batch, which LSP does not support.
pub(super) fn batch_error() -> Response {
    let reason = "LSP has no batches; send each message in its own frame";
    error_response(Id::Null, ErrorCode::InvalidRequest, reason.to_owned())
}

/// Returns the error response to a request that exceeds the limit of pending requests.
pub(super) fn busy_error(id: Id, limit: usize) -> Response {
    let mut error = Error::new(ErrorCode::ServerError(SERVER_BUSY));
    error.message = format!("server busy: {limit} requests are pending").into();
    error.data = Some(serde_json::json!({ "reason": "serverBusy", "pending": limit }));
    Response::from_error(id, error)
}

/// Returns the error response to a request that cannot be held until `initialize` is answered.
pub(super) fn not_initialized_error(id: Id) -> Response {
    error_response(id, ErrorCode::ServerError(NOT_INITIALIZED), "Server not initialized".to_owned())
}

pub(super) fn unknown_method_error(id: Id, method: &str) -> Response {
    let mut error = Error::method_not_found();
    error.data = Some(method.into());
    Response::from_error(id, error)
}

pub(super) fn panic_error(id: Id, method: &str) -> Response {
    error_response(
        id,
        ErrorCode::InternalError,
        format!("the handler of {method} panicked; the server continues"),
    )
}

/// Returns the error response to a request that the client cancelled.
pub(super) fn cancelled_error(id: Id) -> Response {
    Response::from_error(id, Error::request_cancelled())
}

/// Returns the error response to a request after `exit`.
pub(super) fn exited_error(id: Id) -> Response {
    error_response(id, ErrorCode::InvalidRequest, "the server has exited".to_owned())
}

fn error_response(id: Id, code: ErrorCode, message: String) -> Response {
    Response::from_error(id, Error { code, message: message.into(), data: None })
}
