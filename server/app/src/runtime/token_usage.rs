//! Counts the tokens of workspace files on disk. Reads each file once and discards its text. Excludes what a prompt
//! adds around a file.

use std::collections::BTreeMap;

use serde::Serialize;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_host::disk::{ReadError, read_text};
use strata_host::index::{Batch, for_each_parallel, index_threads};
use strata_host::path_patterns::{PatternError, expand_path_pattern};
use strata_host::pool::catch_panic;
use strata_host::walk::{NameOnlyReason, walk};

use crate::commands::{CommandError, missing_path_message};
use crate::model::index::{OutlineProgress, walk_options};
use crate::model::snapshot::Snapshot;

/// Token counts of files.
#[derive(Debug, Serialize)]
pub struct TokenUsage {
    /// Model whose tokenizer was used.
    pub model: String,
    /// Warning that the counts are estimates, because the model is not in the model table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    pub tokens: usize,
    pub files: Vec<FileTokenCount>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct FileTokenCount {
    pub path: FileKey,
    /// Number of tokens in the file, or the reason why the file was not counted.
    #[serde(flatten)]
    pub count: TokenCountResult,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TokenCountResult {
    Counted {
        tokens: usize,
    },
    NotCounted {
        problem: CountProblem,
        /// The problem, as a sentence.
        message: String,
    },
}

/// Why a file was not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CountProblem {
    /// The file is binary, or in an unsupported encoding.
    Binary,
    /// The file was not opened, because its name suggests secrets.
    Secret,
    /// The file exceeds `files.max_bytes`.
    TooLarge,
    Unreadable,
}

impl TokenUsage {
    /// Returns the files that were not counted, each with the reason.
    pub fn uncounted_files(&self) -> impl Iterator<Item = (&FileKey, CountProblem)> {
        self.files.iter().filter_map(|file| match file.count {
            TokenCountResult::Counted { .. } => None,
            TokenCountResult::NotCounted { problem, .. } => Some((&file.path, problem)),
        })
    }
}

/// Counts the tokens of files that match `paths` (files, directories, globs), or of the whole workspace, on several
/// threads. `model` defaults to the setting `model`.
///
/// # Errors
/// Returns a [`CommandError`] if a path matches no file, or `cancel` is raised.
pub(crate) fn count_tokens(
    snapshot: &Snapshot,
    paths: &[String],
    model: Option<&str>,
    cancel: &Cancel,
    mut progress: impl FnMut(OutlineProgress),
) -> Result<TokenUsage, CommandError> {
    let resolved = snapshot.models.resolve(model.unwrap_or(&snapshot.settings.model));
    let mut counts: BTreeMap<FileKey, TokenCountResult> = BTreeMap::new();
    let mut to_count = Vec::new();
    for (key, name_only) in matching_files(snapshot, paths, cancel)? {
        match name_only {
            Some(NameOnlyReason::Secret(_)) => {
                let message =
                    name_only.map_or(String::new(), |reason| format!("`{}`: {reason}", key.notice()));
                counts.insert(key, TokenCountResult::NotCounted { problem: CountProblem::Secret, message });
            }
            // Count large and hidden files too.
            Some(NameOnlyReason::Hidden | NameOnlyReason::TooLarge) | None => to_count.push(key),
        }
    }

    let max_bytes = snapshot.settings.files.max_bytes;
    let tokenizer = resolved.model.tokenizer;
    let count_file = |key: &FileKey| {
        let counted = match read_text(&snapshot.roots, key, max_bytes) {
            Ok(text) => catch_panic(|| snapshot.counter.count_hashed(tokenizer, &text.text, text.hash))
                .map_err(|panicked| (CountProblem::Unreadable, panicked.to_string())),
            Err(error) => Err((count_problem(&error), error.to_string())),
        };
        let count = match counted {
            Ok(tokens) => TokenCountResult::Counted { tokens },
            Err((problem, message)) => TokenCountResult::NotCounted { problem, message },
        };
        (key.clone(), count)
    };
    for_each_parallel(&to_count, index_threads(), cancel, count_file, |batch: Batch<_>| {
        progress(OutlineProgress { done: batch.done, total: batch.total });
        counts.extend(batch.files);
    })?;

    let files: Vec<FileTokenCount> =
        counts.into_iter().map(|(path, count)| FileTokenCount { path, count }).collect();
    let tokens = files.iter().map(|file| match file.count {
        TokenCountResult::Counted { tokens } => tokens,
        TokenCountResult::NotCounted { .. } => 0,
    });
    let tokens = tokens.sum();
    Ok(TokenUsage { model: resolved.model.id.clone(), warning: resolved.warning(), tokens, files })
}

/// Returns the matching files, without duplicates.
fn matching_files(
    snapshot: &Snapshot,
    paths: &[String],
    cancel: &Cancel,
) -> Result<BTreeMap<FileKey, Option<NameOnlyReason>>, CommandError> {
    let walked = walk(&snapshot.roots, &walk_options(&snapshot.settings, snapshot.trust), cancel)?;
    if paths.is_empty() {
        return Ok(walked.entries.into_iter().map(|entry| (entry.key, entry.name_only)).collect());
    }
    let mut files = BTreeMap::new();
    for (at, path) in paths.iter().enumerate() {
        let expansion = expand_path_pattern(&snapshot.roots, &walked.entries, path).map_err(|error| {
            let message = match &error {
                PatternError::NotFound(path) => {
                    let listed: Vec<FileKey> = walked.entries.iter().map(|entry| entry.key.clone()).collect();
                    missing_path_message(&listed, path)
                }
                error => error.to_string(),
            };
            CommandError::invalid(&format!("paths[{at}]"), &message)
        })?;
        files.extend(expansion.files.into_iter().map(|key| (key, None)));
        files.extend(expansion.withheld.into_iter().map(|(key, reason)| (key, Some(reason))));
    }
    Ok(files)
}

fn count_problem(error: &ReadError) -> CountProblem {
    match error {
        ReadError::Binary(_) | ReadError::NotUtf8(_) => CountProblem::Binary,
        ReadError::TooLarge { .. } => CountProblem::TooLarge,
        _ => CountProblem::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use strata_code::outline::MAX_OUTLINE_BYTES;
    use strata_host::roots::Roots;
    use strata_prompt::settings::Settings;

    use super::*;

    fn counted(paths: &[&str]) -> Result<Vec<String>, CommandError> {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files() {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let mut settings = Settings { model: "gpt-4o".to_owned(), ..Settings::default() };
        settings.files.max_bytes = MAX_OUTLINE_BYTES + (1 << 16);
        let roots = Arc::new(Roots::single(folder.path()).unwrap());
        let snapshot = Snapshot { roots, settings: Arc::new(settings), ..Snapshot::default() };
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        let usage = count_tokens(&snapshot, &paths, None, &Cancel::new(), |_| ())?;
        let count_line = |file: &FileTokenCount| match &file.count {
            TokenCountResult::Counted { tokens } => format!("{} {tokens}", file.path.notice()),
            TokenCountResult::NotCounted { problem, .. } => format!("{} {problem:?}", file.path.notice()),
        };
        Ok(usage.files.iter().map(count_line).collect())
    }

    /// Returns the files of the workspace. One is too large for an outline, and one is too large to read.
    fn files() -> [(&'static str, Vec<u8>); 7] {
        let lines = |count| b"hello world\n".repeat(count);
        [
            ("a.txt", b"hello world".to_vec()),
            ("sub/b.txt", b"hello world hello".to_vec()),
            (".env", b"KEY=1".to_vec()),
            (".github/ci.yml", b"on: push".to_vec()),
            ("image.bin", b"\x00\x01\x02".to_vec()),
            ("large.txt", lines(90_000)),
            ("huge.txt", lines(100_000)),
        ]
    }

    #[test]
    fn every_file_is_counted_or_has_a_reason() {
        let all = counted(&[]).unwrap();
        let expected = [
            ".env Secret",
            ".github/ci.yml 3",
            "a.txt 2",
            "huge.txt TooLarge",
            "image.bin Binary",
            "large.txt 270000",
            "sub/b.txt 3",
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn only_matching_files_are_counted_and_each_once() {
        assert_eq!(counted(&["sub", "**/*.txt", "sub/b.txt"]).unwrap().len(), 4);
        assert_eq!(counted(&[".env"]).unwrap(), [".env Secret"]);
        let error = counted(&["a.txt", "c.txt"]).unwrap_err();
        assert!(matches!(&error, CommandError::InvalidParams { path, .. } if path == "paths[1]"), "{error}");
    }
}
