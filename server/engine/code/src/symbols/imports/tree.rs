//! Splits nested imports: `a::{b, c::{d, e as f}}` contains several paths. Accepts any text, and returns the
//! recognizable paths of broken or truncated text.

/// Maximum number of paths that one import with braces is expanded to.
const MAX_PATHS_PER_IMPORT: usize = 64;
/// Maximum nesting depth of braces.
const MAX_BRACE_DEPTH: usize = 16;

/// Returns the paths of an import as lists of components, split at `separators`, whitespace, braces and
/// commas. Drops the words from `as` to the next comma.
pub(super) fn import_paths<'a>(import: &'a str, separators: &[char]) -> Vec<Vec<&'a str>> {
    let mut paths = Vec::new();
    // Length of the prefix before each open brace.
    let mut open: Vec<usize> = Vec::new();
    let mut current: Vec<&'a str> = Vec::new();
    let mut is_alias = false;
    let mut rest = import;
    let mut has_new_part = false;
    while paths.len() < MAX_PATHS_PER_IMPORT && !rest.is_empty() {
        let is_separator =
            |c: char| separators.contains(&c) || c.is_whitespace() || matches!(c, '{' | '}' | ',' | '…');
        let (word, after) = rest.split_at(rest.find(is_separator).unwrap_or(rest.len()));
        match word {
            "" => {}
            "as" => is_alias = true,
            _ if is_alias => {}
            word => {
                current.push(word);
                has_new_part = true;
            }
        }
        let mut letters = after.chars();
        match letters.next() {
            Some('{') if open.len() < MAX_BRACE_DEPTH => {
                open.push(current.len());
                has_new_part = false;
            }
            Some(',' | '}' | '{') => {
                if has_new_part && !current.is_empty() {
                    paths.push(current.clone());
                }
                has_new_part = false;
                is_alias = false;
                if after.starts_with('}') {
                    open.pop();
                }
                current.truncate(open.last().copied().unwrap_or(0));
            }
            _ => {}
        }
        rest = letters.as_str();
    }
    if has_new_part && !current.is_empty() && paths.len() < MAX_PATHS_PER_IMPORT {
        paths.push(current);
    }
    paths
}
