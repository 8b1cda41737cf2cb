//! Records when a session's prompts were sent and how much of each was marked for the cache, as input for
//! forecasts.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{SentRequest, SessionTrend};

/// Maximum number of prompts kept; older ones say little about the future.
const MAX_KEPT_PROMPTS: usize = 1_001;

/// The most recent prompts of a session.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RecentPrompts {
    prompts: VecDeque<RecentPrompt>,
    /// Pauses between the prompts, in milliseconds.
    pauses_ms: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct RecentPrompt {
    at_ms: u64,
    cacheable: usize,
}

impl RecentPrompts {
    pub fn record(&mut self, sent: &SentRequest) {
        if let Some(last) = self.prompts.back() {
            self.pauses_ms.push(sent.at_ms.saturating_sub(last.at_ms));
        }
        self.prompts.push_back(RecentPrompt { at_ms: sent.at_ms, cacheable: sent.cacheable_tokens() });
        if self.prompts.len() > MAX_KEPT_PROMPTS {
            self.prompts.pop_front();
            self.pauses_ms.remove(0);
        }
    }

    pub fn prompt_count(&self) -> usize {
        self.prompts.len()
    }

    /// Returns the trend of the session, as input for a forecast. Growth is the average per turn; a shrinking
    /// prefix counts as constant.
    pub fn trend(&self) -> SessionTrend<'_> {
        let first = self.prompts.front().map_or(0, |prompt| prompt.cacheable);
        let marked = self.prompts.back().map_or(0, |prompt| prompt.cacheable);
        let growth = marked.saturating_sub(first).checked_div(self.pauses_ms.len()).unwrap_or(0);
        SessionTrend { marked, growth, pauses_ms: &self.pauses_ms }
    }
}

#[cfg(test)]
mod tests {
    use strata_base::hash::ContentHash;

    use super::*;
    use crate::cost::{BreakpointLifetime, CacheMarker, Prices, RequestSpan};
    use crate::models::{CacheTtl, Models};

    fn sent(at_ms: u64, marked: usize) -> SentRequest {
        let span = |tokens, mark| RequestSpan { hash: ContentHash::NONE, tokens, mark, continues_run: false };
        SentRequest {
            spans: vec![
                span(marked, CacheMarker::Breakpoint(BreakpointLifetime::Short)),
                span(7, CacheMarker::None),
            ],
            at_ms,
            identity: ContentHash::NONE,
            prices: Prices::for_model(
                &Models::builtin().resolve("claude-opus-4-7").model,
                CacheTtl::FiveMinutes,
            ),
            lifetimes: Vec::new(),
        }
    }

    #[test]
    fn pauses_and_growth_are_measured_between_prompts() {
        let mut pace = RecentPrompts::default();
        assert_eq!(pace.trend(), SessionTrend { marked: 0, growth: 0, pauses_ms: &[] });
        pace.record(&sent(1_000, 100));
        assert_eq!(pace.trend(), SessionTrend { marked: 100, growth: 0, pauses_ms: &[] });
        pace.record(&sent(3_000, 150));
        pace.record(&sent(2_000, 160));
        assert_eq!(pace.trend(), SessionTrend { marked: 160, growth: 30, pauses_ms: &[2_000, 0] });
        pace.record(&sent(2_001, 5));
        assert_eq!(pace.trend().growth, 0);
    }

    #[test]
    fn only_the_last_thousand_pauses_are_kept() {
        let mut pace = RecentPrompts::default();
        (0..1_500).for_each(|turn| pace.record(&sent(turn * turn, 1)));
        assert_eq!((pace.prompt_count(), pace.trend().pauses_ms.len()), (1_001, 1_000));
        assert_eq!(pace.trend().pauses_ms.last(), Some(&(1_499 * 1_499 - 1_498 * 1_498)));
    }
}
