//! Lists a repository's files within a token budget: every name, or directories with file counts if there are too many
//! files.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use strata_base::key::FileKey;
use strata_base::sanitize::escape_line_start;

/// A list of a repository's files as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// The total number of files, followed by one line for each file or collapsed directory, sorted. Empty if
    /// not even the number fits.
    pub text: String,
    /// Tokens of the text, counted line by line; at most the budget.
    pub tokens: usize,
    /// Number of files listed by name.
    pub names: usize,
    /// Number of directories listed instead of their contents.
    pub directories: usize,
    /// Number of files in the directories that are listed instead of their contents.
    pub collapsed: usize,
}

/// A directory, with the files directly in it and the indices of its subdirectories.
#[derive(Default)]
struct Directory<'a> {
    path: &'a str,
    depth: usize,
    files: Vec<&'a FileKey>,
    directories: Vec<usize>,
    /// Number of files in the directory and its subdirectories.
    total: usize,
}

/// A directory that may be expanded. Candidates that compare as greater are tried first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ExpandableDirectory<'a> {
    relevant: bool,
    depth: Reverse<usize>,
    path: Reverse<&'a str>,
    index: usize,
}

/// Lists `files` within `budget` tokens. Starts from the top directory and expands one directory after
/// another while the result fits: first those that contain a file of `focus`, then others from shallow to
/// deep. The deepest and least relevant directories stay collapsed. `count` returns the tokens of a text and
/// is called at most once per line.
pub fn file_list(
    files: &[FileKey],
    focus: &[FileKey],
    budget: usize,
    count: &dyn Fn(&str) -> usize,
) -> FileList {
    let mut files: Vec<&FileKey> = files.iter().collect();
    files.sort_unstable();
    files.dedup();
    let heading = file_count_line(files.len());
    let heading_tokens = count(&heading);
    if files.is_empty() || heading_tokens > budget {
        return FileList::default();
    }
    let directories = tree(&files);
    let relevant: BTreeSet<&str> = focus.iter().flat_map(|key| parent_directories(key.as_str())).collect();
    let mut remaining = budget - heading_tokens;
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    let mut list = FileList::default();
    let mut candidates = BinaryHeap::from([ExpandableDirectory {
        relevant: true,
        depth: Reverse(0),
        path: Reverse(""),
        index: 0,
    }]);
    while let Some(candidate) = candidates.pop() {
        let Some(directory) = directories.get(candidate.index) else { continue };
        let collapsed_line = directory_line(directory);
        let refund = lines.get(&collapsed_line).copied().unwrap_or(0);
        let Some(contents) = content_lines(directory, &directories, remaining + refund, count) else {
            continue;
        };
        remaining = remaining + refund - contents.iter().map(|(_, tokens)| tokens).sum::<usize>();
        if lines.remove(&collapsed_line).is_some() {
            list.directories -= 1;
            list.collapsed -= directory.total;
        }
        lines.extend(contents);
        list.names += directory.files.len();
        for &index in &directory.directories {
            if let Some(subdirectory) = directories.get(index) {
                list.directories += 1;
                list.collapsed += subdirectory.total;
                candidates.push(ExpandableDirectory {
                    relevant: relevant.contains(subdirectory.path),
                    depth: Reverse(subdirectory.depth),
                    path: Reverse(subdirectory.path),
                    index,
                });
            }
        }
    }
    list.tokens = budget - remaining;
    list.text = heading;
    list.text.extend(lines.into_keys());
    list
}

fn file_count_line(files: usize) -> String {
    if files == 1 { "1 file\n".to_owned() } else { format!("{files} files\n") }
}

/// Returns lines for the direct contents of a directory, with their tokens, or `None` if they exceed
/// `budget`.
fn content_lines(
    directory: &Directory<'_>,
    directories: &[Directory<'_>],
    budget: usize,
    count: &dyn Fn(&str) -> usize,
) -> Option<Vec<(String, usize)>> {
    // Every line has at least one token.
    if directory.files.len() + directory.directories.len() > budget {
        return None;
    }
    let files = directory.files.iter().map(|key| file_line(key));
    let subdirectories = directory.directories.iter().filter_map(|&number| directories.get(number));
    let mut lines = Vec::with_capacity(directory.files.len() + directory.directories.len());
    let mut used = 0;
    for line in files.chain(subdirectories.map(directory_line)) {
        let tokens = count(&line);
        used += tokens;
        if used > budget {
            return None;
        }
        lines.push((line, tokens));
    }
    Some(lines)
}

/// Returns the directories of a sorted list of files, root first. Sorting keeps the files below a directory
/// together, so only neighbors need to be compared.
fn tree<'a>(files: &[&'a FileKey]) -> Vec<Directory<'a>> {
    let mut directories = vec![Directory::default()];
    let mut open: Vec<usize> = vec![0];
    for &key in files {
        let path = key.as_str();
        let is_ancestor = |number: &usize| {
            let ancestor = directories.get(*number).map_or("", |directory| directory.path);
            ancestor.is_empty() || path.strip_prefix(ancestor).is_some_and(|rest| rest.starts_with('/'))
        };
        open.truncate(open.iter().position(|number| !is_ancestor(number)).unwrap_or(open.len()));
        for (depth, path) in parent_directories(path).enumerate().skip(open.len()) {
            let index = directories.len();
            directories.push(Directory { path, depth, ..Directory::default() });
            if let Some(parent) = open.last().and_then(|parent| directories.get_mut(*parent)) {
                parent.directories.push(index);
            }
            open.push(index);
        }
        for number in open.iter().skip(1) {
            if let Some(directory) = directories.get_mut(*number) {
                directory.total += 1;
            }
        }
        if let Some(directory) = open.last().and_then(|number| directories.get_mut(*number)) {
            directory.files.push(key);
        }
    }
    directories
}

/// Returns the directories that contain a path, outermost first: for `a/b/c.rs`, the top directory, `a` and
/// `a/b`.
fn parent_directories(path: &str) -> impl Iterator<Item = &str> {
    std::iter::once("").chain(path.match_indices('/').filter_map(|(slash, _)| path.get(..slash)))
}

fn file_line(key: &FileKey) -> String {
    let mut line = escape_line_start(key.as_str());
    line.push('\n');
    line
}

fn directory_line(directory: &Directory<'_>) -> String {
    let files = if directory.total == 1 { "file" } else { "files" };
    format!("{}/ ({} {files})\n", escape_line_start(directory.path), directory.total)
}
