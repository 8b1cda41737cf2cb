//! The system clock. Only this layer reads it; the engine takes the time as an argument.

use std::time::{SystemTime, UNIX_EPOCH};

/// Current time, in milliseconds since 1970.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
