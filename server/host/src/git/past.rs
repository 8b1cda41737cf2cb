//! Reads subjects and paths of past commits. Reads the commits of merged branches rather than the merge commits, whose
//! subjects carry little information.

use std::collections::{BTreeSet, BinaryHeap};

use strata_base::cancel::Cancel;

use super::error::{GitError, readable};
use super::history::{Commit, History};
use super::limits::{MAX_COMMITS, MAX_KEPT};

/// Maximum number of files in a commit. Commits with more files are skipped, since they say little about each file.
const MAX_PATHS: usize = 100;
/// Maximum length of a subject, in characters. Longer subjects are truncated.
const MAX_SUBJECT: usize = 400;
/// Maximum number of merge commits to skip before reading stops, as a multiple of `MAX_COMMITS`.
const MAX_MERGES: u32 = 4;

/// A commit and the paths it changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastTouch {
    /// First line of the commit message.
    pub subject: String,
    /// Sorted paths of the changed files, relative to the directory whose history is read.
    pub paths: Vec<String>,
}

/// Returns up to [`MAX_COMMITS`] commits from `newest` backwards along all parents, in order of commit time. Follows
/// merge commits without returning them. A commit that cannot be read is skipped together with its ancestors.
pub(super) fn past_touches(
    history: &History,
    newest: Commit,
    cancel: &Cancel,
) -> Result<Vec<PastTouch>, GitError> {
    let mut touches = Vec::new();
    let mut known = BTreeSet::from([newest.id]);
    let mut waiting = BinaryHeap::from([(newest.seconds, newest.id)]);
    let (mut looked_at, mut passed, mut kept) = (0, 0, 0);
    while let Some((_, id)) = waiting.pop() {
        cancel.check()?;
        let (Some(commit), Some(parents)) =
            (readable(history.commit(id))?, readable(history.parents(id).map(Some))?)
        else {
            continue;
        };
        for parent in parents.iter().filter(|parent| known.insert(**parent)) {
            if let Some(parent) = readable(history.commit(*parent))? {
                waiting.push((parent.seconds, parent.id));
            }
        }
        if parents.len() > 1 {
            passed += 1;
        } else {
            looked_at += 1;
            if let Some(touch) = touch(history, commit, cancel)? {
                kept += touch.paths.iter().map(String::len).sum::<usize>();
                touches.push(touch);
            }
        }
        if looked_at >= MAX_COMMITS || passed >= MAX_COMMITS * MAX_MERGES || kept > MAX_KEPT {
            break;
        }
    }
    Ok(touches)
}

/// Reads the files that a commit changed. Returns `None` if there are none, if there are more than `MAX_PATHS`, or if
/// the parent commit or a tree cannot be read.
fn touch(history: &History, commit: Commit, cancel: &Cancel) -> Result<Option<PastTouch>, GitError> {
    let before = match commit.parent {
        Some(parent) => match readable(history.commit(parent))? {
            Some(before) => before.tree,
            // The parent is missing, for example in a shallow clone, so the changes are unknown.
            None => return Ok(None),
        },
        None => None,
    };
    let Some(changes) = readable(history.changes(before, commit.tree, cancel).map(Some))? else {
        return Ok(None);
    };
    if !(1..=MAX_PATHS).contains(&changes.len()) {
        return Ok(None);
    }
    let message = readable(history.message(commit.id).map(Some))?.unwrap_or_default();
    let subject = message.lines().next().unwrap_or_default();
    Ok(Some(PastTouch {
        subject: subject.chars().take(MAX_SUBJECT).collect(),
        paths: changes.into_iter().map(|change| change.path).collect(),
    }))
}
