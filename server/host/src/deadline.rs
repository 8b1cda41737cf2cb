//! Time limits for work that can be cancelled. Knows nothing of the work.

use std::time::{Duration, Instant};

use strata_engine::cancel::Cancel;

/// How long parsing and outlining one file may take. A megabyte of real code takes about a tenth of a second; what takes
/// longer than this is made to.
pub const OUTLINE_TIME: Duration = Duration::from_secs(2);

/// The flag for work that is to end when `cancel` goes up or when it has taken `time`.
pub fn within(cancel: &Cancel, time: Duration) -> Cancel {
    let start = Instant::now();
    cancel.or_when(move || start.elapsed() >= time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_is_up_stops_the_work_and_nothing_else() {
        let cancel = Cancel::new();
        assert!(within(&cancel, Duration::ZERO).is_cancelled());
        assert!(!within(&cancel, Duration::from_secs(3_600)).is_cancelled() && !cancel.is_cancelled());
    }
}
