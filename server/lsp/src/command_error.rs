//! Converts errors of commands to JSON-RPC errors. Editors show them as notifications.

use serde_json::json;
use strata_app::commands::CommandError;
use strata_base::external::ExternalText;
use tower_lsp::jsonrpc::{Error, ErrorCode};

/// Converts a command's error to a JSON-RPC error.
pub(crate) fn to_json_rpc(error: CommandError) -> Error {
    let message = ExternalText::new(&error.to_string()).notice().to_string();
    let (code, data) = match error {
        CommandError::Unknown(_) => (ErrorCode::InvalidParams, None),
        CommandError::InvalidParams { path, kind, .. } => {
            let data = match kind {
                Some(kind) => json!({ "path": path, "kind": kind }),
                None => json!({ "path": path }),
            };
            (ErrorCode::InvalidParams, Some(data))
        }
        // `RequestFailed` (LSP 3.17): the request is valid, but could not be completed.
        CommandError::Failed { details, .. } => {
            (ErrorCode::ServerError(-32803), details.and_then(|details| serde_json::to_value(details).ok()))
        }
        CommandError::Cancelled => (ErrorCode::RequestCancelled, None),
        CommandError::Internal => (ErrorCode::InternalError, None),
    };
    Error { code, message: message.into(), data }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_internal_error_has_its_own_code() {
        assert_eq!(to_json_rpc(CommandError::Internal).code, ErrorCode::InternalError);
    }
}
