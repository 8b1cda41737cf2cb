//! Decides whether and when to retry a failed request.

use std::time::Duration;

use strata_conversation::providers::reply::{ProviderError, ProviderErrorKind};

use super::error::SendError;

/// HTTP statuses of temporary failures: 429 too many requests, 500 internal error, 502 bad gateway, 503 unavailable,
/// and Anthropic's 529 overloaded.
const TEMPORARY_STATUSES: [u16; 5] = [429, 500, 502, 503, 529];

/// Wait before the second attempt. Doubles with each further attempt.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// Maximum wait, unless the provider asks for a longer one.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(8);

/// Maximum wait that a provider may ask for. If it asks for a longer one, the request fails and the user decides.
const MAX_REQUESTED_WAIT: Duration = Duration::from_secs(60);

/// A failed attempt, and whether a retry may help.
#[derive(Debug)]
pub(super) struct AttemptFailure {
    /// The error to report if there is no further attempt.
    pub(super) error: SendError,
    pub(super) retry: RetryDecision,
    /// Whether the provider may have billed the attempt.
    pub(super) may_be_billed: bool,
}

/// Whether and when to retry a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryDecision {
    /// The request would fail again.
    Never,
    /// Retry after the usual wait.
    Usual,
    /// Retry after the time that the provider asks for.
    After(Duration),
}

/// Counts the failed attempts, and those among them that may have been billed.
#[derive(Debug, Default)]
pub(super) struct AttemptCounter {
    failed: u32,
    billed: u32,
}

impl AttemptFailure {
    /// Creates a failure that a retry would not resolve.
    pub(super) fn permanent(error: SendError) -> Self {
        Self { error, retry: RetryDecision::Never, may_be_billed: false }
    }

    /// Creates the failure of a reply that was lost before its end.
    pub(super) fn lost_reply(error: SendError) -> Self {
        Self { error, retry: RetryDecision::Usual, may_be_billed: true }
    }
}

impl RetryDecision {
    /// Decides whether to retry after an error response. `advised` is the provider's own advice.
    pub(super) fn after_status(status: u16, advised: Option<bool>, error: &ProviderError) -> Self {
        if advised == Some(false) || !TEMPORARY_STATUSES.contains(&status) {
            Self::Never
        } else {
            Self::after_error(error)
        }
    }

    /// Decides whether to retry after an error, by its kind.
    pub(super) fn after_error(error: &ProviderError) -> Self {
        match error.kind {
            ProviderErrorKind::Overloaded | ProviderErrorKind::RateLimit | ProviderErrorKind::Server => {
                error.retry_after.map_or(Self::Usual, Self::After)
            }
            ProviderErrorKind::ContextLimit
            | ProviderErrorKind::Quota
            | ProviderErrorKind::Authentication
            | ProviderErrorKind::Refused
            | ProviderErrorKind::Content
            | ProviderErrorKind::Incomplete
            | ProviderErrorKind::Garbage => Self::Never,
        }
    }
}

impl AttemptCounter {
    /// Records a failure. Returns the wait before the next attempt, or `None` to stop. A request that may have been
    /// billed is retried only once, so that a reply costs at most twice its price.
    pub(super) fn record_failure(&mut self, failure: &AttemptFailure, retries: u32) -> Option<Duration> {
        self.failed += 1;
        self.billed += u32::from(failure.may_be_billed);
        if self.failed > retries || self.billed > 1 {
            return None;
        }
        let backoff = FIRST_WAIT.saturating_mul(1 << (self.failed - 1).min(8)).min(MAX_RETRY_WAIT);
        match failure.retry {
            RetryDecision::Never => None,
            // Wait for a random time between half of the usual wait and all of it, so that clients that failed at the
            // same time do not retry at the same time.
            RetryDecision::Usual => Some(backoff / 2 + jitter(backoff / 2)),
            RetryDecision::After(hint) if hint > MAX_REQUESTED_WAIT => None,
            RetryDecision::After(hint) => Some(hint + jitter(hint.min(FIRST_WAIT))),
        }
    }
}

/// Returns a random duration of at most `max`.
fn jitter(max: Duration) -> Duration {
    let mut byte = [0; 1];
    // Without random bytes, the jitter is zero.
    let _ = getrandom::fill(&mut byte);
    max.mul_f64(f64::from(byte[0]) / 255.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(retry: RetryDecision, may_be_billed: bool) -> AttemptFailure {
        AttemptFailure { error: SendError::Cancelled, retry, may_be_billed }
    }

    #[test]
    fn waits_grow_up_to_a_limit() {
        let mut attempts = AttemptCounter::default();
        for max in [500, 1000, 2000, 4000, 8000, 8000, 8000, 8000, 8000, 8000, 8000, 8000] {
            let max = Duration::from_millis(max);
            let wait = attempts.record_failure(&failure(RetryDecision::Usual, false), 12).unwrap();
            assert!(max / 2 <= wait && wait <= max, "{wait:?} of {max:?}");
        }
        assert_eq!(
            attempts.record_failure(&failure(RetryDecision::Usual, false), 12),
            None,
            "no retry is left"
        );
    }

    #[test]
    fn waits_are_random() {
        let wait = || AttemptCounter::default().record_failure(&failure(RetryDecision::Usual, false), 1);
        assert!((0..64).any(|_| wait() != wait()));
    }

    #[test]
    fn a_hint_is_followed_up_to_a_limit() {
        let wait =
            |hint| AttemptCounter::default().record_failure(&failure(RetryDecision::After(hint), false), 1);
        assert_eq!(wait(Duration::ZERO), Some(Duration::ZERO));
        let second = Duration::from_secs(1);
        assert!(wait(second).is_some_and(|wait| second <= wait && wait <= second + FIRST_WAIT));
        assert_eq!(wait(Duration::from_secs(61)), None);
    }

    #[test]
    fn a_request_that_may_have_been_billed_is_retried_once() {
        let mut attempts = AttemptCounter::default();
        assert!(attempts.record_failure(&failure(RetryDecision::Usual, true), 9).is_some());
        assert!(attempts.record_failure(&failure(RetryDecision::Usual, false), 9).is_some());
        assert_eq!(attempts.record_failure(&failure(RetryDecision::Usual, true), 9), None);
    }

    #[test]
    fn only_temporary_failures_are_retried() {
        let busy = ProviderError::new(ProviderErrorKind::RateLimit, "slow down");
        for status in 300..600 {
            let retry = RetryDecision::after_status(status, None, &busy);
            let expected = if TEMPORARY_STATUSES.contains(&status) {
                RetryDecision::Usual
            } else {
                RetryDecision::Never
            };
            assert_eq!(retry, expected, "{status}");
        }
        let second = Duration::from_secs(1);
        let hinted = ProviderError { retry_after: Some(second), ..busy };
        assert_eq!(RetryDecision::after_status(429, None, &hinted), RetryDecision::After(second));
        assert_eq!(RetryDecision::after_status(401, Some(true), &hinted), RetryDecision::Never);
        assert_eq!(RetryDecision::after_status(429, Some(false), &hinted), RetryDecision::Never);
        let quota = ProviderError { kind: ProviderErrorKind::Quota, ..hinted };
        assert_eq!(RetryDecision::after_status(429, None, &quota), RetryDecision::Never);
    }
}
