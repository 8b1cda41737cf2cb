//! How much of a repository is read.

/// Maximum number of commits to read. A file that none of these commits changed counts as this many commits old.
pub(crate) const MAX_COMMITS: u32 = 400;
/// Maximum total size of the paths collected from a history, in bytes. Older commits are ignored once it is reached.
pub(super) const MAX_HISTORY_PATH_BYTES: usize = 64 << 20;

/// Maximum number of entries to check. Listing them takes about a second.
pub(super) const MAX_CHECKED_ENTRIES: usize = 1_000_000;

/// Maximum number of directories to check. Each check compares the metadata of all of them.
pub(super) const MAX_CHECKED_DIRECTORIES: usize = 50_000;

/// Maximum total size of the source files at one commit, in bytes.
pub(crate) const MAX_COMMIT_SOURCE_BYTES: usize = 64 << 20;
