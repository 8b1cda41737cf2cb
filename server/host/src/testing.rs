//! Creates a directory tree for one test, with a workspace folder `root` and any files outside of it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::roots::{RootFolder, Roots};

/// A tree in a temporary directory. Dropping it deletes the directory.
pub(crate) struct TestTree {
    _directory: tempfile::TempDir,
    top: PathBuf,
}

impl TestTree {
    /// Creates a tree with these files, each with its own path as content. Paths are relative to the top: `root/a.rs`
    /// is inside the workspace folder, `outside/a.rs` is not. A path that ends with a slash is a directory.
    pub(crate) fn new(files: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let top = crate::roots::canonical(directory.path()).unwrap();
        let tree = Self { _directory: directory, top };
        fs::create_dir(tree.path("root")).unwrap();
        for file in files {
            match file.strip_suffix('/') {
                Some(folder) => fs::create_dir_all(tree.path(folder)).unwrap(),
                None => tree.write(file, file),
            }
        }
        tree
    }

    /// Returns the absolute path of an entry in the tree.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.top.join(below)
    }

    pub(crate) fn top(&self) -> &Path {
        &self.top
    }

    pub(crate) fn write(&self, file: &str, content: impl AsRef<[u8]>) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Creates a symbolic link. `target` is stored as given.
    #[cfg(unix)]
    pub(crate) fn create_link(&self, target: impl AsRef<Path>, link: &str) {
        std::os::unix::fs::symlink(target, self.path(link)).unwrap();
    }

    /// Creates a FIFO without a writer, which blocks whoever opens it for reading.
    #[cfg(unix)]
    pub(crate) fn create_fifo(&self, path: &str) {
        let path = self.path(path);
        #[cfg(target_os = "linux")]
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
        // `rustix` cannot create one on macOS.
        #[cfg(not(target_os = "linux"))]
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    /// Returns roots that contain only the workspace folder `root`.
    pub(crate) fn roots(&self) -> Roots {
        Roots::single(self.path("root")).unwrap()
    }

    pub(crate) fn several_roots(&self, folders: &[&str]) -> Roots {
        Roots::new(folders.iter().map(|folder| RootFolder { name: None, path: self.path(folder) })).unwrap()
    }
}
