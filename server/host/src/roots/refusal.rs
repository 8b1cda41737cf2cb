//! Reasons for rejecting a path, and their messages.

use std::io;

use strata_base::sanitize::is_invisible;

use crate::uri::UriError;

/// Maximum length of a path, in bytes. No supported system can open a longer path.
pub(super) const MAX_PATH_BYTES: usize = 32 * 1024;

/// Maximum number of characters of a path to show in an error.
const MAX_SHOWN_CHARS: usize = 200;

/// A rejected path and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {reason}")]
pub struct PathError {
    /// The path as given, truncated.
    pub path: String,
    pub reason: PathRefusal,
}

/// Why a path is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathRefusal {
    #[error("the path is empty")]
    Empty,
    #[error("the path contains a NUL character")]
    Nul,
    /// The path is longer than any supported system can open.
    #[error("the path is longer than {MAX_PATH_BYTES} bytes")]
    TooLong,
    /// The URI does not name a file.
    #[error(transparent)]
    Uri(#[from] UriError),
    /// The path contains `..`, whose meaning depends on links.
    #[error("`..` is not allowed; use a path relative to the workspace folder")]
    ParentStep,
    /// The path names a drive or a network share, which this system does not have, or has no slash after the drive
    /// (`C:a`).
    #[error("drives and network shares are not supported on this system")]
    Drive,
    /// On Windows, the path has a drive or begins with a backslash, but not both.
    #[error("begin the path with a drive and a backslash (`C:\\`), or in the workspace folder")]
    HalfAbsolute,
    #[error("system files (`/proc`, `/dev`, `/sys`) are not readable")]
    SystemFile,
    /// Windows interprets the name differently: it is a stream (`a:b`) or a device, or ends with a dot or space.
    #[error("the name is ambiguous on this system")]
    Ambiguous,
    /// The absolute path is outside all workspace folders.
    #[error("it is outside the workspace folders")]
    Outside,
    /// The path is inside a workspace folder, but a symbolic link leads outside.
    #[error("a symbolic link leads out of the workspace folders")]
    LinkOutside,
    /// The symbolic links form a cycle, or there are too many of them.
    #[error("its symbolic links form a cycle")]
    LinkLoop,
    #[error("it is a symbolic link to a file that does not exist")]
    BrokenLink,
    /// No file key can represent the name, because it is not UTF-8 or begins with `untitled:`.
    #[error("the name is not valid UTF-8, or begins with `untitled:`")]
    NoKey,
    #[error("no workspace folder is open")]
    NoRoots,
    /// Several folders are open, and the path neither begins with the name of one nor exists in one.
    #[error("it does not begin with the name of a workspace folder ({0})")]
    NoSuchRoot(String),
    /// Several folders are open, and more than one contains the file.
    #[error("several workspace folders contain it ({0}); prefix it with the folder's name")]
    SeveralRoots(String),
    /// The path names a workspace folder, but a file is required.
    #[error("it is the workspace folder itself")]
    IsRoot,
    #[error("a workspace folder must be an absolute path")]
    RelativeRoot,
    /// The key belongs to an untitled buffer, which has no file.
    #[error("it is a new buffer that has not been saved")]
    Untitled,
    /// The operating system denies access or reports another error.
    #[error("it cannot be accessed ({0})")]
    Unreachable(io::ErrorKind),
}

impl PathError {
    /// Creates an error about a path. Truncates the path and escapes invisible characters.
    pub(crate) fn new(path: &str, reason: PathRefusal) -> Self {
        let mut escaped = String::new();
        for (index, c) in path.chars().enumerate() {
            if index == MAX_SHOWN_CHARS {
                escaped.push('…');
                break;
            }
            if is_invisible(c) {
                escaped.extend(c.escape_unicode());
            } else {
                escaped.push(c);
            }
        }
        Self { path: escaped, reason }
    }
}
