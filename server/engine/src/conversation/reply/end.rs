//! Converts the words with which providers end a reply.

use super::draft::ReplyEnd;
use super::error::ProviderError;

/// Words for a finished answer.
const COMPLETE: [&str; 6] = ["stop", "end_turn", "stop_sequence", "completed", "eos", "eos_token"];

/// Words for an answer that waits for the results of its calls.
const TOOL_CALLS: [&str; 3] = ["tool_calls", "tool_use", "function_call"];

/// Words for an answer that reached a limit on tokens.
const OUTPUT_LIMIT: [&str; 5] =
    ["length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"];

/// Words for an answer that the model or the provider's content rules refused.
const CONTENT: [&str; 13] = [
    "content_filter",
    "refusal",
    "sensitive",
    "safety",
    "recitation",
    "language",
    "blocklist",
    "prohibited_content",
    "spii",
    "image_safety",
    "guardrail_intervened",
    "content_filtered",
    "model_armor",
];

/// Words for a failure, after which a retry may succeed.
const SERVER: [&str; 9] = [
    "error",
    "failed",
    "network_error",
    "insufficient_system_resource",
    "abort",
    "aborted",
    "malformed_function_call",
    "unexpected_tool_call",
    "too_many_tool_calls",
];

/// Converts the word that ended a reply, of any provider. An unknown word means that the reply is incomplete.
///
/// Sources, read on 2026-11-26:
/// - Anthropic: <https://docs.anthropic.com/en/api/handling-stop-reasons>
/// - OpenAI: `finish_reason` and `incomplete_details` in <https://platform.openai.com/docs/api-reference>
/// - Gemini: `FinishReason` in <https://ai.google.dev/api/generate-content>
/// - DeepSeek (`insufficient_system_resource`): <https://api-docs.deepseek.com/api/create-chat-completion>
/// - Z.ai (`sensitive`, `network_error`, `model_context_window_exceeded`):
///   <https://docs.z.ai/api-reference/llm/chat-completion>
/// - Mistral (`model_length`, `error`): <https://docs.mistral.ai/api/>
/// - OpenRouter (`error`): <https://openrouter.ai/docs/api-reference/errors>
/// - SGLang (`abort`): <https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/managers/schedule_batch.py>
/// - TGI (`eos_token`): <https://huggingface.github.io/text-generation-inference/>
pub(super) fn end(word: &str) -> ReplyEnd {
    let lower = word.to_ascii_lowercase();
    let is_in = |words: &[&str]| words.contains(&lower.as_str());
    if is_in(&COMPLETE) {
        ReplyEnd::Complete
    } else if is_in(&TOOL_CALLS) {
        ReplyEnd::ToolCalls
    } else if is_in(&OUTPUT_LIMIT) {
        ReplyEnd::OutputLimit
    } else if is_in(&CONTENT) {
        blocked(word)
    } else if is_in(&SERVER) {
        ReplyEnd::Failed(ProviderError::server(&format!("the provider failed (`{word}`)")))
    } else {
        ReplyEnd::Failed(ProviderError::incomplete(&format!("the provider stopped it (`{word}`)")))
    }
}

/// Returns the end of a reply that content rules stopped for the reason `word`.
pub(super) fn blocked(word: &str) -> ReplyEnd {
    ReplyEnd::Failed(ProviderError::content(&format!("content rules stopped it (`{word}`)")))
}
