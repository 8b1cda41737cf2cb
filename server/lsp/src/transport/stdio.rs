//! Standard input and output as plain files.
//!
//! Owns no buffer: the standard library's buffered output would cut each message in two at its last line feed, which
//! wakes the client twice. Never used by anything but the binary; nothing else may write to standard output.

use std::fs::File;
use std::io;

/// Unbuffered duplicates of standard input and output.
///
/// # Errors
///
/// The system's, when one of them is closed or there are no descriptors left.
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
