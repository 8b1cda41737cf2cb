//! Reads the token counts of providers that count cached tokens as part of the prompt.

use serde_json::Value;
use strata_tokens::cost::Usage;

use super::draft::count_at_pointer;

/// JSON pointers to the counts of one provider. Of several pointers, the first with a count above zero applies,
/// except for `prompt` and `output`, whose counts are added.
pub(crate) struct UsageFields {
    pub(crate) prompt: &'static [&'static str],
    pub(crate) output: &'static [&'static str],
    pub(crate) cache_read: &'static [&'static str],
    pub(crate) cache_write: &'static [&'static str],
    pub(crate) reasoning: &'static [&'static str],
    pub(crate) total: &'static [&'static str],
}

impl UsageFields {
    /// Reads the counts. `None` if there are none, or all are zero, as some servers send before the real ones.
    ///
    /// Some servers count cached tokens in addition to those of the prompt, and reasoning (as xAI does) in
    /// addition to that of the output. The total, if any, shows what a server adds up:
    /// <https://github.com/vercel/ai/pull/12425>.
    pub(crate) fn read(&self, billed: &Value) -> Option<Usage> {
        let count = |pointers: &[&str]| {
            pointers
                .iter()
                .map(|pointer| count_at_pointer(billed, pointer))
                .find(|count| *count > 0)
                .unwrap_or(0)
        };
        let sum =
            |pointers: &[&str]| pointers.iter().map(|pointer| count_at_pointer(billed, pointer)).sum::<u64>();
        let (prompt, output) = (sum(self.prompt), sum(self.output));
        let (cache_read, cache_write) = (count(self.cache_read), count(self.cache_write));
        let (cached, reasoning) = (cache_read + cache_write, count(self.reasoning));
        if prompt + output + cached + reasoning == 0 {
            return None;
        }
        let unexplained = count(self.total).checked_sub(prompt + output).filter(|rest| *rest > 0);
        let is_total = |tokens: u64| tokens > 0 && unexplained == Some(tokens);
        let is_cache_separate = cached > prompt || is_total(cached) || is_total(cached + reasoning);
        let is_reasoning_separate =
            reasoning > output || is_total(reasoning) || (is_cache_separate && is_total(cached + reasoning));
        let input = if is_cache_separate { prompt } else { prompt - cached };
        let output = if is_reasoning_separate { output + reasoning } else { output };
        Some(Usage { input, output, cache_read, cache_write })
    }
}
