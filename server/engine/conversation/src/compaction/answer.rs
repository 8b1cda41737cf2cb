//! Checks a model's answer before it replaces a part of the conversation.

use strata_base::text::clip_to_tokens;

use super::question::SummarizerQuestion;
use crate::extractive::SummaryStructure;

/// Multiple of the requested length above which an answer is rejected instead of clipped.
const OVERLONG_ANSWER_FACTOR: usize = 8;

/// Divisor of the material's tokens that gives the minimum tokens of a summary.
const MIN_SUMMARY_SHARE_DIVISOR: usize = 10_000;

/// Divisor of the allowed tokens that gives the largest minimum of a summary.
const MAX_REQUIRED_SUMMARY_DIVISOR: usize = 20;

/// Token limit for an answer that is a refusal if it begins like one.
const MAX_REFUSAL_TOKENS: usize = 100;

/// Minimum tokens of material for which an answer must have one of the requested headings. Without any, a model has
/// continued the conversation instead of summarizing it.
const MIN_TOKENS_REQUIRING_HEADING: usize = 10_000;

/// Markers around reasoning in the text of answers.
const REASONING_TAGS: [(&str, &str); 8] = [
    // DeepSeek, Qwen and most others.
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    // Magistral: <https://docs.mistral.ai/capabilities/reasoning/>.
    ("[THINK]", "[/THINK]"),
    // Kimi-VL: <https://huggingface.co/moonshotai/Kimi-VL-A3B-Thinking>.
    ("\u{25c1}think\u{25b7}", "\u{25c1}/think\u{25b7}"),
    // Gemma 4: <https://github.com/vllm-project/recipes/pull/316>.
    ("<|channel>thought", "<channel|>"),
    // gpt-oss, whose reasoning and answer are two channels: <https://developers.openai.com/cookbook/articles/openai-harmony>.
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
];

/// Markers of the end of an answer, which some servers do not remove.
const END_OF_ANSWER_TOKENS: [&str; 6] =
    ["<|return|>", "<|end|>", "<|im_end|>", "<|eot_id|>", "<end_of_turn>", "</s>"];

/// Beginnings of refusals, in lower case.
const REFUSAL_BEGINNINGS: [&str; 18] = [
    "i can't",
    "i cannot",
    "i can not",
    "i'm sorry",
    "i am sorry",
    "sorry",
    "i'm unable",
    "i am unable",
    "i'm not able",
    "i won't",
    "i apologize",
    "as an ai",
    "as a language model",
    "as a large language model",
    "unfortunately, i",
    "please provide",
    "please share",
    "there is no conversation",
];

/// Returns the text of a summary with this structure, without reasoning and clipped to the requested length.
///
/// # Errors
/// The reason why the answer is no summary: it is empty, too short for what it replaces, a refusal, far too long, or
/// has none of the requested headings.
pub(super) fn validated_summary(
    answer: Result<String, String>,
    question: &SummarizerQuestion,
    structure: SummaryStructure,
    count: &dyn Fn(&str) -> usize,
) -> Result<String, String> {
    let answer = answer?;
    let text = without_reasoning(&answer).trim();
    if text.is_empty() {
        let problem = if answer.trim().is_empty() { "is empty" } else { "contains only reasoning" };
        return Err(format!("the answer {problem}"));
    }
    let tokens = count(text);
    if tokens > question.max_tokens.saturating_mul(OVERLONG_ANSWER_FACTOR) {
        return Err(format!("the answer has {tokens} tokens, more than the {} allowed", question.max_tokens));
    }
    let start = text.to_lowercase().replace('\u{2019}', "'");
    if tokens <= MAX_REFUSAL_TOKENS && REFUSAL_BEGINNINGS.iter().any(|refusal| start.starts_with(refusal)) {
        return Err("the model refused to summarize".to_owned());
    }
    let material = count(&question.prompt);
    let least =
        (material / MIN_SUMMARY_SHARE_DIVISOR).min(question.max_tokens / MAX_REQUIRED_SUMMARY_DIVISOR);
    if tokens < least {
        return Err(format!("the answer has only {tokens} tokens for {material} tokens of conversation"));
    }
    if material >= MIN_TOKENS_REQUIRING_HEADING && !structure.has_heading_in(text) {
        return Err("the answer has none of the headings of a summary".to_owned());
    }
    Ok(clip_to_tokens(text, question.max_tokens, count))
}

/// Returns the part of an answer after its reasoning, without markers of its end. Empty if the reasoning does not end.
pub(super) fn without_reasoning(answer: &str) -> &str {
    let mut rest = answer.trim_start();
    for (open, close) in REASONING_TAGS {
        // Some chat templates write the opening marker into the prompt, so that only the closing one is in the answer.
        match rest.find(close) {
            Some(at) if rest.starts_with(open) || !rest.contains(open) => {
                rest = rest.get(at + close.len()..).unwrap_or_default().trim_start();
            }
            None if rest.starts_with(open) => return "",
            _ => {}
        }
    }
    let without_end =
        |text: &str| END_OF_ANSWER_TOKENS.iter().find_map(|end| text.strip_suffix(end).map(str::len));
    while let Some(length) = without_end(rest.trim_end()) {
        rest = rest.get(..length).unwrap_or_default();
    }
    rest
}
