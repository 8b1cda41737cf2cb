//! Reads the versions of files before their last changes, to tell when their lines were added.

use std::collections::BTreeMap;

use strata_engine::cancel::Cancel;
use strata_engine::code::excerpts::LineAges;

use super::error::{GitError, readable};
use super::history::{Commit, History};

/// Number of first-parent commits to read.
const COMMITS: u32 = 10;
/// Maximum number of files in a commit. Commits that change more files are mostly mechanical.
const MAX_FILES: usize = 100;
/// Maximum size of a text, in bytes.
const MAX_TEXT: u64 = 256 << 10;

/// Returns the ages of the lines of the files that the last commits changed, by path.
pub(super) fn line_ages(
    history: &History,
    newest: Commit,
    cancel: &Cancel,
) -> Result<BTreeMap<String, LineAges>, GitError> {
    let mut ages: BTreeMap<String, LineAges> = BTreeMap::new();
    let mut commit = newest;
    for age in 0..COMMITS {
        cancel.check()?;
        let Some(parent) = commit.parent else { break };
        let Some(before) = readable(history.commit(parent))? else { break };
        let changes = history.changes(before.tree, commit.tree, cancel).map(Some);
        let Some(changes) = readable(changes)? else { break };
        if changes.len() <= MAX_FILES {
            for change in changes.into_iter().filter(|change| change.new.is_some()) {
                let text = match change.old {
                    Some(old) => readable(history.text(old, MAX_TEXT))?,
                    None => Some(String::new()),
                };
                if let Some(text) = text {
                    ages.entry(change.path).or_default().add(age, &text);
                }
            }
        }
        commit = before;
    }
    Ok(ages)
}
