//! Errors of providers as errors of commands.

use serde_json::json;
use strata_engine::conversation::reply::ProviderErrorKind;
use strata_host::provider::SendError;

use super::CommandError;
use crate::services::provider_client::NotConfigured;

impl From<NotConfigured> for CommandError {
    fn from(error: NotConfigured) -> Self {
        let data = Some(serde_json::json!({ "kind": "noProvider" }));
        Self::Failed { message: error.to_string(), data }
    }
}

impl From<SendError> for CommandError {
    fn from(error: SendError) -> Self {
        Self::from(&error)
    }
}

impl From<&SendError> for CommandError {
    fn from(error: &SendError) -> Self {
        let kind = match error {
            SendError::Provider { error, .. } => match error.kind {
                ProviderErrorKind::Authentication => "authentication",
                ProviderErrorKind::RateLimit => "rateLimit",
                ProviderErrorKind::Quota => "quota",
                ProviderErrorKind::Overloaded => "overloaded",
                ProviderErrorKind::ContextLimit => "contextLimit",
                ProviderErrorKind::Content => "content",
                ProviderErrorKind::Refused
                | ProviderErrorKind::Incomplete
                | ProviderErrorKind::Server
                | ProviderErrorKind::Garbage => "provider",
            },
            SendError::NoKey { .. } => "noKey",
            SendError::Cancelled => return Self::Cancelled,
            _ => "unreachable",
        };
        Self::Failed { message: described(error), data: Some(json!({ "kind": kind })) }
    }
}

/// Describes an error, and names the setting that caused it, if any.
pub(crate) fn described(error: &SendError) -> String {
    match error {
        SendError::Timeout { .. } => format!("{error} (`provider.timeout_s`)"),
        SendError::Stalled { .. } => format!("{error} (`provider.stall_s`)"),
        _ => error.to_string(),
    }
}
