//! The history of a folder's files: when and why each last changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use strata_engine::cancel::Cancel;
use strata_engine::prompt::trust::Trust;

use super::GitError;
use super::history::{Commit, History};

/// How many commits are looked at, along first parents. Whatever was not touched within them counts as this old.
pub const MAX_COMMITS: u32 = 400;
/// The history ends where the paths that it speaks of take more than this. Bytes.
const MAX_KEPT: usize = 64 << 20;
/// A commit that touches more files says nothing of each.
const MAX_PATHS: usize = 100;
/// Maximum characters of a subject.
const MAX_SUBJECT: usize = 400;

/// The history of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitFacts {
    /// Path below the folder (`/` between its parts) to first-parent commits since its last touch: 0 for the newest
    /// commit. Paths that no longer exist, or were not touched within [`MAX_COMMITS`] commits, are absent.
    pub recency: BTreeMap<String, u32>,
    /// The commits it was read from, newest first. Excludes commits of more than [`MAX_PATHS`] files.
    pub commits: Vec<PastTouch>,
    /// All files, links and submodules that the newest commit has below the folder. A file that is none of them and in none
    /// of them is new. `None` when they cannot be listed.
    pub committed: Option<BTreeSet<String>>,
}

/// A commit with the files it changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastTouch {
    /// The first line of its message.
    pub subject: String,
    /// Paths below the folder that it changed, in order.
    pub paths: Vec<String>,
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
        Some(newest) => touches(&history, newest, cancel)?,
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
    Ok(touches(history, newest, cancel)?.0)
}

/// The same, with the commits.
fn touches(
    history: &History,
    newest: Commit,
    cancel: &Cancel,
) -> Result<(BTreeMap<String, u32>, Vec<PastTouch>), GitError> {
    let (mut recency, mut commits) = (BTreeMap::new(), Vec::new());
    let mut gone = BTreeSet::new();
    let mut commit = newest;
    let mut kept = 0;
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
        if (1..=MAX_PATHS).contains(&changes.len()) {
            let paths: Vec<String> = changes.iter().map(|change| change.path.clone()).collect();
            kept += paths.iter().map(String::len).sum::<usize>();
            let message = readable(history.message(commit.id).map(Some))?.unwrap_or_default();
            let subject = message.lines().next().unwrap_or_default();
            let subject = subject.chars().take(MAX_SUBJECT).collect();
            commits.push(PastTouch { subject, paths });
        }
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
    Ok((recency, commits))
}

/// Treats unreadable data as the end of the history.
fn readable<T>(outcome: Result<Option<T>, GitError>) -> Result<Option<T>, GitError> {
    match outcome {
        Err(GitError::Unreadable { .. } | GitError::TooLarge) => Ok(None),
        outcome => outcome,
    }
}
