//! Time limits for cancellable work.

use std::time::{Duration, Instant};

use strata_base::cancel::Cancel;

/// Time limit for parsing and outlining one text. A last resort: the work of a parser is limited in a way that does not
/// depend on the machine or its load, and even the most that it may do in a megabyte takes seconds.
const OUTLINE_TIME: Duration = Duration::from_secs(60);

/// Returns a flag that is raised when `cancel` is raised or the time for outlining one file has passed.
pub fn with_outline_timeout(cancel: &Cancel) -> Cancel {
    with_timeout(cancel, OUTLINE_TIME)
}

/// Returns a flag that is raised when `cancel` is raised or `time` has passed.
fn with_timeout(cancel: &Cancel, time: Duration) -> Cancel {
    let start = Instant::now();
    cancel.with_condition(move || start.elapsed() >= time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_elapsed_time_limit_cancels_only_the_derived_flag() {
        let cancel = Cancel::new();
        assert!(with_timeout(&cancel, Duration::ZERO).is_cancelled());
        assert!(!with_timeout(&cancel, Duration::from_secs(3_600)).is_cancelled() && !cancel.is_cancelled());
    }
}
