//! `files.grep`: searches the lines of workspace files. Finds only what a model may see: skips ignored and excluded
//! files, and searches text in which placeholders replace secrets.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::key::FileKey;
use strata_base::text::ellipsize;
use strata_conversation::selection::Choice;
use strata_host::disk::ReadError;
use strata_host::index::{Batch, for_each_parallel, index_threads};
use strata_host::path_patterns::PatternKind;
use strata_host::walk::NameOnlyReason;

use super::files::{expand, invalid_path};
use super::{Access, Command, CommandError, Context, IndexNeed};
use crate::model::line_search::{FoundLine, Pattern, PatternOptions};

/// Default maximum number of matching lines in the reply.
const DEFAULT_MATCH_LIMIT: usize = 100;
/// Maximum number of context lines to show before and after each match.
const MAX_CONTEXT_LINES: usize = 50;
/// Maximum number of characters of a line in the reply.
const MAX_LINE_CHARS: usize = 300;
/// Maximum size of the files that one search reads, in bytes.
const MAX_SEARCHED_BYTES: u64 = 1 << 30;

/// A pattern, and the files to search for it.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GrepParams {
    /// Regular expression, matched within each line. Has the syntax of ripgrep.
    pub pattern: String,
    /// Files, directories or globs to search. Defaults to the whole workspace.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Whether to match the pattern literally. Defaults to `false`.
    #[serde(default)]
    pub literal: bool,
    /// Whether to ignore case. Defaults to `false`.
    #[serde(default)]
    pub ignore_case: bool,
    /// Whether to match whole words only. Defaults to `false`.
    #[serde(default)]
    pub words: bool,
    /// Number of lines to show before and after each match. At most 50; defaults to 0.
    #[serde(default)]
    pub context: usize,
    /// Maximum number of matching lines. Defaults to 100.
    #[serde(default = "default_match_limit")]
    pub limit: usize,
}

fn default_match_limit() -> usize {
    DEFAULT_MATCH_LIMIT
}

/// The lines that match a pattern.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrepReply {
    /// Files with matches, sorted by path. They list at most `limit` matching lines in total.
    pub files: Vec<FileMatches>,
    /// Number of matching lines, including those beyond `limit`.
    pub total: usize,
    /// Number of files with a matching line, including those that are not listed.
    pub total_files: usize,
    /// Number of files that were not searched, because those before them have more than 1 GiB. Absent if all were.
    #[serde(skip_serializing_if = "is_zero")]
    pub not_searched: usize,
    /// Files that could not be searched, at most 20: too large, or not readable. Absent if there are none. Binary files
    /// do not count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadableFile>,
}

/// A file that could not be searched.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnreadableFile {
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// Reason why the file could not be searched.
    pub reason: String,
}

/// Maximum number of files that could not be searched and are listed.
const MAX_UNREADABLE: usize = 20;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "called by serde")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What a search has found so far. Keeps no more lines than the reply needs.
#[derive(Default)]
struct GrepMatches {
    /// Files of which lines are kept, with the number of their matching lines.
    files: BTreeMap<FileKey, (Vec<FoundLine>, usize)>,
    /// Number of matching lines in `files`.
    listed: usize,
    total: usize,
    total_files: usize,
    not_searched: usize,
    unreadable: BTreeMap<FileKey, String>,
}

enum FileSearchResult {
    Lines(FileKey, Vec<FoundLine>),
    NoMatch,
    Unreadable(FileKey, String),
    /// The search had read as much as it may.
    NotSearched,
}

/// A file with matching lines.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileMatches {
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// Matching lines and their context lines, in file order.
    pub lines: Vec<MatchingLine>,
}

/// A matching line or a context line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MatchingLine {
    /// Line number, counted from 1.
    pub line: u64,
    /// Text of the line, truncated to 300 characters.
    pub text: String,
    /// Whether this is a context line rather than a match. Absent if `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub context: bool,
}

pub struct Grep;

impl Command for Grep {
    const NAME: &str = "strata.files.grep";
    const SUMMARY: &str = "Finds lines that match a pattern in workspace files.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Files;
    type Args = GrepParams;
    type Reply = GrepReply;

    fn run(params: GrepParams, context: &mut Context<'_>) -> Result<GrepReply, CommandError> {
        let options = PatternOptions {
            is_literal: params.literal,
            ignore_case: params.ignore_case,
            whole_words: params.words,
        };
        let pattern = Pattern::new(&params.pattern, options)
            .map_err(|error| CommandError::invalid("pattern", &error.to_string()))?;
        let FilesToSearch { files, too_large } = files_to_search(&params.paths, context)?;
        let context_lines = params.context.min(MAX_CONTEXT_LINES);
        let mut matches = GrepMatches { unreadable: too_large, ..GrepMatches::default() };
        let bytes_left = AtomicU64::new(MAX_SEARCHED_BYTES);
        let Context { snapshot, session, cancel, .. } = context;
        let search = |key: &FileKey| -> Result<FileSearchResult, ReadError> {
            let bytes = snapshot.index.stamp(key).map_or(0, |stamp| stamp.size);
            if bytes_left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |bytes_left| {
                    bytes_left.checked_sub(bytes)
                })
                .is_err()
            {
                return Ok(FileSearchResult::NotSearched);
            }
            let text = snapshot.text_if(key, &session.selection, |text| pattern.is_match_in(text))?;
            let lines =
                text.map(|file| pattern.matching_lines(&file.text, context_lines)).unwrap_or_default();
            Ok(if lines.is_empty() {
                FileSearchResult::NoMatch
            } else {
                FileSearchResult::Lines(key.clone(), lines)
            })
        };
        if let ([only], false) = (files.as_slice(), params.paths.is_empty()) {
            // Report why a file that was named explicitly cannot be searched.
            matches.add(search(only).map_err(|error| CommandError::failed(error.to_string()))?, params.limit);
        } else {
            let search = |key: &FileKey| match search(key) {
                Ok(searched) => searched,
                // The file is gone since the scan, or is not for searching.
                Err(
                    ReadError::NotFound(_)
                    | ReadError::Folder(_)
                    | ReadError::Binary(_)
                    | ReadError::NotUtf8(_)
                    | ReadError::Path(_)
                    | ReadError::Secret { .. },
                ) => FileSearchResult::NoMatch,
                Err(error) => FileSearchResult::Unreadable(key.clone(), error.to_string()),
            };
            for_each_parallel(&files, index_threads(), cancel, search, |batch: Batch<_>| {
                batch.files.into_iter().for_each(|searched| matches.add(searched, params.limit));
            })?;
        }
        Ok(matches.reply(params.limit))
    }
}

struct FilesToSearch {
    files: Vec<FileKey>,
    /// Files that are not searched because of their size, with the reason.
    too_large: BTreeMap<FileKey, String>,
}

/// Returns the files that match `paths`, or all workspace files. Omits excluded files, and files that must be named
/// explicitly.
fn files_to_search(paths: &[String], context: &Context<'_>) -> Result<FilesToSearch, CommandError> {
    let Context { snapshot, session, .. } = context;
    let mut files: Vec<FileKey> = Vec::new();
    let mut too_large = BTreeMap::new();
    let mut withhold = |key: FileKey, reason: NameOnlyReason| {
        if let NameOnlyReason::TooLarge = reason {
            let message = format!("`{}` is not searched unless it is named: {reason}", key.notice());
            too_large.insert(key, message);
        }
    };
    if paths.is_empty() {
        for entry in snapshot.index.listed_entries()? {
            match entry.name_only {
                None => files.push(entry.key.clone()),
                Some(reason) => withhold(entry.key.clone(), reason),
            }
        }
        files.extend(snapshot.documents.document_keys().cloned());
    }
    for (at, path) in paths.iter().enumerate() {
        let expansion = expand(path, context).map_err(|error| invalid_path(at, error, context))?;
        if let (PatternKind::File, [(key, reason)]) = (expansion.kind, expansion.withheld.as_slice()) {
            return Err(CommandError::invalid(
                &format!("paths[{at}]"),
                &format!("`{}` cannot be searched: {reason}", key.notice()),
            ));
        }
        files.extend(expansion.files);
        expansion.withheld.into_iter().for_each(|(key, reason)| withhold(key, reason));
    }
    files.retain(|key| session.selection.choice(key) != Choice::Excluded);
    files.sort();
    files.dedup();
    too_large.retain(|key, _| {
        session.selection.choice(key) != Choice::Excluded && files.binary_search(key).is_err()
    });
    Ok(FilesToSearch { files, too_large })
}

impl GrepMatches {
    /// Adds the matches of one file. Keeps only the first `limit` matching lines of all files together.
    fn add(&mut self, result: FileSearchResult, limit: usize) {
        let (path, lines) = match result {
            FileSearchResult::Lines(path, lines) => (path, lines),
            FileSearchResult::NoMatch => return,
            FileSearchResult::Unreadable(path, reason) => {
                self.unreadable.insert(path, reason);
                return;
            }
            FileSearchResult::NotSearched => {
                self.not_searched += 1;
                return;
            }
        };
        self.total += count_matches(&lines);
        self.total_files += 1;
        let lines = take_matches(lines, limit);
        let match_count = count_matches(&lines);
        self.listed += match_count;
        self.files.insert(path, (lines, match_count));
        while let Some(last) = self.files.last_entry()
            && self.listed - last.get().1 >= limit
        {
            self.listed -= last.remove().1;
        }
    }

    fn reply(self, limit: usize) -> GrepReply {
        let Self { files, total, total_files, not_searched, unreadable, .. } = self;
        let mut lines_left = limit;
        let files = files.into_iter().map(|(path, (lines, match_count))| {
            let lines = take_matches(lines, lines_left).into_iter().map(to_matching_line).collect();
            lines_left = lines_left.saturating_sub(match_count);
            FileMatches { path, lines }
        });
        let unreadable = unreadable.into_iter().take(MAX_UNREADABLE);
        let unreadable = unreadable.map(|(path, reason)| UnreadableFile { path, reason }).collect();
        GrepReply { files: files.collect(), total, total_files, not_searched, unreadable }
    }
}

fn count_matches(lines: &[FoundLine]) -> usize {
    lines.iter().filter(|line| line.is_match).count()
}

/// Returns the first `limit` matching lines, with the context lines around them.
fn take_matches(lines: Vec<FoundLine>, limit: usize) -> Vec<FoundLine> {
    let mut matches_left = limit;
    // Keep the context lines that follow the last match.
    let is_kept = |line: &FoundLine| {
        let is_kept = matches_left > 0 || !line.is_match;
        matches_left -= usize::from(line.is_match && matches_left > 0);
        is_kept
    };
    lines.into_iter().take_while(is_kept).collect()
}

fn to_matching_line(FoundLine { line, text, is_match }: FoundLine) -> MatchingLine {
    MatchingLine { line, text: ellipsize(&text, MAX_LINE_CHARS), context: !is_match }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use serde_json::{Value, json};

    use strata_base::key::FileKey;

    use super::{FileSearchResult, FoundLine, GrepMatches};
    use crate::commands::CommandError;
    use crate::runtime::headless::{HeadlessWorkspace, Settings};

    fn workspace(folder: &Path) -> HeadlessWorkspace {
        for (path, content) in [
            ("src/a.py", "def greet():\n    return 'hello'\n\n\ndef other():\n    greet()\n"),
            ("src/b.py", "from a import greet\n\ngreet()\n"),
            ("docs/c.md", "Call `greet`.\n"),
            (".gitignore", "/ignored.py\n"),
            ("ignored.py", "greet()\n"),
            (".hidden.py", "greet()\n"),
            (".env", "greet=1\n"),
            ("config.py", concat!("TOKEN = 'gh", "p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'\n")),
        ] {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let mut workspace = HeadlessWorkspace::open(folder, Settings::default()).unwrap();
        workspace.list_files().unwrap();
        workspace
    }

    fn lines(reply: &Value) -> Vec<String> {
        let files = reply["files"].as_array().unwrap().iter();
        let lines = files.flat_map(|file| {
            let path = file["path"].as_str().unwrap();
            file["lines"].as_array().unwrap().iter().map(move |line| {
                let mark = if line["context"] == true { '-' } else { ':' };
                format!("{path}{mark}{}{mark}{}", line["line"], line["text"].as_str().unwrap())
            })
        });
        lines.collect()
    }

    #[test]
    fn only_files_that_a_model_may_read_are_searched() {
        let folder = tempfile::tempdir().unwrap();
        let mut workspace = workspace(folder.path());
        let mut grep = |arguments: Value| workspace.run("strata.files.grep", arguments).unwrap();
        let all = grep(json!({ "pattern": "greet" }));
        assert_eq!(
            lines(&all),
            [
                "docs/c.md:1:Call `greet`.",
                "src/a.py:1:def greet():",
                "src/a.py:6:    greet()",
                "src/b.py:1:from a import greet",
                "src/b.py:3:greet()",
            ]
        );
        assert_eq!((&all["total"], &all["totalFiles"]), (&json!(5), &json!(3)));
        let few = grep(json!({ "pattern": "greet", "paths": ["src"], "limit": 2, "context": 1 }));
        assert_eq!(
            lines(&few),
            [
                "src/a.py:1:def greet():",
                "src/a.py-2-    return 'hello'",
                "src/a.py-5-def other():",
                "src/a.py:6:    greet()"
            ]
        );
        assert_eq!((&few["total"], &few["totalFiles"]), (&json!(4), &json!(2)));
        assert_eq!(
            lines(&grep(
                json!({ "pattern": "GREET(", "literal": true, "ignoreCase": true, "paths": ["*/b.py"] })
            ))
            .len(),
            1
        );
        assert_eq!(
            lines(&grep(json!({ "pattern": "greet", "paths": ["ignored.py"] }))),
            ["ignored.py:1:greet()"]
        );
        workspace.run("strata.files.exclude", json!({ "paths": ["docs"] })).unwrap();
        assert_eq!(workspace.run("strata.files.grep", json!({ "pattern": "greet" })).unwrap()["total"], 4);
    }

    /// What is found in any order gives the same reply, and no more is kept than it needs.
    #[test]
    fn the_order_in_which_files_are_searched_does_not_change_the_reply() {
        let lines = |number: u64| {
            (1..=number % 5).map(move |line| FoundLine { line, text: String::new(), is_match: line != 2 })
        };
        for limit in [0, 1, 7, 1_000] {
            let mut replies = Vec::new();
            for step in [1, 7, 29] {
                let mut matches = GrepMatches::default();
                for number in (0..30).map(|number| number * step % 30) {
                    let key = FileKey::from(&*format!("{number:02}.py"));
                    matches.add(FileSearchResult::Lines(key, lines(number).collect()), limit);
                    assert!(matches.listed <= limit + 4, "{} of {limit}", matches.listed);
                }
                matches.add(FileSearchResult::NotSearched, limit);
                replies.push(serde_json::to_value(matches.reply(limit)).unwrap());
            }
            assert!(replies.iter().all(|reply| *reply == replies[0]), "{limit}");
            let shown = replies[0]["files"].as_array().unwrap().iter();
            let shown = shown.flat_map(|file| file["lines"].as_array().unwrap());
            assert_eq!(shown.filter(|line| line["context"] != true).count(), limit.min(42));
            assert_eq!((&replies[0]["total"], &replies[0]["notSearched"]), (&json!(42), &json!(1)));
        }
    }

    #[test]
    fn secrets_are_neither_shown_nor_found() {
        let folder = tempfile::tempdir().unwrap();
        let mut workspace = workspace(folder.path());
        let shown = lines(&workspace.run("strata.files.grep", json!({ "pattern": "TOKEN" })).unwrap());
        assert!(shown.len() == 1 && shown[0].contains("[secret:"), "{shown:?}");
        let guessed = workspace.run("strata.files.grep", json!({ "pattern": "= 'ghp_A1" })).unwrap();
        assert_eq!(guessed["total"], 0, "{guessed}");
        let refused = workspace.run("strata.files.grep", json!({ "pattern": "x", "paths": [".env"] }));
        assert!(
            matches!(&refused, Err(CommandError::InvalidParams { path, .. }) if path == "paths[0]"),
            "{refused:?}"
        );
    }

    #[test]
    fn an_invalid_pattern_or_path_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let mut workspace = workspace(folder.path());
        let mut refused =
            |arguments: Value| workspace.run("strata.files.grep", arguments).unwrap_err().to_string();
        assert!(refused(json!({ "pattern": "a(" })).starts_with("`pattern`: "));
        assert_eq!(
            refused(json!({ "pattern": "x", "paths": ["src/aa.py"] })),
            "`paths[0]`: `src/aa.py` does not exist; did you mean `src/a.py`?"
        );
    }

    #[test]
    fn a_part_of_a_directory_does_not_stand_for_the_directory() {
        let folder = tempfile::tempdir().unwrap();
        let mut workspace = workspace(folder.path());
        for path in [".#greet", "src#greet", "src:3", "*.md#greet"] {
            let paths = json!([path]);
            for (command, arguments) in [
                ("strata.files.grep", json!({ "pattern": "greet", "paths": paths })),
                ("strata.files.select", json!({ "paths": paths })),
                ("strata.files.exclude", json!({ "paths": paths })),
            ] {
                let result = workspace.run(command, arguments);
                assert!(
                    matches!(&result, Err(CommandError::InvalidParams { path, .. }) if path == "paths[0]"),
                    "{command} {path}: {result:?}"
                );
            }
        }
    }
}
