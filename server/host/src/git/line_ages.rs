//! Reads the versions of files before their last changes, to tell when their lines were added.

use std::collections::BTreeMap;

use strata_base::cancel::Cancel;
use strata_code::excerpts::LineAges;

use super::error::{GitError, none_if_unreadable};
use super::first_parents::{CommitChanges, FirstParents};
use super::history::{Commit, History};

/// Number of first-parent commits to read.
const MAX_LINE_AGE_COMMITS: u32 = 10;
/// Maximum number of files in a commit. Commits that change more files are mostly mechanical.
const MAX_COMMIT_FILES: usize = 100;
/// Maximum size of a text, in bytes.
const MAX_BLOB_BYTES: u64 = 256 << 10;

/// Returns the ages of the lines of the files that the last commits changed, by path.
pub(super) fn line_ages(
    history: &History,
    newest: Commit,
    cancel: &Cancel,
) -> Result<BTreeMap<String, LineAges>, GitError> {
    let mut ages: BTreeMap<String, LineAges> = BTreeMap::new();
    for (age, changes) in (0..MAX_LINE_AGE_COMMITS).zip(FirstParents::new(newest, history, cancel)) {
        let CommitChanges { is_root, files } = changes?;
        if is_root || files.len() > MAX_COMMIT_FILES {
            continue;
        }
        for change in files.into_iter().filter(|change| change.new.is_some()) {
            let text = match change.old {
                Some(old) => none_if_unreadable(history.blob_text(old, MAX_BLOB_BYTES))?,
                None => Some(String::new()),
            };
            if let Some(text) = text {
                ages.entry(change.path).or_default().add_change(age, &text);
            }
        }
    }
    Ok(ages)
}
