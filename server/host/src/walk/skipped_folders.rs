//! Folders skipped even without ignore files. The list is short: tools create these folders, no one edits them, and their names
//! or contents are unambiguous. `build`, `out`, `bin`, `lib` and `env` are often source folders and stay.

use std::ffi::OsStr;
use std::path::Path;

/// Folders that are never scanned, regardless of settings: version control stores and desktop metadata.
const NEVER: &[&str] = &[".git", ".hg", ".svn", ".jj", ".DS_Store"];

/// Folders left out by name.
const BY_NAME: &[&str] = &[
    // JavaScript
    "node_modules",
    "bower_components",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".parcel-cache",
    ".turbo",
    // Python
    "__pycache__",
    ".venv",
    ".tox",
    ".nox",
    ".eggs",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    // others
    ".gradle",
    ".terraform",
    ".direnv",
    ".cache",
    ".stack-work",
    ".dart_tool",
    "elm-stuff",
];

/// Folders left out when one of these files lies beside them.
const BESIDE: &[(&str, &[&str])] = &[
    ("target", &["Cargo.toml", "pom.xml", "build.sbt"]),
    ("build", &["build.gradle", "build.gradle.kts"]),
    ("dist", &["package.json", "pyproject.toml", "setup.py"]),
    ("vendor", &["go.mod", "composer.json", "Gemfile"]),
    ("Pods", &["Podfile"]),
    ("_build", &["mix.exs", "dune-project"]),
    ("deps", &["mix.exs"]),
];

/// Files that mark the folder they lie in: a cache (<https://bford.info/cachedir/>, written by cargo, pytest, ruff, mypy) and a
/// Python virtual environment of any name. Their content is not read.
const INSIDE: &[&str] = &["CACHEDIR.TAG", "pyvenv.cfg"];

/// Whether a file or folder of this name is left out in every case.
pub(super) fn is_never_walked(name: &OsStr) -> bool {
    NEVER.iter().any(|never| name == *never)
}

/// Whether a folder is generated. `depth` is 1 directly below a root, where a `target` counts as build output without further
/// evidence.
pub(super) fn is_generated_folder(folder: &Path, depth: usize) -> bool {
    let Some(name) = folder.file_name() else { return false };
    if BY_NAME.iter().any(|generated| name == *generated) || (depth == 1 && name == "target") {
        return true;
    }
    let signs = BESIDE.iter().find(|(generated, _)| name == *generated);
    if let (Some((_, signs)), Some(parent)) = (signs, folder.parent())
        && signs.iter().any(|sign| is_file(&parent.join(sign)))
    {
        return true;
    }
    INSIDE.iter().any(|mark| is_file(&folder.join(mark)))
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}
