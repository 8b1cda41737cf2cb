//! Ignore files that must not be opened. The walker reads whatever bears the name, and a repository may bring a
//! `.gitignore` that is a link to `/dev/zero` or a FIFO: one never ends, the other never begins.

use std::fs;
use std::path::{Path, PathBuf};

use super::IGNORE_FILE;
use crate::canonical::canonical;

/// The files that the scan reads in a folder, besides the target of `.git`.
const NAMES: &[&str] = &[".gitignore", ".ignore", IGNORE_FILE, ".git/info/exclude"];

/// Maximum bytes of an ignore file, and of all that apply in a folder. In memory they take a hundred times as much, and every
/// name is matched against every rule.
pub(super) const MAX_BYTES: u64 = 256 * 1024;

/// How much the ignore files of a root and of the folders above it hold, in bytes; [`MAX_BYTES`] at most.
///
/// # Errors
/// Why it cannot be scanned at all: the scan also reads the ignore files of every folder above it, even if they do not apply.
pub(super) fn bytes_at_root(root: &Path) -> Result<u64, String> {
    let top = root.ancestors().last().unwrap_or(root);
    let mut bytes = bytes_in(root, root)?;
    // A link above the root, say from a home folder into a folder of dotfiles, is the user's own.
    for folder in root.ancestors().skip(1) {
        bytes += bytes_in(folder, top)?;
    }
    Ok(bytes.min(MAX_BYTES))
}

/// Total bytes of a folder's ignore files. Follows links only within `root`, because messages may quote ignore files. Dangling
/// links are skipped.
///
/// # Errors
/// Why the folder cannot be walked: they cannot be read safely.
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

/// How much the exclusions hold that a file `.git` leads the walker to, or what cannot be read of the three files on the way: itself,
/// `commondir` in the folder that it names, and the exclusions in the folder that this one names. Where they lie is not asked: a
/// linked work tree's lie elsewhere.
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

/// The length of a file, 0 when it is not there, or why it cannot be read safely.
fn readable(path: &Path) -> Result<u64, &'static str> {
    match path.metadata() {
        Ok(target) if !target.is_file() => Err("is not a regular file"),
        Ok(target) if target.len() > MAX_BYTES => Err("is too large"),
        Ok(target) => Ok(target.len()),
        Err(_) => Ok(0),
    }
}

/// The problem of an ignore file, without the rule: its real location is unknown, and content from outside the folder must not be
/// repeated.
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
