//! The repository as text: finds and reads files, and queries Cargo. Does not check anything.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

/// Directories that contain no files of the project.
const FOREIGN: &[&str] =
    &["target", ".git", "node_modules", ".venv", "dist", "out", "__pycache__", "third_party"];

/// The checkout that these tests were built from.
pub(crate) struct Repo {
    /// The top directory.
    pub(crate) root: PathBuf,
}

/// A file with its path relative to the top directory, separated by `/`.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A crate of the workspace as `cargo metadata` describes it.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Names of the crates that it depends on, including dev-dependencies.
    pub(crate) dependencies: Vec<String>,
    /// Names of its binaries.
    pub(crate) binaries: Vec<String>,
}

impl File {
    #[cfg(test)]
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }
}

impl Repo {
    pub(crate) fn open() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is inside the workspace");
        Self { root: root.to_owned() }
    }

    /// Returns all text files.
    pub(crate) fn texts(&self) -> Vec<File> {
        let mut found = Vec::new();
        self.collect(&self.root, &mut found);
        found.sort_by(|one, other| one.path.cmp(&other.path));
        assert!(found.len() > 50, "only {} files found under {}", found.len(), self.root.display());
        found
    }

    /// Returns the Rust sources of all crates.
    pub(crate) fn sources(&self) -> Vec<File> {
        let mut files = self.texts();
        files.retain(|file| file.path.ends_with(".rs"));
        files
    }

    /// Returns the manifests of the workspace and of all crates.
    pub(crate) fn manifests(&self) -> Vec<File> {
        let mut files = self.texts();
        files.retain(|file| file.path == "Cargo.toml" || file.path.ends_with("/Cargo.toml"));
        files
    }

    /// Returns the manifests of the JavaScript clients.
    pub(crate) fn packages(&self) -> Vec<File> {
        let mut files = self.texts();
        files.retain(|file| file.path.starts_with("editors/") && file.path.ends_with("/package.json"));
        files
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn source(&self, path: &str) -> File {
        File { path: path.to_owned(), text: self.text(path) }
    }

    /// Returns the crates of the workspace.
    pub(crate) fn members(&self) -> Vec<Member> {
        let json = self.cargo(&["metadata", "--format-version", "1", "--no-deps"]);
        let metadata: Value = serde_json::from_str(&json).expect("cargo metadata writes JSON");
        array(&metadata["packages"]).iter().map(member).collect()
    }

    /// Returns the names of all crates that are compiled into `package`.
    pub(crate) fn tree(&self, package: &str) -> Vec<String> {
        let tree =
            self.cargo(&["tree", "-e", "normal", "-p", package, "--prefix", "none", "--format", "{p}"]);
        let name = |line: &str| line.split_whitespace().next().map(str::to_owned);
        let names: Vec<String> = tree.lines().filter_map(name).collect();
        assert!(names.iter().any(|name| name == "serde"), "cargo tree printed {tree}");
        names
    }

    fn cargo(&self, arguments: &[&str]) -> String {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(arguments)
            .args(["--offline", "--locked"])
            .current_dir(&self.root)
            .output()
            .expect("cargo can be run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("cargo writes UTF-8")
    }

    fn collect(&self, folder: &Path, found: &mut Vec<File>) {
        for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("the directory can be listed").path();
            let kind = path.symlink_metadata().expect("the entry exists").file_type();
            let foreign =
                path.file_name().and_then(OsStr::to_str).is_some_and(|name| FOREIGN.contains(&name));
            if kind.is_dir() && !foreign {
                self.collect(&path, found);
            } else if kind.is_file()
                && !foreign
                && let Ok(text) = fs::read_to_string(&path)
            {
                let path = path.strip_prefix(&self.root).expect("the file is in the repository");
                let parts: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
                found.push(File { path: parts.join("/"), text });
            }
        }
    }
}

fn member(package: &Value) -> Member {
    let is_binary = |target: &&Value| array(&target["kind"]).iter().any(|kind| kind == "bin");
    Member {
        name: text(&package["name"]),
        dependencies: array(&package["dependencies"])
            .iter()
            .map(|dependency| text(&dependency["name"]))
            .collect(),
        binaries: array(&package["targets"])
            .iter()
            .filter(is_binary)
            .map(|target| text(&target["name"]))
            .collect(),
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
