//! Limits and timers of the transport.

use std::time::Duration;

use super::frame::FrameLimits;
use super::watchdog;

#[derive(Clone, Copy, Debug)]
pub struct TransportOptions {
    pub limits: FrameLimits,
    /// Maximum number of pending requests.
    pub pending_requests: usize,
    /// Maximum bytes of unsent output. Above this limit, the transport accepts no input and server-to-client calls
    /// wait, until half of the limit is reached. Answers to pending requests are still queued.
    pub unsent: usize,
    /// Maximum time to wait for pending requests when the input ends, and for unsent output however the connection ends.
    pub drain: Duration,
    /// Interval between checks whether the client's process (`processId` in `initialize`) is still running.
    pub watch_every: Duration,
}

impl Default for TransportOptions {
    fn default() -> Self {
        Self {
            limits: FrameLimits::default(),
            pending_requests: 512,
            unsent: 16 << 20,
            drain: Duration::from_secs(1),
            watch_every: watchdog::DEFAULT_INTERVAL,
        }
    }
}
