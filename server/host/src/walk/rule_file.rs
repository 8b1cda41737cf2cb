//! Reads ignore files and the files that lead to them. The `.gitignore` of a malicious repository may be a link to
//! `/dev/zero`, which never ends, or a FIFO, which blocks, so only short regular files are opened. Says why a file was
//! not read, without its content. Does not interpret it.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use crate::roots::canonical;

/// Which links to follow.
#[derive(Clone, Copy)]
pub(super) enum LinkPolicy<'a> {
    /// None, like Git for a `.gitignore` in a work tree.
    Refused,
    /// Only those to a file in this directory.
    Inside(&'a Path),
    /// All, like Git for its own files and for files that the user's settings name.
    Followed,
}

/// Reads a file of at most `limit` bytes. Returns `None` if it does not exist.
///
/// # Errors
/// Why the file was not read, as the end of a sentence about it.
pub(super) fn read(path: &Path, links: LinkPolicy<'_>, limit: u64) -> Result<Option<Vec<u8>>, String> {
    let unreadable = |error: &io::Error| format!("cannot be read: {error}");
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        // A file where a directory is expected contains no files.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(&error)),
    };
    let real = match links {
        _ if !metadata.is_symlink() => path.to_owned(),
        LinkPolicy::Refused => return Err("is a link, which Git does not follow".to_owned()),
        LinkPolicy::Inside(folder) => link_target(path)?
            .filter(|real| real.starts_with(folder))
            .ok_or("is a link that leads out of the workspace folder")?,
        LinkPolicy::Followed => match link_target(path)? {
            Some(real) => real,
            None => return Ok(None),
        },
    };
    let target = real.symlink_metadata().map_err(|error| unreadable(&error))?;
    check_metadata(&target, limit)?;
    let file = open(&real).map_err(|error| unreadable(&error))?;
    // Another file may have taken the path in the meantime.
    check_metadata(&file.metadata().map_err(|error| unreadable(&error))?, limit)?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    Ok(Some(bytes))
}

/// Returns the file that a link leads to, or `None` if there is none.
fn link_target(link: &Path) -> Result<Option<PathBuf>, String> {
    match canonical(link) {
        Ok(real) => Ok(Some(real)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("is a link that cannot be followed: {error}")),
    }
}

fn check_metadata(metadata: &fs::Metadata, limit: u64) -> Result<(), String> {
    match metadata.is_file() {
        false => Err("is not a regular file".to_owned()),
        true if metadata.len() > limit => Err(format!("is larger than {} KiB", limit >> 10)),
        true => Ok(()),
    }
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}
