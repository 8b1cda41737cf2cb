//! The limits of a request, its events, and its outcome.

use std::time::Duration;

use strata_conversation::providers::reply::{Reply, ReplyEvent};

use super::error::SendError;

/// Limits on the duration of a request and the size of its reply.
#[derive(Debug, Clone)]
pub struct RequestLimits {
    /// Maximum time from the call to the end of the reply, including all attempts and the waits between them.
    pub deadline: Duration,
    /// Maximum time between bytes of a streamed reply. Does not apply to a non-streamed reply, which may be silent
    /// until the deadline.
    pub stall: Duration,
    /// Maximum size of a reply as transferred, in bytes.
    pub max_reply_bytes: usize,
    /// Maximum number of retries after temporary failures. A request that may have been billed is retried at most once.
    pub retries: u32,
}

/// An event of a streamed request.
#[derive(Debug)]
pub enum StreamEvent {
    Reply(ReplyEvent),
    /// An attempt failed, and the next one follows after `wait`.
    Waiting {
        wait: Duration,
        /// Why the attempt failed.
        reason: String,
    },
}

/// The outcome of a streamed request: the reply received so far, and why it is incomplete, if it is.
#[derive(Debug)]
pub struct StreamOutcome {
    /// The reply received so far, with the reported usage.
    pub reply: Reply,
    /// Why the reply is incomplete: the connection was lost, a limit was reached, or the provider reported an error
    /// partway. `None` if the reply is complete.
    pub broken: Option<SendError>,
}
