//! Real paths as people write them. Knows no roots and gives no permission.

use std::io;
use std::path::{Path, PathBuf};

/// The absolute path without symbolic links, as [`Path::canonicalize`] finds it, and on Windows without the prefix `\\?\`: editors, git
/// and people write the path without it, so with it one file would have two names. Long paths need no prefix: the standard
/// library adds it where the system wants it.
///
/// # Errors
/// As [`Path::canonicalize`].
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    if !cfg!(windows) {
        return Ok(real);
    }
    Ok(real.to_str().and_then(without_prefix).map_or(real, PathBuf::from))
}

/// `C:\a` of `\\?\C:\a` and `\\host\share` of `\\?\UNC\host\share`; `None` for what has no other name, such as a volume without a
/// letter.
fn without_prefix(path: &str) -> Option<String> {
    let rest = path.strip_prefix(r"\\?\")?;
    if let Some(share) = rest.strip_prefix(r"UNC\") {
        return Some(format!(r"\\{share}"));
    }
    let has_drive = matches!(rest.as_bytes(), [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic());
    has_drive.then(|| rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_of_windows_is_left_out() {
        assert_eq!(without_prefix(r"\\?\C:\Users\me").as_deref(), Some(r"C:\Users\me"));
        assert_eq!(without_prefix(r"\\?\C:\").as_deref(), Some(r"C:\"));
        assert_eq!(without_prefix(r"\\?\UNC\host\share\a").as_deref(), Some(r"\\host\share\a"));
        assert_eq!(without_prefix(r"\\?\Volume{0b0f}\a"), None);
        assert_eq!(without_prefix(r"C:\Users\me"), None);
        assert_eq!(without_prefix("/home/me"), None);
    }
}
