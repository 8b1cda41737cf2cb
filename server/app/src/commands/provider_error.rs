//! Errors of providers as errors of commands.

use strata_conversation::providers::reply::ProviderErrorKind;
use strata_host::provider::SendError;

use super::{CommandError, FailureDetails};
use crate::services::provider_client::ProviderNotConfigured;

impl From<ProviderNotConfigured> for CommandError {
    fn from(error: ProviderNotConfigured) -> Self {
        Self::Failed { message: error.to_string(), details: Some(FailureDetails::NoProvider) }
    }
}

impl From<SendError> for CommandError {
    fn from(error: SendError) -> Self {
        Self::from(&error)
    }
}

impl From<&SendError> for CommandError {
    fn from(error: &SendError) -> Self {
        let details = match error {
            SendError::Provider { error, .. } => match error.kind {
                ProviderErrorKind::Authentication => FailureDetails::Authentication,
                ProviderErrorKind::RateLimit => FailureDetails::RateLimit,
                ProviderErrorKind::Quota => FailureDetails::Quota,
                ProviderErrorKind::Overloaded => FailureDetails::Overloaded,
                ProviderErrorKind::ContextLimit => FailureDetails::ContextLimit,
                ProviderErrorKind::Content => FailureDetails::Content,
                ProviderErrorKind::Refused
                | ProviderErrorKind::Incomplete
                | ProviderErrorKind::Server
                | ProviderErrorKind::Garbage => FailureDetails::Provider,
            },
            SendError::NoKey { .. } => FailureDetails::NoKey,
            SendError::EmptyKey { .. } => FailureDetails::EmptyKey,
            SendError::Cancelled => return Self::Cancelled,
            _ => FailureDetails::Unreachable,
        };
        Self::Failed { message: describe_send_error(error), details: Some(details) }
    }
}

/// Describes an error, and names the setting that caused it, if any.
pub(crate) fn describe_send_error(error: &SendError) -> String {
    match error {
        SendError::Timeout { .. } => format!("{error} (`provider.timeout_s`)"),
        SendError::Stalled { .. } => format!("{error} (`provider.stall_s`)"),
        _ => error.to_string(),
    }
}
