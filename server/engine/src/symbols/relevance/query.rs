//! What a text asks for: its words with their weights, the paths and the names that it spells out.

use rustc_hash::FxHashMap;

use super::lexical::name_words;
use crate::symbols::graph::Seeds;

/// The most bytes of a text that are read.
const MAX_TEXT: usize = 64 << 10;
/// The most words that are looked up.
const MAX_WORDS: usize = 400;
/// Lines that say who wrote something, not what.
const TRAILERS: [&str; 9] = [
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

/// What relevance is asked about.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query<'a> {
    /// What someone wants done, in their words. The first line counts for more.
    pub text: &'a str,
    /// What else is known of where the interest lies.
    pub seeds: Seeds<'a>,
}

/// A text, read.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Words, stemmed, and names of several words as one; with their weights, in the order of the text.
    pub(super) words: Vec<(String, f64)>,
    /// What looks like a path or the name of a file, as written.
    pub(super) paths: Vec<String>,
    /// What is spelled like code, as written.
    pub(super) identifiers: Vec<String>,
}

impl Asked {
    /// Reads a text. `first` is what a word of the first line weighs, `code` one of a name spelled as code; others weigh 1.
    pub(super) fn read(text: &str, first: f64, code: f64) -> Self {
        let end = (0..=text.len().min(MAX_TEXT)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let text = text.get(..end).unwrap_or_default();
        let mut asked = Self::default();
        let mut weights: FxHashMap<String, usize> = FxHashMap::default();
        let mut is_first = true;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            if !is_first && is_trailer(line) {
                continue;
            }
            let weight = if is_first { first } else { 1.0 };
            is_first = false;
            for token in line.split(|c: char| {
                c.is_whitespace() || matches!(c, ',' | ';' | '"' | '\'' | '(' | '[' | '{' | '<')
            }) {
                asked.token(token, weight, code, &mut weights);
            }
        }
        asked
    }

    fn token(&mut self, token: &str, weight: f64, code: f64, known: &mut FxHashMap<String, usize>) {
        if token.contains("://") || token.len() > 200 {
            return;
        }
        let quoted = token.contains('`');
        let token = token.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '_' | '.'));
        let token = token.trim_end_matches(['.', '/']);
        if token.is_empty() {
            return;
        }
        if looks_like_path(token) {
            self.paths.push(token.trim_start_matches("./").to_owned());
        }
        let is_code = quoted || looks_like_code(token);
        if is_code {
            self.identifiers.extend(
                token
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .filter(|n| n.len() > 2)
                    .map(str::to_owned),
            );
        }
        let weight = if is_code { weight * code } else { weight };
        name_words(token, |word| {
            // A word said often is not meant as often as it is said.
            if let Some(&at) = known.get(word) {
                if let Some((_, before)) = self.words.get_mut(at) {
                    *before = before.max(weight);
                }
            } else if self.words.len() < MAX_WORDS {
                known.insert(word.to_owned(), self.words.len());
                self.words.push((word.to_owned(), weight));
            }
        });
    }
}

fn is_trailer(line: &str) -> bool {
    let line = line.trim_start();
    TRAILERS
        .iter()
        .any(|trailer| line.get(..trailer.len()).is_some_and(|start| start.eq_ignore_ascii_case(trailer)))
}

/// `src/lib.rs`, `app.py`: parts that make a path, or a name with an extension.
fn looks_like_path(token: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '.' | '-');
    if !token.chars().all(plain) || !token.chars().any(char::is_alphabetic) {
        return false;
    }
    let name = token.rsplit('/').next().unwrap_or(token);
    let extension = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    token.contains('/') || extension.is_some_and(|(_, end)| (1..=5).contains(&end.len()))
}

/// `snake_case`, `camelCase`, `a.b`, `A::b`, `call()`.
fn looks_like_code(token: &str) -> bool {
    let inner = token.trim_matches('_');
    let mut letters = inner.chars();
    let small_then_capital = letters.by_ref().any(char::is_lowercase) && letters.any(char::is_uppercase);
    inner.contains('_')
        || small_then_capital
        || token.contains("::")
        || token.ends_with("()")
        || inner.contains('.') && !inner.ends_with('.')
}
