//! The reasons for which a path is refused, and how they read.

use std::io;

use strata_engine::sanitize::is_invisible;

use crate::uri::UriError;

/// Longest path text that is looked at, in bytes: above what any system can open.
pub(super) const MAX_PATH_BYTES: usize = 32 * 1024;

/// Longest part of a path that an error repeats, in characters.
const SHOWN_CHARACTERS: usize = 200;

/// A path that may not be used, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {reason}")]
pub struct PathError {
    /// The path as given, shortened.
    pub path: String,
    pub reason: Refusal,
}

/// Why a path may not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the path is empty")]
    Empty,
    #[error("the path contains a NUL character")]
    Nul,
    /// Longer than any system opens.
    #[error("the path is longer than {MAX_PATH_BYTES} bytes")]
    TooLong,
    /// A URI that names no file.
    #[error(transparent)]
    Uri(#[from] UriError),
    /// A part `..`, since its meaning depends on links.
    #[error("`..` is not allowed; name the file from the top of the workspace folder")]
    ParentStep,
    /// A drive or network share on a system that has none, or a drive without a slash.
    #[error("drives and network shares are not allowed here")]
    Drive,
    /// Below `/proc`, `/dev` or `/sys`.
    #[error("system files (`/proc`, `/dev`, `/sys`) are not readable")]
    SystemFile,
    /// A path that only Windows reads otherwise than it looks: a stream (`a:b`), a trailing dot or space.
    #[error("the name is ambiguous on this system")]
    Ambiguous,
    /// An absolute path into no workspace folder.
    #[error("it is outside the workspace folders")]
    Outside,
    /// A path below a workspace folder that a symbolic link leads out of it.
    #[error("a symbolic link leads out of the workspace folders")]
    LinkOutside,
    /// Symbolic links in a circle, or too many of them.
    #[error("its symbolic links form a cycle")]
    LinkLoop,
    /// A symbolic link to nothing.
    #[error("it is a symbolic link to a file that does not exist")]
    BrokenLink,
    /// A name that is not UTF-8, or that reads as `untitled:`.
    #[error("the name cannot be represented")]
    NoKey,
    /// No workspace folder is open.
    #[error("no workspace folder is open")]
    NoRoots,
    /// Several folders are open and the path does not begin with the name of one, nor exist in one.
    #[error("it does not begin with the name of a workspace folder ({0})")]
    NoSuchRoot(String),
    /// Several folders are open and more than one has this file.
    #[error("several workspace folders contain it ({0}); prefix it with the folder's name")]
    SeveralRoots(String),
    /// A workspace folder itself where a file is meant.
    #[error("it is the workspace folder itself")]
    IsRoot,
    /// A workspace folder that is not given by an absolute path.
    #[error("a workspace folder must be an absolute path")]
    RelativeRoot,
    /// A buffer that has no file.
    #[error("it is an unsaved new buffer")]
    Untitled,
    /// The system does not let us look.
    #[error("it is not accessible ({0})")]
    Unreachable(io::ErrorKind),
}

impl PathError {
    /// An error about a path. Keeps as much of the path as can be shown, with invisible characters escaped.
    pub(crate) fn new(path: &str, reason: Refusal) -> Self {
        let mut shown = String::new();
        for (index, c) in path.chars().enumerate() {
            if index == SHOWN_CHARACTERS {
                shown.push('…');
                break;
            }
            if is_invisible(c) {
                shown.extend(c.escape_unicode());
            } else {
                shown.push(c);
            }
        }
        Self { path: shown, reason }
    }
}
