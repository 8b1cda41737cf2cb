//! Determines the location of the cache directory by the conventions of each system, without accessing the disk.

use std::ffi::OsString;
use std::path::PathBuf;

/// Returns the cache directory: `STRATA_CACHE_DIR` if set, otherwise `~/Library/Caches/strata` on macOS,
/// `%LOCALAPPDATA%\strata\cache` on Windows, and `$XDG_CACHE_HOME/strata` or `~/.cache/strata` on other systems.
/// Relative paths in these variables are ignored, as the XDG Base Directory Specification requires. `variable` looks up
/// an environment variable. Returns `None` if no variable gives a directory.
pub fn cache_directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let directory = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(own) = directory("STRATA_CACHE_DIR") {
        return Some(own);
    }
    if cfg!(windows) {
        directory("LOCALAPPDATA").map(|base| base.join("strata").join("cache"))
    } else if cfg!(target_os = "macos") {
        directory("HOME").map(|home| home.join("Library/Caches/strata"))
    } else {
        let base = directory("XDG_CACHE_HOME").or_else(|| directory("HOME").map(|home| home.join(".cache")));
        base.map(|base| base.join("strata"))
    }
}

#[cfg(all(test, not(any(windows, target_os = "macos"))))]
mod tests {
    use super::*;

    #[test]
    fn the_cache_directory_follows_the_variables() {
        let found = |set: &[(&str, &str)]| {
            let variable = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into());
            cache_directory(variable)
        };
        let (own, xdg, home) =
            (("STRATA_CACHE_DIR", "/own"), ("XDG_CACHE_HOME", "/xdg"), ("HOME", "/home/me"));
        assert_eq!(found(&[own, xdg, home]), Some("/own".into()));
        assert_eq!(found(&[xdg, home]), Some("/xdg/strata".into()));
        assert_eq!(found(&[("XDG_CACHE_HOME", "here"), home]), Some("/home/me/.cache/strata".into()));
        assert_eq!(found(&[home]), Some("/home/me/.cache/strata".into()));
        assert_eq!(found(&[("HOME", "")]), None);
    }
}
