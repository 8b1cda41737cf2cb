//! The history of a folder's files: when and why each last changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use strata_engine::cancel::Cancel;
use strata_engine::prompt::trust::Trust;

use super::history::{Commit, History};
use super::past::{PastTouch, past_touches};
use super::{GitError, MAX_COMMITS, MAX_KEPT, readable};

/// The history of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitFacts {
    /// Path below the folder (`/` between its parts) to first-parent commits since its last touch: 0 for the newest
    /// commit. Paths that no longer exist, or were not touched within [`MAX_COMMITS`] commits, are absent.
    pub recency: BTreeMap<String, u32>,
    /// The commits it was read from, newest first. Excludes commits of more than 100 files, which are mostly mechanical.
    pub commits: Vec<PastTouch>,
    /// All files, links and submodules that the newest commit has below the folder. A file that is none of them and in none
    /// of them is new. `None` when they cannot be listed.
    pub committed: Option<BTreeSet<String>>,
}

/// The branch that is checked out around a folder; `None` on no branch, and in no repository. Quick: looks at no history.
///
/// # Errors
/// [`GitError::Unreadable`], [`GitError::Elsewhere`].
pub fn branch(folder: &Path, trust: Trust) -> Result<Option<String>, GitError> {
    match History::discover(folder, trust)? {
        Some(history) => Ok(history.head()?.branch),
        None => Ok(None),
    }
}

/// The facts about a folder: the top of a work tree, a folder below it, or a repository without one. `None` when it is in
/// no repository. A history that ends early (a shallow clone, missing objects) says less; it is not an error.
///
/// # Errors
/// [`GitError::Unreadable`] when not even the newest commit can be read, [`GitError::Elsewhere`], [`GitError::Cancelled`].
pub fn facts(folder: &Path, trust: Trust, cancel: &Cancel) -> Result<Option<GitFacts>, GitError> {
    let Some(history) = History::discover(folder, trust)? else { return Ok(None) };
    let newest = match history.head()?.commit {
        Some(id) => history.commit(id)?,
        None => None,
    };
    let (recency, commits) = match newest {
        Some(newest) => (recency(&history, newest, cancel)?, past_touches(&history, newest, cancel)?),
        None => (BTreeMap::new(), Vec::new()),
    };
    let listed = history.paths(newest.and_then(|newest| newest.tree), cancel).map(Some);
    let committed = readable(listed)?;
    Ok(Some(GitFacts { recency, commits, committed }))
}

/// Commits since the last touch of each path that exists at `newest` and was touched within [`MAX_COMMITS`] commits.
pub(super) fn recency(
    history: &History,
    newest: Commit,
    cancel: &Cancel,
) -> Result<BTreeMap<String, u32>, GitError> {
    let mut recency = BTreeMap::new();
    let mut gone = BTreeSet::new();
    let (mut commit, mut kept) = (newest, 0);
    for age in 0..MAX_COMMITS {
        cancel.check()?;
        let before = match commit.parent {
            Some(parent) => match readable(history.commit(parent))? {
                Some(before) => Some(before),
                // Not here: what the commit changed is unknown.
                None => break,
            },
            None => None,
        };
        let changes = history.changes(before.and_then(|before| before.tree), commit.tree, cancel).map(Some);
        let Some(changes) = readable(changes)? else { break };
        for change in changes {
            if gone.contains(&change.path) || recency.contains_key(&change.path) {
                continue;
            }
            kept += change.path.len();
            match change.new {
                Some(_) => recency.insert(change.path, age),
                None => {
                    gone.insert(change.path);
                    None
                }
            };
        }
        match before {
            Some(before) if kept < MAX_KEPT => commit = before,
            _ => break,
        }
    }
    Ok(recency)
}
