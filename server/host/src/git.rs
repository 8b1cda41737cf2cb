//! Reads facts from Git repositories: the last change of each file, uncommitted files, and past work. Reads `.git` with
//! a library. Never starts a process, writes a file, uses settings or environment variables from outside the
//! repository, or runs a program named in the repository's settings. The engine decides what the facts mean.

mod closed_tree;
mod commit_paths;
mod error;
mod first_parents;
mod history;
mod index;
mod limits;
mod line_ages;
mod ownership;
mod recency;
mod sessions;
mod source;
mod status;

pub use self::error::{GitError, NotContainedReason};
#[cfg(test)]
pub(crate) use self::recency::GitFacts;
pub use self::recency::{current_branch, git_facts};
pub use self::sessions::{TraceOptions, extract_traces};
pub use self::status::{FileStatus, status};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
