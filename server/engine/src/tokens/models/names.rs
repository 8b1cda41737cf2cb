//! Derives candidates for a canonical model name from the many spellings that clients and gateways use.

/// Returns the spelling used for comparison: lower case, with `-` for `.` and `_` (gateways write
/// `claude-opus-4.7` for `claude-opus-4-7`).
pub(super) fn canonical(name: &str) -> String {
    name.trim().to_lowercase().replace(['.', '_'], "-")
}

/// Maximum length of a name, in bytes. No name in use is longer, and finding the candidates takes more than
/// quadratic time.
const LONGEST: usize = 256;

/// Returns the canonical names that a spelling may stand for, most literal first: the whole spelling, then
/// without routing prefixes (`openrouter/openai/`, `us.anthropic.`), each with and without the suffixes that
/// clouds and registries append (`@20250929`, `-v1:0`, `:free`, `-latest`, a date). Empty if the spelling is
/// too long.
pub(super) fn candidates(name: &str) -> Vec<String> {
    let name = name.trim();
    if name.len() > LONGEST {
        return Vec::new();
    }
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let last = name.rsplit('/').next().unwrap_or(name);
    let after_slashes = name.match_indices('/').map(|(at, _)| &name[at + 1..]);
    // Clouds write `region.maker.model`, but a `.` may also be part of the model's name.
    let after_dots = last.match_indices('.').map(|(at, _)| &last[at + 1..]);
    let mut found: Vec<String> = Vec::new();
    for spelled in std::iter::once(name).chain(after_slashes).chain(after_dots) {
        let mut shorter = Some(canonical(spelled));
        while let Some(candidate) = shorter {
            shorter = without_suffix(&candidate).map(str::to_owned);
            if !candidate.is_empty() && !found.contains(&candidate) {
                found.push(candidate);
            }
        }
    }
    found
}

/// Removes the last suffix that is not part of the model's name, or returns `None` if there is no such
/// suffix.
fn without_suffix(name: &str) -> Option<&str> {
    if let Some(at) = name.rfind(['@', ':']) {
        return name.get(..at);
    }
    let digits = |text: &str, len: usize| text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit());
    let (front, last) = name.rsplit_once('-')?;
    if matches!(last, "latest" | "preview" | "exp") || digits(last, 8) {
        return Some(front);
    }
    if last.strip_prefix('v').is_some_and(|version| digits(version, 1)) {
        return Some(front);
    }
    // A date such as 2025-08-07.
    let (front, month) = front.rsplit_once('-')?;
    let (front, year) = front.rsplit_once('-')?;
    (digits(last, 2) && digits(month, 2) && digits(year, 4)).then_some(front)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_spelling_leads_to_the_plain_name() {
        for (spelled, plain) in [
            ("claude-opus-4-7", "claude-opus-4-7"),
            ("  Claude-Opus-4.7 ", "claude-opus-4-7"),
            ("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"),
            ("openrouter/anthropic/claude-opus-4.7:thinking", "claude-opus-4-7"),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
            ("bedrock/us.anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
            ("vertex_ai/claude-haiku-4-5@20251001", "claude-haiku-4-5"),
            (
                "arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-opus-4-5-20251101-v1:0",
                "claude-opus-4-5",
            ),
            ("gpt-5-2025-08-07", "gpt-5"),
            ("openai/gpt-4.1", "gpt-4-1"),
            ("ft:gpt-4o:org:name:id", "gpt-4o"),
            ("models/gemini-2.5-pro", "gemini-2-5-pro"),
            ("gemini/gemini-3.1-pro-preview", "gemini-3-1-pro"),
            ("qwen3-coder:30b", "qwen3-coder"),
        ] {
            assert!(
                candidates(spelled).iter().any(|found| found == plain),
                "{spelled}: {:?}",
                candidates(spelled)
            );
        }
    }

    #[test]
    fn a_part_of_the_name_is_not_taken_for_a_suffix() {
        assert_eq!(candidates("gpt-4-1106-preview"), ["gpt-4-1106-preview", "gpt-4-1106"]);
        assert_eq!(candidates("claude-sonnet-4-5"), ["claude-sonnet-4-5"]);
    }

    #[test]
    fn what_is_too_long_for_a_name_is_none() {
        assert_eq!(candidates(&"a/".repeat(1_000)), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_text_has_few_candidates(name in "(ft:)?([a-z0-9]{1,3}[-./:@_]?|\\PC){0,20}") {
            prop_assert!(candidates(&name).len() <= 2 * name.chars().count() * name.chars().count() + 1);
        }
    }
}
