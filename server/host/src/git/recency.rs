//! Reads the history of a directory's files: when each was last changed, and by which commits.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use strata_base::cancel::Cancel;
use strata_code::excerpts::LineAges;
use strata_prompt::trust::Trust;

use super::commit_paths::{CommitPaths, recent_commits};
use super::error::{GitError, none_if_unreadable};
use super::first_parents::FirstParents;
use super::history::{Commit, History};
use super::limits::{MAX_COMMITS, MAX_HISTORY_PATH_BYTES};
use super::line_ages::line_ages;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitFacts {
    /// Number of first-parent commits since the last change of each path; 0 for the newest commit. Paths are relative
    /// to the directory whose history is read, with `/` as the separator. Excludes paths that no longer exist, and
    /// paths that were not changed within [`MAX_COMMITS`] commits.
    pub recency: BTreeMap<String, u32>,
    /// The ages of the lines of files that the last few commits changed.
    pub line_ages: BTreeMap<String, LineAges>,
    /// Past commits, newest first. Excludes commits that change more than 100 files, since most of them are mechanical.
    pub commits: Vec<CommitPaths>,
    /// All files, links and submodules in the directory at the newest commit. A file is new if it is neither in this
    /// set nor inside a submodule in this set. `None` if the tree cannot be listed.
    pub committed: Option<BTreeSet<String>>,
}

/// Returns the branch that is checked out in a directory. Returns `None` for a detached `HEAD` or outside a repository.
/// Reads no history, so the call is fast.
///
/// # Errors
/// [`GitError::Unreadable`], [`GitError::Elsewhere`] or [`GitError::Changing`].
pub fn current_branch(folder: &Path, trust: Trust) -> Result<Option<String>, GitError> {
    History::read(folder, trust, |history| Ok(history.head()?.branch))
}

/// Reads the history of a directory, which is the top of a work tree, a directory below it, or a bare repository.
/// Returns `None` outside a repository. A history that ends early (a shallow clone, missing objects) is not an error
/// and yields fewer facts.
///
/// # Errors
/// [`GitError::Unreadable`] if not even the newest commit can be read, [`GitError::Elsewhere`],
/// [`GitError::Changing`], or [`GitError::Cancelled`].
pub fn git_facts(folder: &Path, trust: Trust, cancel: &Cancel) -> Result<Option<GitFacts>, GitError> {
    History::read(folder, trust, |history| read_facts(history, cancel).map(Some))
}

fn read_facts(history: &History, cancel: &Cancel) -> Result<GitFacts, GitError> {
    let newest = match history.head()?.commit {
        Some(id) => history.commit(id)?,
        None => None,
    };
    let mut facts = GitFacts::default();
    if let Some(newest) = newest {
        facts.recency = recency(history, newest, cancel)?;
        facts.line_ages = line_ages(history, newest, cancel)?;
        facts.commits = recent_commits(history, newest, cancel)?;
    }
    let paths = history.paths(newest.and_then(|newest| newest.tree), cancel).map(Some);
    facts.committed = none_if_unreadable(paths)?;
    Ok(facts)
}

/// Counts the commits since the last change of each path that exists at `newest` and was changed within
/// [`MAX_COMMITS`] commits.
pub(super) fn recency(
    history: &History,
    newest: Commit,
    cancel: &Cancel,
) -> Result<BTreeMap<String, u32>, GitError> {
    let mut recency = BTreeMap::new();
    let mut deleted = BTreeSet::new();
    let mut path_bytes = 0;
    for (age, changes) in (0..MAX_COMMITS).zip(FirstParents::new(newest, history, cancel)) {
        for change in changes?.files {
            if deleted.contains(&change.path) || recency.contains_key(&change.path) {
                continue;
            }
            path_bytes += change.path.len();
            match change.new {
                Some(_) => recency.insert(change.path, age),
                None => {
                    deleted.insert(change.path);
                    None
                }
            };
        }
        if path_bytes >= MAX_HISTORY_PATH_BYTES {
            break;
        }
    }
    Ok(recency)
}
