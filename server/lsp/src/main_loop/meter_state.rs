//! State of the context meter.

use std::time::{Duration, Instant};

use crate::outbound::UnsentStatus;

/// State of the meter: whether a reading is needed, and when the next one may start.
#[derive(Default)]
pub(super) struct ContextMeterState {
    pub(super) is_due: bool,
    pub(super) is_reading: bool,
    /// When the last reading began.
    pub(super) last_start: Option<Instant>,
    /// How long the last reading took.
    pub(super) last_duration: Duration,
    /// The latest reading, until it is sent.
    pub(super) unsent: UnsentStatus,
}
