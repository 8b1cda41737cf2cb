//! Checks that a repository belongs to its directory. A crafted `.git` can refer to another user's repository as a
//! link, with a `gitdir:` line, through links inside it, or with `alternates`. Strata would then report the branch and
//! file names of that repository for this directory. The check reads only names and a few short files, and does not
//! open the repository.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::roots::canonical;

/// Entries of a repository that the library opens (see gitrepository-layout(5)).
const OPENED: &[&str] = &[
    "HEAD",
    "config",
    "config.worktree",
    "index",
    "info",
    "objects",
    "objects/info",
    "objects/pack",
    "packed-refs",
    "refs",
    "refs/heads",
    "shallow",
];

/// Entries that refer to objects outside the repository.
const ELSEWHERE: &[&str] = &["objects/info/alternates", "objects/info/http-alternates"];

/// Maximum size of a file that contains a reference or a path, in bytes.
const MAX_POINTER: u64 = 8 * 1024;

/// Maximum size of a `config` file that is searched for `core.worktree`, in bytes.
const MAX_CONFIG: u64 = 256 * 1024;

/// Returns the nearest directory, starting at `folder` itself, that has a `.git` or looks like a bare repository.
pub(super) fn nearest(folder: &Path) -> Option<PathBuf> {
    let has = |at: &Path, name: &str| at.join(name).symlink_metadata().is_ok();
    let is_bare = |at: &Path| has(at, "HEAD") && has(at, "objects") && has(at, "refs");
    let real = canonical(folder).ok()?;
    real.ancestors().find(|at| has(at, ".git") || is_bare(at)).map(Path::to_owned)
}

/// Whether the repository at `top` is entirely inside `top`, or in a directory that names `top` as its work tree.
pub(super) fn is_own(top: &Path) -> bool {
    let git = top.join(".git");
    match git.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => is_self_contained(&git, CommonDirectory::Here),
        Ok(metadata) if metadata.is_file() => is_pointed_at_both_ways(top, &git),
        Ok(_) => false,
        // Without a `.git`, `top` itself is a bare repository.
        Err(_) => is_self_contained(top, CommonDirectory::Here),
    }
}

/// Where a repository stores the data shared by its work trees.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommonDirectory {
    /// In the repository's own directory.
    Here,
    /// In the directory named in the file `commondir`.
    Named,
}

/// Whether everything that the library opens in a repository's directory is inside that directory.
fn is_self_contained(git: &Path, common: CommonDirectory) -> bool {
    let Ok(real) = canonical(git) else { return false };
    let branch = pointer(&git.join("HEAD"), "ref:").map(|name| git.join(name));
    let packs =
        fs::read_dir(git.join("objects/pack")).into_iter().flatten().flatten().map(|entry| entry.path());
    let opened = OPENED.iter().map(|name| git.join(name)).chain(branch).chain(packs);
    let absent = |name: &str| git.join(name).symlink_metadata().is_err();
    opened.into_iter().all(|path| is_inside(&path, &real))
        && ELSEWHERE.iter().all(|name| absent(name))
        && (common == CommonDirectory::Named || absent("commondir"))
}

/// Whether `path` does not exist, or resolves to a file or directory below `real`.
fn is_inside(path: &Path, real: &Path) -> bool {
    if path.symlink_metadata().is_err() {
        return true;
    }
    let leads = canonical(path).ok().filter(|to| to.starts_with(real)).and_then(|to| to.metadata().ok());
    leads.is_some_and(|found| found.is_file() || found.is_dir())
}

/// Whether a `.git` file and the directory of a linked work tree or submodule refer to each other.
fn is_pointed_at_both_ways(top: &Path, git: &Path) -> bool {
    let Some(place) = pointer(git, "gitdir:").and_then(|to| canonical(&top.join(to)).ok()) else {
        return false;
    };
    let leads_to = |from: &Path, to: &str, wanted: &Path| {
        let real = canonical(&from.join(to));
        real.is_ok_and(|real| canonical(wanted).is_ok_and(|wanted| wanted == real))
    };
    if let Some(back) = pointer(&place.join("gitdir"), "") {
        let Some(common) = place.parent().filter(|at| at.ends_with("worktrees")).and_then(Path::parent)
        else {
            return false;
        };
        let shared = pointer(&place.join("commondir"), "");
        return leads_to(&place, &back, git)
            && shared.is_some_and(|shared| leads_to(&place, &shared, common))
            && is_self_contained(&place, CommonDirectory::Named)
            && is_self_contained(common, CommonDirectory::Here);
    }
    let Some(config) = short(&place.join("config"), MAX_CONFIG) else { return false };
    let value = |line: &str| {
        let (name, value) = line.split_once('=')?;
        name.trim().eq_ignore_ascii_case("worktree").then(|| value.trim().trim_matches('"').to_owned())
    };
    config.lines().filter_map(value).next_back().is_some_and(|to| leads_to(&place, &to, top))
        && is_self_contained(&place, CommonDirectory::Here)
}

/// Returns the rest of a file's first line after the prefix `name`. Returns `None` if the line does not begin with the
/// prefix, or nothing follows it.
fn pointer(file: &Path, name: &str) -> Option<String> {
    let text = short(file, MAX_POINTER)?;
    let to = text.lines().next()?.strip_prefix(name)?.trim();
    (!to.is_empty()).then(|| to.to_owned())
}

/// Reads a regular file of at most `limit` bytes without following links.
fn short(file: &Path, limit: u64) -> Option<String> {
    let metadata = file.symlink_metadata().ok()?;
    if !metadata.is_file() || metadata.len() > limit {
        return None;
    }
    let mut text = String::new();
    File::open(file).ok()?.take(limit).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Creates directories that look like repositories, and a workspace directory `top`.
    fn at(folders: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let base = crate::roots::canonical(directory.path()).unwrap();
        fs::create_dir_all(base.join("top")).unwrap();
        for folder in folders {
            fs::create_dir_all(base.join(folder).join("objects/pack")).unwrap();
            fs::create_dir_all(base.join(folder).join("refs/heads")).unwrap();
            fs::write(base.join(folder).join("HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::write(base.join(folder).join("config"), "[core]\n\tbare = false\n").unwrap();
        }
        (directory, base)
    }

    #[test]
    fn a_repository_in_its_folder_is_its_own() {
        let (_directory, base) = at(&["top/.git", "bare.git"]);
        let top = base.join("top");
        assert!(is_own(&top) && is_own(&base.join("bare.git")));
        fs::create_dir(top.join("below")).unwrap();
        assert_eq!(nearest(&top.join("below")), Some(top.clone()));
        symlink("refs/heads/main", top.join(".git/packed-refs")).unwrap();
        assert!(!is_own(&top), "a link to nothing");
        fs::write(top.join(".git/refs/heads/main"), "").unwrap();
        assert!(is_own(&top), "a link that stays inside");
    }

    #[test]
    fn a_linked_work_tree_and_a_submodule_are_their_own_when_both_sides_say_so() {
        let (_directory, base) = at(&["main/.git", "main/.git/worktrees/top", "main/.git/modules/sub"]);
        let top = base.join("top");
        fs::write(top.join(".git"), format!("gitdir: {}/main/.git/worktrees/top\n", base.display())).unwrap();
        let worktree = base.join("main/.git/worktrees/top");
        fs::write(worktree.join("commondir"), "../..\n").unwrap();
        assert!(!is_own(&top), "the work tree's directory does not point back");
        fs::write(worktree.join("gitdir"), format!("{}/elsewhere/.git\n", base.display())).unwrap();
        assert!(!is_own(&top), "it points back to another directory");
        fs::write(worktree.join("gitdir"), format!("{}/.git\n", top.display())).unwrap();
        assert!(is_own(&top));
        fs::write(worktree.join("commondir"), "../../..\n").unwrap();
        assert!(!is_own(&top), "the shared data is elsewhere");

        let sub = base.join("main/sub");
        fs::create_dir(&sub).unwrap();
        fs::write(sub.join(".git"), "gitdir: ../.git/modules/sub\n").unwrap();
        assert!(!is_own(&sub));
        let config = base.join("main/.git/modules/sub/config");
        fs::write(config, "[core]\n\tworktree = ../../../sub\n").unwrap();
        assert!(is_own(&sub));
    }

    #[test]
    fn what_leads_elsewhere_is_not() {
        for name in OPENED.iter().chain(&["refs/heads/main", "objects/pack/x.idx"]) {
            let (_directory, base) = at(&["top/.git", "outside"]);
            let place = base.join("top/.git").join(name);
            let _ = fs::remove_file(&place).or_else(|_| fs::remove_dir_all(&place));
            symlink(base.join("outside/HEAD"), &place).unwrap();
            assert!(!is_own(&base.join("top")), "{name}");
        }
        for name in ELSEWHERE.iter().chain(&["commondir"]) {
            let (_directory, base) = at(&["top/.git", "outside"]);
            fs::create_dir_all(base.join("top/.git/objects/info")).unwrap();
            assert!(is_own(&base.join("top")));
            fs::write(base.join("top/.git").join(name), "../outside\n").unwrap();
            assert!(!is_own(&base.join("top")), "{name}");
        }
        let (_directory, base) = at(&["outside"]);
        symlink("../outside", base.join("top/.git")).unwrap();
        assert!(!is_own(&base.join("top")), "a link");
    }
}
