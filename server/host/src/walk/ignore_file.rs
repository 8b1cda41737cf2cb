//! Detects ignore files that must not be opened. The scanner reads every file with such a name, but the `.gitignore` of
//! a malicious repository may be a link to `/dev/zero`, which never ends, or a FIFO, which blocks.

use std::fs;
use std::path::{Path, PathBuf};

use super::IGNORE_FILE;
use crate::roots::canonical;

/// Ignore files that the scanner reads in a directory, besides the files that a `.git` file refers to.
const NAMES: &[&str] = &[".gitignore", ".ignore", IGNORE_FILE, ".git/info/exclude"];

/// Maximum size of an ignore file, and of all ignore files that apply to a directory together, in bytes. Parsed rules
/// take a hundred times as much memory, and every name is matched against every rule.
pub(super) const MAX_BYTES: u64 = 256 * 1024;

/// Maximum size of all ignore files of a workspace folder together, in bytes. Reading them takes a second; the largest
/// repositories have a quarter of this.
pub(super) const MAX_TOTAL_BYTES: u64 = 2 << 20;

/// Returns the total size of the ignore files in a root and in the directories above it, in bytes and limited to
/// [`MAX_BYTES`].
///
/// # Errors
/// Returns the reason why the root cannot be scanned. The scanner reads the ignore files of every directory above the
/// root, even if they do not apply.
pub(super) fn bytes_at_root(root: &Path) -> Result<u64, String> {
    let top = root.ancestors().last().unwrap_or(root);
    let mut bytes = bytes_in(root, root)?;
    // Above the root, links may lead anywhere, since the user created them, for example from a home directory to
    // dotfiles.
    for folder in root.ancestors().skip(1) {
        bytes += bytes_in(folder, top)?;
    }
    Ok(bytes.min(MAX_BYTES))
}

/// Returns the total size of a directory's ignore files, in bytes. Rejects links that lead outside `root`, because
/// messages may quote ignore files. Skips broken links.
///
/// # Errors
/// Returns the reason why the directory cannot be scanned, which is an ignore file that cannot be read safely.
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

/// Returns the size in bytes of the exclude file that a `.git` file leads to. The files involved are `.git` itself,
/// `commondir` in the directory that it names, and `info/exclude` in the directory that `commondir` names. The error is
/// the first of them that cannot be read safely. They may be anywhere, since a linked work tree has them outside its
/// own directory.
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

/// Returns the size of a file in bytes, or 0 if the file does not exist. The error is the reason why the file cannot be
/// read safely.
fn readable(path: &Path) -> Result<u64, &'static str> {
    match path.metadata() {
        Ok(target) if !target.is_file() => Err("is not a regular file"),
        Ok(target) if target.len() > MAX_BYTES => Err("is too large"),
        Ok(target) => Ok(target.len()),
        Err(_) => Ok(0),
    }
}

/// Formats an error in an ignore file without quoting the pattern, since the file may be a link to another location,
/// whose content must not be exposed.
pub(super) fn message_of(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Partial(errors) => errors.iter().map(message_of).collect::<Vec<_>>().join("; "),
        ignore::Error::WithLineNumber { line, err } => format!("line {line}: {}", message_of(err)),
        ignore::Error::WithPath { path, err } => format!("{}: {}", path.display(), message_of(err)),
        ignore::Error::WithDepth { err, .. } => message_of(err),
        ignore::Error::Glob { .. } => "invalid pattern".to_owned(),
        other => other.to_string(),
    }
}
