//! Time limits for cancellable work.

use std::time::{Duration, Instant};

use strata_base::cancel::Cancel;

/// Time limit for parsing and outlining one text. A last resort: the work of a parser is limited in a way that does not
/// depend on the machine or its load, and even the most that it may do in a megabyte takes seconds.
const OUTLINE_TIME: Duration = Duration::from_secs(60);

/// Returns a flag that is raised when `cancel` is raised or the time for outlining one file has passed.
pub fn within_outline_time(cancel: &Cancel) -> Cancel {
    within(cancel, OUTLINE_TIME)
}

/// Returns a flag that is raised when `cancel` is raised or `time` has passed.
fn within(cancel: &Cancel, time: Duration) -> Cancel {
    let start = Instant::now();
    cancel.or_when(move || start.elapsed() >= time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_elapsed_time_limit_cancels_only_the_derived_flag() {
        let cancel = Cancel::new();
        assert!(within(&cancel, Duration::ZERO).is_cancelled());
        assert!(!within(&cancel, Duration::from_secs(3_600)).is_cancelled() && !cancel.is_cancelled());
    }
}
