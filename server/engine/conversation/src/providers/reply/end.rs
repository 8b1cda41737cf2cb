//! Converts the words with which providers end a reply.

use super::draft::ReplyEnd;
use super::error::{ProviderError, ProviderErrorKind};

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
pub(crate) fn parse_stop_reason(reason: &str) -> ReplyEnd {
    match reason.to_ascii_lowercase().as_str() {
        "stop" | "end_turn" | "stop_sequence" | "completed" | "eos" | "eos_token" => ReplyEnd::Complete,
        "tool_calls" | "tool_use" | "function_call" => ReplyEnd::ToolCalls,
        "length" | "max_tokens" | "max_output_tokens" | "model_length" | "model_context_window_exceeded" => {
            ReplyEnd::OutputLimit
        }
        "content_filter"
        | "refusal"
        | "sensitive"
        | "safety"
        | "recitation"
        | "language"
        | "blocklist"
        | "prohibited_content"
        | "spii"
        | "image_safety"
        | "guardrail_intervened"
        | "content_filtered"
        | "model_armor" => end_blocked_by_content_rules(reason),
        // A retry may succeed.
        "error"
        | "failed"
        | "network_error"
        | "insufficient_system_resource"
        | "abort"
        | "aborted"
        | "malformed_function_call"
        | "unexpected_tool_call"
        | "too_many_tool_calls" => end_with_error(ProviderErrorKind::Server, "the provider failed", reason),
        _ => end_with_error(ProviderErrorKind::Incomplete, "the provider stopped it", reason),
    }
}

/// Returns the end of a reply that content rules stopped for the reason `reason`.
pub(crate) fn end_blocked_by_content_rules(reason: &str) -> ReplyEnd {
    end_with_error(ProviderErrorKind::Content, "the provider's content rules stopped it", reason)
}

fn end_with_error(kind: ProviderErrorKind, problem: &str, reason: &str) -> ReplyEnd {
    ReplyEnd::Failed(ProviderError::new(kind, &format!("{problem} (`{reason}`)")))
}
