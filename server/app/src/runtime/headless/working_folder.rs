//! Interprets paths typed in a shell: finds the repository of the current directory, and the file that a typed path
//! names. Checks only names and owners, without opening files. [`roots`](strata_host::roots) decides which paths are allowed.

use std::path::{Component, Path, PathBuf};

use strata_host::roots::canonical;
use strata_host::uri;

use crate::model::path_reference::PathReference;

/// Entries that mark the top directory of a working copy, for each version control system.
const VCS_MARKERS: &[&str] = &[".git", ".hg", ".jj", ".svn"];

/// Returns the nearest directory under version control, starting at `folder` itself. Ignores markers that do not belong
/// to the owner of `folder`, since anyone can create a `.git` in a shared directory such as `/tmp`.
pub(super) fn find_repository(folder: &Path) -> Option<PathBuf> {
    let real = canonical(folder).ok()?;
    let is_top =
        |directory: &Path| VCS_MARKERS.iter().any(|mark| has_same_owner(&directory.join(mark), &real));
    real.ancestors().find(|directory| is_top(directory)).map(Path::to_owned)
}

#[cfg(unix)]
fn has_same_owner(mark: &Path, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let owner = |path: &Path| path.symlink_metadata().ok().map(|metadata| metadata.uid());
    owner(mark).is_some_and(|mark_owner| owner(folder) == Some(mark_owner))
}

#[cfg(not(unix))]
fn has_same_owner(mark: &Path, _: &Path) -> bool {
    mark.symlink_metadata().is_ok()
}

/// Converts a path or pattern typed in the directory `directory` to one relative to the workspace folder `top`. Both
/// directories must be absolute and free of symbolic links. Keeps the part of a file (`a.rs#L10-40`, `a.rs:10`).
///
/// Paths are relative to `directory`, or to `top` if no file with that name exists in `directory`. This allows paths
/// copied from the output of commands. Absolute paths and URIs remain unchanged.
pub(super) fn relative_to_workspace(top: &Path, directory: &Path, typed: &str) -> String {
    if typed.is_empty() || uri::scheme(typed).is_some() || Path::new(typed).is_absolute() {
        return typed.to_owned();
    }
    let is_named_anywhere = |path: &str| exists(&directory.join(path)) || exists(&top.join(path));
    let reference = PathReference::parse(typed, is_named_anywhere);
    let PathReference { path, part } = reference.unwrap_or_else(|| PathReference::parse_missing_path(typed));
    let fragment = part.map_or(String::new(), |part| format!("#{part}"));
    let path = path.as_str();
    let (base, remaining) = apply_leading_dots(directory, path);
    let target = base.join(remaining);
    let is_inside = directory.starts_with(top);
    let Ok(below) = target.strip_prefix(top) else {
        // If the current directory is outside the repository, the user named the repository explicitly, and paths are
        // relative to its top.
        return if is_inside { target.to_string_lossy().into_owned() + &fragment } else { typed.to_owned() };
    };
    let is_named = exists(&target);
    let is_pattern = path.contains(['*', '?', '[', '{']) && !is_named;
    if !is_named && (exists(&top.join(path)) || !is_pattern && !is_inside) {
        return path.to_owned() + &fragment;
    }
    let path = match base.strip_prefix(top) {
        Ok(folder) if is_pattern && folder != Path::new("") => {
            format!("{}/{remaining}", escape_wildcards(&to_slash_path(folder)))
        }
        _ => to_slash_path(below),
    };
    if path.is_empty() { ".".to_owned() } else { path + &fragment }
}

/// Applies leading `.` and `..` components, and returns the resulting directory and the rest of the path. Later
/// components are kept, since their meaning depends on links.
fn apply_leading_dots<'a>(directory: &Path, path: &'a str) -> (PathBuf, &'a str) {
    let mut base = directory.to_owned();
    let mut remaining = path;
    loop {
        let (component, after) =
            remaining.split_once(['/', std::path::MAIN_SEPARATOR]).unwrap_or((remaining, ""));
        match component {
            "." => {}
            ".." => {
                base.pop();
            }
            _ => return (base, remaining),
        }
        remaining = after;
    }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn to_slash_path(below: &Path) -> String {
    let parts = below.components().filter_map(|part| match part {
        Component::Normal(_) | Component::ParentDir => Some(part.as_os_str().to_string_lossy()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Returns a pattern that matches only `text`.
fn escape_wildcards(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '*' | '?' | '[' | '{' => pattern.extend(['[', character, ']']),
            character => pattern.push(character),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A tree of files in a temporary directory. Dropping it deletes the directory.
    struct Tree {
        _directory: tempfile::TempDir,
        top: PathBuf,
    }

    impl Tree {
        /// Creates a tree with these files, and a directory for each path that ends with a slash.
        fn new(files: &[&str]) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let top = canonical(directory.path()).unwrap();
            for file in files {
                let path = top.join(file);
                if file.ends_with('/') {
                    fs::create_dir_all(path).unwrap();
                } else {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, file).unwrap();
                }
            }
            Self { _directory: directory, top }
        }

        fn path(&self, below: &str) -> PathBuf {
            self.top.join(below)
        }

        #[cfg(unix)]
        fn link(&self, target: &str, link: &str) {
            std::os::unix::fs::symlink(target, self.path(link)).unwrap();
        }
    }

    #[test]
    fn the_nearest_folder_under_version_control_is_the_repository() {
        let tree = Tree::new(&[
            "root/.git/HEAD",
            "root/src/a.rs",
            "root/vendor/.git",
            "root/vendor/x/b.rs",
            "hg/.hg/",
            "hg/c/",
        ]);
        let repository = |folder: &str| find_repository(&tree.path(folder));
        assert_eq!(repository("root/src"), Some(tree.path("root")));
        assert_eq!(repository("root"), Some(tree.path("root")));
        assert_eq!(
            repository("root/vendor/x"),
            Some(tree.path("root/vendor")),
            "a submodule has a `.git` file"
        );
        assert_eq!(repository("hg/c"), Some(tree.path("hg")));
        assert_eq!(repository("nowhere"), None);
        assert!(find_repository(&tree.top).is_none_or(|top| !top.starts_with(&tree.top)));
    }

    #[cfg(unix)]
    #[test]
    fn the_repository_is_found_through_a_link() {
        let tree = Tree::new(&["root/.git/HEAD", "root/src/a.rs"]);
        tree.link("root/src", "short");
        assert_eq!(find_repository(&tree.path("short")), Some(tree.path("root")));
    }

    #[test]
    fn typed_paths_are_relative_to_the_current_directory() {
        let tree = Tree::new(&[
            "root/src/a.rs",
            "root/src/in/b.rs",
            "root/docs/c.md",
            "root/src/d#e.rs",
            "else/f.rs",
        ]);
        let resolve = |directory: &str, typed: &str| {
            relative_to_workspace(&tree.path("root"), &tree.path(directory), typed)
        };
        for (directory, typed, name) in [
            ("root/src", "a.rs", "src/a.rs"),
            ("root/src", "./in/b.rs", "src/in/b.rs"),
            ("root/src/in", "../a.rs", "src/a.rs"),
            ("root/src/in", "../../docs", "docs"),
            ("root/src", ".", "src"),
            ("root/src", "..", "."),
            ("root", ".", "."),
            ("root", "src/a.rs", "src/a.rs"),
            ("root/src", "a.rs#L1-2", "src/a.rs#L1-2"),
            ("root/src", "a.rs#A.b", "src/a.rs#A.b"),
            ("root/src", "a.rs:10", "src/a.rs#L10"),
            ("root/src", "src/a.rs:4: let a = b::c;", "src/a.rs#L4"),
            ("root/src", "d#e.rs", "src/d#e.rs"),
            ("root/src", "d#e.rs#L1", "src/d#e.rs#L1"),
            ("root/src", "*.rs", "src/*.rs"),
            ("root/src", "../*/c.md", "*/c.md"),
            // Does not exist here, but relative to the top, as commands print it.
            ("root/src", "src/a.rs", "src/a.rs"),
            ("root/src", "docs/c.md#L2", "docs/c.md#L2"),
            ("root/src", "new.rs", "src/new.rs"),
            // From outside the repository.
            ("", "root/src/a.rs", "src/a.rs"),
            ("else", "../root/src/a.rs", "src/a.rs"),
            ("else", "src/a.rs", "src/a.rs"),
            ("else", "src/*.rs", "src/*.rs"),
            ("", "root/src/*.rs", "src/*.rs"),
            ("else", "f.rs", "f.rs"),
            ("root/src", "in/../a.rs", "src/in/../a.rs"),
            ("root/src", "file:///x", "file:///x"),
            ("root/src", "", ""),
        ] {
            assert_eq!(resolve(directory, typed), name, "{typed} in {directory}");
        }
        let outside = tree.path("else/f.rs");
        assert_eq!(resolve("root/src", "../../else/f.rs"), outside.to_string_lossy());
        assert_eq!(resolve("root", outside.to_str().unwrap()), outside.to_string_lossy());
    }

    #[cfg(unix)]
    #[test]
    fn wildcards_in_the_name_of_the_current_directory_are_escaped() {
        let tree = Tree::new(&["root/[id]/a.rs"]);
        let from = |typed: &str| relative_to_workspace(&tree.path("root"), &tree.path("root/[id]"), typed);
        assert_eq!(from("*.rs"), "[[]id]/*.rs");
        assert_eq!(from("a.rs"), "[id]/a.rs");
    }
}
