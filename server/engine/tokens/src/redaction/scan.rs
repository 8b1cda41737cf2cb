//! Finds credentials in a text in one pass. One search finds all keywords, and a rule's pattern
//! is tried only at its keywords. Takes time linear in the size of the text.

use std::cmp::Reverse;
use std::ops::Range;

use regex::bytes::Captures;
use strata_base::text::{ceil_char_boundary, floor_char_boundary};

use super::entries::{self, ListedSecrets};
use super::placeholder::placeholders;
use super::rules::{CREDENTIAL_LABEL, Rule, RuleTable, SecretExtraction};
use super::words::SecretStrictness;
use super::{encoded, key_lines};

/// A secret found in a text. Never contains a line break.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SecretMatch {
    /// Byte range in the text.
    pub range: Range<usize>,
    /// Name of the rule that found the secret.
    pub rule: &'static str,
    /// Label of the secret's placeholder.
    pub(super) label: &'static str,
    /// Index of the rule in the table. Lower indices take precedence.
    order: usize,
}

impl SecretMatch {
    /// Whether the secret was recognized by its context rather than its format.
    fn is_context_match(&self) -> bool {
        self.label == CREDENTIAL_LABEL
    }
}

/// Number of bytes, from the start of a keyword, in which a pattern may match.
const MATCH_WINDOW_BYTES: usize = 700;
/// Number of bytes, from the start of a keyword, in which the pattern of a long format may match.
const LONG_FORMAT_WINDOW_BYTES: usize = 16 << 10;

/// How many times a text may be encoded, such as a key in a file that is itself encoded.
const MAX_ENCODING_DEPTH: usize = 2;

/// The part of the text in which a rule has already been tried.
#[derive(Clone, Copy, Default)]
struct TriedRange {
    /// First position at which the rule may be tried again: one byte after its last keyword.
    start: usize,
    /// End of the range that the last attempt and its matches cover.
    end: usize,
}

/// Whether any rule of a family matches at the last keyword for which one was tried.
#[derive(Clone, Copy, Default)]
struct FamilyMatchCache {
    family: usize,
    keyword: usize,
    /// `None` before the first keyword.
    matches: Option<bool>,
}

impl FamilyMatchCache {
    /// Whether a rule may match at a keyword, judged for all rules of its family at once.
    fn may_match(&mut self, rule: &Rule, keyword: usize, window: &[u8]) -> bool {
        if let Some(matches) = self.matches.filter(|_| self.family == rule.family && self.keyword == keyword)
        {
            return matches;
        }
        let Some(pattern) = RuleTable::builtin().combined_pattern(rule.family) else { return true };
        let matches = pattern.is_match(window);
        *self = Self { family: rule.family, keyword, matches: Some(matches) };
        matches
    }
}

/// Finds the secrets in a text, in order and without overlaps.
pub fn find_secrets(text: &str) -> Vec<SecretMatch> {
    find_decoded_secrets(text, MAX_ENCODING_DEPTH)
}

/// Finds the secrets in a text that was encoded, `encodings` times at most.
fn find_decoded_secrets(text: &str, encodings: usize) -> Vec<SecretMatch> {
    let table = RuleTable::builtin();
    let mut attempts = vec![TriedRange::default(); table.rules.len()];
    let (mut hits, mut last_family) = (Vec::new(), FamilyMatchCache::default());
    for (keyword, order) in table.rule_candidates(text) {
        let (Some(rule), Some(last_attempt)) = (table.rules.get(order), attempts.get_mut(order)) else {
            continue;
        };
        if keyword.start < last_attempt.start || keyword.start < last_attempt.end {
            continue;
        }
        // Several keywords of a rule may start at the same position.
        last_attempt.start = keyword.start + 1;
        let RuleOutcome { secrets, searched_until } =
            apply_rule(rule, text, &keyword, encodings, &mut last_family);
        last_attempt.end = last_attempt.end.max(searched_until);
        for range in secrets {
            last_attempt.end = last_attempt.end.max(range.end);
            hits.push(SecretMatch { range, rule: &rule.id, label: rule.label(), order });
        }
    }
    merge_overlaps(text, hits)
}

/// Whether a text contains a secret.
pub fn contains_secret(text: &str) -> bool {
    !find_secrets(text).is_empty()
}

/// Whether a literal contains a secret or looks like one as a whole.
pub fn contains_or_is_secret(literal: &str) -> bool {
    let value = literal.trim_matches(['"', '\'', '`']);
    contains_secret(literal)
        || (value.len() <= 256 && !value.contains(' ') && SecretStrictness::Strict.accepts(value))
}

/// Result of applying a rule at one keyword.
#[derive(Default)]
struct RuleOutcome {
    secrets: Vec<Range<usize>>,
    /// Byte offset before which no other match can start: for a rejected match of a long format, its first dot or its
    /// end; for a list or an encoded text, its end; otherwise 0.
    searched_until: usize,
}

impl From<Vec<Range<usize>>> for RuleOutcome {
    fn from(secrets: Vec<Range<usize>>) -> Self {
        Self { secrets, searched_until: 0 }
    }
}

impl From<ListedSecrets> for RuleOutcome {
    fn from(ListedSecrets { secrets, end }: ListedSecrets) -> Self {
        Self { secrets, searched_until: end }
    }
}

/// Returns the lines of base64 that start at `from` if they encode a secret.
fn encoded_secret(text: &str, from: usize, encodings: usize) -> RuleOutcome {
    let lines = encoded::base64_lines_from(text, from);
    let searched_until = lines.last().map_or(0, |line| line.end);
    let decoded = if encodings > 0 { encoded::decode_lines(text, &lines) } else { None };
    let is_secret = decoded.is_some_and(|text| !find_decoded_secrets(&text, encodings - 1).is_empty());
    RuleOutcome { secrets: if is_secret { lines } else { Vec::new() }, searched_until }
}

/// Applies a rule at one keyword.
fn apply_rule(
    rule: &Rule,
    text: &str,
    keyword: &Range<usize>,
    encodings: usize,
    last_family: &mut FamilyMatchCache,
) -> RuleOutcome {
    let Some(pattern) = rule.pattern() else { return RuleOutcome::default() };
    let bytes = text.as_bytes();
    // Skip keywords inside a run, so that a long run that repeats the keyword is examined only once.
    if rule.long && !is_token_start(bytes, keyword.start, true) {
        return RuleOutcome::default();
    }
    if !rule.follows_required_word(bytes, keyword.start) {
        return RuleOutcome::default();
    }
    let Some(start) = rule.earliest_match_start(bytes, keyword.start) else { return RuleOutcome::default() };
    let window = if rule.long { LONG_FORMAT_WINDOW_BYTES } else { MATCH_WINDOW_BYTES };
    let end = keyword.start.saturating_add(window).min(bytes.len());
    if !last_family.may_match(rule, keyword.start, bytes.get(start..end).unwrap_or_default()) {
        return RuleOutcome::default();
    }
    // Testing for a match is faster than locating its groups.
    #[cfg(test)]
    tests::EXAMINED_BYTES.set(tests::EXAMINED_BYTES.get() + end - start);
    let window = bytes.get(start..end).filter(|window| pattern.is_match(window));
    // A match that may start before its keyword may be that of an earlier one.
    let covers = |captures: &Captures<'_>| {
        captures.get(0).is_some_and(|full_match| {
            let full_match = start + full_match.start()..start + full_match.end();
            full_match.start <= keyword.start
                && full_match.end >= keyword.end.min(full_match.start + 1)
                && full_match.end > keyword.start
        })
    };
    let Some(captures) = window.and_then(|window| pattern.captures_iter(window).find(covers)) else {
        return RuleOutcome::default();
    };
    let Some(full_match) = captures.get(0) else { return RuleOutcome::default() };
    let full_match = start + full_match.start()..start + full_match.end();
    match rule.shape {
        SecretExtraction::Pem => return key_lines::pem_lines(text, full_match.end).into(),
        SecretExtraction::PemEnd => return key_lines::lines_before_pem_end(text, full_match.start).into(),
        SecretExtraction::Lines => return key_lines::base64_lines_after(text, full_match.end).into(),
        SecretExtraction::Base64 => return encoded::base64_lines_from(text, full_match.start).into(),
        SecretExtraction::Encoded => return encoded_secret(text, full_match.start, encodings),
        SecretExtraction::Pairs => return entries::cookie_values(text, full_match.end, rule.words).into(),
        SecretExtraction::Manifest => {
            return entries::manifest_values(text, full_match.start, rule.words).into();
        }
        SecretExtraction::Inside => {}
    }
    let secret = captures
        .name("secret")
        .map_or(full_match.clone(), |group| start + group.start()..start + group.end());
    // A pattern matches bytes, so align the range to character boundaries.
    let secret = floor_char_boundary(text, secret.start)..ceil_char_boundary(text, secret.end);
    let Some(value) = text.get(secret.clone()) else { return RuleOutcome::default() };
    let has_lead = rule.context || secret.start != full_match.start;
    if rule.is_excepted(bytes, keyword) {
        return RuleOutcome::default();
    }
    let is_start = has_lead || is_token_start(bytes, full_match.start, rule.long);
    let is_end = !bytes.get(secret.end).is_some_and(u8::is_ascii_alphanumeric);
    if is_start && is_end && rule.words.accepts(value) {
        return vec![secret].into();
    }
    // Another secret may begin after a dot inside the match.
    let run = full_match.clone().find(|at| bytes.get(*at) == Some(&b'.')).unwrap_or(full_match.end);
    RuleOutcome { secrets: Vec::new(), searched_until: if rule.long { run } else { 0 } }
}

/// Whether a token may start at `at`, that is, not inside a word. An escape directly before `at` (`\n`, `%3D`,
/// `\u003d`) is not part of a word.
fn is_token_start(text: &[u8], at: usize, is_long: bool) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|at| text.get(at)) else { return true };
    if !before.is_ascii_alphanumeric() {
        // A long format is examined once per run of its characters, which keeps the scan linear.
        return !(is_long && matches!(before, b'-' | b'_'));
    }
    let is_escape = |mark: &[u8], digits: usize| {
        let start = at.checked_sub(mark.len() + digits);
        let escape = start.and_then(|start| text.get(start..at)).and_then(|escape| escape.strip_prefix(mark));
        escape.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let letter = at.checked_sub(2).and_then(|at| text.get(at)) == Some(&b'\\') && b"nrtbfv0".contains(before);
    letter || is_escape(b"%", 2) || is_escape(b"\\u", 4) || is_escape(b"\\x", 2)
}

/// Sorts matches and merges overlapping ones. The first match of an overlap keeps its rule and is extended to
/// cover the others. At the same start, specific formats come before guesses, then longer matches before
/// shorter ones, then table order. A guess that starts together with a specific format is dropped, as are
/// matches that overlap a placeholder in `text`.
fn merge_overlaps(text: &str, mut hits: Vec<SecretMatch>) -> Vec<SecretMatch> {
    if hits.is_empty() {
        return hits;
    }
    hits.sort_by_key(|hit| (hit.range.start, hit.is_context_match(), Reverse(hit.range.end), hit.order));
    let mut placeholder_ranges = placeholders(text).map(|(range, _)| range).peekable();
    let mut merged: Vec<SecretMatch> = Vec::with_capacity(hits.len());
    for hit in hits {
        while placeholder_ranges.next_if(|range| range.end <= hit.range.start).is_some() {}
        if placeholder_ranges.peek().is_some_and(|range| range.start < hit.range.end) {
            continue;
        }
        match merged.last_mut() {
            // A match with a specific format keeps its end, even if a guess at the same start is longer.
            Some(last)
                if last.range.start == hit.range.start
                    && !last.is_context_match()
                    && hit.is_context_match() => {}
            Some(last) if hit.range.start < last.range.end => {
                last.range.end = last.range.end.max(hit.range.end);
            }
            _ => merged.push(hit),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// Bytes examined by patterns on this thread, counted once for each pattern.
        pub(super) static EXAMINED_BYTES: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn a_long_run_is_not_examined_repeatedly() {
        for piece in ["eyJ", "ops_eyJ", "/ops_eyJJJJJJJJJJJJJJJJJJ", "pypi-AgE", "_eyJ", "-eyJ_"] {
            let text = piece.repeat((256 << 10) / piece.len());
            EXAMINED_BYTES.set(0);
            find_secrets(&text);
            let times = EXAMINED_BYTES.get() / text.len();
            assert!(times <= 2, "{piece} is examined {times} times");
        }
    }

    #[test]
    fn a_long_secret_is_found_after_text_that_only_resembles_one() {
        let token = [
            "eyJ",
            "hbGciOiJIUzI1NiJ9.",
            "eyJ",
            "zdWIiOiIxMjM0NTY3ODkwIn0.",
            "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
        ]
        .concat();
        for before in [
            "eyJeyJeyJ ",
            "eyJ.eyJ.eyJ,",
            "ops_eyJ/",
            "\\n",
            "%3D",
            "eyJaaaaaaaaaaaaa.eyJaaaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaa ",
            "eyJexample0000.",
        ] {
            let text = format!("{before}{token}");
            let hits = find_secrets(&text);
            assert!(hits.iter().any(|hit| text[hit.range.clone()].ends_with(&token)), "{before}: {hits:?}");
        }
    }
}
