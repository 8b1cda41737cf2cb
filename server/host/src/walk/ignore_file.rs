//! Ignore files that must not be opened. The walker reads whatever bears the name, and a repository may bring a
//! `.gitignore` that is a link to `/dev/zero` or a FIFO: one never ends, the other never begins.

use std::fs;
use std::path::{Path, PathBuf};

use super::IGNORE_FILE;

/// What the walker reads in a folder, besides what a file `.git` leads to.
const NAMES: &[&str] = &[".gitignore", ".ignore", IGNORE_FILE, ".git/info/exclude"];

/// Largest ignore file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// Why a root cannot be walked at all: the walker reads the ignore files of every folder above it, too, even when
/// they do not count. `None` when it can.
pub(super) fn problem_at_root(root: &Path) -> Option<String> {
    let top = root.ancestors().last().unwrap_or(root);
    // A link above the root, say from a home folder into a folder of dotfiles, is the user's own.
    let above = || root.ancestors().skip(1).find_map(|folder| problem(folder, top));
    problem(root, root).or_else(above)
}

/// Why a folder cannot be walked; `None` when its ignore files can be read safely. A link is followed when it stays below
/// `root`: what an ignore file holds may show up in messages. A link to nothing is read by nobody.
pub(super) fn problem(folder: &Path, root: &Path) -> Option<String> {
    let problem = |(path, problem): (PathBuf, &str)| format!("is not walked: `{}` {problem}", path.display());
    let named = || {
        NAMES
            .iter()
            .map(|name| folder.join(name))
            .find_map(|path| Some((path.clone(), in_folder(&path, root)?)))
    };
    named().or_else(|| behind_pointer(folder)).map(problem)
}

fn in_folder(path: &Path, root: &Path) -> Option<&'static str> {
    let own = path.symlink_metadata().ok()?;
    let leaves = || path.canonicalize().is_ok_and(|real| !real.starts_with(root));
    match own.is_symlink() && leaves() {
        true => Some("is a link that leads out of the workspace folder"),
        false => unreadable(path),
    }
}

/// What cannot be read of the three files that a file `.git` leads the walker to: itself, `commondir` in the folder that it names,
/// and the exclusions in the folder that this one names. Where they lie is not asked: a linked work tree's lie elsewhere.
fn behind_pointer(folder: &Path) -> Option<(PathBuf, &'static str)> {
    let git = folder.join(".git");
    if !git.metadata().ok()?.is_file() {
        return None;
    }
    let told = |path: &Path| unreadable(path).map(|problem| (path.to_owned(), problem));
    let first_line = |path: &Path| Some(fs::read_to_string(path).ok()?.lines().next()?.to_owned());
    if let Some(problem) = told(&git) {
        return Some(problem);
    }
    let place = PathBuf::from(first_line(&git)?.strip_prefix("gitdir: ")?);
    let common = place.join("commondir");
    if let Some(problem) = told(&common) {
        return Some(problem);
    }
    told(&place.join(first_line(&common)?).join("info/exclude"))
}

/// Why a file that is there cannot be read safely.
fn unreadable(path: &Path) -> Option<&'static str> {
    match path.metadata() {
        Ok(target) if !target.is_file() => Some("is no regular file"),
        Ok(target) if target.len() > MAX_BYTES => Some("is too large"),
        _ => None,
    }
}

/// What is wrong with an ignore file, without the rule: where a file really lay when it was read is not known, and what stands outside of
/// the folder is not to be repeated.
pub(super) fn told(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Partial(errors) => errors.iter().map(told).collect::<Vec<_>>().join("; "),
        ignore::Error::WithLineNumber { line, err } => format!("line {line}: {}", told(err)),
        ignore::Error::WithPath { path, err } => format!("{}: {}", path.display(), told(err)),
        ignore::Error::WithDepth { err, .. } => told(err),
        ignore::Error::Glob { .. } => "no pattern that can be understood".to_owned(),
        other => other.to_string(),
    }
}
