//! Reads subjects and paths of past commits. Reads the commits of merged branches rather than the merge commits, whose
//! subjects carry little information.

use std::collections::{BTreeSet, BinaryHeap};

use strata_base::cancel::Cancel;

use super::error::{GitError, none_if_unreadable};
use super::history::{Commit, History};
use super::limits::{MAX_COMMITS, MAX_HISTORY_PATH_BYTES};

/// Maximum number of files in a commit. Commits with more files are skipped, since they say little about each file.
const MAX_COMMIT_FILES: usize = 100;
/// Maximum length of a subject, in characters. Longer subjects are truncated.
const MAX_SUBJECT_CHARS: usize = 400;
/// Maximum number of merge commits to skip before reading stops, as a multiple of `MAX_COMMITS`.
const MAX_MERGES_PER_COMMIT: u32 = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitPaths {
    /// First line of the commit message.
    pub subject: String,
    /// Sorted paths of the changed files, relative to the directory whose history is read.
    pub paths: Vec<String>,
}

/// Returns up to [`MAX_COMMITS`] commits from `newest` backwards along all parents, in order of commit time. Follows
/// merge commits without returning them. A commit that cannot be read is skipped together with its ancestors.
pub(super) fn recent_commits(
    history: &History,
    newest: Commit,
    cancel: &Cancel,
) -> Result<Vec<CommitPaths>, GitError> {
    let mut commits = Vec::new();
    let mut seen_ids = BTreeSet::from([newest.id]);
    let mut queue = BinaryHeap::from([(newest.seconds, newest.id)]);
    let (mut read_commits, mut merges, mut path_bytes) = (0, 0, 0);
    while let Some((_, id)) = queue.pop() {
        cancel.check()?;
        let (Some(commit), Some(parents)) =
            (none_if_unreadable(history.commit(id))?, none_if_unreadable(history.parents(id).map(Some))?)
        else {
            continue;
        };
        for parent in parents.iter().filter(|parent| seen_ids.insert(**parent)) {
            if let Some(parent) = none_if_unreadable(history.commit(*parent))? {
                queue.push((parent.seconds, parent.id));
            }
        }
        if parents.len() > 1 {
            merges += 1;
        } else {
            read_commits += 1;
            if let Some(paths) = commit_paths(history, commit, cancel)? {
                path_bytes += paths.paths.iter().map(String::len).sum::<usize>();
                commits.push(paths);
            }
        }
        if read_commits >= MAX_COMMITS
            || merges >= MAX_COMMITS * MAX_MERGES_PER_COMMIT
            || path_bytes > MAX_HISTORY_PATH_BYTES
        {
            break;
        }
    }
    Ok(commits)
}

/// Reads the files that a commit changed. Returns `None` if there are none, if there are more than `MAX_COMMIT_FILES`,
/// or if the parent commit or a tree cannot be read.
fn commit_paths(history: &History, commit: Commit, cancel: &Cancel) -> Result<Option<CommitPaths>, GitError> {
    let before = match commit.parent {
        Some(parent) => match none_if_unreadable(history.commit(parent))? {
            Some(before) => before.tree,
            // The parent is missing, for example in a shallow clone, so the changes are unknown.
            None => return Ok(None),
        },
        None => None,
    };
    let Some(changes) = none_if_unreadable(history.changes(before, commit.tree, cancel).map(Some))? else {
        return Ok(None);
    };
    if !(1..=MAX_COMMIT_FILES).contains(&changes.len()) {
        return Ok(None);
    }
    let message = none_if_unreadable(history.message(commit.id).map(Some))?.unwrap_or_default();
    let subject = message.lines().next().unwrap_or_default();
    Ok(Some(CommitPaths {
        subject: subject.chars().take(MAX_SUBJECT_CHARS).collect(),
        paths: changes.into_iter().map(|change| change.path).collect(),
    }))
}
