//! Facts from Git: last changes of files, uncommitted files, and past work. Reads the files below `.git` with a library: starts
//! no process, writes nothing, uses no outside settings or environment variables, and runs no program named in the repository's
//! settings. Does not judge facts, which is the engine's task.

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

/// How many commits are looked at. Whatever was not touched within them counts as this old.
pub const MAX_COMMITS: u32 = 400;
/// A history ends where the paths that it speaks of take more than this. Bytes.
const MAX_KEPT: usize = 64 << 20;

/// Why there are no facts.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no repository here.
    #[error("not a git repository: {}", .0.display())]
    NoRepository(PathBuf),
    /// There is one, and it is damaged, incomplete, or of a kind that the library does not know.
    #[error("cannot read the git repository {}: {problem}", .place.display())]
    Unreadable { place: PathBuf, problem: String },
    /// There is one whose parts lie elsewhere, in a workspace that is not trusted.
    #[error("the git repository {} is not read: parts of it are elsewhere, and the workspace is not trusted", .0.display())]
    Elsewhere(PathBuf),
    /// More text than a trace may hold.
    #[error("the repository has more than {} MiB of source text at one commit", sessions::MAX_TEXT_BYTES >> 20)]
    TooLarge,
    /// No one waits for them any more.
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

/// What cannot be read is where the history ends.
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
