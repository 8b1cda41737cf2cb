//! A compact notation for lists of paths: common directories are factored out as in shell braces
//! (`src/{a.rs,b/{c.rs,d.rs}}`). File names stay whole, so that text search finds them. Paths with special
//! characters or white space are written separately between backticks.

use std::collections::BTreeMap;

/// Maximum number of nested directories that are factored out of a path. The rest of a deeper path stays in one
/// piece.
const MAX_FACTORED_DIRECTORIES: usize = 64;
/// Number of bytes that expanding any string may produce, however short it is.
const BASE_EXPANSION_BYTES: usize = 64 * 1024;
/// Number of additional bytes that expanding a string may produce for each of its bytes.
const MAX_EXPANSION_FACTOR: usize = 8;

/// Writes each path once, with common directories factored out: `src/{a.rs,b.rs}`.
pub(crate) fn to_brace_notation<'a>(paths: impl IntoIterator<Item = &'a str>) -> String {
    let mut tree = PathTree::default();
    let mut unfoldable = Vec::new();
    for path in paths {
        if path.contains(is_notation_char) || path.ends_with('/') {
            unfoldable.push(path);
        } else if !path.is_empty() {
            tree.insert(path);
        }
    }
    unfoldable.sort_unstable();
    unfoldable.dedup();
    let mut text = String::new();
    tree.write_top_level(&mut text);
    for path in unfoldable {
        let gap = if text.is_empty() { "" } else { ", " };
        text.push_str(gap);
        text.push('`');
        text.extend(path.chars().map(|c| if c == '`' || c.is_control() { '\'' } else { c }));
        text.push('`');
    }
    text
}

/// Returns all words of `text` that may be paths, with bundles expanded. The inverse of [`to_brace_notation`]; also
/// safe for other text.
pub fn expand_brace_notation(text: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut budget = BASE_EXPANSION_BYTES + MAX_EXPANSION_FACTOR * text.len();
    for (at, piece) in text.split('`').enumerate() {
        let quoted = at % 2 == 1;
        if quoted && !piece.contains('\n') && piece.contains(is_notation_char) {
            paths.push(piece.to_owned());
        }
        for word in piece.split_whitespace() {
            expand_bundle(trim_punctuation(word), &mut budget, &mut paths);
        }
    }
    paths
}

/// Whether a character has a meaning in bundles (`src/{a.rs,b.rs}`) or separates words.
fn is_notation_char(c: char) -> bool {
    matches!(c, '{' | '}' | ',' | '`') || c.is_whitespace() || c.is_control()
}

/// Removes the punctuation that surrounds a word in prose.
fn trim_punctuation(word: &str) -> &str {
    let word = word.trim_start_matches(['(', '"', '\'', '[', '*', '<', ',']);
    word.trim_end_matches([',', ';', ':', ')', '"', '\'', ']', '*', '>', '!', '?', '.'])
}

#[derive(Default)]
struct PathTree<'a> {
    entries: BTreeMap<&'a str, DirectoryEntry<'a>>,
}

/// An entry in a directory: a file, a directory, or both if the list contains `a` and `a/b`.
#[derive(Default)]
struct DirectoryEntry<'a> {
    files: usize,
    folder: Option<Box<PathTree<'a>>>,
}

impl<'a> PathTree<'a> {
    fn insert(&mut self, path: &'a str) {
        let mut folder = self;
        let mut parts = path.splitn(MAX_FACTORED_DIRECTORIES, '/').peekable();
        while let Some(part) = parts.next() {
            let entry = folder.entries.entry(part).or_default();
            if parts.peek().is_none() {
                entry.files = 1;
                return;
            }
            folder = entry.folder.get_or_insert_default();
        }
    }

    /// Writes the top-level entries, separated by commas without braces.
    fn write_top_level(&self, text: &mut String) {
        for (name, entry) in &self.entries {
            if !text.is_empty() {
                text.push_str(", ");
            }
            entry.write(name, text, ", ");
        }
    }

    fn write(&self, text: &mut String) {
        let alone = self.entries.len() == 1
            && self.entries.values().all(|entry| entry.files == 0 || entry.folder.is_none());
        if !alone {
            text.push('{');
        }
        for (at, (name, entry)) in self.entries.iter().enumerate() {
            if at > 0 {
                text.push(',');
            }
            entry.write(name, text, ",");
        }
        if !alone {
            text.push('}');
        }
    }
}

impl DirectoryEntry<'_> {
    fn write(&self, name: &str, text: &mut String, gap: &str) {
        if self.files > 0 {
            text.push_str(name);
        }
        if let Some(folder) = &self.folder {
            if self.files > 0 {
                text.push_str(gap);
            }
            text.push_str(name);
            text.push('/');
            folder.write(text);
        }
    }
}

/// Expands one word. Keeps the word unchanged if its braces are malformed or adjacent, since adjacent groups
/// would multiply.
fn expand_bundle(word: &str, budget: &mut usize, paths: &mut Vec<String>) {
    if word.is_empty() {
        return;
    }
    if !word.contains('{') {
        paths.push(word.to_owned());
        return;
    }
    let count_before = paths.len();
    let before = *budget;
    if Expansion::new(budget, paths).expand_word(word).is_none() {
        paths.truncate(count_before);
        *budget = before.saturating_sub(word.len());
        paths.push(word.to_owned());
    }
}

/// State while expanding one word.
struct Expansion<'a> {
    budget: &'a mut usize,
    paths: &'a mut Vec<String>,
    /// Text of the path before the current position.
    prefix: String,
    /// For each open group, the length of the prefix and the index of the first expanded path.
    open: Vec<(usize, usize)>,
}

impl<'a> Expansion<'a> {
    fn new(budget: &'a mut usize, paths: &'a mut Vec<String>) -> Self {
        Self { budget, paths, prefix: String::new(), open: Vec::new() }
    }

    fn expand_word(mut self, word: &str) -> Option<()> {
        let mut rest = word;
        // Index of the first path of the group that was just closed. The text after the group is appended to
        // each of its paths.
        let mut closed: Option<usize> = None;
        loop {
            let end = rest.find(['{', '}', ',']).unwrap_or(rest.len());
            let (literal, sign) = rest.split_at(end);
            match closed {
                Some(first) => self.append(first, literal)?,
                None => self.prefix.push_str(literal),
            }
            let Some(sign) = sign.chars().next() else { break };
            rest = &rest[end + 1..];
            match sign {
                '{' if closed.is_none() => self.open.push((self.prefix.len(), self.paths.len())),
                ',' if !self.open.is_empty() => {
                    self.push_expanded_prefix(closed)?;
                    let &(start, _) = self.open.last()?;
                    self.prefix.truncate(start);
                    closed = None;
                }
                '}' => {
                    self.push_expanded_prefix(closed)?;
                    let (start, first) = self.open.pop()?;
                    self.prefix.truncate(start);
                    closed = Some(first);
                }
                _ => return None,
            }
        }
        if !self.open.is_empty() {
            return None;
        }
        self.push_expanded_prefix(closed)
    }

    fn push_expanded_prefix(&mut self, closed: Option<usize>) -> Option<()> {
        if closed.is_none() {
            *self.budget = self.budget.checked_sub(self.prefix.len())?;
            self.paths.push(self.prefix.clone());
        }
        Some(())
    }

    fn append(&mut self, first: usize, literal: &str) -> Option<()> {
        if literal.is_empty() {
            return Some(());
        }
        let paths = self.paths.get_mut(first..)?;
        *self.budget = self.budget.checked_sub(paths.len().checked_mul(literal.len())?)?;
        paths.iter_mut().for_each(|path| path.push_str(literal));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn folders_are_written_once() {
        let paths = ["/u/x/src/b.rs", "/u/x/src/a.rs", "/u/x/README.md", "/u/x/src/deep/er/c.rs"];
        assert_eq!(to_brace_notation(paths), "/u/x/{README.md,src/{a.rs,b.rs,deep/er/c.rs}}");
        assert_eq!(to_brace_notation(["b/c.rs", "a.rs", "b/c.rs"]), "a.rs, b/c.rs");
        assert_eq!(to_brace_notation(["a", "a/b", "x/a", "x/a/b"]), "a, a/b, x/{a,a/b}");
        assert_eq!(to_brace_notation(["my file.txt", "x{y}", "a"]), "a, `my file.txt`, `x{y}`");
    }

    #[test]
    fn paths_in_other_notations_are_read() {
        assert_eq!(
            expand_brace_notation("see (src/{a,b}.rs), and `x y`."),
            ["see", "src/a.rs", "src/b.rs", "and", "x y", "x", "y"]
        );
        assert_eq!(expand_brace_notation("{a,b}{c,d} {{ x}"), ["{a,b}{c,d}", "{{", "x}"]);
    }

    #[test]
    fn the_size_of_an_expansion_is_limited() {
        let deep = format!("{}{}", "a/{".repeat(5_000), ",b".repeat(5_000)) + &"}".repeat(5_000);
        let bytes: usize = expand_brace_notation(&deep).iter().map(String::len).sum();
        assert!(bytes <= BASE_EXPANSION_BYTES + MAX_EXPANSION_FACTOR * deep.len() + deep.len());
    }

    proptest! {
        #[test]
        fn bundled_paths_are_read_back(paths in proptest::collection::btree_set("(/)?([a-c]{1,2}/){0,4}[a-d .{},]{1,4}", 0..20)) {
            let paths: BTreeSet<String> = paths.into_iter().filter(|path| path.trim() == path && !path.ends_with('.')).collect();
            let text = to_brace_notation(paths.iter().map(String::as_str));
            let read: BTreeSet<String> = expand_brace_notation(&text).into_iter().collect();
            for path in &paths {
                prop_assert!(read.contains(path), "{} in {}", path, text);
            }
        }

        #[test]
        fn any_text_can_be_expanded(text in "[a-b{},`/ \u{e9}]{0,60}") {
            expand_brace_notation(&text);
        }
    }
}
