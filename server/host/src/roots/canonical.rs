//! The real path of a file, in the form that people write it. Does not check whether access is allowed.

use std::io;
use std::path::{Path, PathBuf};

/// Returns the absolute path with all symbolic links resolved, like [`Path::canonicalize`], but without the `\\?\`
/// prefix on Windows. Editors, Git and users write paths without the prefix, so keeping it would give one file two
/// names. Long paths still work, because the standard library adds the prefix where it is required.
///
/// # Errors
/// Same as [`Path::canonicalize`].
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    if !cfg!(windows) {
        return Ok(real);
    }
    Ok(real.to_str().and_then(without_verbatim_prefix).map_or(real, PathBuf::from))
}

/// Converts `\\?\C:\a` to `C:\a` and `\\?\UNC\host\share` to `\\host\share`. Returns `None` if the path cannot be
/// written without the prefix, such as a path to a volume without a drive letter.
pub(super) fn without_verbatim_prefix(path: &str) -> Option<String> {
    let unprefixed = path.strip_prefix(r"\\?\")?;
    if let Some(share) = unprefixed.strip_prefix(r"UNC\") {
        return Some(format!(r"\\{share}"));
    }
    let has_drive = matches!(unprefixed.as_bytes(), [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic());
    has_drive.then(|| unprefixed.to_owned())
}
