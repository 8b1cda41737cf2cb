//! Decides whether a compaction is due by comparing a conversation's size with the profile's conditions. Does
//! not count tokens.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::profile::{Profile, SUMMARY_LIMIT_DIVISOR, Trigger, WindowReserve};

/// Percentage of the request limit at which every profile compacts. Also caps all token triggers, because
/// messages beyond the limit would be omitted.
const FORCED_COMPACTION_PERCENT: usize = 95;
/// A conversation smaller than the request limit divided by this number is not compacted just because the
/// request is nearly full.
const MIN_COMPACTION_GAIN_DIVISOR: usize = 10;

/// A conversation that is written to the cache again anyway is compacted above `pays_over` divided by this number. In
/// recorded conversations in a large repository, 8,000 tokens cost 0.525 times what was paid, 16,000 tokens 0.539, and
/// no such compactions 0.563 (`tests/benches/judges/run --only iteexe conversations`).
const REWRITING_DIVISOR: usize = 3;

/// Tokens of a whole request and its limit, as the provider counts them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RequestSize {
    /// Tokens of the whole request, with nothing omitted.
    pub tokens: usize,
    /// Tokens of the request without selected files and the symbol map, which are omitted before any messages.
    pub least: usize,
    /// Token limit for a request: the window minus a reserve for the answer and for estimation errors. `None`
    /// for no limit.
    pub limit: Option<usize>,
    /// Input window in tokens; `None` if the model is unknown and the client set no limit.
    pub window: Option<usize>,
}

/// Size of a conversation and the limits that it is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ContextPressure {
    /// Tokens of the conversation as the model sees it.
    pub history: usize,
    /// Tokens of the whole request, with nothing omitted.
    pub context: usize,
    /// Input window of the model in tokens, if known.
    pub window: Option<usize>,
    /// Token limit for a request, if known.
    pub limit: Option<usize>,
    /// Whether compacting now is expected to save more than it costs.
    pub pays: bool,
    /// Number of messages that the model sees.
    pub messages: usize,
    /// Number of exchanges among the messages that the model sees.
    pub exchanges: usize,
}

/// Quantity that a condition measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriggerMetric {
    /// Tokens of the conversation.
    HistoryTokens,
    /// Tokens of the whole prompt.
    ContextTokens,
    /// Number of messages that the model sees.
    Messages,
    /// Number of exchanges among the messages that the model sees.
    Exchanges,
}

/// A condition that can make a compaction due, with its current value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TriggerReading {
    /// Quantity that the condition measures.
    pub measured: TriggerMetric,
    /// Current value of the quantity.
    pub now: usize,
    /// Limit of the quantity. Some conditions are met when it is reached, others only when it is exceeded.
    pub limit: usize,
    /// Whether this condition makes a compaction due.
    pub due: bool,
}

impl ContextPressure {
    /// Computes the pressure of a request. The caller sets `pays`, `messages` and `exchanges`. Does not count
    /// omittable files if they would not fit even without the conversation.
    pub fn from_request(size: RequestSize, history: usize) -> Self {
        let RequestSize { tokens, least, limit, window } = size;
        let other_tokens = tokens.saturating_sub(history);
        let context =
            if compaction_ceiling(limit).is_some_and(|most| other_tokens >= most) { least } else { tokens };
        Self { history, context, window, limit, ..Self::default() }
    }
}

/// Returns the tokens at which every profile compacts, for a request limit of `limit`.
fn compaction_ceiling(limit: Option<usize>) -> Option<usize> {
    limit.map(|limit| limit.saturating_mul(FORCED_COMPACTION_PERCENT) / 100)
}

impl fmt::Display for TriggerMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HistoryTokens => "tokens of the conversation",
            Self::ContextTokens => "tokens of the request",
            Self::Messages => "messages",
            Self::Exchanges => "exchanges",
        })
    }
}

impl TriggerReading {
    fn due_if_exceeded(measured: TriggerMetric, now: usize, limit: usize) -> Self {
        Self { measured, now, limit, due: now > limit }
    }

    fn due_if_reached(measured: TriggerMetric, now: usize, limit: usize) -> Self {
        Self { measured, now, limit, due: now >= limit }
    }

    /// Returns `now` as a percentage of `limit`, rounded to one decimal.
    pub(crate) fn percent(&self) -> f64 {
        (self.now as f64 * 1_000.0 / self.limit.max(1) as f64).round() / 10.0
    }
}

impl Trigger {
    /// Returns all conditions with their current values, in a fixed order. The last one applies to every
    /// profile: the request is close to its limit. `helps` tells whether a compaction brings the request below a
    /// limit.
    fn readings(&self, pressure: &ContextPressure, helps: impl Fn(usize) -> bool) -> Vec<TriggerReading> {
        use TriggerMetric::{ContextTokens, Exchanges, HistoryTokens, Messages};
        let ContextPressure { history, context, messages, exchanges, .. } = *pressure;
        let most = compaction_ceiling(pressure.limit);
        let over = |measured, now, limit: Option<usize>| {
            limit.map(|limit| TriggerReading::due_if_exceeded(measured, now, limit))
        };
        let from = |measured, now, limit: Option<usize>| {
            limit.map(|limit| TriggerReading::due_if_reached(measured, now, limit))
        };
        let helpful = |reading: TriggerReading| {
            let due = reading.due && (reading.measured != ContextTokens || helps(reading.limit));
            TriggerReading { due, ..reading }
        };
        let heavy = over(HistoryTokens, history, self.pays_over);
        let near = match self.reserve {
            Some(reserve) if reserve.usable_window(pressure.window).is_none() => {
                from(Messages, messages, (reserve.messages > 0).then_some(reserve.messages))
            }
            reserve => from(
                ContextTokens,
                context,
                reserve.and_then(|reserve| reserve.usable_window(pressure.window)),
            ),
        };
        let full = from(ContextTokens, context, most);
        let makes_room = most.is_some_and(|most| history >= most / MIN_COMPACTION_GAIN_DIVISOR);
        [
            heavy.map(|reading| TriggerReading { due: reading.due && pressure.pays, ..reading }),
            over(HistoryTokens, history, self.history_over),
            from(ContextTokens, context, self.context_from).map(helpful),
            over(ContextTokens, context, tokens_for_share(self.window_share, pressure.window)).map(helpful),
            near.map(helpful),
            over(Messages, messages, self.messages_over),
            over(Exchanges, exchanges, self.exchanges_over),
            full.map(|reading| TriggerReading { due: reading.due && makes_room, ..reading }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns the condition for compacting a conversation of this size before a prompt that writes it to the cache again.
    pub fn rewriting_reading(&self, history: usize) -> Option<TriggerReading> {
        let limit = self.pays_over? / REWRITING_DIVISOR;
        Some(TriggerReading::due_if_exceeded(TriggerMetric::HistoryTokens, history, limit))
    }

    /// Returns the lowest trigger limit in tokens, if any. Kept messages may take at most half of it.
    pub fn token_limit(&self, window: Option<usize>, limit: Option<usize>) -> Option<usize> {
        let near = self.reserve.and_then(|reserve| reserve.usable_window(window));
        let share = tokens_for_share(self.window_share, window);
        [self.pays_over, self.history_over, self.context_from, near, share, compaction_ceiling(limit)]
            .into_iter()
            .flatten()
            .min()
    }
}

fn tokens_for_share(share: Option<f64>, tokens: Option<usize>) -> Option<usize> {
    share.zip(tokens).map(|(share, tokens)| (tokens as f64 * share) as usize)
}

impl WindowReserve {
    /// Returns the window minus the reserve, or `otherwise` if the window is unknown or not larger than the
    /// reserve.
    fn usable_window(self, window: Option<usize>) -> Option<usize> {
        let limit = window.and_then(|window| window.checked_sub(self.tokens)).filter(|left| *left > 0);
        limit.or((self.otherwise > 0).then_some(self.otherwise))
    }
}

impl Profile {
    /// Returns all conditions with their current values, in a fixed order.
    pub(crate) fn readings(&self, pressure: &ContextPressure) -> Vec<TriggerReading> {
        self.trigger.readings(pressure, |limit| self.can_compact_below_limit(pressure, limit))
    }

    /// Whether a compaction brings a request below `limit`, and not just barely: selected files, rules and the system
    /// prompt stay. If they exceed the limit by themselves, the conversation alone counts.
    fn can_compact_below_limit(&self, pressure: &ContextPressure, limit: usize) -> bool {
        let fixed_tokens = pressure.context.saturating_sub(pressure.history);
        let remaining =
            self.keep.tokens.min(limit / 2) + self.summary.tokens.min(limit / SUMMARY_LIMIT_DIVISOR);
        let freed = pressure.history.saturating_sub(remaining);
        pressure.history >= limit
            || (fixed_tokens + remaining < limit && freed >= limit / MIN_COMPACTION_GAIN_DIVISOR)
    }

    /// Returns the first condition that makes a compaction due, or `None` if none does.
    pub fn due_reading(&self, pressure: &ContextPressure) -> Option<TriggerReading> {
        self.readings(pressure).into_iter().find(|reading| reading.due)
    }
}
