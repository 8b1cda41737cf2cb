//! Resolves symbolic links in a path whose last components may not exist. Does not check whether access to a path is
//! allowed.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::PathRefusal;
use super::canonical;

/// Maximum number of broken links to follow, one after the other.
const MAX_FOLLOWED_LINKS: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RealPath {
    /// Absolute path. The existing part is spelled as in the file system.
    pub(super) path: PathBuf,
    pub(super) exists: bool,
}

/// Follows all links in an absolute path. Keeps nonexistent components at the end, so that a file can be named before
/// it is created.
pub(super) fn real_path(path: &Path) -> Result<RealPath, PathRefusal> {
    let mut existing = path;
    let mut missing: Vec<OsString> = Vec::new();
    loop {
        match canonical(existing) {
            Ok(mut real) => {
                let exists = missing.is_empty();
                real.extend(missing.iter().rev());
                return Ok(RealPath { path: real, exists });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // An entry that exists but cannot be resolved is a link to a missing target.
                if existing.symlink_metadata().is_ok() {
                    return Err(PathRefusal::BrokenLink);
                }
                let (Some(parent), Some(name)) = (existing.parent(), existing.file_name()) else {
                    return Err(PathRefusal::Unreachable(error.kind()));
                };
                missing.push(name.to_owned());
                existing = parent;
            }
            Err(error) => return Err(refusal_from_io_error(&error)),
        }
    }
}

/// Returns the path to which a broken link leads, as [`real_path`] would if the target existed. Returns `None` if the path
/// cannot be resolved for another reason.
pub(super) fn broken_link_target(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_FOLLOWED_LINKS {
        match real_path(&path) {
            Ok(real) => return Some(real.path),
            Err(PathRefusal::BrokenLink) => {
                let link = path.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok())?;
                let target = link.parent()?.join(fs::read_link(link).ok()?);
                path = target.join(path.strip_prefix(link).ok()?);
            }
            Err(_) => return None,
        }
    }
    None
}

fn refusal_from_io_error(error: &io::Error) -> PathRefusal {
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        return PathRefusal::LinkLoop;
    }
    PathRefusal::Unreachable(error.kind())
}
