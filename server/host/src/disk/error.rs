//! Why a file could not be read.

use std::io;

use strata_base::external::ExternalText;
use strata_base::key::FileKey;

use crate::roots::PathError;

/// Why a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The path is invalid or not allowed.
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("`{}` does not exist", .0.notice())]
    NotFound(FileKey),
    #[error("`{}` is a directory", .0.notice())]
    Folder(FileKey),
    /// A FIFO, a socket or a device, which was not opened.
    #[error("`{}` is not a regular file", .0.notice())]
    NotRegular(FileKey),
    /// The file exceeds the size limit, so none of its content is returned.
    #[error("`{}` has {size} bytes; the limit is {limit}", .key.notice())]
    TooLarge {
        key: FileKey,
        /// Size of the file, in bytes.
        size: u64,
        /// Maximum size of one file, in bytes.
        limit: u64,
    },
    /// The name of the file or of its link target suggests secrets, and the user has not confirmed it.
    #[error(
        "`{}` needs confirmation, because its name or link target suggests secrets ({rule}); the user can select it with \
         `confirmSecrets`",
        .key.notice()
    )]
    Secret {
        key: FileKey,
        /// The secrets rule that the name matches.
        rule: &'static str,
    },
    #[error("`{}` does not fit in memory", .0.notice())]
    NoMemory(FileKey),
    #[error("`{}` is binary", .0.notice())]
    Binary(FileKey),
    /// The text is neither UTF-8 nor UTF-16.
    #[error("`{}` is not valid UTF-8", .0.notice())]
    NotUtf8(FileKey),
    #[error("`{}` is not a notebook", .0.notice())]
    NotNotebook(FileKey),
    /// The notebook has no cell with this name or number.
    #[error(
        "`{}` has no cell `{}`; name it by its id, or by its number as `cell1`",
        .notebook.notice(),
        ExternalText::new(.cell).notice()
    )]
    NoCell { notebook: FileKey, cell: String },
    /// The file was renamed or replaced during every attempt to open it.
    #[error("`{}` kept changing while Strata opened it", .0.notice())]
    Moving(FileKey),
    /// Another program has the file open for exclusive access. Occurs only on Windows.
    #[error("`{}` is locked by another program", .0.notice())]
    Locked(FileKey),
    #[error("cannot read `{}`: {kind}", .key.notice())]
    Io { key: FileKey, kind: io::ErrorKind },
}

impl ReadError {
    pub(super) fn io(key: &FileKey, error: &io::Error) -> Self {
        /// `ERROR_SHARING_VIOLATION` and `ERROR_LOCK_VIOLATION`, for which the standard library has no name.
        const LOCKED: [i32; 2] = [32, 33];
        match error.kind() {
            _ if cfg!(windows) && error.raw_os_error().is_some_and(|code| LOCKED.contains(&code)) => {
                Self::Locked(key.clone())
            }
            io::ErrorKind::NotFound => Self::NotFound(key.clone()),
            io::ErrorKind::IsADirectory => Self::Folder(key.clone()),
            kind => Self::Io { key: key.clone(), kind },
        }
    }
}
