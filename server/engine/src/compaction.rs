//! When a conversation has grown so long that it should be compacted. Says so; running a compaction is
//! not its business.

use serde::Serialize;

use crate::settings::{CompactionSettings, ProfileName};

/// The reply of `compaction.status`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionStatus {
    /// Whether the conversation is watched at all.
    pub enabled: bool,
    /// The rules in force.
    pub profile: ProfileName,
    /// What the conversation weighs, in tokens.
    pub tokens: usize,
    /// The weight over which a compaction is due.
    pub threshold: usize,
    /// `tokens` as a share of `threshold`, in percent, rounded to one decimal.
    pub percent: f64,
    /// Whether one is due.
    pub due: bool,
    /// Whether one is running.
    pub running: bool,
}

impl CompactionStatus {
    /// The status of a conversation of `tokens` tokens.
    pub fn new(settings: &CompactionSettings, tokens: usize) -> Self {
        let threshold = settings.trigger_tokens;
        let percent = if threshold == 0 { 0.0 } else { tokens as f64 * 100.0 / threshold as f64 };
        Self {
            enabled: settings.enabled,
            profile: settings.profile,
            tokens,
            threshold,
            percent: (percent * 10.0).round() / 10.0,
            due: settings.enabled && threshold > 0 && tokens > threshold,
            running: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_due_over_the_threshold_and_only_when_enabled() {
        let settings = CompactionSettings::default();
        let status = CompactionStatus::new(&settings, 24_000);
        assert_eq!((status.due, status.percent, status.threshold), (false, 100.0, 24_000));
        assert!(CompactionStatus::new(&settings, 24_001).due);
        let disabled = CompactionSettings { enabled: false, ..settings };
        assert!(!CompactionStatus::new(&disabled, 99_999).due);
    }
}
