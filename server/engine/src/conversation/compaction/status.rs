//! How near a conversation is to a compaction, and the outcome of the last one.

use schemars::JsonSchema;
use serde::Serialize;

use super::author::SummaryAuthor;
use super::commit::Record;
use super::profile::Profile;
use super::run::{Size, Strategy};
use super::trigger::{Pressure, TriggerMetric, TriggerReading};
use crate::text::grouped;

/// The reply of `compaction.status`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompactionStatus {
    /// Whether the conversation is watched at all.
    pub enabled: bool,
    /// The rules in force.
    pub profile: String,
    /// What the nearest condition measures; absent if the profile has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<TriggerMetric>,
    /// Its current value; tokens of the conversation if the profile has no condition.
    pub tokens: usize,
    /// How much there may be.
    pub threshold: usize,
    /// `tokens` as a share of `threshold`, in percent, rounded to one decimal.
    pub percent: f64,
    /// How much is left until one is due, in what `measured` counts; 0 when one is due.
    pub distance: usize,
    /// Maximum tokens of a request: the input window less the reserve for the answer and what estimates may be off by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Whether one is due.
    pub due: bool,
    /// Why none is due, or which condition makes one due.
    pub why: String,
    /// Whether one is running.
    pub running: bool,
    /// All conditions.
    pub conditions: Vec<TriggerReading>,
    /// The last one that was committed and not undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Last>,
}

/// A compaction that was committed.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LastCompaction")]
pub struct Last {
    /// The profile that made it.
    pub profile: String,
    /// How the conversation was made shorter.
    pub strategy: Strategy,
    /// The size before.
    pub before: Size,
    /// The size after.
    pub after: Size,
    /// Who wrote the summary; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summarised_by: Option<SummaryAuthor>,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
}

/// Whether compaction starts automatically when a limit is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AutoCompaction {
    On,
    Off,
}

impl CompactionStatus {
    /// The status of a conversation under `pressure`; that none is running.
    pub(crate) fn new(
        automatic: AutoCompaction,
        profile: &Profile,
        pressure: &Pressure,
        last: Option<&Record>,
    ) -> Self {
        let conditions = profile.trigger.readings(pressure);
        let nearest =
            conditions.iter().max_by(|one, other| one.percent().total_cmp(&other.percent())).copied();
        let enabled = automatic == AutoCompaction::On;
        let met = conditions.iter().find(|condition| condition.due);
        let threshold = nearest.map_or(0, |nearest| nearest.limit);
        let tokens = nearest.map_or(pressure.history, |nearest| nearest.now);
        let why = match (met, nearest) {
            _ if !enabled => "`compaction.enabled` is off".to_owned(),
            (Some(met), _) => told(met),
            (None, Some(nearest)) if nearest.now > nearest.limit => {
                format!("{}, but compacting now would cost more than it saves", told(&nearest))
            }
            (None, Some(nearest)) => told(&nearest),
            (None, None) => format!("profile `{}` is never due automatically", profile.name),
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
            last: last.map(Last::from),
        }
    }
}

/// Describes a condition's value: `tokens of the conversation: 25,310 of 24,000`.
fn told(TriggerReading { measured, now, limit, .. }: &TriggerReading) -> String {
    format!("{measured}: {} of {}", grouped(*now), grouped(*limit))
}

impl From<&Record> for Last {
    fn from(record: &Record) -> Self {
        let Record { profile, strategy, before, after, summarised_by, time_ms, .. } = record;
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
