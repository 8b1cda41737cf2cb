//! Why a repository, or a part of it, was not read.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use strata_base::cancel::Cancelled;

use super::limits::{MAX_CHECKED_DIRECTORIES, MAX_CHECKED_ENTRIES, MAX_COMMIT_SOURCE_BYTES};

/// Why a repository could not be read.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The directory is not in a repository.
    #[error("not a git repository: {}", .0.display())]
    NoRepository(PathBuf),
    /// The repository is damaged, incomplete, or in a format that the library does not support.
    #[error("cannot read the git repository {}: {problem}", .path.display())]
    Unreadable { path: PathBuf, problem: String },
    /// Parts of the repository are or could be outside its directory, and the workspace is not trusted.
    #[error("cannot read the git repository {}: {part}; to read it anyway, trust the workspace", .path.display())]
    Elsewhere { path: PathBuf, part: NotContainedReason },
    /// The repository of a workspace that is not trusted was changed each time it was read.
    #[error("cannot read the git repository {}: it keeps changing; try again later", .0.display())]
    Changing(PathBuf),
    /// The source files at one commit exceed the total size that Strata accepts when it builds sessions to replay from
    /// a history.
    #[error("the repository has more than {} MiB of source text at one commit", MAX_COMMIT_SOURCE_BYTES >> 20)]
    TooLarge,
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Why a repository is not known to be inside its directory. Paths are relative to the directory with its objects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotContainedReason {
    #[error("{0:?} is a link, which could lead outside")]
    Link(PathBuf),
    /// A pipe or a device.
    #[error("{0:?} is neither a file nor a directory")]
    Special(PathBuf),
    /// A file that names a directory with more data.
    #[error("{0:?} names a directory elsewhere")]
    Pointer(PathBuf),
    /// A `.git` file that names a directory that does not name the work tree.
    #[error("its \".git\" names a directory elsewhere that does not name this work tree")]
    OneWay,
    #[error("{0:?} cannot be checked: {1}")]
    Unlisted(PathBuf, io::ErrorKind),
    #[error(
        "it has more than {} files or {} directories, too many to check",
        MAX_CHECKED_ENTRIES,
        MAX_CHECKED_DIRECTORIES
    )]
    TooLarge,
}

impl GitError {
    pub(super) fn from_library_error(path: &Path, error: &(dyn Error + 'static)) -> Self {
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
        Self::Unreadable { path: path.to_owned(), problem }
    }
}

/// Converts an unreadable object to `None`, which callers treat as the end of the history.
pub(super) fn none_if_unreadable<T>(outcome: Result<Option<T>, GitError>) -> Result<Option<T>, GitError> {
    match outcome {
        Err(GitError::Unreadable { .. } | GitError::TooLarge) => Ok(None),
        outcome => outcome,
    }
}
