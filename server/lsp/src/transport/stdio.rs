//! Opens standard input and output as plain files.
//!
//! The files are unbuffered, because the standard library's buffered output would split each message at its last line
//! feed and wake the client twice. Only the binary uses this module, and nothing else may write to standard output.

use std::fs::File;
use std::io;

/// Returns unbuffered duplicates of standard input and output.
///
/// # Errors
///
/// Returns the system's error if one of them is closed, or no descriptors are available.
pub(crate) fn stdio() -> io::Result<(File, File)> {
    #[cfg(unix)]
    let handles = {
        use std::os::fd::AsFd;
        (io::stdin().as_fd().try_clone_to_owned()?, io::stdout().as_fd().try_clone_to_owned()?)
    };
    #[cfg(windows)]
    let handles = {
        use std::os::windows::io::AsHandle;
        (io::stdin().as_handle().try_clone_to_owned()?, io::stdout().as_handle().try_clone_to_owned()?)
    };
    Ok((File::from(handles.0), File::from(handles.1)))
}
