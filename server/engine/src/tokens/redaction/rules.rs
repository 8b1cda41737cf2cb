//! The table of credential formats. `rules.toml` is parsed when the first text is screened. A pattern is
//! compiled the first time one of its keywords occurs, since most keywords never do.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use super::words::Words;

/// How to locate the secrets within a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Shape {
    /// The secret is inside the match.
    #[default]
    Inside,
    /// The match is the begin line of a key. The secrets are the base64 lines up to the end line (RFC 7468).
    Pem,
    /// The match is the end line of a key. The secrets are the base64 lines before it, if no begin line precedes them.
    PemEnd,
    /// The secrets are the base64 lines after the match.
    Lines,
    /// The secret is the run of base64 around the match, and the lines that continue it.
    Base64,
    /// Like `Base64`, but only if the decoded text contains a secret.
    Encoded,
    /// The secrets are values of `name=value` pairs after the match, separated by semicolons.
    Pairs,
    /// The match says that a YAML document is a Secret of Kubernetes. The secrets are its values.
    Manifest,
}

/// A rule as written in `rules.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "`provider` and `source` document the table"))]
pub(super) struct Rule {
    pub(super) id: String,
    /// Provider that issues the credentials.
    provider: String,
    /// Where the format is documented.
    source: String,
    /// `{}` stands for an underscore, a hyphen or nothing.
    #[serde(default)]
    keywords: Vec<String>,
    /// Name of an earlier rule with the same keywords.
    keywords_of: Option<String>,
    /// Words of which one must precede the keyword, directly or before an underscore or a hyphen.
    #[serde(default)]
    pub(super) after: Vec<String>,
    pattern: String,
    /// Maximum distance in bytes from the start of a match to its keyword.
    #[serde(default)]
    pub(super) back: usize,
    #[serde(default)]
    pub(super) context: bool,
    /// Name of the rule whose placeholders this rule uses, because both find the same secrets.
    label: Option<String>,
    #[serde(default)]
    pub(super) words: Words,
    #[serde(default)]
    pub(super) long: bool,
    #[serde(default)]
    pub(super) shape: Shape,
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Parts of patterns, which a pattern includes as `@{name}`.
    part: BTreeMap<String, String>,
    rule: Vec<Rule>,
}

/// A rule that uses a keyword.
#[derive(Debug)]
pub(super) struct Use {
    /// Index of the rule in the table.
    pub(super) rule: usize,
    /// The exact spelling of the keyword to match; `None` to ignore case, for rules that recognize a secret by its
    /// context.
    exactly: Option<String>,
}

/// All rules, with an index of their keywords.
pub(super) struct Table {
    pub(super) rules: Vec<Rule>,
    keywords: Option<AhoCorasick>,
    /// Rules that use each keyword, indexed by keyword number.
    of_keyword: Vec<Vec<Use>>,
}

/// Placeholder label of rules that recognize secrets by their context.
pub(super) const CREDENTIAL: &str = "credential";

/// Maximum size of a compiled pattern, in bytes.
const PATTERN_BYTES: usize = 4 << 20;

impl File {
    /// Returns the rules with complete patterns and keywords.
    fn into_rules(self) -> Vec<Rule> {
        let mut rules: Vec<Rule> = Vec::with_capacity(self.rule.len());
        for mut rule in self.rule {
            // In reverse, so that a part may include those before it in alphabetical order.
            for (name, part) in self.part.iter().rev() {
                rule.pattern = rule.pattern.replace(&format!("@{{{name}}}"), part);
            }
            if let Some(other) = rules.iter().find(|other| Some(&other.id) == rule.keywords_of.as_ref()) {
                rule.keywords.extend(other.keywords.iter().cloned());
                rule.after.extend(other.after.iter().cloned());
            }
            let spelled = |keyword: &String| ["", "_", "-"].map(|between| keyword.replace("{}", between));
            rule.keywords = rule.keywords.iter().flat_map(spelled).collect();
            rule.keywords.dedup();
            rules.push(rule);
        }
        rules
    }
}

impl Rule {
    /// Returns the placeholder label for secrets that this rule finds.
    pub(super) fn label(&self) -> &str {
        if self.context { CREDENTIAL } else { self.label.as_ref().unwrap_or(&self.id) }
    }

    /// Whether a keyword that starts at `at` follows one of the words of `after`, if the rule has any.
    pub(super) fn may_start(&self, text: &[u8], at: usize) -> bool {
        if self.after.is_empty() {
            return true;
        }
        let before = text.get(..at).unwrap_or_default();
        let before = before.strip_suffix(b"_").or_else(|| before.strip_suffix(b"-")).unwrap_or(before);
        let Some(last) = before.last().map(u8::to_ascii_lowercase).filter(u8::is_ascii_alphabetic) else {
            return false;
        };
        // Comparing the last letter first rules out most words.
        let follows = |word: &String| {
            let start =
                before.len().checked_sub(word.len()).filter(|_| word.as_bytes().last() == Some(&last));
            start
                .and_then(|start| before.get(start..))
                .is_some_and(|end| end.eq_ignore_ascii_case(word.as_bytes()))
        };
        self.after.iter().any(follows)
    }

    /// Returns the compiled pattern. A test checks that every pattern in the table compiles.
    pub(super) fn pattern(&self) -> Option<&Regex> {
        let compile = || {
            // Anchor the match at the keyword, unless it may start before the keyword.
            let anchor = if self.back == 0 { r"\A" } else { "" };
            RegexBuilder::new(&format!("{anchor}(?:{})", self.pattern))
                .unicode(false)
                .size_limit(PATTERN_BYTES)
                .build()
                .ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }
}

impl Table {
    /// Returns the built-in table.
    pub(super) fn builtin() -> &'static Self {
        static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("rules.toml")));
        &TABLE
    }

    /// Parses a table. Returns an empty table if `text` is invalid; a test checks that the built-in one is
    /// valid.
    fn read(text: &str) -> Self {
        let rules = toml::from_str::<File>(text).map_or(Vec::new(), File::into_rules);
        let mut words: Vec<String> = Vec::new();
        let mut of_keyword: Vec<Vec<Use>> = Vec::new();
        for (number, rule) in rules.iter().enumerate() {
            for keyword in &rule.keywords {
                let lower = keyword.to_ascii_lowercase();
                let at = words.iter().position(|known| *known == lower).unwrap_or(words.len());
                if at == words.len() {
                    words.push(lower);
                    of_keyword.push(Vec::new());
                }
                if let Some(uses) = of_keyword.get_mut(at) {
                    uses.push(Use { rule: number, exactly: (!rule.context).then(|| keyword.clone()) });
                }
            }
        }
        let keywords = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .ok();
        Self { rules, keywords, of_keyword }
    }

    /// Returns the byte ranges of keywords in `text`, each with the index of a rule to try there, in order of
    /// their ends.
    pub(super) fn candidates<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (Range<usize>, usize)> {
        let found = self.keywords.iter().flat_map(move |keywords| keywords.find_overlapping_iter(text));
        found.flat_map(move |found| {
            let uses = self.of_keyword.get(found.pattern().as_usize()).map_or(&[][..], Vec::as_slice);
            let written = text.as_bytes().get(found.range());
            let is_meant = move |one: &&Use| {
                one.exactly.as_deref().is_none_or(|exactly| Some(exactly.as_bytes()) == written)
            };
            uses.iter().filter(is_meant).map(move |one| (found.range(), one.rule))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_rule_can_be_used_and_says_where_it_comes_from() {
        let file: File = toml::from_str(include_str!("rules.toml")).unwrap();
        assert!(file.rule.len() > 90);
        let table = Table::builtin();
        assert!(table.keywords.is_some() && table.rules.len() == file.rule.len());
        let mut names = BTreeSet::new();
        for rule in &table.rules {
            let Rule { id, provider, source, keywords, .. } = rule;
            assert!(names.insert(id), "{id} occurs twice");
            assert!(id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{id}");
            assert!(id.len() <= 40 && id != CREDENTIAL, "{id}");
            assert!(!provider.is_empty() && !keywords.is_empty(), "{id}");
            assert!(source.starts_with("https://") || source == "docs/safety.md", "{id}: {source}");
            assert!(keywords.iter().all(|keyword| keyword.len() >= 2 && keyword.is_ascii()), "{id}");
            let pattern = rule.pattern().unwrap_or_else(|| panic!("{id} does not compile"));
            assert!(pattern.find(b"").is_none(), "{id} finds nothing at all");
            // `scan` relies on long formats beginning with their keyword.
            let begins_it = rule.back == 0 && !rule.context && !rule.pattern.contains("(?P<secret>");
            assert!(!rule.long || begins_it, "{id} is long and does not begin with its keyword");
        }
    }
}
