//! Parses a query into weighted words, paths and identifiers.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
#[cfg(test)]
use rustc_hash::FxHashSet;
use strata_base::key::FileKey;
use strata_base::text::floor_char_boundary;

use super::lexical::{LexicalIndex, each_name_word};
use crate::symbols::graph::Seeds;

/// Number of bytes of a text that are parsed. The rest is ignored.
const MAX_TEXT_BYTES: usize = 64 << 10;
/// Maximum number of words to look up.
const MAX_QUERY_WORDS: usize = 400;
/// Maximum number of files that a path in the text may match. A path that matches more (`mod.rs`) does not
/// identify a file.
const MAX_PATH_MATCHES: usize = 4;
/// Weight of a word in the first line, which summarizes the text. Other words have a weight of 1.
const FIRST_LINE_WEIGHT: f64 = 2.5;
/// Prefixes of lines that name the people or system behind a commit, rather than its subject.
const COMMIT_TRAILER_PREFIXES: [&str; 9] = [
    "signed-off-by:",
    "co-authored-by:",
    "reviewed-by:",
    "acked-by:",
    "tested-by:",
    "reported-by:",
    "cc:",
    "change-id:",
    "git-svn-id:",
];

/// The text and the seeds for which to find relevant files.
#[derive(Clone, Copy, Debug, Default)]
pub struct RelevanceQuery<'a> {
    /// The task in the user's words. The first line carries more weight.
    pub text: &'a str,
    /// Files and names from which to start in addition to the text.
    pub seeds: Seeds<'a>,
}

/// The words, paths and identifiers of a text.
#[derive(Debug, Default)]
pub(crate) struct ParsedQuery {
    /// Stemmed words, and names of several words as a whole, with their weights, in order of first occurrence.
    pub(crate) words: Vec<(String, f64)>,
    /// Tokens that look like paths or file names, as written.
    pub(crate) paths: Vec<String>,
    /// Tokens that look like identifiers, as written.
    pub(crate) identifiers: Vec<String>,
}

/// The files and identifiers that a text mentions.
#[cfg(test)]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextMentions {
    /// Files whose path, or a distinctive ending of it, occurs in the text; in key order.
    pub files: Vec<FileKey>,
    /// Identifiers: words in backticks, `snake_case` or `camelCase`; in order of first occurrence.
    pub identifiers: Vec<String>,
}

#[cfg(test)]
impl TextMentions {
    /// Parses a text and looks up its paths among the existing files.
    pub(crate) fn read(text: &str, lexical: &LexicalIndex) -> Self {
        let parsed_query = ParsedQuery::read(text);
        let mentioned: FxHashSet<u32> = parsed_query.named_files(lexical).into_iter().collect();
        let files = lexical.files().filter(|(number, _)| mentioned.contains(number));
        let mut identifiers = parsed_query.identifiers;
        let mut distinct = FxHashSet::default();
        identifiers.retain(|name| distinct.insert(name.clone()));
        Self { files: files.map(|(_, file)| file.key.clone()).collect(), identifiers }
    }
}

/// Whether a text contains a path or an identifier.
pub fn mentions_code(text: &str) -> bool {
    let query = ParsedQuery::read(text);
    !query.paths.is_empty() || !query.identifiers.is_empty()
}

impl ParsedQuery {
    /// Parses a text into words, paths and identifiers.
    pub(crate) fn read(text: &str) -> Self {
        let text = text.get(..floor_char_boundary(text, MAX_TEXT_BYTES)).unwrap_or_default();
        let mut parsed_query = Self::default();
        let mut weights: FxHashMap<String, usize> = FxHashMap::default();
        let mut is_first = true;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            if !is_first && is_commit_trailer(line) {
                continue;
            }
            let weight = if is_first { FIRST_LINE_WEIGHT } else { 1.0 };
            is_first = false;
            for token in line.split(|c: char| {
                c.is_whitespace() || matches!(c, ',' | ';' | '"' | '\'' | '(' | '[' | '{' | '<')
            }) {
                parsed_query.add_token(token, weight, &mut weights);
            }
        }
        parsed_query
    }

    /// Returns the numbers of the files whose paths end with a path in the text. Ignores paths that match
    /// more than a few files.
    pub(crate) fn named_files(&self, lexical: &LexicalIndex) -> Vec<u32> {
        let numbered = lexical.files().map(|(number, file)| (number, &file.key));
        self.named_candidates(numbered)
    }

    /// Like `named`, but for files that are not indexed, in their given order.
    pub(super) fn named_files_among<'a>(&self, files: impl Iterator<Item = &'a FileKey>) -> Vec<&'a FileKey> {
        self.named_candidates(files.map(|key| (key, key)))
    }

    fn named_candidates<'a, F: Ord + Copy>(
        &self,
        candidates: impl Iterator<Item = (F, &'a FileKey)>,
    ) -> Vec<F> {
        let mut files_by_path: BTreeMap<&str, Vec<F>> =
            self.paths.iter().map(|path| (path.as_str(), Vec::new())).collect();
        if files_by_path.is_empty() {
            return Vec::new();
        }
        for (number, key) in candidates {
            let path = key.as_str();
            let suffixes = path.match_indices('/').filter_map(|(slash, _)| path.get(slash + 1..));
            for end in std::iter::once(path).chain(suffixes) {
                if let Some(files) = files_by_path.get_mut(end) {
                    files.push(number);
                }
            }
        }
        let mut files: Vec<F> =
            files_by_path.into_values().filter(|files| files.len() <= MAX_PATH_MATCHES).flatten().collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    fn add_token(&mut self, token: &str, weight: f64, word_indices: &mut FxHashMap<String, usize>) {
        if token.contains("://") || token.len() > 200 {
            return;
        }
        let is_quoted = token.contains('`');
        let token = token.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '_' | '.'));
        let token = token.trim_end_matches(['.', '/']);
        if token.is_empty() {
            return;
        }
        if looks_like_path(token) {
            self.paths.push(token.trim_start_matches("./").to_owned());
        }
        if is_quoted || looks_like_code(token) {
            self.identifiers.extend(
                token
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .filter(|n| n.len() > 2)
                    .map(str::to_owned),
            );
        }
        each_name_word(token, |word| {
            // Repeating a word does not add weight.
            if let Some(&index) = word_indices.get(word) {
                if let Some((_, previous_weight)) = self.words.get_mut(index) {
                    *previous_weight = previous_weight.max(weight);
                }
            } else if self.words.len() < MAX_QUERY_WORDS {
                word_indices.insert(word.to_owned(), self.words.len());
                self.words.push((word.to_owned(), weight));
            }
        });
    }
}

fn is_commit_trailer(line: &str) -> bool {
    let line = line.trim_start();
    COMMIT_TRAILER_PREFIXES
        .iter()
        .any(|trailer| line.get(..trailer.len()).is_some_and(|start| start.eq_ignore_ascii_case(trailer)))
}

/// Whether a token contains a slash or is a name with an extension: `src/lib.rs`, `app.py`.
fn looks_like_path(token: &str) -> bool {
    let is_path_character = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '.' | '-');
    if !token.chars().all(is_path_character) || !token.chars().any(char::is_alphabetic) {
        return false;
    }
    let name = token.rsplit('/').next().unwrap_or(token);
    let extension = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    token.contains('/') || extension.is_some_and(|(_, end)| (1..=5).contains(&end.len()))
}

/// Whether a token is spelled like an identifier: `snake_case`, `camelCase`, `a.b`, `A::b`, `call()`.
fn looks_like_code(token: &str) -> bool {
    let inner = token.trim_matches('_');
    let mut letters = inner.chars();
    let is_camel_case = letters.by_ref().any(char::is_lowercase) && letters.any(char::is_uppercase);
    inner.contains('_')
        || is_camel_case
        || token.contains("::")
        || token.ends_with("()")
        || inner.contains('.') && !inner.ends_with('.')
}
