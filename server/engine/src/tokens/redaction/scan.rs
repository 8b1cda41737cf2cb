//! Finds credentials in a text in one pass: keywords first, all at once, then the few patterns whose keyword is there, each
//! at its place only. Takes time in proportion to the text, whatever it holds.

use std::cmp::Reverse;
use std::ops::Range;

use super::key_lines;
use super::placeholder::placeholders;
use super::rules::{CREDENTIAL, Rule, Shape, Table};
use super::words::Words;
use crate::text::{ceil, floor};

/// A secret in a text. Never spans a line break.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SecretMatch {
    /// Its position, in bytes.
    pub range: Range<usize>,
    /// The rule that found it.
    pub rule: &'static str,
    /// Its label in placeholders.
    pub(super) label: &'static str,
    /// Position of the rule in the table: earlier rules win.
    order: usize,
}

impl SecretMatch {
    /// Whether it was recognized by its context.
    fn is_guess(&self) -> bool {
        self.label == CREDENTIAL
    }
}

/// How much of a text a pattern looks at, in bytes.
const WINDOW: usize = 700;
/// The same for the forms that can be long.
const LONG_WINDOW: usize = 16 << 10;

/// The last attempt of one rule.
#[derive(Clone, Copy, Default)]
struct LastAttempt {
    /// The position after the attempt.
    start: usize,
    /// Up to where the text belongs to something it found.
    end: usize,
}

/// The secrets in a text, in order; none overlaps another.
pub fn scan(text: &str) -> Vec<SecretMatch> {
    let table = Table::builtin();
    let mut tried = vec![LastAttempt::default(); table.rules.len()];
    let mut hits = Vec::new();
    for (keyword, order) in table.candidates(text) {
        let (Some(rule), Some(tried)) = (table.rules.get(order), tried.get_mut(order)) else { continue };
        if keyword.start < tried.start || keyword.start < tried.end {
            continue;
        }
        // Several keywords of a rule may begin at one place.
        tried.start = keyword.start + 1;
        let Attempt { found, seen } = attempt(rule, text, &keyword);
        tried.end = tried.end.max(seen);
        for range in found {
            tried.end = tried.end.max(range.end);
            hits.push(SecretMatch { range, rule: &rule.id, label: rule.label(), order });
        }
    }
    apart(text, hits)
}

/// Whether there is a secret in a text, or the whole of it looks like one.
pub(crate) fn has_a_secret(literal: &str) -> bool {
    let value = literal.trim_matches(['"', '\'', '`']);
    !scan(literal).is_empty() || (value.len() <= 256 && !value.contains(' ') && Words::Strict.admit(value))
}

/// The outcome of a look at one keyword.
#[derive(Default)]
struct Attempt {
    found: Vec<Range<usize>>,
    /// Up to where nothing else begins: in the first part of something of a long form that was no secret after all.
    seen: usize,
}

impl From<Vec<Range<usize>>> for Attempt {
    fn from(found: Vec<Range<usize>>) -> Self {
        Self { found, seen: 0 }
    }
}

/// The secrets that begin at a keyword by one rule.
fn attempt(rule: &Rule, text: &str, keyword: &Range<usize>) -> Attempt {
    let Some(pattern) = rule.pattern() else { return Attempt::default() };
    let bytes = text.as_bytes();
    // What has a long form begins with its keyword; so a long run that holds the keyword over and over is looked at once.
    if rule.long && !begins_apart(bytes, keyword.start, true) {
        return Attempt::default();
    }
    let start = keyword.start.saturating_sub(rule.back);
    let window = if rule.long { LONG_WINDOW } else { WINDOW };
    let end = keyword.start.saturating_add(window).min(bytes.len());
    // Whether there is a match is known sooner than where its parts are.
    #[cfg(test)]
    tests::LOOKED_AT.set(tests::LOOKED_AT.get() + end - start);
    let window = bytes.get(start..end).filter(|window| pattern.is_match(window));
    let Some(captures) = window.and_then(|window| pattern.captures(window)) else {
        return Attempt::default();
    };
    let Some(whole) = captures.get(0) else { return Attempt::default() };
    let whole = start + whole.start()..start + whole.end();
    if whole.start > keyword.start || whole.end < keyword.end.min(whole.start + 1) {
        return Attempt::default();
    }
    match rule.shape {
        Shape::Pem => return key_lines::of_pem(text, whole.end).into(),
        Shape::Lines => return key_lines::of_lines(text, whole.end).into(),
        Shape::Inside => {}
    }
    let secret =
        captures.name("secret").map_or(whole.clone(), |group| start + group.start()..start + group.end());
    // A pattern matches bytes.
    let secret = floor(text, secret.start)..ceil(text, secret.end);
    let Some(value) = text.get(secret.clone()) else { return Attempt::default() };
    let led_to = rule.context || secret.start != whole.start;
    let begins = led_to || begins_apart(bytes, whole.start, rule.long);
    let ends = !bytes.get(secret.end).is_some_and(u8::is_ascii_alphanumeric);
    if begins && ends && rule.words.admit(value) {
        return vec![secret].into();
    }
    // After a dot another may begin, which what was looked at reaches into.
    let run = whole.clone().find(|at| bytes.get(*at) == Some(&b'.')).unwrap_or(whole.end);
    Attempt { found: Vec::new(), seen: if rule.long { run } else { 0 } }
}

/// Whether a token may start at `at`: not inside a word. The letter of an escape (`\n`, `%3D`, `\u003d`) before it does not
/// count.
fn begins_apart(text: &[u8], at: usize, long: bool) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|at| text.get(at)) else { return true };
    if !before.is_ascii_alphanumeric() {
        // Long forms are looked at once in a run of the characters that they are made of, which keeps this linear.
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

/// Matches in order, without overlaps: the one that starts first wins; among those, specific forms first, then the longest, then
/// table order. Existing placeholders are not matches.
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
            // What has a form of its own ends where that does, whatever else a guess takes with it.
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
        /// Bytes that were given to patterns of this thread, each as often as it was.
        pub(super) static LOOKED_AT: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn a_long_run_is_not_looked_at_over_and_over() {
        for piece in ["eyJ", "ops_eyJ", "/ops_eyJJJJJJJJJJJJJJJJJJ", "pypi-AgE", "_eyJ", "-eyJ_"] {
            let text = piece.repeat((256 << 10) / piece.len());
            LOOKED_AT.set(0);
            scan(&text);
            let times = LOOKED_AT.get() / text.len();
            assert!(times <= 2, "{piece} is looked at {times} times");
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
