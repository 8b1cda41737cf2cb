//! Builds sessions from the history of a repository, as if a user had requested each commit. Each commit becomes a
//! turn, with its message as the prompt, its diff as the answer, and its files as the selection.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Component, Path};

use gix::ObjectId;
use strata_base::cancel::Cancel;
use strata_conversation::trace::{SelectionRule, Trace, TraceTurn};
use strata_prompt::diff::unified_diff;

use super::error::GitError;
use super::history::{Commit, History};
use super::limits::MAX_COMMIT_SOURCE_BYTES;
use super::recency::recency;
use super::source::{MAX_FILE_BYTES, SourceVerdict, classify_source_name, is_source_by_first_line};
use crate::roots::canonical;

/// Maximum number of files per turn. A commit with more files is a mass change or the merge of a long branch.
const MAX_COMMIT_FILES: usize = 10;

/// Maximum length of an answer, in bytes. Models do not write longer answers.
const MAX_ANSWER_BYTES: usize = 40_000;

/// Number of unchanged lines around each change in an answer.
const CONTEXT_LINES: usize = 3;

/// Rules that determine which files are selected during a replay. Sessions use them in rotation.
const SELECTION_RULES: [SelectionRule; 4] =
    [SelectionRule::Window(3), SelectionRule::Window(5), SelectionRule::Grow, SelectionRule::Window(8)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceOptions {
    /// Number of sessions to create, spread evenly over the history.
    pub sessions: usize,
    /// Maximum number of turns per session.
    pub turns: usize,
    /// Shifts the start of each session. The same seed and history give the same sessions.
    pub seed: u64,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self { sessions: 4, turns: 40, seed: 0 }
    }
}

/// Converts the history of the current branch to sessions that can be replayed. `repository` is the top of a work tree,
/// its `.git`, or a bare repository. Each session covers a range of commits along first parents; the ranges do not
/// overlap if the history has at least two commits per turn. A commit that changes no source, or too much of it, is not
/// a turn, and its changes become external changes of the preceding turn. A short history gives fewer and shorter
/// sessions. `progress` receives the number of finished turns and the total.
///
/// # Errors
/// [`GitError`]. A history that ends early (a shallow clone) is not an error.
pub fn extract_traces(
    repository: &Path,
    options: &TraceOptions,
    cancel: &Cancel,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<Trace>, GitError> {
    let history = History::open(repository)?;
    let commits = first_parent_commits(&history, cancel)?;
    let name = repository_name(repository);
    let total = options.sessions.saturating_mul(options.turns);
    let mut traces: Vec<Trace> = Vec::new();
    for (number, range) in commit_ranges(commits.len(), options).into_iter().enumerate() {
        let mut builder = TraceBuilder { history: &history, cancel, turns: Vec::new(), start: None };
        let finished_turns = number * options.turns;
        for index in range {
            if builder.turns.len() == options.turns {
                break;
            }
            let (Some(before), Some(commit)) = (commits.get(index.wrapping_sub(1)), commits.get(index))
            else {
                continue;
            };
            cancel.check()?;
            builder.add_commit(before, commit)?;
            progress(finished_turns + builder.turns.len(), total);
        }
        progress(finished_turns + options.turns, total);
        let Some(start) = builder.start else { continue };
        traces.push(Trace {
            name: format!("{name}-{number}"),
            files0: start.files,
            recency: start.recency,
            sel: SELECTION_RULES[number % SELECTION_RULES.len()],
            turns: builder.turns,
        });
    }
    Ok(traces)
}

struct TraceBuilder<'a> {
    history: &'a History,
    cancel: &'a Cancel,
    start: Option<InitialFiles>,
    turns: Vec<TraceTurn>,
}

/// The source files before the first turn, and how recently each was changed.
struct InitialFiles {
    files: BTreeMap<String, String>,
    recency: BTreeMap<String, u32>,
}

/// A source file that a commit changed.
struct SourceEdit {
    path: String,
    old: Option<String>,
    new: Option<String>,
}

impl TraceBuilder<'_> {
    fn add_commit(&mut self, before: &Commit, commit: &Commit) -> Result<(), GitError> {
        let edits = self.edits(before, commit)?;
        let turn = match edits.len() {
            1..=MAX_COMMIT_FILES => turn_from_commit(&self.history.message(commit.id)?, &edits),
            _ => None,
        };
        if self.start.is_none() && turn.is_some() {
            let files = self.source_files(before)?;
            if files.is_empty() {
                return Ok(());
            }
            let mut recency = recency(self.history, *before, self.cancel)?;
            recency.retain(|path, _| files.contains_key(path));
            self.start = Some(InitialFiles { files, recency });
        }
        match (turn, self.turns.last_mut()) {
            (Some(turn), _) => self.turns.push(turn),
            (None, Some(turn)) => turn.ext.extend(edits.into_iter().map(|edit| (edit.path, edit.new))),
            (None, None) => {}
        }
        Ok(())
    }

    /// Returns the source files that a commit changed, sorted by path. A file that is no longer source text counts as
    /// deleted.
    fn edits(&self, before: &Commit, commit: &Commit) -> Result<Vec<SourceEdit>, GitError> {
        let mut edits = Vec::new();
        for change in self.history.changes(before.tree, commit.tree, self.cancel)? {
            self.cancel.check()?;
            let (old, new) =
                (self.read_source(&change.path, change.old)?, self.read_source(&change.path, change.new)?);
            if old != new {
                edits.push(SourceEdit { path: change.path, old, new });
            }
        }
        Ok(edits)
    }

    fn source_files(&self, commit: &Commit) -> Result<BTreeMap<String, String>, GitError> {
        let mut files = BTreeMap::new();
        let mut bytes = 0;
        for file in self.history.changes(None, commit.tree, self.cancel)? {
            self.cancel.check()?;
            let Some(text) = self.read_source(&file.path, file.new)? else { continue };
            bytes += text.len();
            if bytes > MAX_COMMIT_SOURCE_BYTES {
                return Err(GitError::TooLarge);
            }
            files.insert(file.path, text);
        }
        Ok(files)
    }

    /// Reads a source file. Returns `None` for any other file.
    fn read_source(&self, path: &str, file: Option<ObjectId>) -> Result<Option<String>, GitError> {
        let (name, Some(file)) = (classify_source_name(path), file) else { return Ok(None) };
        if name == SourceVerdict::Other {
            return Ok(None);
        }
        let text = self.history.blob_text(file, MAX_FILE_BYTES)?;
        // Git treats a file with a NUL as binary too.
        let text = text.filter(|text| !text.contains('\0'));
        Ok(text.filter(|text| name == SourceVerdict::Source || is_source_by_first_line(path, text)))
    }
}

/// Returns all available commits along first parents, oldest first.
fn first_parent_commits(history: &History, cancel: &Cancel) -> Result<Vec<Commit>, GitError> {
    let mut commits = Vec::new();
    let mut next = history.head()?.commit;
    while let Some(id) = next {
        cancel.check()?;
        let Some(commit) = history.commit(id)? else { break };
        next = commit.parent;
        commits.push(commit);
    }
    commits.reverse();
    Ok(commits)
}

/// Returns the range of commits that each session may use, as indices. Excludes the oldest commit, which has no earlier
/// state to compare with.
fn commit_ranges(commits: usize, options: &TraceOptions) -> Vec<Range<usize>> {
    let usable = commits.saturating_sub(1);
    let sessions = options.sessions;
    // Assume that at least every other commit becomes a turn.
    let length = options.turns.saturating_mul(2).max(1);
    let range = |index: usize| {
        let shift = |spare: usize| (pseudorandom(options.seed, index as u64) % (spare as u64 + 1)) as usize;
        let share = |index: usize| 1 + (usable as u128 * index as u128 / sessions as u128) as usize;
        let (start, end) = (share(index), share(index + 1));
        if end - start >= length {
            return start + shift(end - start - length)..end;
        }
        // The history is too short for separate ranges, so start the sessions at even distances and let them overlap.
        let spare = usable.saturating_sub(length);
        let start = (spare as u128 * index as u128 / sessions as u128) as usize;
        1 + start + shift(spare / sessions)..commits
    };
    if usable == 0 { Vec::new() } else { (0..sessions).map(range).collect() }
}

/// Converts a commit to a turn. Returns `None` if the answer would be too long.
fn turn_from_commit(message: &str, edits: &[SourceEdit]) -> Option<TraceTurn> {
    let prompt = if message.is_empty() { "(no message)" } else { message };
    let mut answer = format!("{prompt}\n");
    for edit in edits {
        answer.push('\n');
        answer.push_str(&file_diff(edit));
        if answer.len() > MAX_ANSWER_BYTES {
            return None;
        }
    }
    Some(TraceTurn {
        prompt: prompt.to_owned(),
        answer,
        touched: edits.iter().filter(|edit| edit.old.is_some()).map(|edit| edit.path.clone()).collect(),
        edits: edits.iter().map(|edit| (edit.path.clone(), edit.new.clone())).collect(),
        ..TraceTurn::default()
    })
}

fn file_diff(edit: &SourceEdit) -> String {
    let name = |side: char, text: &Option<String>| match text {
        Some(_) => format!("{side}/{}", edit.path),
        None => "/dev/null".to_owned(),
    };
    let (old, new) = (edit.old.as_deref().unwrap_or_default(), edit.new.as_deref().unwrap_or_default());
    let hunks = unified_diff(old, new, CONTEXT_LINES);
    format!("--- {}\n+++ {}\n{hunks}", name('a', &edit.old), name('b', &edit.new))
}

/// Returns the name of the repository, which is its directory name without `.git`.
fn repository_name(repository: &Path) -> String {
    let path = canonical(repository).unwrap_or_else(|_| repository.to_owned());
    let names = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    let mut names = names.map(|name| name.strip_suffix(".git").unwrap_or(&name).to_owned());
    names.find(|name| !matches!(name.as_str(), "" | "repo")).unwrap_or_else(|| "repo".to_owned())
}

/// Derives a pseudorandom number from `seed` and `index` (SplitMix64; Steele, Lea and Flood 2014).
fn pseudorandom(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn commit_ranges_stay_within_the_history_and_do_not_overlap(
            commits in 0usize..5000, sessions in 0usize..9, turns in 0usize..60, seed in any::<u64>(),
        ) {
            let options = TraceOptions { sessions, turns, seed };
            let commit_ranges = commit_ranges(commits, &options);
            prop_assert_eq!(commit_ranges.len(), if commits > 1 { sessions } else { 0 });
            for run in &commit_ranges {
                prop_assert!(run.start >= 1 && run.end <= commits && run.start < run.end, "{:?}", run);
            }
            for pair in commit_ranges.windows(2) {
                prop_assert!(pair[0].start <= pair[1].start);
                if commits > (2 * turns + 1).max(2) * sessions {
                    prop_assert!(pair[0].end <= pair[1].start, "{:?}", pair);
                    prop_assert!(pair[0].len() >= 2 * turns);
                }
            }
        }
    }

    #[test]
    fn the_seed_changes_the_start_of_the_sessions() {
        let starts = |seed| commit_ranges(2000, &TraceOptions { seed, ..TraceOptions::default() });
        assert_eq!(starts(1), starts(1));
        assert_ne!(starts(1), starts(2));
    }

    #[test]
    fn the_name_of_a_repository_is_that_of_its_directory() {
        for (path, name) in [
            ("/x/flask", "flask"),
            ("/x/flask.git", "flask"),
            ("/x/flask/.git", "flask"),
            ("/x/flask/repo", "flask"),
            ("/x/flask/repo/.git", "flask"),
            ("/", "repo"),
        ] {
            assert_eq!(repository_name(Path::new(path)), name, "{path}");
        }
    }
}
