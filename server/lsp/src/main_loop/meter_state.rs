//! State of the context meter.

use std::time::{Duration, Instant};

use crate::outbound::Newest;

/// State of the meter: whether a reading is needed, and when the next one may start.
#[derive(Default)]
pub(super) struct Meter {
    pub(super) wanted: bool,
    pub(super) reading: bool,
    /// When the last reading began.
    pub(super) last: Option<Instant>,
    /// How long the last reading took.
    pub(super) took: Duration,
    /// The latest reading, until it is sent.
    pub(super) unsent: Newest,
}
