//! Whether a compaction is due: a profile's conditions held against what a conversation weighs. Weighs nothing itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::profile::{Profile, Reserve, Trigger};

/// What a conversation weighs, and what there is room for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pressure {
    /// The conversation as the model sees it, in tokens.
    pub history: usize,
    /// The whole prompt with it, in tokens.
    pub context: usize,
    /// The model's input window in tokens, when it is known.
    pub window: Option<usize>,
    /// Messages that the model sees.
    pub messages: usize,
    /// Exchanges among them.
    pub exchanges: usize,
}

/// What a condition counts.
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
    /// What is counted.
    pub measured: TriggerMetric,
    /// How much of it there is.
    pub now: usize,
    /// How much of it there may be.
    pub limit: usize,
    /// Whether that makes a compaction due.
    pub due: bool,
}

impl Pressure {
    /// The same in a window of so many tokens, when that is known.
    #[must_use]
    pub fn within(self, window: Option<usize>) -> Self {
        Self { window: window.or(self.window), ..self }
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
    /// All conditions with what they read, in a fixed order.
    pub(crate) fn readings(&self, pressure: &Pressure) -> Vec<TriggerReading> {
        let share = self.window_share.zip(pressure.window);
        let share = share.map(|(share, window)| (window as f64 * share) as usize);
        let near = self.reserve.and_then(|reserve| match reserve.limit(pressure.window) {
            Some(tokens) => {
                Some(TriggerReading::from(TriggerMetric::ContextTokens, pressure.context, tokens))
            }
            None => (reserve.messages > 0)
                .then(|| TriggerReading::from(TriggerMetric::Messages, pressure.messages, reserve.messages)),
        });
        let Pressure { history, context, messages, exchanges, .. } = *pressure;
        [
            self.history_over.map(|limit| TriggerReading::over(TriggerMetric::HistoryTokens, history, limit)),
            self.context_from.map(|limit| TriggerReading::from(TriggerMetric::ContextTokens, context, limit)),
            share.map(|limit| TriggerReading::over(TriggerMetric::ContextTokens, context, limit)),
            near,
            self.messages_over.map(|limit| TriggerReading::over(TriggerMetric::Messages, messages, limit)),
            self.exchanges_over.map(|limit| TriggerReading::over(TriggerMetric::Exchanges, exchanges, limit)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The limit in tokens that triggers, when there is one: what is kept may be at most half of it.
    pub(crate) fn token_limit(&self, window: Option<usize>) -> Option<usize> {
        let near = self.reserve.and_then(|reserve| reserve.limit(window));
        let share = self.window_share.zip(window).map(|(share, window)| (window as f64 * share) as usize);
        [self.history_over, self.context_from, near, share].into_iter().flatten().min()
    }
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
