//! When a question is asked again: how often, after how long, and for which failures. Knows nothing of providers.

use std::time::{Duration, Instant};

use super::call::Call;
use super::error::SummaryError;

/// Statuses that mean "not now": too many requests, trouble inside, a gateway's trouble, unavailable, and Anthropic's
/// "overloaded".
const NOT_NOW: [u16; 5] = [429, 500, 502, 503, 529];

/// How long to wait before the second and the third try. There is no fourth.
const WAITS: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(1)];

/// Why one try failed, and whether another may do better.
#[derive(Debug)]
pub(super) struct Failure {
    /// What to say when there is no other try.
    pub(super) error: SummaryError,
    /// Whether there may be one.
    pub(super) again: Retry,
}

/// Whether the same request may have another outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    /// It would fail in the same way.
    Never,
    /// It may, after the usual wait.
    Usual,
    /// It may, after the wait that the provider asks for.
    After(Duration),
}

impl Retry {
    /// What a status that is no success means for another try.
    pub(super) fn after_status(status: u16, retry_after: Option<Duration>) -> Self {
        match retry_after {
            _ if !NOT_NOW.contains(&status) => Self::Never,
            Some(wait) => Self::After(wait),
            None => Self::Usual,
        }
    }

    /// How long to wait for the next try after some; none when there is none.
    fn wait(self, tries: usize) -> Option<Duration> {
        let usual = *WAITS.get(tries.checked_sub(1)?)?;
        match self {
            Self::Never => None,
            Self::Usual => Some(usual),
            Self::After(wait) => Some(wait),
        }
    }
}

/// Asks until there is an answer, asking again is of no use, or the next try would begin after the deadline. In that
/// case the failure is told at once: nobody is made to wait for nothing.
pub(super) async fn ask_with_retries(call: Call, until: Instant) -> Result<String, SummaryError> {
    let mut tries = 0;
    loop {
        let failure = match call.once().await {
            Ok(text) => return Ok(text),
            Err(failure) => failure,
        };
        tries += 1;
        let next =
            failure.again.wait(tries).filter(|wait| *wait < until.saturating_duration_since(Instant::now()));
        match next {
            Some(wait) => tokio::time::sleep(wait).await,
            None => return Err(failure.error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_three_tries() {
        let ms = Duration::from_millis;
        assert_eq!([1, 2, 3].map(|tries| Retry::Usual.wait(tries)), [Some(ms(500)), Some(ms(1000)), None]);
        assert_eq!([1, 2, 3].map(|tries| Retry::After(ms(7)).wait(tries)), [Some(ms(7)), Some(ms(7)), None]);
        assert_eq!([1, 2, 3].map(|tries| Retry::Never.wait(tries)), [None, None, None]);
    }

    #[test]
    fn only_not_now_is_asked_again() {
        for status in 300..600 {
            let again = Retry::after_status(status, None);
            let expected = if NOT_NOW.contains(&status) { Retry::Usual } else { Retry::Never };
            assert_eq!(again, expected, "{status}");
        }
        let second = Duration::from_secs(1);
        assert_eq!(Retry::after_status(429, Some(second)), Retry::After(second));
        assert_eq!(Retry::after_status(401, Some(second)), Retry::Never);
    }
}
