//! Reports the entries of `redaction.allow` that are neither a placeholder nor a rule name. A message quotes
//! an entry only if it resembles a rule name, since it may be the secret itself.

use super::placeholder::placeholders;
use super::rules::{CREDENTIAL_LABEL, RuleTable};
use super::screen::RedactionSettings;

/// Maximum length, in bytes, of a rule's name and of an entry that is compared with rule names.
const MAX_RULE_NAME_BYTES: usize = 48;

impl RedactionSettings {
    /// Returns a message for each entry of `allow` that is neither a placeholder nor a rule name, in order.
    pub fn allow_warnings(&self) -> Vec<String> {
        let invalid = self.allow.iter().zip(1..).filter(|(name, _)| !is_placeholder(name) && !is_rule(name));
        invalid.map(|(name, entry)| entry_warning(name, entry)).collect()
    }
}

/// Returns the message for an invalid entry. `entry` is its 1-based number.
fn entry_warning(name: &str, entry: usize) -> String {
    match closest_rule(name) {
        Some((name, rule)) => {
            format!("`{name}` is not the name of a rule, so it has no effect; did you mean `{rule}`?")
        }
        None => format!(
            "entry {entry} is neither a placeholder nor the name of a rule, so it has no effect; the rules are listed in \
             server/engine/tokens/src/redaction/rules.toml"
        ),
    }
}

fn is_placeholder(name: &str) -> bool {
    placeholders(name).any(|(range, _)| range == (0..name.len()))
}

fn is_rule(name: &str) -> bool {
    rule_names().any(|rule| rule == name)
}

fn rule_names() -> impl Iterator<Item = &'static str> {
    RuleTable::builtin().rules.iter().map(|rule| rule.id.as_str()).chain([CREDENTIAL_LABEL])
}

/// Returns `name` and the rule name with the smallest edit distance to it, or `None` if the distance exceeds
/// a third of the length or `name` cannot be a rule name.
fn closest_rule(name: &str) -> Option<(String, &'static str)> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b' ');
    if name.len() > MAX_RULE_NAME_BYTES || !name.bytes().all(is_name) {
        return None;
    }
    let plain = name.to_ascii_lowercase().replace(['_', ' '], "-");
    let (distance, rule) = rule_names()
        .map(|rule| (strsim::levenshtein(&plain, rule), rule))
        .min_by_key(|(distance, _)| *distance)?;
    (distance * 3 <= plain.len()).then(|| (name.to_owned(), rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages_for(names: &[&str]) -> Vec<String> {
        let allow = names.iter().map(|&name| name.to_owned()).collect();
        let settings = RedactionSettings { allow, ..RedactionSettings::default() };
        settings.allow_warnings()
    }

    #[test]
    fn valid_entries_have_no_message() {
        assert_eq!(
            messages_for(&["github-token", CREDENTIAL_LABEL, "[secret:github-token:1a2b3c4d5e6f]"]),
            [""; 0]
        );
        assert!(rule_names().all(|name| name.len() <= MAX_RULE_NAME_BYTES));
    }

    #[test]
    fn a_misspelled_rule_has_a_message_with_the_closest_one() {
        let messages = messages_for(&["github-token", "github-tokn", "GitHub_Token", "credentials"]);
        for (message, [name, closest]) in messages.iter().zip([
            ["`github-tokn`", "`github-token`"],
            ["`GitHub_Token`", "`github-token`"],
            ["`credentials`", "`credential`"],
        ]) {
            assert!(message.starts_with(name) && message.ends_with(&format!("{closest}?")), "{message}");
        }
        assert_eq!(messages.len(), 3);
    }

    #[test]
    fn an_entry_that_resembles_no_rule_is_named_by_number_and_not_quoted() {
        let (password, long) = (["hunt", "er2!pw"].concat(), "a".repeat(10_000));
        let messages = messages_for(&["github-token", &password, &long, "[secret:github-token:1a2b]", ""]);
        for (message, entry) in messages.iter().zip(2..) {
            assert!(
                message.starts_with(&format!("entry {entry} is neither")) && message.len() < 200,
                "{message}"
            );
        }
        assert_eq!(messages.len(), 4);
    }
}
