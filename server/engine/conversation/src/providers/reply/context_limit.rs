//! Recognizes, in the words of providers, that a request is too long for the model, and reads the sizes that they
//! state.

use std::sync::LazyLock;

use regex::Regex;

/// The sizes that a provider states when it rejects a request as too long, in its own tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ContextSize {
    /// Maximum size, which includes the answer with some providers.
    pub limit: Option<u64>,
    pub requested: Option<u64>,
}

/// A wording, as a regular expression on the message in lower case. It may capture `limit` and `requested`.
struct ContextLimitPattern {
    pattern: &'static str,
    /// Page that quotes it, read on 2026-11-26.
    #[cfg_attr(not(test), expect(dead_code, reason = "documents the row; a test requires it"))]
    source: &'static str,
    /// A message in this wording, and the sizes in it.
    #[cfg(test)]
    pub(super) example: (&'static str, Option<u64>, Option<u64>),
}

macro_rules! wordings {
    ($($pattern:literal $source:literal $example:literal $limit:tt $requested:tt)*) => {
        [$(ContextLimitPattern {
            pattern: $pattern,
            source: $source,
            #[cfg(test)]
            example: ($example, wordings!(@ $limit), wordings!(@ $requested)),
        }),*]
    };
    (@ -) => { None };
    (@ $number:tt) => { Some($number) };
}

/// The known wordings, the more detailed ones first. Each row has a pattern, its source, an example, and the limit and
/// the requested size in the example.
static CONTEXT_LIMIT_PATTERNS: &[ContextLimitPattern] = &wordings![
    // Anthropic, also through LiteLLM and Bedrock
    r"prompt is too long: (?<requested>\d+) tokens > (?<limit>\d+) maximum"
    "https://github.com/entropy-research/Devon/issues/88"
    "prompt is too long: 209353 tokens > 199999 maximum" 199_999 209_353

    r"input length and `?max_tokens`? exceed context limit: (?<requested>\d+) \+ \d+ > (?<limit>\d+)"
    "https://github.com/continuedev/continue/issues/6080"
    "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length or `max_tokens` and try again" 200_000 199_759

    r"prompt is too long"
    "https://github.com/daisuke-awaji/moca/issues/254"
    "The model returned the following errors: prompt is too long" - -

    // vLLM
    r"maximum context length is (?<limit>\d+) tokens.*for a total of at least (?<requested>\d+) tokens"
    "https://github.com/AIDotNet/OpenCowork/issues/82"
    "This model's maximum context length is 262144 tokens. However, you requested 128000 output tokens and your prompt contains at least 134145 input tokens, for a total of at least 262145 tokens." 262_144 262_145

    // OpenAI, DeepSeek, Qwen and OpenRouter
    r"maximum context length is (?<limit>\d+) tokens.*?(?:requested|resulted in|request has)(?: about)? (?<requested>\d+)"
    "https://github.com/QwenLM/Qwen-Agent/issues/759"
    "This model's maximum context length is 16384 tokens. However, your request has 18225 input tokens. Please reduce the length of the input messages." 16_384 18_225

    r"exceeds the model's maximum context length of (?<limit>\d+) tokens.*total of (?<requested>\d+) tokens"
    "https://github.com/anomalyco/opencode/pull/25230"
    "Requested token count exceeds the model's maximum context length of 202752 tokens. You requested a total of 202941 tokens: 170941 tokens from the input messages and 32000 tokens for the completion." 202_752 202_941

    r"input length \((?<requested>\d+)\) exceeds model's maximum context length \((?<limit>\d+)\)"
    "https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts"
    "Input length (265330) exceeds model's maximum context length (262144)." 262_144 265_330

    r"maximum context length is (?<limit>\d+)"
    "https://github.com/RooCodeInc/Roo-Code/issues/1767"
    "This model's maximum context length is 65536 tokens." 65_536 -

    // OpenAI, Responses
    r"exceeds the context window"
    "https://github.com/OpenHands/software-agent-sdk"
    "Your input exceeds the context window of this model. Please adjust your input and try again." - -

    // Gemini
    r"input token count \((?<requested>\d+)\) exceeds the maximum number of tokens allowed \((?<limit>\d+)\)"
    "https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts"
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)." 1_048_575 1_196_265

    r"exceeds the maximum number of tokens"
    "https://ai.google.dev/gemini-api/docs/troubleshooting"
    "The input token count exceeds the maximum number of tokens allowed 1048576." - -

    // Bedrock
    r"input is too long for requested model"
    "https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html"
    "Input is too long for requested model." - -

    // LiteLLM
    r"contextwindowexceedederror"
    "https://docs.litellm.ai/docs/exception_mapping"
    "litellm.BadRequestError: litellm.ContextWindowExceededError: something new" - -

    // LM Studio
    r"keep the first (?<requested>\d+) tokens when context the overflows.*context length of only (?<limit>\d+) tokens"
    "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/546"
    "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough." 32_768 111_490

    r"n_keep \((?<requested>\d+)\) >= n_ctx \((?<limit>\d+)\)"
    "https://github.com/anomalyco/opencode/issues/11141"
    "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)" 7_424 15_028

    r"greater than the context length"
    "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2205"
    "The number of tokens to keep from the initial prompt is greater than the context length." - -

    // llama.cpp
    r"request \((?<requested>\d+) tokens\) exceeds the available context size \((?<limit>\d+) tokens\)"
    "https://github.com/ggml-org/llama.cpp/pull/15780"
    "request (8201 tokens) exceeds the available context size (4096 tokens), try increasing it" 4_096 8_201

    r"exceeds the available context size"
    "https://github.com/ggml-org/llama.cpp/pull/15780"
    "the request exceeds the available context size, try increasing it" - -

    // SGLang and Together
    r"input \((?<requested>\d+) tokens\) is longer than the model's context length \((?<limit>\d+) tokens\)"
    "https://github.com/QwenLM/Qwen3/issues/1321"
    "The input (61709 tokens) is longer than the model's context length (40960 tokens)." 40_960 61_709

    r"input length \((?<requested>\d+) tokens\) exceeds the maximum allowed length \((?<limit>\d+) tokens\)"
    "https://github.com/sgl-project/sglang/issues/4048"
    "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens)." 59_862 160_062

    // Text Generation Inference
    r"`?inputs`? tokens \+ `?max_new_tokens`? must be <= (?<limit>\d+)(?:\. given: (?<requested>\d+))?"
    "https://github.com/huggingface/tgi-gaudi/issues/146"
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32512. Given: 32008 `inputs` tokens and 512 `max_new_tokens`" 32_512 32_008

    r"`?inputs`? must have less than (?<limit>\d+) tokens(?:\. given: (?<requested>\d+))?"
    "https://github.com/opea-project/GenAIExamples/pull/340"
    "Input validation error: `inputs` must have less than 1024 tokens. Given: 1317" 1_024 1_317

    // Mistral
    r"prompt contains (?<requested>\d+) tokens.*too large for model with (?<limit>\d+) maximum context length"
    "https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts"
    "Prompt contains 40209 tokens and 0 draft tokens, too large for model with 32768 maximum context length" 32_768 40_209

    // xAI
    r"maximum prompt length is (?<limit>\d+)(?: but the request contains (?<requested>\d+) tokens)?"
    "https://github.com/cline/cline/issues/3120"
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens." 131_072 537_812

    // Z.ai (GLM)
    r"prompt exceeds max length"
    "https://github.com/zeroclaw-labs/zeroclaw/issues/4124"
    "Prompt exceeds max length" - -

    // Kimi
    r"exceeded model token limit: (?<limit>\d+) \(requested: (?<requested>\d+)\)"
    "https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts"
    "Invalid request: Your request exceeded model token limit: 262144 (requested: 270211)" 262_144 270_211

    // MiniMax
    r"context window exceeds limit"
    "https://github.com/MiniMax-AI/MiniMax-M2/issues/119"
    "invalid params, context window exceeds limit (2013)" - -

    // Qwen
    r"range of input length should be \[1, ?(?<limit>\d+)\]"
    "https://github.com/QwenLM/qwen-code/issues/98"
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]" 204_800 -

    // Cohere
    r"too many tokens: .*cannot exceed (?<limit>\d+) - received (?<requested>\d+)"
    "https://github.com/cohere-ai/sandbox-topically/issues/4"
    "too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354. Try using a shorter prompt or a smaller max_tokens value." 2_048 6_354

    r"too many tokens: .*must be less than (?<limit>\d+)"
    "https://docs.cohere.com/reference/errors"
    "too many tokens: size limit exceeded by 11326 tokens. The number of tokens must be less than 4081" 4_081 -

    // GitHub Copilot
    r"prompt token count of (?<requested>\d+) exceeds the limit of (?<limit>\d+)"
    "https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts"
    "prompt token count of 132512 exceeds the limit of 128000" 128_000 132_512

    // Groq
    r"reduce the length of the messages"
    "https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts"
    "Please reduce the length of the messages or completion." - -

    // Poolside
    r"input length (?<requested>\d+) exceeds the maximum allowed input length of (?<limit>\d+) tokens"
    "https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts"
    "Input length 140000 exceeds the maximum allowed input length of 131072 tokens." 131_072 140_000

    // Ollama
    r"prompt too long; exceeded (?:max )?context length"
    "https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts"
    "prompt too long; exceeded max context length by 412 tokens" - -
];

/// Codes and types of errors that only mean that the request is too long: those of OpenAI, Anthropic, llama.cpp and
/// Z.ai.
const CONTEXT_LIMIT_CODES: [&str; 4] = [
    "context_length_exceeded",
    "request_too_large",
    "exceed_context_size_error",
    "model_context_window_exceeded",
];

/// Whether a code or type of an error means that the request is too long.
pub(super) fn is_context_limit_code(code: &str) -> bool {
    CONTEXT_LIMIT_CODES.contains(&code)
}

/// Returns the stated sizes if a message says that the request is too long.
pub(super) fn parse_context_size(message: &str) -> Option<ContextSize> {
    static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        CONTEXT_LIMIT_PATTERNS.iter().filter_map(|wording| Regex::new(wording.pattern).ok()).collect()
    });
    let message = message.to_lowercase().replace('\u{2019}', "'");
    let captures = PATTERNS.iter().find_map(|pattern| pattern.captures(&message))?;
    let number = |name: &str| captures.name(name)?.as_str().parse().ok();
    Some(ContextSize { limit: number("limit"), requested: number("requested") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wording_is_recognized_with_its_sizes() {
        for ContextLimitPattern { pattern, source, example: (message, limit, requested) } in
            CONTEXT_LIMIT_PATTERNS
        {
            assert!(Regex::new(pattern).is_ok() && source.starts_with("https://"), "{pattern}");
            let size = ContextSize { limit: *limit, requested: *requested };
            assert_eq!(parse_context_size(message), Some(size), "{message}");
            assert_eq!(
                parse_context_size(&format!("400: {}", message.to_uppercase())),
                Some(size),
                "{message}"
            );
        }
    }

    #[test]
    fn other_limits_are_not_mistaken_for_the_context_limit() {
        for message in [
            "Too many tokens, please wait before trying again.",
            "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.",
            "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens",
            "Too many requests",
            "Your credit balance is too low",
        ] {
            assert_eq!(parse_context_size(message), None, "{message}");
        }
    }
}
