//! `files.grep`: searches the lines of workspace files. Finds only what a model may see: skips ignored and excluded
//! files, and searches text in which placeholders replace secrets.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::conversation::selection::Choice;
use strata_engine::key::FileKey;
use strata_host::disk::ReadError;
use strata_host::index::{Batch, IndexOptions, spread};
use strata_host::path_patterns::PatternKind;

use super::files::{expand, invalid_path};
use super::{Access, Command, CommandError, Context, IndexNeed};
use crate::line_search::{FoundLine, Pattern, PatternOptions};

/// Default maximum number of matching lines in the reply.
const LIMIT: usize = 100;
/// Maximum number of context lines to show before and after each match.
const MAX_CONTEXT: usize = 50;
/// Maximum number of characters of a line in the reply.
const MAX_LINE: usize = 300;

/// A pattern, and the files to search for it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GrepParams {
    /// Regular expression in ripgrep's syntax, matched within each line.
    pattern: String,
    /// Files, directories or globs to search. Defaults to the whole workspace.
    #[serde(default)]
    paths: Vec<String>,
    /// Whether to match the pattern literally instead of as a regular expression. Defaults to `false`.
    #[serde(default)]
    literal: bool,
    /// Whether to ignore case. Defaults to `false`.
    #[serde(default)]
    ignore_case: bool,
    /// Whether to match whole words only. Defaults to `false`.
    #[serde(default)]
    words: bool,
    /// Number of context lines to show before and after each match, at most 50. Defaults to 0.
    #[serde(default)]
    context: usize,
    /// Maximum number of matching lines in the reply. Defaults to 100.
    #[serde(default = "default_limit")]
    limit: usize,
}

fn default_limit() -> usize {
    LIMIT
}

/// The lines that match a pattern.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GrepReply {
    /// Files with matches, sorted by path. They list at most `limit` matching lines in total.
    files: Vec<FileMatches>,
    /// Number of matching lines, including those beyond `limit`.
    total: usize,
    /// Number of files with a matching line, including those that are not listed.
    total_files: usize,
}

/// A file with matching lines.
#[derive(Debug, Serialize, JsonSchema)]
struct FileMatches {
    /// Path of the file, relative to the workspace folder.
    path: FileKey,
    /// Matching lines and their context lines, in file order.
    lines: Vec<MatchingLine>,
}

/// A matching line or a context line.
#[derive(Debug, Serialize, JsonSchema)]
struct MatchingLine {
    /// Line number, counted from 1.
    line: u64,
    /// Text of the line, truncated to 300 characters.
    text: String,
    /// Whether this is a context line rather than a match. Absent if `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    context: bool,
}

pub(super) struct Grep;

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
        let files = searched_files(&params.paths, context)?;
        let around = params.context.min(MAX_CONTEXT);
        let mut found: BTreeMap<FileKey, Vec<FoundLine>> = BTreeMap::new();
        let Context { snapshot, session, cancel, .. } = context;
        let search = |key: &FileKey| -> Result<Option<(FileKey, Vec<FoundLine>)>, ReadError> {
            let text = snapshot.text_with(key, &session.selection, |text| pattern.is_in(text))?;
            let lines = text.map(|file| pattern.lines(&file.text, around)).unwrap_or_default();
            Ok((!lines.is_empty()).then(|| (key.clone(), lines)))
        };
        if let ([only], false) = (files.as_slice(), params.paths.is_empty()) {
            // Report why a file that was named explicitly cannot be searched.
            found.extend(search(only).map_err(|error| CommandError::failed(error.to_string()))?);
        } else {
            spread(&files, IndexOptions::default().threads, cancel, search, |batch: Batch<_>| {
                // Skip files that cannot be read.
                found.extend(batch.files.into_iter().filter_map(Result::ok).flatten());
            })?;
        }
        Ok(reply(found, params.limit))
    }
}

/// Returns the files that match `paths`, or all workspace files. Omits excluded files, and files that must be named
/// explicitly.
fn searched_files(paths: &[String], context: &Context<'_>) -> Result<Vec<FileKey>, CommandError> {
    let Context { snapshot, session, .. } = context;
    let mut files: Vec<FileKey> = Vec::new();
    if paths.is_empty() {
        files.extend(
            snapshot
                .index
                .listing()?
                .iter()
                .filter(|entry| entry.name_only.is_none())
                .map(|entry| entry.key.clone()),
        );
        files.extend(snapshot.documents.whole_documents().cloned());
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
    }
    files.retain(|key| session.selection.choice(key) != Choice::Excluded);
    files.sort();
    files.dedup();
    Ok(files)
}

fn reply(found: BTreeMap<FileKey, Vec<FoundLine>>, limit: usize) -> GrepReply {
    let total_files = found.len();
    let mut total = 0;
    let mut files = Vec::new();
    for (path, lines) in found {
        let room = limit.saturating_sub(total);
        let matches = lines.iter().filter(|line| line.is_match).count();
        total += matches;
        if room == 0 {
            continue;
        }
        // Keep the context lines that follow the last match.
        let mut left = room;
        let kept = lines.into_iter().take_while(|line| {
            let is_kept = left > 0 || !line.is_match;
            left -= usize::from(line.is_match && left > 0);
            is_kept
        });
        files.push(FileMatches { path, lines: kept.map(shown).collect() });
    }
    GrepReply { files, total, total_files }
}

fn shown(FoundLine { line, text, is_match }: FoundLine) -> MatchingLine {
    let text = match text.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    };
    MatchingLine { line, text, context: !is_match }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use serde_json::{Value, json};

    use crate::commands::CommandError;
    use crate::headless::{HeadlessWorkspace, Settings};

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
        workspace.list().unwrap();
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
    fn lines_are_found_where_a_model_may_look() {
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
    fn what_cannot_be_searched_is_told() {
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
}
