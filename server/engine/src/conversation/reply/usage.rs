//! Reads the token counts of providers that count cached tokens as part of the prompt.

use serde_json::Value;

use super::draft::number;
use crate::tokens::cost::Usage;

/// JSON pointers to the counts of one provider. Of several pointers, the first with a count above zero applies,
/// except for `prompt` and `output`, whose counts are added.
pub(super) struct UsageFields {
    pub(super) prompt: &'static [&'static str],
    pub(super) output: &'static [&'static str],
    pub(super) cache_read: &'static [&'static str],
    pub(super) cache_write: &'static [&'static str],
    pub(super) reasoning: &'static [&'static str],
    pub(super) total: &'static [&'static str],
}

/// Chat Completions, and the deviations of compatible servers:
/// - OpenAI: <https://platform.openai.com/docs/api-reference/chat/object>
/// - DeepSeek (`prompt_cache_hit_tokens`): <https://api-docs.deepseek.com/guides/kv_cache>
/// - Kimi (`cached_tokens`): <https://platform.moonshot.ai/docs/api/chat>
/// - LiteLLM (`cache_read_input_tokens`, `cache_creation_input_tokens`):
///   <https://docs.litellm.ai/docs/completion/prompt_caching>
pub(super) const CHAT: UsageFields = UsageFields {
    prompt: &["/prompt_tokens"],
    output: &["/completion_tokens"],
    cache_read: &[
        "/prompt_tokens_details/cached_tokens",
        "/prompt_cache_hit_tokens",
        "/cached_tokens",
        "/cache_read_input_tokens",
    ],
    cache_write: &["/prompt_tokens_details/cache_write_tokens", "/cache_creation_input_tokens"],
    reasoning: &["/completion_tokens_details/reasoning_tokens"],
    total: &["/total_tokens"],
};

/// <https://platform.openai.com/docs/api-reference/responses/object>
pub(super) const RESPONSES: UsageFields = UsageFields {
    prompt: &["/input_tokens"],
    output: &["/output_tokens"],
    cache_read: &["/input_tokens_details/cached_tokens"],
    cache_write: &["/input_tokens_details/cache_write_tokens"],
    reasoning: &["/output_tokens_details/reasoning_tokens"],
    total: &["/total_tokens"],
};

/// `UsageMetadata` in <https://ai.google.dev/api/generate-content>
pub(super) const GEMINI: UsageFields = UsageFields {
    prompt: &["/promptTokenCount", "/toolUsePromptTokenCount"],
    output: &["/candidatesTokenCount", "/thoughtsTokenCount"],
    cache_read: &["/cachedContentTokenCount"],
    cache_write: &[],
    reasoning: &[],
    total: &["/totalTokenCount"],
};

impl UsageFields {
    /// Reads the counts. `None` if there are none, or all are zero, as some servers send before the real ones.
    ///
    /// Some servers count cached tokens in addition to those of the prompt, and reasoning (as xAI does) in
    /// addition to that of the output. The total, if any, shows what a server adds up:
    /// <https://github.com/vercel/ai/pull/12425>.
    pub(super) fn read(&self, billed: &Value) -> Option<Usage> {
        let count = |pointers: &[&str]| {
            pointers.iter().map(|pointer| number(billed, pointer)).find(|count| *count > 0).unwrap_or(0)
        };
        let sum = |pointers: &[&str]| pointers.iter().map(|pointer| number(billed, pointer)).sum::<u64>();
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
