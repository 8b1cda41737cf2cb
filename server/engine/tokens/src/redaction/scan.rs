//! Finds credentials in a text in one pass. One search finds all keywords, and a rule's pattern
//! is tried only at its keywords. Takes time linear in the size of the text.

use std::cmp::Reverse;
use std::ops::Range;

use regex::bytes::Captures;
use strata_base::text::{ceil, floor};

use super::entries::{self, Entries};
use super::placeholder::placeholders;
use super::rules::{CREDENTIAL, Rule, Shape, Table};
use super::words::Words;
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
    fn is_guess(&self) -> bool {
        self.label == CREDENTIAL
    }
}

/// Number of bytes, from the start of a keyword, in which a pattern may match.
const WINDOW: usize = 700;
/// Number of bytes, from the start of a keyword, in which the pattern of a long format may match.
const LONG_WINDOW: usize = 16 << 10;

/// How many times a text may be encoded, such as a key in a file that is itself encoded.
const MAX_ENCODINGS: usize = 2;

/// The part of the text in which a rule has already been tried.
#[derive(Clone, Copy, Default)]
struct LastAttempt {
    /// First position at which the rule may be tried again: one byte after its last keyword.
    start: usize,
    /// End of the range that the last attempt and its matches cover.
    end: usize,
}

/// Whether any rule of a family matches at the last keyword for which one was tried.
#[derive(Clone, Copy, Default)]
struct LastFamily {
    family: usize,
    keyword: usize,
    /// `None` before the first keyword.
    matches: Option<bool>,
}

impl LastFamily {
    /// Whether a rule may match at a keyword, judged for all rules of its family at once.
    fn may_match(&mut self, rule: &Rule, keyword: usize, window: &[u8]) -> bool {
        if let Some(matches) = self.matches.filter(|_| self.family == rule.family && self.keyword == keyword)
        {
            return matches;
        }
        let Some(pattern) = Table::builtin().family_pattern(rule.family) else { return true };
        let matches = pattern.is_match(window);
        *self = Self { family: rule.family, keyword, matches: Some(matches) };
        matches
    }
}

/// Finds the secrets in a text, in order and without overlaps.
pub fn scan(text: &str) -> Vec<SecretMatch> {
    scan_to(text, MAX_ENCODINGS)
}

/// Finds the secrets in a text that was encoded, `encodings` times at most.
fn scan_to(text: &str, encodings: usize) -> Vec<SecretMatch> {
    let table = Table::builtin();
    let mut tried = vec![LastAttempt::default(); table.rules.len()];
    let (mut hits, mut relatives) = (Vec::new(), LastFamily::default());
    for (keyword, order) in table.candidates(text) {
        let (Some(rule), Some(tried)) = (table.rules.get(order), tried.get_mut(order)) else { continue };
        if keyword.start < tried.start || keyword.start < tried.end {
            continue;
        }
        // Several keywords of a rule may start at the same position.
        tried.start = keyword.start + 1;
        let Attempt { found, seen } = attempt(rule, text, &keyword, encodings, &mut relatives);
        tried.end = tried.end.max(seen);
        for range in found {
            tried.end = tried.end.max(range.end);
            hits.push(SecretMatch { range, rule: &rule.id, label: rule.label(), order });
        }
    }
    apart(text, hits)
}

/// Whether a text contains a secret.
pub fn contains_secret(text: &str) -> bool {
    !scan(text).is_empty()
}

/// Whether a literal contains a secret or looks like one as a whole.
pub fn has_a_secret(literal: &str) -> bool {
    let value = literal.trim_matches(['"', '\'', '`']);
    contains_secret(literal) || (value.len() <= 256 && !value.contains(' ') && Words::Strict.admit(value))
}

/// Result of applying a rule at one keyword.
#[derive(Default)]
struct Attempt {
    found: Vec<Range<usize>>,
    /// Byte offset before which no other match can start: for a rejected match of a long format, its first dot or its
    /// end; for a list or an encoded text, its end; otherwise 0.
    seen: usize,
}

impl From<Vec<Range<usize>>> for Attempt {
    fn from(found: Vec<Range<usize>>) -> Self {
        Self { found, seen: 0 }
    }
}

impl From<Entries> for Attempt {
    fn from(Entries { secrets, end }: Entries) -> Self {
        Self { found: secrets, seen: end }
    }
}

/// Returns the lines of base64 that start at `from` if they encode a secret.
fn encoded_secret(text: &str, from: usize, encodings: usize) -> Attempt {
    let lines = encoded::lines_from(text, from);
    let seen = lines.last().map_or(0, |line| line.end);
    let decoded = if encodings > 0 { encoded::decoded(text, &lines) } else { None };
    let is_secret = decoded.is_some_and(|text| !scan_to(&text, encodings - 1).is_empty());
    Attempt { found: if is_secret { lines } else { Vec::new() }, seen }
}

/// Applies a rule at one keyword.
fn attempt(
    rule: &Rule,
    text: &str,
    keyword: &Range<usize>,
    encodings: usize,
    relatives: &mut LastFamily,
) -> Attempt {
    let Some(pattern) = rule.pattern() else { return Attempt::default() };
    let bytes = text.as_bytes();
    // Skip keywords inside a run, so that a long run that repeats the keyword is examined only once.
    if rule.long && !begins_apart(bytes, keyword.start, true) {
        return Attempt::default();
    }
    if !rule.may_start(bytes, keyword.start) {
        return Attempt::default();
    }
    let Some(start) = rule.first_start(bytes, keyword.start) else { return Attempt::default() };
    let window = if rule.long { LONG_WINDOW } else { WINDOW };
    let end = keyword.start.saturating_add(window).min(bytes.len());
    if !relatives.may_match(rule, keyword.start, bytes.get(start..end).unwrap_or_default()) {
        return Attempt::default();
    }
    // Testing for a match is faster than locating its groups.
    #[cfg(test)]
    tests::LOOKED_AT.set(tests::LOOKED_AT.get() + end - start);
    let window = bytes.get(start..end).filter(|window| pattern.is_match(window));
    // A match that may start before its keyword may be that of an earlier one.
    let covers = |captures: &Captures<'_>| {
        captures.get(0).is_some_and(|whole| {
            let whole = start + whole.start()..start + whole.end();
            whole.start <= keyword.start
                && whole.end >= keyword.end.min(whole.start + 1)
                && whole.end > keyword.start
        })
    };
    let Some(captures) = window.and_then(|window| pattern.captures_iter(window).find(covers)) else {
        return Attempt::default();
    };
    let Some(whole) = captures.get(0) else { return Attempt::default() };
    let whole = start + whole.start()..start + whole.end();
    match rule.shape {
        Shape::Pem => return key_lines::of_pem(text, whole.end).into(),
        Shape::PemEnd => return key_lines::before_pem_end(text, whole.start).into(),
        Shape::Lines => return key_lines::of_lines(text, whole.end).into(),
        Shape::Base64 => return encoded::lines_from(text, whole.start).into(),
        Shape::Encoded => return encoded_secret(text, whole.start, encodings),
        Shape::Pairs => return entries::pairs(text, whole.end, rule.words).into(),
        Shape::Manifest => return entries::manifest(text, whole.start, rule.words).into(),
        Shape::Inside => {}
    }
    let secret =
        captures.name("secret").map_or(whole.clone(), |group| start + group.start()..start + group.end());
    // A pattern matches bytes, so align the range to character boundaries.
    let secret = floor(text, secret.start)..ceil(text, secret.end);
    let Some(value) = text.get(secret.clone()) else { return Attempt::default() };
    let led_to = rule.context || secret.start != whole.start;
    if rule.is_excepted(bytes, keyword) {
        return Attempt::default();
    }
    let begins = led_to || begins_apart(bytes, whole.start, rule.long);
    let ends = !bytes.get(secret.end).is_some_and(u8::is_ascii_alphanumeric);
    if begins && ends && rule.words.admit(value) {
        return vec![secret].into();
    }
    // Another secret may begin after a dot inside the match.
    let run = whole.clone().find(|at| bytes.get(*at) == Some(&b'.')).unwrap_or(whole.end);
    Attempt { found: Vec::new(), seen: if rule.long { run } else { 0 } }
}

/// Whether a token may start at `at`, that is, not inside a word. An escape directly before `at` (`\n`, `%3D`,
/// `\u003d`) is not part of a word.
fn begins_apart(text: &[u8], at: usize, long: bool) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|at| text.get(at)) else { return true };
    if !before.is_ascii_alphanumeric() {
        // A long format is examined once per run of its characters, which keeps the scan linear.
        return !(long && matches!(before, b'-' | b'_'));
    }
    let behind = |mark: &[u8], digits: usize| {
        let start = at.checked_sub(mark.len() + digits);
        let escape = start.and_then(|start| text.get(start..at)).and_then(|escape| escape.strip_prefix(mark));
        escape.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let letter = at.checked_sub(2).and_then(|at| text.get(at)) == Some(&b'\\') && b"nrtbfv0".contains(before);
    letter || behind(b"%", 2) || behind(b"\\u", 4) || behind(b"\\x", 2)
}

/// Sorts matches and merges overlapping ones. The first match of an overlap keeps its rule and is extended to
/// cover the others. At the same start, specific formats come before guesses, then longer matches before
/// shorter ones, then table order. A guess that starts together with a specific format is dropped, as are
/// matches that overlap a placeholder in `text`.
fn apart(text: &str, mut hits: Vec<SecretMatch>) -> Vec<SecretMatch> {
    if hits.is_empty() {
        return hits;
    }
    hits.sort_by_key(|hit| (hit.range.start, hit.is_guess(), Reverse(hit.range.end), hit.order));
    let mut known = placeholders(text).map(|(range, _)| range).peekable();
    let mut apart: Vec<SecretMatch> = Vec::with_capacity(hits.len());
    for hit in hits {
        while known.next_if(|known| known.end <= hit.range.start).is_some() {}
        if known.peek().is_some_and(|known| known.start < hit.range.end) {
            continue;
        }
        match apart.last_mut() {
            // A match with a specific format keeps its end, even if a guess at the same start is longer.
            Some(last) if last.range.start == hit.range.start && !last.is_guess() && hit.is_guess() => {}
            Some(last) if hit.range.start < last.range.end => {
                last.range.end = last.range.end.max(hit.range.end);
            }
            _ => apart.push(hit),
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// Bytes examined by patterns on this thread, counted once for each pattern.
        pub(super) static LOOKED_AT: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn a_long_run_is_not_looked_at_over_and_over() {
        for piece in ["eyJ", "ops_eyJ", "/ops_eyJJJJJJJJJJJJJJJJJJ", "pypi-AgE", "_eyJ", "-eyJ_"] {
            let text = piece.repeat((256 << 10) / piece.len());
            LOOKED_AT.set(0);
            scan(&text);
            let times = LOOKED_AT.get() / text.len();
            assert!(times <= 2, "{piece} is examined {times} times");
        }
    }

    #[test]
    fn a_long_form_is_found_behind_others_that_are_none() {
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
            let hits = scan(&text);
            assert!(hits.iter().any(|hit| text[hit.range.clone()].ends_with(&token)), "{before}: {hits:?}");
        }
    }
}
