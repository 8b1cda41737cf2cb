//! Detects generated files from their text. Detection by path belongs to the language.

use strata_grammars::LanguageId;

/// Only the first lines count, since other text may merely mention generated files.
const MAX_LINES: usize = 20;
/// How much of it is read at most, in bytes.
pub(super) const HEAD: usize = 4_096;
/// Average line length, in bytes, from which several lines of code count as minified.
const LONG_LINES: usize = 300;
const LEAST_MINIFIED: usize = 4_096;
/// Comment prefixes of all languages.
const COMMENTS: [&str; 10] = ["//", "#", "/*", "*", "--", ";", "<!--", "\"\"\"", "%", "(*"];

/// Whether a text is generated, by its first [`HEAD`] bytes, its length and how many line breaks it has.
pub(super) fn is_generated(language: LanguageId, head: &str, bytes: usize, breaks: usize) -> bool {
    let minified = !language.is_document() && bytes >= LEAST_MINIFIED && bytes / (breaks + 1) > LONG_LINES;
    minified || head.lines().take(MAX_LINES).any(says_generated)
}

fn says_generated(line: &str) -> bool {
    let line = line.trim_start();
    let marked = line.match_indices("@generated").any(|(at, mark)| {
        let behind = line.get(at + mark.len()..).unwrap_or_default();
        !behind.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '`' | '"' | '\''))
    });
    COMMENTS.iter().any(|start| line.starts_with(start)) && (marked || line.contains("DO NOT EDIT"))
}
