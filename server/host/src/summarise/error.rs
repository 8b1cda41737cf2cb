//! Why there is no answer, in words that tell a person what to do. No error holds a key.

use std::time::Duration;

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SummaryError {
    /// The environment has no key, or one that cannot be put into a header.
    #[error("no usable key for the model: set the environment variable {env} and start the server again")]
    NoKey {
        /// The variable that was looked at.
        env: String,
    },
    /// The address of the provider cannot be used.
    #[error("the address of the model provider cannot be used: {reason}")]
    BadAddress {
        /// What is wrong with it.
        reason: String,
    },
    /// The provider refused, and asking again would not help or did not.
    #[error("the model provider refused (status {status}): {message}{}", advice(*.status))]
    Refused {
        status: u16,
        /// What the provider says, clipped.
        message: String,
    },
    /// No connection, or none that lasted until the end of an answer.
    #[error("the model provider cannot be reached ({reason}): check its address and the network")]
    Unreachable { reason: String },
    /// The deadline passed.
    #[error("the model gave no whole answer within {} s", .after.as_secs_f64())]
    Timeout {
        /// The deadline.
        after: Duration,
    },
    /// Nobody waits for the answer any more.
    #[error("cancelled")]
    Cancelled,
    /// More came than any answer to this question has.
    #[error("the model's answer is longer than {limit} bytes and was not taken")]
    TooLong {
        /// The most bytes that would have been taken.
        limit: usize,
    },
    /// The answer has no text.
    #[error(
        "the model answered without any text; a model that reasons first may need more output tokens, \
         or another model may do"
    )]
    Empty,
    /// The answer is not what this kind of provider sends.
    #[error(
        "what answered does not speak the protocol of `{kind}`, check the address of the provider: {excerpt}"
    )]
    Garbage {
        /// The protocol that was expected.
        kind: &'static str,
        /// The beginning of what came, clipped.
        excerpt: String,
    },
}

/// What to do about a refusal, for those where that is known.
fn advice(status: u16) -> &'static str {
    match status {
        300..=399 => "; the address leads elsewhere, give the one that it leads to",
        401 | 403 => "; check the key",
        404 => "; check the model's name and the address of the provider",
        429 => "; ask again later, or use another model",
        500..=599 => "; the provider is in trouble, ask again later",
        _ => "",
    }
}
