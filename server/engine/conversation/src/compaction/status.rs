//! How close a conversation is to a compaction, and the outcome of the last one.

use schemars::JsonSchema;
use serde::Serialize;
use strata_base::text::group_digits;

use super::commit::CompactionRecord;
use super::profile::Profile;
use super::run::{CompactionStrategy, ConversationSize, SummaryAuthor};
use super::trigger::{ContextPressure, TriggerMetric, TriggerReading};

/// Reply to `compaction.status`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompactionStatus {
    /// Whether compaction is enabled (`compaction.enabled`).
    pub enabled: bool,
    /// Name of the active profile.
    pub profile: String,
    /// Quantity measured by the condition that is closest to being met. Absent if the profile has no
    /// condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<TriggerMetric>,
    /// Current value of the quantity in `measured`, or the tokens of the conversation if the profile has no
    /// condition.
    pub tokens: usize,
    /// Limit of the quantity in `measured`; 0 if the profile has no condition.
    pub threshold: usize,
    /// `tokens` as a percentage of `threshold`, rounded to one decimal.
    pub percent: f64,
    /// Difference between `threshold` and `tokens`; 0 when a compaction is due.
    pub distance: usize,
    /// Token limit for a request: the input window minus a reserve for the answer and for estimation errors.
    /// Absent if there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Whether compaction is enabled and a condition is met.
    pub due: bool,
    /// Which condition makes a compaction due, or why none is due.
    pub why: String,
    /// Whether a compaction is running.
    pub running: bool,
    /// All conditions with their current values.
    pub conditions: Vec<TriggerReading>,
    /// The last compaction that was committed and not undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<LastCompaction>,
}

/// A committed compaction.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastCompaction {
    /// Name of the profile that was applied.
    pub profile: String,
    /// How the conversation was shortened.
    pub strategy: CompactionStrategy,
    /// Messages and tokens before the compaction.
    pub before: ConversationSize,
    /// Messages and tokens after the compaction.
    pub after: ConversationSize,
    /// Author of the summary, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summarised_by: Option<SummaryAuthor>,
    /// Time of the commit, in milliseconds since 1970.
    pub time_ms: u64,
}

/// Whether to check if a compaction is due (`compaction.enabled`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AutoCompaction {
    On,
    Off,
}

impl CompactionStatus {
    /// Returns the status of a conversation with the sizes in `pressure`. The caller sets `running`.
    pub fn new(
        automatic: AutoCompaction,
        profile: &Profile,
        pressure: &ContextPressure,
        last: Option<&CompactionRecord>,
    ) -> Self {
        let conditions = profile.readings(pressure);
        let nearest =
            conditions.iter().max_by(|one, other| one.percent().total_cmp(&other.percent())).copied();
        let enabled = automatic == AutoCompaction::On;
        let met = conditions.iter().find(|condition| condition.due);
        let threshold = nearest.map_or(0, |nearest| nearest.limit);
        let tokens = nearest.map_or(pressure.history, |nearest| nearest.now);
        let why = match (met, nearest) {
            _ if !enabled => "`compaction.enabled` is off".to_owned(),
            (Some(met), _) => describe_reading(met),
            (None, Some(nearest @ TriggerReading { measured: TriggerMetric::ContextTokens, .. }))
                if nearest.now >= nearest.limit =>
            {
                format!(
                    "{}, but compacting the conversation would free too few of them",
                    describe_reading(&nearest)
                )
            }
            (None, Some(nearest)) if nearest.now > nearest.limit => {
                format!("{}, but compacting now would cost more than it saves", describe_reading(&nearest))
            }
            (None, Some(nearest)) => describe_reading(&nearest),
            (None, None) => format!("profile `{}` never compacts automatically", profile.name),
        };
        Self {
            enabled,
            profile: profile.name.clone(),
            measured: nearest.map(|nearest| nearest.measured),
            tokens,
            threshold,
            distance: if met.is_some() { 0 } else { threshold.saturating_sub(tokens) },
            limit: pressure.limit,
            why,
            percent: nearest.map_or(0.0, |nearest| nearest.percent()),
            due: enabled && met.is_some(),
            running: false,
            conditions,
            last: last.map(LastCompaction::from),
        }
    }
}

/// Formats a condition's value: `tokens of the conversation: 25,310 of 24,000`.
fn describe_reading(TriggerReading { measured, now, limit, .. }: &TriggerReading) -> String {
    format!("{measured}: {} of {}", group_digits(*now), group_digits(*limit))
}

impl From<&CompactionRecord> for LastCompaction {
    fn from(record: &CompactionRecord) -> Self {
        let CompactionRecord { profile, strategy, before, after, summarised_by, time_ms, .. } = record;
        Self {
            profile: profile.clone(),
            strategy: *strategy,
            before: *before,
            after: *after,
            summarised_by: summarised_by.clone(),
            time_ms: *time_ms,
        }
    }
}
