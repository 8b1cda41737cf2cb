//! Why there is no answer, in words that tell a person what to do. No error holds a key.

use std::time::Duration;

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The environment has no key, or one that cannot be put into a header.
    #[error("no key for the model: set the environment variable {env} and start the server again")]
    NoKey {
        /// The variable that was looked at.
        env: String,
    },
    /// The address of the provider cannot be used.
    #[error("the address of the model provider is not usable: {reason}")]
    BadAddress {
        /// What is wrong with it.
        reason: String,
    },
    /// The provider answered with a refusal, and asking again would not help or did not.
    #[error("the model provider refused with status {status}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What the provider says, clipped.
        message: String,
    },
    /// No connection, or none that lasted.
    #[error("the model provider cannot be reached: {reason}; check the network and `compaction.base_url`")]
    Unreachable {
        /// What the network says.
        reason: String,
    },
    /// The deadline passed.
    #[error("the model did not answer within {} s", .after.as_secs_f64())]
    Timeout {
        /// The deadline.
        after: Duration,
    },
    /// Nobody waits for the answer any more.
    #[error("cancelled")]
    Cancelled,
    /// The answer is longer than any that was asked for.
    #[error("the model's answer is longer than {limit} bytes and was not taken")]
    TooLong {
        /// The most bytes that would have been taken.
        limit: usize,
    },
    /// The answer has no text.
    #[error("the model answered without any text")]
    Empty,
    /// The answer is not what this kind of provider sends.
    #[error("what answered does not speak the protocol of {kind}: {excerpt}")]
    Garbage {
        /// The protocol that was expected.
        kind: &'static str,
        /// The beginning of what came.
        excerpt: String,
    },
}
