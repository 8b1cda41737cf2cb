//! Whether a compaction is due: compares a conversation's size with the profile's conditions. Counts no tokens itself.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::profile::{Profile, Reserve, Trigger};

/// Percent of a request's limit at which every profile compacts, and maximum of all token triggers; beyond the limit, messages
/// would be left out.
const CEILING_PERCENT: usize = 95;
/// A conversation of fewer tokens is not compacted for its weight alone, however small the window: where half of the limit is
/// less, compacting earlier costs as much and keeps less (`cargo bench -p e2e --bench compaction_trigger`).
const LIGHT: usize = 24_000;
/// Divisor of the limit below which a conversation is too small to be compacted for files.
const WORTH: usize = 10;

/// Tokens of a whole request and its limit, by the provider's count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RequestSize {
    /// All of it, with nothing left out.
    pub tokens: usize,
    /// The same without selected files and the map, which are left out before messages.
    pub least: usize,
    /// Maximum tokens of a request: the window minus the reserve for the answer and the error of estimates. `None` for no limit.
    pub limit: Option<usize>,
    /// The input window; `None` when the model is unknown and the client named no limit.
    pub window: Option<usize>,
}

/// The size of a conversation and the room for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pressure {
    /// The conversation as the model sees it, in tokens.
    pub history: usize,
    /// The whole request, with nothing left out. Tokens.
    pub context: usize,
    /// The model's input window in tokens, when it is known.
    pub window: Option<usize>,
    /// Maximum tokens of a request, when it is known.
    pub limit: Option<usize>,
    /// Whether a compaction now is expected to save more than it costs.
    pub pays: bool,
    /// Messages that the model sees.
    pub messages: usize,
    /// Exchanges among them.
    pub exchanges: usize,
}

/// What a condition measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriggerMetric {
    /// Tokens of the conversation.
    HistoryTokens,
    /// Tokens of the whole prompt.
    ContextTokens,
    /// Messages that the model sees.
    Messages,
    /// Exchanges among them.
    Exchanges,
}

/// One condition of a trigger, held against a conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TriggerReading {
    /// What is measured.
    pub measured: TriggerMetric,
    /// How much of it there is.
    pub now: usize,
    /// How much of it there may be.
    pub limit: usize,
    /// Whether that makes a compaction due.
    pub due: bool,
}

impl Pressure {
    /// The pressure of a request. Files that do not fit even beside an empty conversation are left out, so they do not count.
    pub(crate) fn of(size: RequestSize, history: usize) -> Self {
        let RequestSize { tokens, least, limit, window } = size;
        let around = tokens.saturating_sub(history);
        let context = if ceiling(limit).is_some_and(|most| around >= most) { least } else { tokens };
        Self { history, context, window, limit, ..Self::default() }
    }
}

/// The tokens from which every profile compacts in a request of at most `limit`.
fn ceiling(limit: Option<usize>) -> Option<usize> {
    limit.map(|limit| limit.saturating_mul(CEILING_PERCENT) / 100)
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
    /// Due when there is more than the limit.
    fn over(measured: TriggerMetric, now: usize, limit: usize) -> Self {
        Self { measured, now, limit, due: now > limit }
    }

    /// Due when the limit is reached.
    fn from(measured: TriggerMetric, now: usize, limit: usize) -> Self {
        Self { measured, now, limit, due: now >= limit }
    }

    /// `now` as a share of `limit`, in percent, rounded to one decimal.
    pub(crate) fn percent(&self) -> f64 {
        (self.now as f64 * 1_000.0 / self.limit.max(1) as f64).round() / 10.0
    }
}

impl Trigger {
    /// All conditions with their current values, in a fixed order. The last applies to every profile: a request close to its
    /// limit.
    pub(crate) fn readings(&self, pressure: &Pressure) -> Vec<TriggerReading> {
        use TriggerMetric::{ContextTokens, Exchanges, HistoryTokens, Messages};
        let Pressure { history, context, messages, exchanges, .. } = *pressure;
        let most = ceiling(pressure.limit);
        let over = |measured, now, limit: Option<usize>| {
            limit.map(|limit| TriggerReading::over(measured, now, limit))
        };
        let from = |measured, now, limit: Option<usize>| {
            limit.map(|limit| TriggerReading::from(measured, now, limit))
        };
        let heavy = over(HistoryTokens, history, self.heavy(pressure.limit));
        let near = match self.reserve {
            Some(reserve) if reserve.limit(pressure.window).is_none() => {
                from(Messages, messages, (reserve.messages > 0).then_some(reserve.messages))
            }
            reserve => {
                from(ContextTokens, context, reserve.and_then(|reserve| reserve.limit(pressure.window)))
            }
        };
        let full = from(ContextTokens, context, most);
        let makes_room = most.is_some_and(|most| history >= most / WORTH);
        [
            heavy.map(|reading| TriggerReading { due: reading.due && pressure.pays, ..reading }),
            over(HistoryTokens, history, self.history_over),
            from(ContextTokens, context, self.context_from),
            over(ContextTokens, context, share_of(self.window_share, pressure.window)),
            near,
            over(Messages, messages, self.messages_over),
            over(Exchanges, exchanges, self.exchanges_over),
            full.map(|reading| TriggerReading { due: reading.due && makes_room, ..reading }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The lowest trigger in tokens, if any. Kept messages may take at most half of it.
    pub(crate) fn token_limit(&self, window: Option<usize>, limit: Option<usize>) -> Option<usize> {
        let near = self.reserve.and_then(|reserve| reserve.limit(window));
        let share = share_of(self.window_share, window);
        let heavy = self.heavy(limit);
        [heavy, self.history_over, self.context_from, near, share, ceiling(limit)].into_iter().flatten().min()
    }
}

impl Trigger {
    /// The tokens over which a conversation is heavy in a request of at most `limit`.
    fn heavy(&self, limit: Option<usize>) -> Option<usize> {
        share_of(self.history_share, limit).map(|tokens| tokens.max(LIGHT))
    }
}

fn share_of(share: Option<f64>, tokens: Option<usize>) -> Option<usize> {
    share.zip(tokens).map(|(share, tokens)| (tokens as f64 * share) as usize)
}

impl Reserve {
    /// The window less the reserve; without a window that is larger than the reserve, the other limit.
    fn limit(self, window: Option<usize>) -> Option<usize> {
        let limit = window.and_then(|window| window.checked_sub(self.tokens)).filter(|left| *left > 0);
        limit.or((self.otherwise > 0).then_some(self.otherwise))
    }
}

impl Profile {
    /// The first condition that makes a compaction due.
    pub fn due(&self, pressure: &Pressure) -> Option<TriggerReading> {
        self.trigger.readings(pressure).into_iter().find(|reading| reading.due)
    }
}
