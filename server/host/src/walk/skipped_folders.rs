//! Recognizes directories and files that are skipped even without ignore files. The list is short: tools create these
//! directories, users do not edit them, and their names or contents are unambiguous. `build`, `out`, `bin`, `lib` and
//! `env` are often source directories, so their names alone are not enough.

use std::ffi::OsStr;
use std::path::Path;

/// Files and directories that are never scanned, regardless of settings: version control data and desktop metadata.
const NEVER_WALKED: &[&str] = &[".git", ".hg", ".svn", ".jj", ".DS_Store"];

/// Names of directories that are always generated.
const GENERATED_NAMES: &[&str] = &[
    // JavaScript.
    "node_modules",
    "bower_components",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".parcel-cache",
    ".turbo",
    // Python.
    "__pycache__",
    ".venv",
    ".tox",
    ".nox",
    ".eggs",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    // Other tools.
    ".gradle",
    ".terraform",
    ".direnv",
    ".cache",
    ".stack-work",
    ".dart_tool",
    "elm-stuff",
];

/// Names of directories that are generated if one of the listed files is next to them.
const GENERATED_BESIDE_FILES: &[(&str, &[&str])] = &[
    ("target", &["Cargo.toml", "pom.xml", "build.sbt"]),
    ("build", &["build.gradle", "build.gradle.kts"]),
    ("dist", &["package.json", "pyproject.toml", "setup.py"]),
    ("vendor", &["go.mod", "composer.json", "Gemfile"]),
    ("Pods", &["Podfile"]),
    ("_build", &["mix.exs", "dune-project"]),
    ("deps", &["mix.exs"]),
];

/// Files that mark their directory as a cache (<https://bford.info/cachedir/>, written by cargo, pytest, ruff and mypy)
/// or as a Python virtual environment. Only their existence is checked.
const MARKER_FILES: &[&str] = &["CACHEDIR.TAG", "pyvenv.cfg"];

/// Whether files and directories with this name are always skipped.
pub(super) fn is_never_walked(name: &OsStr) -> bool {
    NEVER_WALKED.iter().any(|never_walked| name == *never_walked)
}

/// Whether a file is a lock file (`.#name`) or an autosaved copy (`#name#`) of an open buffer in Emacs.
pub(super) fn is_lock_or_autosave(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b".#") || (name.len() > 2 && name.starts_with(b"#") && name.ends_with(b"#"))
}

/// Whether a directory is generated. `depth` is 1 directly inside a root, where `target` counts as build output without
/// further evidence.
pub(super) fn is_generated_folder(folder: &Path, depth: usize) -> bool {
    let Some(name) = folder.file_name() else { return false };
    if GENERATED_NAMES.iter().any(|generated| name == *generated) || (depth == 1 && name == "target") {
        return true;
    }
    let neighbours = GENERATED_BESIDE_FILES.iter().find(|(generated, _)| name == *generated);
    if let (Some((_, neighbours)), Some(parent)) = (neighbours, folder.parent())
        && neighbours.iter().any(|neighbour| is_file(&parent.join(neighbour)))
    {
        return true;
    }
    MARKER_FILES.iter().any(|marker| is_file(&folder.join(marker)))
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}
