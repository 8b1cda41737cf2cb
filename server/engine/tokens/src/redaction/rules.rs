//! The table of credential formats. `rules.toml` is parsed when the first text is screened. A pattern is
//! compiled the first time one of its keywords occurs, since most keywords never do.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use super::keywords::Keywords;
use super::words::SecretStrictness;

/// How to locate the secrets within a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SecretExtraction {
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
    /// Names that end with a keyword and are not secret. `{}` as in `keywords`.
    #[serde(default)]
    except: Vec<String>,
    pattern: String,
    /// Maximum distance in bytes from the start of a match to its keyword.
    #[serde(default)]
    pub(super) back: usize,
    /// Whether a match must start at the start of a line.
    #[serde(default)]
    pub(super) line_start: bool,
    #[serde(default)]
    pub(super) context: bool,
    /// Name of the rule whose placeholders this rule uses, because both find the same secrets.
    label: Option<String>,
    #[serde(default)]
    pub(super) words: SecretStrictness,
    #[serde(default)]
    pub(super) long: bool,
    #[serde(default)]
    pub(super) shape: SecretExtraction,
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
    /// Index of the rule whose keywords this rule uses, or of the rule itself.
    #[serde(skip)]
    pub(super) family: usize,
}

/// Rules with the same keywords. Most keywords lead to no secret, which one pattern finds out for all of them.
#[derive(Debug)]
struct KeywordFamily {
    pattern: String,
    compiled: OnceLock<Option<Regex>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    /// Parts of patterns, which a pattern includes as `@{name}`.
    part: BTreeMap<String, String>,
    rule: Vec<Rule>,
}

/// A rule that uses a keyword.
#[derive(Debug)]
pub(super) struct KeywordRule {
    /// Index of the rule in the table.
    pub(super) rule: usize,
    /// The exact spelling of the keyword to match; `None` to ignore case, for rules that recognize a secret by its
    /// context.
    exact_spelling: Option<String>,
}

/// All rules, with an index of their keywords.
pub(super) struct RuleTable {
    pub(super) rules: Vec<Rule>,
    keywords: Option<Keywords>,
    /// Rules that use each keyword, indexed by keyword number.
    uses_by_keyword: Vec<Vec<KeywordRule>>,
    families: Vec<Option<KeywordFamily>>,
}

/// Placeholder label of rules that recognize secrets by their context.
pub(super) const CREDENTIAL_LABEL: &str = "credential";

/// Maximum length of the name of a type before a keyword, in bytes.
const MAX_TYPE_NAME_BYTES: usize = 80;

/// Maximum size of a compiled pattern, in bytes.
const MAX_COMPILED_PATTERN_BYTES: usize = 4 << 20;

impl RulesFile {
    /// Returns the rules with complete patterns and keywords.
    fn into_rules(self) -> Vec<Rule> {
        let mut rules: Vec<Rule> = Vec::with_capacity(self.rule.len());
        for mut rule in self.rule {
            // In reverse, so that a part may include those before it in alphabetical order.
            for (name, part) in self.part.iter().rev() {
                rule.pattern = rule.pattern.replace(&format!("@{{{name}}}"), part);
            }
            rule.family = rules.len();
            let has_keywords = |other: &Rule| Some(&other.id) == rule.keywords_of.as_ref();
            if let Some((index, other)) = rules.iter().enumerate().find(|(_, other)| has_keywords(other)) {
                rule.family = index;
                rule.keywords.extend(other.keywords.iter().cloned());
                rule.after.extend(other.after.iter().cloned());
                rule.except.extend(other.except.iter().cloned());
            }
            let spellings = |keyword: &String| ["", "_", "-"].map(|between| keyword.replace("{}", between));
            for words in [&mut rule.keywords, &mut rule.except] {
                *words = words.iter().flat_map(spellings).collect();
                words.dedup();
            }
            rules.push(rule);
        }
        rules
    }
}

impl Rule {
    /// Returns the placeholder label for secrets that this rule finds.
    pub(super) fn label(&self) -> &str {
        if self.context { CREDENTIAL_LABEL } else { self.label.as_ref().unwrap_or(&self.id) }
    }

    /// Returns the first byte at which a match may start whose keyword starts at `keyword_start`, or `None` if there
    /// is none.
    pub(super) fn earliest_match_start(&self, text: &[u8], keyword_start: usize) -> Option<usize> {
        let start = keyword_start.saturating_sub(self.back);
        if !self.line_start {
            return Some(start);
        }
        match text.get(start..keyword_start)?.iter().rposition(|byte| *byte == b'\n') {
            Some(line_end) => Some(start + line_end + 1),
            None => (start == 0).then_some(0),
        }
    }

    /// Whether a keyword that starts at `keyword_start` follows one of the words of `after`, if the rule has any.
    pub(super) fn follows_required_word(&self, text: &[u8], keyword_start: usize) -> bool {
        if self.after.is_empty() {
            return true;
        }
        let before = text.get(..keyword_start).unwrap_or_default();
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

    /// Whether the name that ends with the keyword at `keyword` is not that of a secret: it is listed as an exception, or
    /// it is the name of a type in quotation marks, as in `"AWS::ApiGateway::ApiKey"`.
    pub(super) fn is_excepted(&self, text: &[u8], keyword: &Range<usize>) -> bool {
        let ends_with = |word: &String| {
            let start = keyword.end.checked_sub(word.len());
            let end = start.and_then(|start| text.get(start..keyword.end));
            end.is_some_and(|end| end.eq_ignore_ascii_case(word.as_bytes()))
        };
        if !self.context || self.except.iter().any(ends_with) {
            return self.context;
        }
        let before =
            text.get(keyword.start.saturating_sub(MAX_TYPE_NAME_BYTES)..keyword.start).unwrap_or_default();
        let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-:".contains(byte);
        let name = before.iter().rposition(|byte| !is_in_name(byte)).and_then(|quote| {
            before.get(quote + 1..).filter(|_| matches!(before.get(quote), Some(b'"' | b'\'')))
        });
        name.is_some_and(|name| name.windows(2).any(|pair| pair == b"::"))
    }

    /// Returns the pattern without names of groups, which may occur once in a pattern.
    fn pattern_without_group_names(&self) -> String {
        self.pattern.replace("(?P<secret>", "(?:")
    }

    /// Returns the compiled pattern. A test checks that every pattern in the table compiles.
    pub(super) fn pattern(&self) -> Option<&Regex> {
        // Anchor the match at the keyword or its line, unless it may start anywhere before the keyword.
        let anchor = if self.back == 0 || self.line_start { r"\A" } else { "" };
        self.compiled.get_or_init(|| compile(&format!("{anchor}(?:{})", self.pattern))).as_ref()
    }
}

fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).size_limit(MAX_COMPILED_PATTERN_BYTES).build().ok()
}

impl KeywordFamily {
    /// Returns the families of the rules, indexed by their first rule. A rule without relatives has none, nor has one
    /// whose relatives may match elsewhere than at the keyword.
    fn group_rules(rules: &[Rule]) -> Vec<Option<Self>> {
        let family_of = |index: usize| {
            let members = || rules.iter().filter(move |rule| rule.family == index);
            if members().count() < 2 || members().any(|rule| rule.back > 0 || rule.long) {
                return None;
            }
            let patterns: Vec<String> =
                members().map(|rule| format!("(?:{})", rule.pattern_without_group_names())).collect();
            Some(Self { pattern: format!(r"\A(?:{})", patterns.join("|")), compiled: OnceLock::new() })
        };
        (0..rules.len()).map(family_of).collect()
    }
}

impl RuleTable {
    pub(super) fn builtin() -> &'static Self {
        static TABLE: LazyLock<RuleTable> = LazyLock::new(|| RuleTable::parse(include_str!("rules.toml")));
        &TABLE
    }

    /// Parses a table. Returns an empty table if `text` is invalid; a test checks that the built-in one is
    /// valid.
    fn parse(text: &str) -> Self {
        let rules = toml::from_str::<RulesFile>(text).map_or(Vec::new(), RulesFile::into_rules);
        let mut words: Vec<String> = Vec::new();
        let mut uses_by_keyword: Vec<Vec<KeywordRule>> = Vec::new();
        for (number, rule) in rules.iter().enumerate() {
            for keyword in &rule.keywords {
                let lower = keyword.to_ascii_lowercase();
                let index = words.iter().position(|word| *word == lower).unwrap_or(words.len());
                if index == words.len() {
                    words.push(lower);
                    uses_by_keyword.push(Vec::new());
                }
                if let Some(uses) = uses_by_keyword.get_mut(index) {
                    uses.push(KeywordRule {
                        rule: number,
                        exact_spelling: (!rule.context).then(|| keyword.clone()),
                    });
                }
            }
        }
        let keywords = Keywords::new(&words);
        let families = KeywordFamily::group_rules(&rules);
        Self { rules, keywords, uses_by_keyword, families }
    }

    /// Returns the pattern that matches wherever a rule of the family does, if the family has several rules.
    pub(super) fn combined_pattern(&self, family: usize) -> Option<&Regex> {
        let family = self.families.get(family)?.as_ref()?;
        family.compiled.get_or_init(|| compile(&family.pattern)).as_ref()
    }

    /// Returns the byte ranges of keywords in `text`, each with the index of a rule to try there, in order of
    /// their starts.
    pub(super) fn rule_candidates<'t>(
        &'t self,
        text: &'t str,
    ) -> impl Iterator<Item = (Range<usize>, usize)> {
        let keywords = self.keywords.iter().flat_map(move |keywords| keywords.find(text.as_bytes()));
        keywords.flat_map(move |(range, number)| {
            let uses = self.uses_by_keyword.get(number).map_or(&[][..], Vec::as_slice);
            let spelling = text.as_bytes().get(range.clone());
            let is_spelled_so = move |keyword_use: &&KeywordRule| {
                keyword_use
                    .exact_spelling
                    .as_deref()
                    .is_none_or(|exact_spelling| Some(exact_spelling.as_bytes()) == spelling)
            };
            uses.iter().filter(is_spelled_so).map(move |keyword_use| (range.clone(), keyword_use.rule))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_rule_is_usable_and_names_its_source() {
        let file: RulesFile = toml::from_str(include_str!("rules.toml")).unwrap();
        assert!(file.rule.len() > 90);
        let table = RuleTable::builtin();
        assert!(table.keywords.is_some() && table.rules.len() == file.rule.len());
        let mut names = BTreeSet::new();
        for rule in &table.rules {
            let Rule { id, provider, source, keywords, .. } = rule;
            assert!(names.insert(id), "{id} occurs twice");
            assert!(id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{id}");
            assert!(id.len() <= 40 && id != CREDENTIAL_LABEL, "{id}");
            assert!(!provider.is_empty() && !keywords.is_empty(), "{id}");
            assert!(source.starts_with("https://") || source == "docs/safety.md", "{id}: {source}");
            assert!(keywords.iter().all(|keyword| keyword.len() >= 3 && keyword.is_ascii()), "{id}");
            let pattern = rule.pattern().unwrap_or_else(|| panic!("{id} does not compile"));
            assert!(pattern.find(b"").is_none(), "{id} finds nothing at all");
            // `scan` relies on long formats beginning with their keyword.
            let begins_it = rule.back == 0 && !rule.context && !rule.pattern.contains("(?P<secret>");
            assert!(!rule.long || begins_it, "{id} is long and does not begin with its keyword");
        }
    }
}
