//! Finds the lines of a text that match a pattern, with ripgrep's own crates. Reads no files.

use std::io;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use strata_base::text::replace_lone_cr;

/// Maximum length of a pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 4 * 1024;
/// Maximum memory for a compiled pattern, in bytes.
const MAX_COMPILED_BYTES: usize = 16 << 20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PatternOptions {
    /// Whether to match the pattern literally instead of as a regular expression.
    pub(crate) is_literal: bool,
    pub(crate) ignore_case: bool,
    pub(crate) whole_words: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadPattern {
    #[error("the pattern is empty")]
    Empty,
    #[error("the pattern is longer than {MAX_PATTERN_BYTES} bytes")]
    TooLong,
    /// The pattern does not compile, for this reason.
    #[error("{0}")]
    Syntax(String),
}

/// A compiled pattern. Matches never span lines.
#[derive(Clone, Debug)]
pub(crate) struct Pattern(RegexMatcher);

/// A matching line or a context line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundLine {
    /// Line number, counted from 1.
    pub(crate) line: u64,
    /// Text of the line, without its line ending.
    pub(crate) text: String,
    pub(crate) is_match: bool,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// Returns [`BadPattern`] if the pattern is too long or does not compile.
    pub(crate) fn new(pattern: &str, options: PatternOptions) -> Result<Self, BadPattern> {
        if pattern.is_empty() {
            return Err(BadPattern::Empty);
        }
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(BadPattern::TooLong);
        }
        let matcher = RegexMatcherBuilder::new()
            .fixed_strings(options.is_literal)
            .case_insensitive(options.ignore_case)
            .word(options.whole_words)
            .line_terminator(Some(b'\n'))
            .size_limit(MAX_COMPILED_BYTES)
            .dfa_size_limit(MAX_COMPILED_BYTES)
            .build(pattern);
        matcher.map(Self).map_err(|error| BadPattern::Syntax(regex_error_reason(&error.to_string())))
    }

    /// Returns whether any line of the text matches.
    pub(crate) fn is_match_in(&self, text: &str) -> bool {
        let mut sink = FirstMatchSink(false);
        let searched = SearcherBuilder::new().line_number(false).build().search_slice(
            &self.0,
            replace_lone_cr(text).as_bytes(),
            &mut sink,
        );
        searched.is_ok() && sink.0
    }

    /// Returns the matching lines in order, with up to `context` lines before and after each.
    pub(crate) fn matching_lines(&self, text: &str, context: usize) -> Vec<FoundLine> {
        let mut lines = LineCollector(Vec::new());
        let mut searcher = SearcherBuilder::new().before_context(context).after_context(context).build();
        // Searching in memory does no I/O, so it cannot fail; if it did, keep the lines found so far.
        let _ = searcher.search_slice(&self.0, replace_lone_cr(text).as_bytes(), &mut lines);
        lines.0
    }
}

/// Returns the reason at the end of an error of the regex parser, which first repeats the pattern over several lines.
fn regex_error_reason(error: &str) -> String {
    let last = error.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// A search sink that stops at the first match.
struct FirstMatchSink(bool);

impl Sink for FirstMatchSink {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.0 = true;
        Ok(false)
    }
}

struct LineCollector(Vec<FoundLine>);

impl LineCollector {
    fn push(&mut self, line: Option<u64>, bytes: &[u8], is_match: bool) {
        let text = String::from_utf8_lossy(bytes).trim_end_matches(['\n', '\r']).to_owned();
        self.0.push(FoundLine { line: line.unwrap_or_default(), text, is_match });
    }
}

impl Sink for LineCollector {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matching: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.push(matching.line_number(), matching.bytes(), true);
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context_line: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.push(context_line.line_number(), context_line.bytes(), false);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "fn one() {}\r\nfn two() { one() }\r// One more\nfn three() {}\n";

    fn matched_lines(pattern: &str, options: PatternOptions, context: usize) -> Vec<(u64, bool)> {
        let pattern = Pattern::new(pattern, options).unwrap();
        let lines = pattern.matching_lines(TEXT, context);
        assert_eq!(pattern.is_match_in(TEXT), lines.iter().any(|line| line.is_match));
        lines.into_iter().map(|line| (line.line, line.is_match)).collect()
    }

    #[test]
    fn matching_lines_have_their_numbers() {
        let plain = PatternOptions::default();
        assert_eq!(matched_lines(r"fn \w+\(", plain, 0), [(1, true), (2, true), (4, true)]);
        assert_eq!(matched_lines("one", plain, 0), [(1, true), (2, true)]);
        assert_eq!(
            matched_lines("one", PatternOptions { ignore_case: true, ..plain }, 0),
            [(1, true), (2, true), (3, true)]
        );
        assert_eq!(
            matched_lines("one()", PatternOptions { is_literal: true, ..plain }, 0),
            [(1, true), (2, true)]
        );
        assert_eq!(matched_lines("o", PatternOptions { whole_words: true, ..plain }, 0), []);
        assert_eq!(matched_lines("three", plain, 1), [(3, false), (4, true)]);
        assert_eq!(matched_lines("two|three", plain, 1), [(1, false), (2, true), (3, false), (4, true)]);
        let lines = Pattern::new("one", plain).unwrap().matching_lines(TEXT, 0);
        assert_eq!(lines[0].text, "fn one() {}", "without the end of the line");
    }

    #[test]
    fn invalid_patterns_are_rejected_with_the_reason() {
        let error_for = |pattern: &str| Pattern::new(pattern, PatternOptions::default()).unwrap_err();
        assert_eq!(error_for(""), BadPattern::Empty);
        assert_eq!(error_for(&"x".repeat(5_000)), BadPattern::TooLong);
        assert_eq!(error_for("a("), BadPattern::Syntax("unclosed group".to_owned()));
        assert!(matches!(error_for("a\\nb"), BadPattern::Syntax(_)), "no match spans lines");
        assert!(matches!(error_for("(?:a{1000}){1000}"), BadPattern::Syntax(_)), "too large");
        let literal = PatternOptions { is_literal: true, ..PatternOptions::default() };
        assert!(Pattern::new("a(", literal).is_ok());
    }
}
