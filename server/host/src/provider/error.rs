//! Why there is no reply, with advice for the user. Errors never contain keys or bodies.

use std::time::Duration;

use strata_engine::conversation::reply::{ProviderError, ProviderErrorKind};

/// Why a request has no reply, or why its reply is not complete.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SendError {
    /// The environment has no key, or one that cannot be put into a header.
    #[error("no usable key for the model: set the environment variable {variable} and restart the server")]
    NoKey {
        /// The variable that was looked at.
        variable: String,
    },
    /// The command that prints the key cannot be run, failed, or printed none.
    #[error("the command for the key, `{program}`, {reason}")]
    KeyCommand {
        /// The program, without its arguments.
        program: String,
        reason: String,
    },
    /// The address of the provider cannot be used.
    #[error("invalid address of the model provider: {reason}")]
    BadAddress {
        /// What is wrong.
        reason: String,
    },
    /// Bodies in this format are written but not sent.
    #[error(
        "Strata cannot send requests in the format `{format}`: send the body from strata.prompt.assemble with the provider's own \
         client"
    )]
    NotSent { format: &'static str },
    /// The provider refused or gave up, and sending the request again would not help or did not.
    #[error("the model provider rejected the request (status {status}): {error}{}", advice(*.status, .error))]
    Provider {
        /// 200 for an error inside the reply.
        status: u16,
        error: ProviderError,
    },
    /// No connection, or none that lasted until the end of a reply.
    #[error("cannot reach the model provider ({reason}): {}", remedy(.reason))]
    Unreachable { reason: String },
    /// The deadline passed.
    #[error("the model did not finish its answer within {} s", .after.as_secs_f64())]
    Timeout {
        /// The deadline.
        after: Duration,
    },
    /// No data for too long.
    #[error("the model provider sent nothing for {} s", .after.as_secs_f64())]
    Stalled {
        /// The longest time without a byte.
        after: Duration,
    },
    /// No one waits for the reply any more.
    #[error("cancelled")]
    Cancelled,
    /// More came than a reply may have.
    #[error("the model's answer exceeds {limit} bytes and was rejected")]
    TooLong {
        /// The most bytes that would have been taken.
        limit: usize,
    },
    /// The answer is not what this kind of provider sends.
    #[error(
        "the server does not speak the protocol of `{kind}`; check the address of the provider: {excerpt}"
    )]
    Garbage {
        /// The protocol that was expected.
        kind: &'static str,
        /// The beginning of the response, clipped.
        excerpt: String,
    },
}

impl SendError {
    /// The kind of error that the provider reported, if any.
    pub fn provider_kind(&self) -> Option<ProviderErrorKind> {
        match self {
            Self::Provider { error, .. } => Some(error.kind),
            _ => None,
        }
    }
}

/// Advice about a rejection, if known.
fn advice(status: u16, error: &ProviderError) -> &'static str {
    match (error.kind, status) {
        (_, 300..=399) => "; the address redirects; use the final address",
        (ProviderErrorKind::Authentication, _) => "; check the key",
        (_, 404) => "; check the model's name and the address of the provider",
        (ProviderErrorKind::RateLimit, _) => "; try again later, or use another model",
        (ProviderErrorKind::Overloaded | ProviderErrorKind::Server, _) => {
            "; the provider has problems, try again later"
        }
        _ => "",
    }
}

/// Advice about a failed connection.
fn remedy(reason: &str) -> &'static str {
    if reason.contains("certificate") {
        "its certificate is not trusted; add its authority to the system's certificates, or name it in SSL_CERT_FILE"
    } else {
        "check its address and the network"
    }
}
