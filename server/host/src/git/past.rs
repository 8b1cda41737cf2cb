//! What earlier commits changed, and what for. Looks at the subjects of branches that were merged, since those of merges say little.

use std::collections::{BTreeSet, BinaryHeap};

use strata_engine::cancel::Cancel;

use super::history::{Commit, History};
use super::{GitError, MAX_COMMITS, MAX_KEPT, readable};

/// A commit that touches more files says nothing of each.
const MAX_PATHS: usize = 100;
/// What is read of a subject, in characters.
const MAX_SUBJECT: usize = 400;
/// After so many merges for each other commit the rest is not looked at.
const MAX_MERGES: u32 = 4;

/// A commit with what it touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastTouch {
    /// The first line of its message.
    pub subject: String,
    /// Paths below the folder that it changed, in order.
    pub paths: Vec<String>,
}

/// The last [`MAX_COMMITS`] commits, newest first by their dates, along all parents. Merges are passed; commits that cannot be
/// read are left out with all before them.
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

/// What a commit touched; nothing where that is nothing, too much, or unknown.
fn touch(history: &History, commit: Commit, cancel: &Cancel) -> Result<Option<PastTouch>, GitError> {
    let before = match commit.parent {
        Some(parent) => match readable(history.commit(parent))? {
            Some(before) => before.tree,
            // Not here: what the commit changed is unknown.
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
