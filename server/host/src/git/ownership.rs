//! Checks that a repository belongs to its directory. A crafted `.git` can refer to another user's repository as a
//! link, with a `gitdir:` line, through a link anywhere inside it, or with `alternates`. Strata would then report the
//! branch and file names of that repository for this directory. The check reads names and a few short files, and does
//! not open the repository.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::closed_tree::LinkFreeTree;
use super::error::NotContainedReason;
use crate::roots::canonical;

/// Files of a repository that name directories elsewhere, from which the library reads as well (see
/// gitrepository-layout(5)).
const DIRECTORY_POINTER_FILES: &[&str] =
    &["commondir", "objects/info/alternates", "objects/info/http-alternates"];

/// Maximum size of a file that contains a path, in bytes.
const MAX_POINTER_FILE_BYTES: u64 = 8 * 1024;

/// Maximum size of a `config` file that is searched for `core.worktree`, in bytes.
const MAX_CONFIG_BYTES: u64 = 256 * 1024;

/// Returns the nearest directory, starting at `folder` itself, that has a `.git` or looks like a bare repository.
pub(super) fn nearest_repository(folder: &Path) -> Option<PathBuf> {
    let exists = |directory: &Path, name: &str| directory.join(name).symlink_metadata().is_ok();
    let is_bare = |directory: &Path| {
        exists(directory, "HEAD") && exists(directory, "objects") && exists(directory, "refs")
    };
    let real = canonical(folder).ok()?;
    real.ancestors().find(|directory| exists(directory, ".git") || is_bare(directory)).map(Path::to_owned)
}

/// A repository that is entirely inside its directory, or in a directory that names it as its work tree.
pub(super) struct ContainedRepository {
    /// The path to open: the `.git` of a work tree, or a bare repository.
    pub(super) entry: PathBuf,
    /// The directory with `HEAD` and the index.
    git_dir: PathBuf,
    /// The directory with objects and branches, which contains `git_dir`.
    common_dir: PathBuf,
    pub(super) tree: LinkFreeTree,
}

impl ContainedRepository {
    /// Checks the repository at `top`, which [`nearest_repository`] returned.
    ///
    /// # Errors
    /// The first part that leads elsewhere, or could.
    pub(super) fn check(top: &Path) -> Result<Self, NotContainedReason> {
        let git = top.join(".git");
        let (entry, git_dir, common_dir) = match git.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => (git.clone(), git.clone(), git),
            Ok(metadata) if metadata.is_file() => {
                let (git_dir, common_dir) =
                    linked_directories(top, &git).ok_or(NotContainedReason::OneWay)?;
                (git, git_dir, common_dir)
            }
            Ok(metadata) if metadata.is_symlink() => return Err(NotContainedReason::Link(".git".into())),
            Ok(_) => return Err(NotContainedReason::Special(".git".into())),
            // Without a `.git`, `top` itself is a bare repository.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                (top.to_owned(), top.to_owned(), top.to_owned())
            }
            Err(error) => return Err(NotContainedReason::Unlisted(".git".into(), error.kind())),
        };
        // The tree comes first, since it notices whether a pointer is added later.
        let tree = LinkFreeTree::check(&common_dir)?;
        let pointer =
            DIRECTORY_POINTER_FILES.iter().find(|name| common_dir.join(name).symlink_metadata().is_ok());
        match pointer {
            Some(name) => Err(NotContainedReason::Pointer(name.into())),
            None => Ok(Self { entry, git_dir, common_dir, tree }),
        }
    }

    /// Whether these are the directories that were checked. The library resolves pointers on its own, and a pointer can
    /// change in between.
    pub(super) fn has_checked_directories(&self, git_dir: &Path, common_dir: &Path) -> bool {
        let is_same = |actual: &Path, checked: &Path| canonical(actual).is_ok_and(|actual| actual == checked);
        is_same(git_dir, &self.git_dir) && is_same(common_dir, &self.common_dir)
    }
}

/// Returns the directory of a linked work tree or submodule and its common directory, if the directory and the `.git`
/// file of the work tree refer to each other.
fn linked_directories(top: &Path, git: &Path) -> Option<(PathBuf, PathBuf)> {
    let git_dir = pointer_target(git, "gitdir:").and_then(|target| canonical(&top.join(target)).ok())?;
    let resolves_to = |base: &Path, target: &str, expected: &Path| {
        let real = canonical(&base.join(target));
        real.is_ok_and(|real| canonical(expected).is_ok_and(|expected| expected == real))
    };
    if let Some(back_pointer) = pointer_target(&git_dir.join("gitdir"), "") {
        let common = git_dir
            .parent()
            .filter(|parent| parent.ends_with("worktrees"))
            .and_then(Path::parent)?
            .to_owned();
        let common_pointer = pointer_target(&git_dir.join("commondir"), "")?;
        let is_mutual =
            resolves_to(&git_dir, &back_pointer, git) && resolves_to(&git_dir, &common_pointer, &common);
        return is_mutual.then_some((git_dir, common));
    }
    let config = read_short_file(&git_dir.join("config"), MAX_CONFIG_BYTES)?;
    let value = |line: &str| {
        let (name, value) = line.split_once('=')?;
        name.trim().eq_ignore_ascii_case("worktree").then(|| value.trim().trim_matches('"').to_owned())
    };
    let back_pointer = config.lines().filter_map(value).next_back()?;
    resolves_to(&git_dir, &back_pointer, top).then(|| (git_dir.clone(), git_dir))
}

/// Returns the rest of a file's first line after `prefix`. Returns `None` if the line does not begin with the
/// prefix, or nothing follows it.
fn pointer_target(file: &Path, prefix: &str) -> Option<String> {
    let text = read_short_file(file, MAX_POINTER_FILE_BYTES)?;
    let target = text.lines().next()?.strip_prefix(prefix)?.trim();
    (!target.is_empty()).then(|| target.to_owned())
}

/// Reads a regular file of at most `limit` bytes without following links.
fn read_short_file(file: &Path, limit: u64) -> Option<String> {
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
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Creates directories that look like repositories, and a workspace directory `top`.
    fn create_repositories(folders: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let base = canonical(directory.path()).unwrap();
        fs::create_dir_all(base.join("top")).unwrap();
        for folder in folders {
            fs::create_dir_all(base.join(folder).join("objects/pack")).unwrap();
            fs::create_dir_all(base.join(folder).join("refs/heads")).unwrap();
            fs::write(base.join(folder).join("HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::write(base.join(folder).join("config"), "[core]\n\tbare = false\n").unwrap();
        }
        (directory, base)
    }

    fn foreign_part(top: &Path) -> Option<NotContainedReason> {
        ContainedRepository::check(top).err()
    }

    #[test]
    fn a_repository_inside_its_directory_is_accepted() {
        let (_directory, base) = create_repositories(&["top/.git", "bare.git"]);
        let top = base.join("top");
        assert_eq!((foreign_part(&top), foreign_part(&base.join("bare.git"))), (None, None));
        fs::create_dir(top.join("below")).unwrap();
        assert_eq!(nearest_repository(&top.join("below")), Some(top.clone()));
        symlink("refs/heads/main", top.join(".git/packed-refs")).unwrap();
        fs::write(top.join(".git/refs/heads/main"), "").unwrap();
        let link = Some(NotContainedReason::Link("packed-refs".into()));
        assert_eq!(foreign_part(&top), link, "a link that stays inside can lead out a moment later");
    }

    #[test]
    fn linked_work_trees_and_submodules_are_accepted_if_both_sides_refer_to_each_other() {
        let (_directory, base) =
            create_repositories(&["main/.git", "main/.git/worktrees/top", "main/.git/modules/sub"]);
        let top = base.join("top");
        fs::write(top.join(".git"), format!("gitdir: {}/main/.git/worktrees/top\n", base.display())).unwrap();
        let worktree = base.join("main/.git/worktrees/top");
        fs::write(worktree.join("commondir"), "../..\n").unwrap();
        let one_way = Some(NotContainedReason::OneWay);
        assert_eq!(foreign_part(&top), one_way, "the work tree's directory does not point back");
        fs::write(worktree.join("gitdir"), format!("{}/elsewhere/.git\n", base.display())).unwrap();
        assert_eq!(foreign_part(&top), one_way, "it points back to another directory");
        fs::write(worktree.join("gitdir"), format!("{}/.git\n", top.display())).unwrap();
        assert_eq!(foreign_part(&top), None);
        fs::write(worktree.join("commondir"), "../../..\n").unwrap();
        assert_eq!(foreign_part(&top), one_way, "the shared data is elsewhere");

        let sub = base.join("main/sub");
        fs::create_dir(&sub).unwrap();
        fs::write(sub.join(".git"), "gitdir: ../.git/modules/sub\n").unwrap();
        assert_eq!(foreign_part(&sub), one_way);
        let config = base.join("main/.git/modules/sub/config");
        fs::write(config, "[core]\n\tworktree = ../../../sub\n").unwrap();
        assert_eq!(foreign_part(&sub), None);
    }

    #[test]
    fn a_repository_with_pointers_to_other_directories_is_rejected() {
        for name in DIRECTORY_POINTER_FILES {
            let (_directory, base) = create_repositories(&["top/.git", "outside"]);
            fs::create_dir_all(base.join("top/.git/objects/info")).unwrap();
            assert_eq!(foreign_part(&base.join("top")), None);
            fs::write(base.join("top/.git").join(name), "../outside\n").unwrap();
            assert_eq!(foreign_part(&base.join("top")), Some(NotContainedReason::Pointer(name.into())));
        }
        let (_directory, base) = create_repositories(&["outside"]);
        symlink("../outside", base.join("top/.git")).unwrap();
        assert_eq!(foreign_part(&base.join("top")), Some(NotContainedReason::Link(".git".into())));
    }
}
