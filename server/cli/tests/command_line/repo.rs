//! Creates a repository for a test, and runs the binary in it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A repository in a temporary directory. Dropping it deletes the directory.
pub(crate) struct Repo {
    _directory: tempfile::TempDir,
    folder: PathBuf,
}

/// The exit code and output of a run.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A small program in which `view.py` depends on `request.py`.
pub(crate) const APP: &[(&str, &str)] = &[
    (
        "app/request.py",
        "class Request:\n    \"\"\"One request.\"\"\"\n\n    def body(self):\n        return 'request body'\n",
    ),
    (
        "app/view.py",
        "from app.request import Request\n\n\nclass View:\n    def answer(self, request: Request):\n        return 'view body', request.body()\n",
    ),
    ("notes.md", "# Notes\n\nnotes body\n"),
];

impl Repo {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let folder = real(directory.path()).join("repo");
        fs::create_dir(&folder).unwrap();
        let repo = Self { _directory: directory, folder };
        for (path, content) in files {
            repo.write(path, content);
        }
        repo
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs the binary in the repository with empty standard input.
    pub(crate) fn strata(&self, arguments: &[&str]) -> Run {
        self.strata_with(b"", arguments)
    }

    /// Runs the binary in the repository with `input` on its standard input.
    pub(crate) fn strata_with(&self, input: &[u8], arguments: &[&str]) -> Run {
        self.ended(self.spawn(arguments, Stdio::piped()), input)
    }

    /// Runs the binary in a directory given relative to the repository, which may be above it.
    pub(crate) fn strata_in(&self, folder: &str, arguments: &[&str]) -> Run {
        let folder = real(&self.folder.join(folder));
        let mut command = self.command(arguments, Stdio::piped());
        self.ended(command.current_dir(folder).spawn().unwrap(), b"")
    }

    /// Runs the binary in the repository with additional environment variables.
    pub(crate) fn strata_under(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Run {
        let mut command = self.command(arguments, Stdio::piped());
        self.ended(command.envs(variables.iter().copied()).spawn().unwrap(), b"")
    }

    /// Runs a shell command line in the repository, with the binary in `PATH`. Returns all output.
    #[cfg(unix)]
    pub(crate) fn shell(&self, line: &str) -> String {
        let binaries = Path::new(env!("CARGO_BIN_EXE_strata")).parent().unwrap().to_owned();
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths([binaries].into_iter().chain(std::env::split_paths(&inherited))).unwrap();
        let mut command = self.prepared("sh", Stdio::piped());
        command.args(["-c", &format!("{{ {line}\n}} 2>&1")]).env("PATH", path);
        self.ended(command.spawn().unwrap(), b"").out
    }

    fn ended(&self, mut child: Child, input: &[u8]) -> Run {
        // The process may have ended without reading its input.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        let text = |bytes| portable(&String::from_utf8(bytes).unwrap(), self.folder.to_str().unwrap());
        Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    pub(crate) fn spawn(&self, arguments: &[&str], stdout: Stdio) -> Child {
        self.command(arguments, stdout).spawn().unwrap()
    }

    fn command(&self, arguments: &[&str], stdout: Stdio) -> Command {
        let mut command = self.prepared(env!("CARGO_BIN_EXE_strata"), stdout);
        command.args(arguments);
        command
    }

    fn prepared(&self, program: &str, stdout: Stdio) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.folder)
            // The user's settings and ignore files must not affect tests.
            .env("HOME", self.folder.parent().unwrap())
            .env("APPDATA", self.folder.parent().unwrap().join(".config"))
            .env_remove("XDG_CONFIG_HOME")
            .env("STRATA_STATE_DIR", self.folder.parent().unwrap().join("state"))
            .env("STRATA_CACHE_DIR", self.folder.parent().unwrap().join("cache"))
            .env_remove("STRATA_LOG")
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(Stdio::piped());
        command
    }
}

impl Run {
    /// Parses standard output as JSON. The run must have succeeded.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{}", self.err);
        assert_eq!(self.out.lines().count(), 1, "JSON for a program is one line");
        serde_json::from_str(&self.out).unwrap()
    }

    /// Returns the error message of a failed run, which must not print a result.
    pub(crate) fn refusal(&self) -> &str {
        assert_eq!((self.code, &*self.out), (Some(1), ""), "{}", self.err);
        &self.err
    }
}

/// Replaces the path of the repository with `REPO`. On Windows, also replaces what the system says and spells
/// differently, so that the tests expect the same text everywhere.
fn portable(text: &str, folder: &str) -> String {
    if !cfg!(windows) {
        return text.replace(folder, "REPO");
    }
    let mut parts = text.split(folder);
    let mut portable = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end =
            part.find(|c: char| c.is_whitespace() || matches!(c, ')' | '`' | ',')).unwrap_or(part.len());
        let (below, rest) = part.split_at(end);
        portable += &format!("REPO{}{rest}", below.replace('\\', "/"));
    }
    // `ERROR_FILE_NOT_FOUND` and `ERROR_PATH_NOT_FOUND`.
    for code in [2, 3] {
        let missing = std::io::Error::from_raw_os_error(code).to_string();
        portable = portable
            .replace("strata.exe", "strata")
            .replace(&missing, "No such file or directory (os error 2)");
    }
    portable
}

/// Returns a path without symbolic links, and on Windows without the prefix `\\?\`.
fn real(path: &Path) -> PathBuf {
    let real = path.canonicalize().unwrap();
    real.to_str().unwrap().strip_prefix(r"\\?\").map_or_else(|| real.clone(), PathBuf::from)
}
