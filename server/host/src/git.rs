//! Reads facts from Git: last changes of files, uncommitted files, and past work. Reads `.git` with a library. Starts
//! no process, writes nothing, uses no external settings or environment variables, and runs no program named in the
//! repository's settings. The engine rates the facts.

mod history;
mod index;
mod ownership;
mod past;
mod recency;
mod sessions;
mod source;
mod status;

use std::error::Error;
use std::path::{Path, PathBuf};

use strata_engine::cancel::Cancelled;

#[cfg(test)]
pub(crate) use self::recency::GitFacts;
pub use self::recency::{branch, facts};
pub use self::sessions::{SessionOptions, sessions};
pub use self::status::{FileStatus, status};

/// Maximum commits to examine. Files that none of them touched count as this old.
pub const MAX_COMMITS: u32 = 400;
/// Maximum total size of the paths collected from a history, in bytes. Older commits are dropped.
const MAX_KEPT: usize = 64 << 20;

/// Why facts cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The directory is not in a repository.
    #[error("not a git repository: {}", .0.display())]
    NoRepository(PathBuf),
    /// The repository is damaged, incomplete, or of a kind that the library does not support.
    #[error("cannot read the git repository {}: {problem}", .place.display())]
    Unreadable { place: PathBuf, problem: String },
    /// Parts of the repository are outside its directory, and the workspace is not trusted.
    #[error("cannot read the git repository {}: parts of it are outside its directory, and the workspace is not trusted", .0.display())]
    Elsewhere(PathBuf),
    /// The text at one commit exceeds the maximum size of a trace.
    #[error("the repository has more than {} MiB of source text at one commit", sessions::MAX_TEXT_BYTES >> 20)]
    TooLarge,
    /// The caller canceled the work.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl GitError {
    fn unreadable(place: &Path, error: &(dyn Error + 'static)) -> Self {
        let mut problem = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !cause_text.is_empty() && !problem.contains(&cause_text) {
                problem.push_str(": ");
                problem.push_str(&cause_text);
            }
            source = cause.source();
        }
        Self::Unreadable { place: place.to_owned(), problem }
    }
}

/// Treats an unreadable object as the end of the history.
fn readable<T>(outcome: Result<Option<T>, GitError>) -> Result<Option<T>, GitError> {
    match outcome {
        Err(GitError::Unreadable { .. } | GitError::TooLarge) => Ok(None),
        outcome => outcome,
    }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
