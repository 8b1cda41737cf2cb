//! Derives candidates for a canonical model name from the many spellings that clients and gateways use.

/// Returns the spelling used for comparison: lower case, with `-` for `.` and `_` (gateways write
/// `claude-opus-4.7` for `claude-opus-4-7`).
pub(super) fn canonical_name(name: &str) -> String {
    name.trim().to_lowercase().replace(['.', '_'], "-")
}

/// Maximum length of a name, in bytes. No name in use is longer, and finding the candidates takes more than
/// quadratic time.
const MAX_MODEL_NAME_BYTES: usize = 256;

/// Names that platforms put before a model's name with a hyphen: `databricks-claude-sonnet-4-5`,
/// `anthropic--claude-4.5-sonnet`.
const PLATFORMS: [&str; 8] =
    ["databricks-", "anthropic-", "openai-", "google-", "azure-", "bedrock-", "vertex-", "copilot-"];

/// Suffixes that select a mode or an alias of a model.
const MODE_SUFFIXES: [&str; 11] = [
    "-latest",
    "-preview",
    "-exp",
    "-beta",
    "-thinking",
    "-reasoning",
    "-minimal",
    "-low",
    "-medium",
    "-high",
    "-xhigh",
];

/// Kinds of Claude models. Some platforms write the version before the kind.
const CLAUDE_KINDS: [&str; 5] = ["opus", "sonnet", "haiku", "fable", "mythos"];

/// Returns the canonical names that a spelling may stand for, most literal first: the whole spelling, then
/// without routing prefixes (`openrouter/openai/`, `us.anthropic.`, `databricks-`), each with and without the
/// suffixes that clouds, registries and clients append (`@20250929`, `-v1:0`, `:free`, `-latest`, `[1m]`, a
/// date). Empty if the spelling is too long.
pub(super) fn candidate_names(name: &str) -> Vec<String> {
    let name = name.trim();
    if name.len() > MAX_MODEL_NAME_BYTES {
        return Vec::new();
    }
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let last = name.rsplit('/').next().unwrap_or(name);
    let after_slashes = name.match_indices('/').map(|(index, _)| &name[index + 1..]);
    // Clouds write `region.maker.model`, but a `.` may also be part of the model's name.
    let after_dots = last.match_indices('.').map(|(index, _)| &last[index + 1..]);
    let mut names: Vec<String> = Vec::new();
    let mut add = |candidate: String| {
        if !candidate.is_empty() && !names.contains(&candidate) {
            names.push(candidate);
        }
    };
    for spelling in std::iter::once(name).chain(after_slashes).chain(after_dots) {
        let spelling = canonical_name(spelling);
        let platform = PLATFORMS.iter().find_map(|platform| spelling.strip_prefix(platform));
        let without_platform = platform.map(|rest| rest.trim_start_matches('-'));
        for spelling in [Some(spelling.as_str()), without_platform].into_iter().flatten() {
            let mut next_candidate = Some(spelling);
            while let Some(candidate) = next_candidate {
                next_candidate = without_suffix(candidate);
                add(candidate.to_owned());
                // Ollama writes a model's size as a tag: `gemma3:1b-it-qat`.
                if let Some((model, tag)) = candidate.rsplit_once(':') {
                    add(format!("{model}-{tag}"));
                    add(format!("{model}-{}", tag.split('-').next().unwrap_or(tag)));
                }
                if let Some(swapped) = with_swapped_version(candidate) {
                    add(swapped);
                }
            }
        }
    }
    names
}

/// Whether a client marks a model's name for the window of a million tokens, as Claude Code does:
/// <https://code.claude.com/docs/en/model-config>.
pub(super) fn has_long_window_mark(name: &str) -> bool {
    name.trim_end().to_lowercase().ends_with("[1m]")
}

/// Removes the last suffix that is not part of the model's name, or returns `None` if there is no such
/// suffix.
fn without_suffix(name: &str) -> Option<&str> {
    if name.ends_with(']') {
        return name.get(..name.rfind('[')?);
    }
    if let Some(index) = name.rfind(['@', ':']) {
        return name.get(..index);
    }
    if let Some(prefix) = MODE_SUFFIXES.iter().find_map(|mode| name.strip_suffix(mode)) {
        return Some(prefix);
    }
    let is_digits =
        |text: &str, len: usize| text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit());
    let (prefix, last) = name.rsplit_once('-')?;
    if is_digits(last, 8) || last.strip_prefix('v').is_some_and(|version| is_digits(version, 1)) {
        return Some(prefix);
    }
    // A date such as 2025-08-07.
    let (prefix, month) = prefix.rsplit_once('-')?;
    let (prefix, year) = prefix.rsplit_once('-')?;
    (is_digits(last, 2) && is_digits(month, 2) && is_digits(year, 4)).then_some(prefix)
}

/// Returns the name of a Claude model with its kind and version swapped: `claude-4-5-sonnet` for
/// `claude-sonnet-4-5`, and the reverse.
fn with_swapped_version(name: &str) -> Option<String> {
    let rest = name.strip_prefix("claude-")?;
    let is_version = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    CLAUDE_KINDS.iter().find_map(|kind| {
        if let Some(version) = rest.strip_prefix(kind).and_then(|rest| rest.strip_prefix('-')) {
            return is_version(version).then(|| format!("claude-{version}-{kind}"));
        }
        let version = rest.strip_suffix(kind)?.strip_suffix('-')?;
        is_version(version).then(|| format!("claude-{kind}-{version}"))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_spelling_has_the_plain_name_as_a_candidate() {
        for (spelling, plain) in [
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
            ("qwen3:30b-a3b", "qwen3-30b-a3b"),
            ("gemma3:1b-it-qat", "gemma3-1b"),
            ("claude-opus-4-8[1m]", "claude-opus-4-8"),
            ("anthropic--claude-4.5-sonnet", "claude-sonnet-4-5"),
            ("databricks-claude-3-7-sonnet", "claude-3-7-sonnet"),
        ] {
            assert!(
                candidate_names(spelling).iter().any(|found| found == plain),
                "{spelling}: {:?}",
                candidate_names(spelling)
            );
        }
    }

    #[test]
    fn a_part_of_the_name_is_not_removed_as_a_suffix() {
        assert_eq!(candidate_names("gpt-4-1106-preview"), ["gpt-4-1106-preview", "gpt-4-1106"]);
        assert_eq!(candidate_names("claude-sonnet-4-5"), ["claude-sonnet-4-5", "claude-4-5-sonnet"]);
    }

    #[test]
    fn a_name_that_is_too_long_has_no_candidates() {
        assert_eq!(candidate_names(&"a/".repeat(1_000)), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_text_has_few_candidates(name in "(ft:)?([a-z0-9]{1,3}[-./:@_]?|\\PC){0,20}") {
            prop_assert!(candidate_names(&name).len() <= 8 * name.chars().count() * name.chars().count() + 1);
        }
    }
}
