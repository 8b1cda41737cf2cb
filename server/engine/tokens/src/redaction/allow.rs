//! Reports the entries of `redaction.allow` that are neither a placeholder nor a rule name. A message quotes
//! an entry only if it resembles a rule name, since it may be the secret itself.

use super::placeholder::placeholders;
use super::rules::{CREDENTIAL, Table};
use super::screen::RedactionSettings;

/// Maximum length, in bytes, of a rule's name and of an entry that is compared with rule names.
const LONGEST_NAME: usize = 48;

impl RedactionSettings {
    /// Returns a message for each entry of `allow` that is neither a placeholder nor a rule name, in order.
    pub fn misnamed(&self) -> Vec<String> {
        let wrong = self.allow.iter().zip(1..).filter(|(name, _)| !is_placeholder(name) && !is_rule(name));
        wrong.map(|(name, entry)| misnamed(name, entry)).collect()
    }
}

/// Returns the message for an invalid entry. `entry` is its 1-based number.
fn misnamed(name: &str, entry: usize) -> String {
    match closest(name) {
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
    names().any(|rule| rule == name)
}

fn names() -> impl Iterator<Item = &'static str> {
    Table::builtin().rules.iter().map(|rule| rule.id.as_str()).chain([CREDENTIAL])
}

/// Returns `name` and the rule name with the smallest edit distance to it, or `None` if the distance exceeds
/// a third of the length or `name` cannot be a rule name.
fn closest(name: &str) -> Option<(String, &'static str)> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b' ');
    if name.len() > LONGEST_NAME || !name.bytes().all(is_name) {
        return None;
    }
    let plain = name.to_ascii_lowercase().replace(['_', ' '], "-");
    let (changes, rule) =
        names().map(|rule| (strsim::levenshtein(&plain, rule), rule)).min_by_key(|(changes, _)| *changes)?;
    (changes * 3 <= plain.len()).then(|| (name.to_owned(), rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(names: &[&str]) -> Vec<String> {
        let allow = names.iter().map(|&name| name.to_owned()).collect();
        let settings = RedactionSettings { allow, ..RedactionSettings::default() };
        settings.misnamed()
    }

    #[test]
    fn what_has_a_name_is_not_told() {
        assert_eq!(told(&["github-token", CREDENTIAL, "[secret:github-token:1a2b3c4d5e6f]"]), [""; 0]);
        assert!(names().all(|name| name.len() <= LONGEST_NAME));
    }

    #[test]
    fn a_misspelt_rule_is_told_with_the_closest() {
        let told = told(&["github-token", "github-tokn", "GitHub_Token", "credentials"]);
        for (told, [name, closest]) in told.iter().zip([
            ["`github-tokn`", "`github-token`"],
            ["`GitHub_Token`", "`github-token`"],
            ["`credentials`", "`credential`"],
        ]) {
            assert!(told.starts_with(name) && told.ends_with(&format!("{closest}?")), "{told}");
        }
        assert_eq!(told.len(), 3);
    }

    #[test]
    fn what_resembles_no_rule_is_told_by_its_place_and_never_said_again() {
        let (password, long) = (["hunt", "er2!pw"].concat(), "a".repeat(10_000));
        let told = told(&["github-token", &password, &long, "[secret:github-token:1a2b]", ""]);
        for (told, entry) in told.iter().zip(2..) {
            assert!(told.starts_with(&format!("entry {entry} is neither")) && told.len() < 200, "{told}");
        }
        assert_eq!(told.len(), 4);
    }
}
