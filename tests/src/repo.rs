//! A small repository for one test, created from a text.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{io, thread};

use tempfile::TempDir;

use crate::LIMIT;

/// A temporary directory. Removed when the last clone is dropped; an editor holds a clone.
#[derive(Clone, Debug)]
pub struct Repo {
    _directory: Arc<TempDir>,
    root: PathBuf,
}

impl Repo {
    /// Creates a repository from a text in which each file starts with a line `//- path`. Removes the
    /// indentation that all lines share.
    pub fn new(fixture: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = real(directory.path());
        let repo = Self { _directory: Arc::new(directory), root };
        let fixture = dedented(fixture);
        let starts = fixture.match_indices("//- ").map(|(at, _)| at);
        let starts: Vec<usize> = starts.filter(|at| *at == 0 || fixture[..*at].ends_with('\n')).collect();
        for (number, start) in starts.iter().enumerate() {
            let end = starts.get(number + 1).copied().unwrap_or(fixture.len());
            let file = fixture[*start..end].trim_start_matches("//- ");
            let (path, text) = file.split_once('\n').unwrap_or((file, ""));
            repo.write(path, text);
        }
        repo
    }

    /// Returns a directory of the repository, as a repository of its own.
    pub fn folder(&self, below: &str) -> Self {
        Self { root: self.path(below), ..self.clone() }
    }

    /// Returns the repository's directory, without symbolic links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the absolute path of a file.
    pub fn path(&self, below: &str) -> PathBuf {
        self.root.join(below)
    }

    /// Returns the URI of a file in the spelling of an editor.
    pub fn uri(&self, below: &str) -> String {
        uri_of(&self.path(below))
    }

    /// Renames a file or directory.
    pub fn rename(&self, from: &str, to: &str) {
        patiently(|| fs::rename(self.path(from), self.path(to)));
    }

    /// Removes a directory with all its files.
    pub fn remove_folder(&self, below: &str) {
        patiently(|| fs::remove_dir_all(self.path(below)));
    }

    /// Writes a file to disk.
    pub fn write(&self, below: &str, content: impl AsRef<[u8]>) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Reads a file from disk.
    pub fn read(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap()
    }
}

/// Makes a change to a directory. Windows refuses while the server reads in the directory, which it does for a moment
/// after a change.
fn patiently(change: impl Fn() -> io::Result<()>) {
    let start = Instant::now();
    while let Err(error) = change() {
        assert!(cfg!(windows) && start.elapsed() < LIMIT, "{error}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Resolves symbolic links. On Windows, removes the prefix `\\?\`.
fn real(path: &Path) -> PathBuf {
    let real = path.canonicalize().unwrap();
    real.to_str().unwrap().strip_prefix(r"\\?\").map_or_else(|| real.clone(), PathBuf::from)
}

/// Returns the `file:` URI of an absolute path. Percent-encodes everything except unreserved characters, slashes and the colon of a
/// drive.
pub fn uri_of(path: &Path) -> String {
    let mut path = path.to_str().unwrap().to_owned();
    let mut uri = "file://".to_owned();
    if cfg!(windows) && !path.starts_with('/') {
        path = path.replace('\\', "/");
        let drive: String = path.drain(..2).collect();
        uri.push_str(&format!("/{drive}"));
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

fn dedented(text: &str) -> String {
    let text = text.trim_start_matches('\n');
    let depth = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let shared = text.lines().filter(|line| !line.trim().is_empty()).map(depth).min().unwrap_or(0);
    let lines: Vec<&str> = text.split('\n').map(|line| line.get(shared..).unwrap_or_default()).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixture_becomes_files() {
        let repo = Repo::new(
            "
            //- src/a.rs
            fn a() {
                b();
            }

            //- empty
            //- b.py
            x = 'é'
            ",
        );
        assert_eq!(repo.read("src/a.rs"), "fn a() {\n    b();\n}\n\n");
        assert_eq!(repo.read("empty"), "");
        assert_eq!(repo.read("b.py"), "x = 'é'\n");
    }

    #[test]
    fn a_uri_is_percent_encoded() {
        assert_eq!(uri_of(Path::new("/a b/é#.rs")), "file:///a%20b/%C3%A9%23.rs");
    }
}
