//! Detects generated files from their text. Detection by path is part of the language registry.

use strata_grammars::LanguageId;

/// Number of lines at the start of a file in which to search for a marker. Further down, a text may merely mention
/// generated files.
const GENERATED_MARKER_LINES: usize = 20;
/// Number of bytes at the start of a file in which to search for a marker.
pub(super) const HEAD_BYTES: usize = 4_096;
/// Average line length, in bytes, above which code counts as minified.
const MINIFIED_LINE_BYTES: usize = 300;
/// Minimum size of a file that can count as minified, in bytes.
const MIN_MINIFIED_BYTES: usize = 4_096;
/// Prefixes of comment lines, in any language.
const COMMENT_PREFIXES: [&str; 10] = ["//", "#", "/*", "*", "--", ";", "<!--", "\"\"\"", "%", "(*"];

/// Whether a text is generated, given its first [`HEAD_BYTES`] bytes, its length in bytes and its number of line
/// breaks.
pub(super) fn is_generated(language: LanguageId, head: &str, bytes: usize, breaks: usize) -> bool {
    let is_minified =
        !language.is_document() && bytes >= MIN_MINIFIED_BYTES && bytes / (breaks + 1) > MINIFIED_LINE_BYTES;
    is_minified || head.lines().take(GENERATED_MARKER_LINES).any(has_generated_marker)
}

fn has_generated_marker(line: &str) -> bool {
    let line = line.trim_start();
    let has_tag = line.match_indices("@generated").any(|(offset, mark)| {
        let after = line.get(offset + mark.len()..).unwrap_or_default();
        !after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '`' | '"' | '\''))
    });
    COMMENT_PREFIXES.iter().any(|start| line.starts_with(start)) && (has_tag || line.contains("DO NOT EDIT"))
}
