//! Errors of model requests, with advice for the user. Errors never contain keys or request bodies.

use std::time::Duration;

use strata_conversation::providers::reply::{ProviderError, ProviderErrorKind};

/// Why a request failed, or why its reply is incomplete.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SendError {
    /// The environment variable for the key is unset, or its value is not allowed in a header.
    #[error(
        "no usable key for the model: set the environment variable {variable}, and restart your editor if it runs Strata{}",
        if variable.starts_with("AWS_") { " (Strata needs a Bedrock API key; it cannot use AWS access keys)" } else { "" }
    )]
    NoKey {
        /// Name of the environment variable.
        variable: String,
    },
    /// The command that prints the key could not be run, or failed.
    #[error("the key command `{program}` {reason}")]
    KeyCommand {
        /// The program, without its arguments.
        program: String,
        reason: String,
    },
    /// The command that prints the key succeeded, but printed no usable key.
    #[error("the key command `{program}` printed no usable key on its first line")]
    EmptyKey {
        /// The program, without its arguments.
        program: String,
    },
    /// The provider's address is invalid or not allowed.
    #[error("invalid address of the model provider: {reason}")]
    BadAddress { reason: String },
    /// The provider rejected the request or failed, and a retry was pointless or did not help.
    #[error("{}: {error}{}", error_headline(*.status), rejection_advice(*.status, .error))]
    Provider {
        /// Status of an error response. `None` if the error was reported inside a reply.
        status: Option<u16>,
        error: ProviderError,
    },
    /// The connection failed, or was lost before the end of the reply.
    #[error("cannot reach the model provider ({reason}): {}", connection_advice(.reason))]
    Unreachable { reason: String },
    /// The reply was not complete by the deadline.
    #[error("the model did not finish its answer within {} s", .after.as_secs_f64())]
    Timeout {
        /// The deadline, counted from the start of the call.
        after: Duration,
    },
    /// The provider sent no data for longer than allowed.
    #[error("the model provider sent nothing for {} s", .after.as_secs_f64())]
    Stalled {
        /// Maximum time between bytes.
        after: Duration,
    },
    /// The caller cancelled the request.
    #[error("cancelled")]
    Cancelled,
    #[error("the model's answer exceeds {limit} bytes and was rejected")]
    TooLong {
        /// Maximum size of a reply, in bytes.
        limit: usize,
    },
    /// The response does not follow the provider's protocol.
    #[error("the reply is not in the format of `{kind}`; check the provider's address: {excerpt}")]
    Garbage {
        /// Name of the expected protocol.
        kind: &'static str,
        /// The beginning of the response.
        excerpt: String,
    },
}

fn error_headline(status: Option<u16>) -> String {
    match status {
        Some(status) => format!("the model provider rejected the request (status {status})"),
        None => "the answer is incomplete".to_owned(),
    }
}

/// Returns advice about a rejected request. Empty if there is none.
fn rejection_advice(status: Option<u16>, error: &ProviderError) -> &'static str {
    match (error.kind, status.unwrap_or_default()) {
        (_, 300..=399) => "; the address redirects; use the final address",
        (ProviderErrorKind::Authentication, _) => "; check the key",
        (_, 404) => "; check the model's name and the provider's address",
        (ProviderErrorKind::Quota, _) => "; check the account's plan and credit at the provider",
        (ProviderErrorKind::RateLimit, _) => "; try again later, or use another model",
        (ProviderErrorKind::Overloaded | ProviderErrorKind::Server, _) => {
            "; the provider had an internal error; try again later"
        }
        _ => "",
    }
}

/// Returns advice about a failed connection.
fn connection_advice(reason: &str) -> &'static str {
    if reason.contains("certificate") {
        "its certificate is not trusted; add its certificate authority to the system's certificates, or to the file in \
         SSL_CERT_FILE"
    } else {
        "check its address and the network"
    }
}
