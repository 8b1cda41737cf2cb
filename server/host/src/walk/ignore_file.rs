//! Detects ignore files that must not be opened. The scanner reads any file with such a name, and a repository may
//! contain a `.gitignore` that is a link to `/dev/zero` or a FIFO: reading the first never ends, and opening the
//! second blocks.

use std::fs;
use std::path::{Path, PathBuf};

use super::IGNORE_FILE;
use crate::canonical::canonical;

/// The files that the scanner reads in a directory, in addition to the target of `.git`.
const NAMES: &[&str] = &[".gitignore", ".ignore", IGNORE_FILE, ".git/info/exclude"];

/// Maximum size of an ignore file, and of all that apply to a directory together, in bytes. They take a hundred times
/// as much memory when parsed, and every name is matched against every rule.
pub(super) const MAX_BYTES: u64 = 256 * 1024;

/// Returns the total size in bytes of the ignore files in a root and in the directories above it, limited to
/// [`MAX_BYTES`].
///
/// # Errors
/// Why the root cannot be scanned at all: the scanner also reads the ignore files of every directory above it, even
/// if they do not apply.
pub(super) fn bytes_at_root(root: &Path) -> Result<u64, String> {
    let top = root.ancestors().last().unwrap_or(root);
    let mut bytes = bytes_in(root, root)?;
    // A link above the root, for example from a home directory to a dotfiles repository, was created by the user.
    for folder in root.ancestors().skip(1) {
        bytes += bytes_in(folder, top)?;
    }
    Ok(bytes.min(MAX_BYTES))
}

/// Returns the total size of a directory's ignore files in bytes. Rejects links that lead outside `root`, because
/// messages may quote ignore files. Dangling links are skipped.
///
/// # Errors
/// Why the directory cannot be scanned: its ignore files cannot be read safely.
pub(super) fn bytes_in(folder: &Path, root: &Path) -> Result<u64, String> {
    let mut bytes = 0;
    for path in NAMES.iter().map(|name| folder.join(name)) {
        bytes += in_folder(&path, root).map_err(|problem| problem_with(&path, problem))?;
    }
    bytes += behind_pointer(folder).map_err(|(path, problem)| problem_with(&path, problem))?;
    Ok(bytes)
}

fn problem_with(path: &Path, problem: &str) -> String {
    format!("is not scanned: `{}` {problem}", path.display())
}

fn in_folder(path: &Path, root: &Path) -> Result<u64, &'static str> {
    let Ok(own) = path.symlink_metadata() else { return Ok(0) };
    let leaves = || canonical(path).is_ok_and(|real| !real.starts_with(root));
    match own.is_symlink() && leaves() {
        true => Err("is a link that leads out of the workspace folder"),
        false => readable(path),
    }
}

/// Returns the size in bytes of the exclude file that a `.git` file leads to, or the first of the three files
/// involved that cannot be read safely: `.git` itself, `commondir` in the directory that it names, and `info/exclude`
/// in the directory that `commondir` names. Their location is not restricted, since those of a linked work tree are
/// outside it.
fn behind_pointer(folder: &Path) -> Result<u64, (PathBuf, &'static str)> {
    let git = folder.join(".git");
    if !git.metadata().is_ok_and(|git| git.is_file()) {
        return Ok(0);
    }
    let readable = |path: &Path| readable(path).map_err(|problem| (path.to_owned(), problem));
    let first_line = |path: &Path| Some(fs::read_to_string(path).ok()?.lines().next()?.to_owned());
    readable(&git)?;
    let pointer = first_line(&git);
    let Some(place) = pointer.as_deref().and_then(|line| line.strip_prefix("gitdir: ")) else { return Ok(0) };
    let common = Path::new(place).join("commondir");
    readable(&common)?;
    match first_line(&common) {
        Some(line) => readable(&Path::new(place).join(line).join("info/exclude")),
        None => Ok(0),
    }
}

/// Returns the size of a file in bytes, or 0 if it does not exist. The error is the reason why it cannot be read
/// safely.
fn readable(path: &Path) -> Result<u64, &'static str> {
    match path.metadata() {
        Ok(target) if !target.is_file() => Err("is not a regular file"),
        Ok(target) if target.len() > MAX_BYTES => Err("is too large"),
        Ok(target) => Ok(target.len()),
        Err(_) => Ok(0),
    }
}

/// Formats an error in an ignore file without quoting the pattern: the real location of the file is unknown, and
/// content from outside the directory must not be exposed.
pub(super) fn message_of(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Partial(errors) => errors.iter().map(message_of).collect::<Vec<_>>().join("; "),
        ignore::Error::WithLineNumber { line, err } => format!("line {line}: {}", message_of(err)),
        ignore::Error::WithPath { path, err } => format!("{}: {}", path.display(), message_of(err)),
        ignore::Error::WithDepth { err, .. } => message_of(err),
        ignore::Error::Glob { .. } => "has no valid pattern".to_owned(),
        other => other.to_string(),
    }
}
