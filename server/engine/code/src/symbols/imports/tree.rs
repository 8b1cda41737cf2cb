//! Splits nested imports: `a::{b, c::{d, e as f}}` contains several paths. Accepts any text, and returns the
//! recognizable paths of broken or truncated text.

/// Maximum number of paths that one import with braces is expanded to.
const MAX_PATHS: usize = 64;
/// Maximum nesting depth of braces.
const MAX_DEPTH: usize = 16;

/// Returns the paths of an import as lists of components, split at `separators`, whitespace, braces and
/// commas. Drops the words from `as` to the next comma.
pub(super) fn paths<'a>(import: &'a str, separators: &[char]) -> Vec<Vec<&'a str>> {
    let mut paths = Vec::new();
    // Length of the prefix before each open brace.
    let mut open: Vec<usize> = Vec::new();
    let mut current: Vec<&'a str> = Vec::new();
    let mut renamed = false;
    let mut rest = import;
    let mut fresh = false;
    while paths.len() < MAX_PATHS && !rest.is_empty() {
        let is_mark =
            |c: char| separators.contains(&c) || c.is_whitespace() || matches!(c, '{' | '}' | ',' | '…');
        let (word, after) = rest.split_at(rest.find(is_mark).unwrap_or(rest.len()));
        match word {
            "" => {}
            "as" => renamed = true,
            _ if renamed => {}
            word => {
                current.push(word);
                fresh = true;
            }
        }
        let mut letters = after.chars();
        match letters.next() {
            Some('{') if open.len() < MAX_DEPTH => {
                open.push(current.len());
                fresh = false;
            }
            Some(',' | '}' | '{') => {
                if fresh && !current.is_empty() {
                    paths.push(current.clone());
                }
                fresh = false;
                renamed = false;
                if after.starts_with('}') {
                    open.pop();
                }
                current.truncate(open.last().copied().unwrap_or(0));
            }
            _ => {}
        }
        rest = letters.as_str();
    }
    if fresh && !current.is_empty() && paths.len() < MAX_PATHS {
        paths.push(current);
    }
    paths
}
