//! Checks a model's answer before it replaces a part of the conversation.

use super::question::Question;
use crate::text::clip_to_weight;

/// Multiple of the requested length above which an answer is rejected instead of clipped.
const OVER_LONG: usize = 8;

/// Divisor of the material's tokens that gives the minimum tokens of a summary.
const SHORTEST_SHARE: usize = 10_000;

/// Divisor of the allowed tokens that gives the largest minimum of a summary.
const SHORTEST_ALLOWED_SHARE: usize = 20;

/// Maximum tokens of an answer that is a refusal if it begins like one.
const LONGEST_REFUSAL: usize = 100;

/// Tags in which models write reasoning: DeepSeek, Qwen and most others use `think`.
const REASONING: [&str; 4] = ["think", "thinking", "thought", "reasoning"];

/// Beginnings of refusals, in lower case.
const REFUSALS: [&str; 12] = [
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
];

/// Returns the text of a summary, without reasoning and clipped to the requested length.
///
/// # Errors
/// The reason why the answer is no summary: it is empty, too short for what it replaces, a refusal, or far too long.
pub(super) fn checked(
    answer: Result<String, String>,
    question: &Question,
    count: &dyn Fn(&str) -> usize,
) -> Result<String, String> {
    let answer = answer?;
    let text = without_reasoning(&answer).trim();
    if text.is_empty() {
        let problem = if answer.trim().is_empty() { "is empty" } else { "contains only reasoning" };
        return Err(format!("the answer {problem}"));
    }
    let weight = count(text);
    if weight > question.max_tokens.saturating_mul(OVER_LONG) {
        return Err(format!("the answer has {weight} tokens, more than the {} allowed", question.max_tokens));
    }
    let start = text.to_lowercase().replace('\u{2019}', "'");
    if weight <= LONGEST_REFUSAL && REFUSALS.iter().any(|refusal| start.starts_with(refusal)) {
        return Err("the model refused to summarize".to_owned());
    }
    let material = count(&question.prompt);
    let least = (material / SHORTEST_SHARE).min(question.max_tokens / SHORTEST_ALLOWED_SHARE);
    if weight < least {
        return Err(format!("the answer has only {weight} tokens for {material} tokens of conversation"));
    }
    Ok(clip_to_weight(text, question.max_tokens, count))
}

/// Returns the part of an answer after its reasoning. Empty if the reasoning does not end.
pub(super) fn without_reasoning(answer: &str) -> &str {
    let mut rest = answer.trim_start();
    for tag in REASONING {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        // Some chat templates write the opening tag into the prompt, so that only the closing one is in the answer.
        match rest.rfind(&close) {
            Some(at) if rest.starts_with(&open) || !rest.contains(&open) => {
                rest = rest.get(at + close.len()..).unwrap_or_default().trim_start();
            }
            None if rest.starts_with(&open) => return "",
            _ => {}
        }
    }
    rest
}
