//! Walks a history along first parents.

use strata_base::cancel::Cancel;

use super::error::{GitError, none_if_unreadable};
use super::history::{Commit, FileChange, History};

/// The commits from the newest one back along first parents, with what each of them changed. Ends where the history
/// cannot be read, for example in a shallow clone.
pub(super) struct FirstParents<'a> {
    history: &'a History,
    cancel: &'a Cancel,
    next: Option<Commit>,
}

pub(super) struct CommitChanges {
    /// Whether the commit has no parent, so that all its files are new.
    pub(super) is_root: bool,
    pub(super) files: Vec<FileChange>,
}

impl<'a> FirstParents<'a> {
    pub(super) fn new(newest: Commit, history: &'a History, cancel: &'a Cancel) -> Self {
        Self { history, cancel, next: Some(newest) }
    }

    fn read_next(&mut self) -> Result<Option<CommitChanges>, GitError> {
        let Some(commit) = self.next.take() else { return Ok(None) };
        self.cancel.check()?;
        let parent = match commit.parent {
            Some(id) => match none_if_unreadable(self.history.commit(id))? {
                Some(parent) => Some(parent),
                // The parent is missing, so the changes are unknown.
                None => return Ok(None),
            },
            None => None,
        };
        let parent_tree = parent.and_then(|parent| parent.tree);
        let changes = self.history.changes(parent_tree, commit.tree, self.cancel).map(Some);
        let Some(files) = none_if_unreadable(changes)? else { return Ok(None) };
        self.next = parent;
        Ok(Some(CommitChanges { is_root: parent.is_none(), files }))
    }
}

impl Iterator for FirstParents<'_> {
    type Item = Result<CommitChanges, GitError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_next().transpose()
    }
}
