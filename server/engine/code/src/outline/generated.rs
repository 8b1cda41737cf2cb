//! Detects generated files from their text. Detection by path is part of the language registry.

use strata_grammars::LanguageId;

/// Number of lines at the start of a file in which to search for a marker. Further down, a text may merely mention
/// generated files.
const MAX_LINES: usize = 20;
/// Number of bytes at the start of a file in which to search for a marker.
pub(super) const HEAD: usize = 4_096;
/// Average line length, in bytes, above which code counts as minified.
const LONG_LINES: usize = 300;
/// Minimum size of a file that can count as minified, in bytes.
const LEAST_MINIFIED: usize = 4_096;
/// Prefixes of comment lines, in any language.
const COMMENTS: [&str; 10] = ["//", "#", "/*", "*", "--", ";", "<!--", "\"\"\"", "%", "(*"];

/// Whether a text is generated, given its first [`HEAD`] bytes, its length in bytes and its number of line breaks.
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
