//! Measured times in ascending order, for the output of benches and long runs.

use std::fmt;
use std::time::{Duration, Instant};

/// Times in ascending order.
#[derive(Clone, Debug)]
pub struct Times(Vec<Duration>);

impl Times {
    /// Measures the time of each of `runs` runs.
    pub fn of(runs: usize, mut run: impl FnMut()) -> Self {
        let time = |()| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        };
        std::iter::repeat_n((), runs).map(time).collect()
    }

    /// Returns the number of times.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the smallest time that is not exceeded by `share` percent of the times, or zero if there are none.
    pub fn percentile(&self, share: usize) -> Duration {
        let rank = (self.0.len() * share).div_ceil(100);
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }
}

impl FromIterator<Duration> for Times {
    fn from_iter<I: IntoIterator<Item = Duration>>(times: I) -> Self {
        let mut times: Vec<Duration> = times.into_iter().collect();
        times.sort_unstable();
        Self(times)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [half, most, all] = [50, 99, 100].map(|share| self.percentile(share));
        write!(f, "p50 {half:>8.1?}  p99 {most:>8.1?}  max {all:>8.1?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_times() {
        let of = |times: &[u64], share| {
            times.iter().copied().map(Duration::from_secs).collect::<Times>().percentile(share).as_secs()
        };
        assert_eq!([0, 1, 50, 51, 99, 100].map(|share| of(&[4, 1, 3, 2], share)), [1, 1, 2, 3, 4, 4]);
        assert_eq!([0, 50, 100].map(|share| of(&[], share)), [0; 3]);
        assert_eq!([1, 99].map(|share| of(&(1..=100).collect::<Vec<_>>(), share)), [1, 99]);
    }
}
