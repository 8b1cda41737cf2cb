//! The command line in a repository, with directories of its own for state, cache and settings.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::{Agent, Repo, separate, strata};

/// A shell in a repository.
pub struct Shell<'a> {
    repo: &'a Repo,
    home: TempDir,
    state: PathBuf,
    variables: Vec<(&'a str, &'a str)>,
}

/// What a subcommand printed, and how it ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Printed {
    pub is_success: bool,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl<'a> Shell<'a> {
    /// Creates a shell in a repository.
    pub fn new(repo: &'a Repo) -> Self {
        let home = tempfile::tempdir().unwrap();
        Self { repo, state: home.path().to_owned(), home, variables: Vec::new() }
    }

    /// Sets an environment variable for all subcommands.
    pub fn variable(mut self, name: &'a str, value: &'a str) -> Self {
        self.variables.push((name, value));
        self
    }

    /// Writes the user's settings.
    pub fn settings(self, settings: &str) -> Self {
        let folder = self.home.path().join("config/strata");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("strata.toml"), settings).unwrap();
        self
    }

    /// Uses the state directory of another shell.
    pub fn state_of(self, other: &Shell<'_>) -> Self {
        Self { state: other.state().to_owned(), ..self }
    }

    /// Returns the state directory.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// Returns the cache directory.
    pub fn cache(&self) -> PathBuf {
        self.home.path().join("cache")
    }

    /// Runs a subcommand to its end.
    pub fn run(&self, arguments: &[&str], input: &str) -> Printed {
        let mut child = self.start(arguments);
        // A subcommand that reads nothing may end first.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let done = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Printed { is_success: done.status.success(), out: text(done.stdout), err: text(done.stderr) }
    }

    fn start(&self, arguments: &[&str]) -> Child {
        separate(&mut Command::new(strata()), self.home.path())
            .args(arguments)
            .current_dir(self.repo.root())
            .env("STRATA_STATE_DIR", self.state())
            .envs(self.variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Starts `strata mcp`.
    pub fn agent(&self) -> Agent {
        self.agent_with(&[])
    }

    /// Starts `strata mcp` with more arguments.
    pub fn agent_with(&self, arguments: &[&str]) -> Agent {
        Agent::new(self.start(&[&["mcp"], arguments].concat()))
    }

    /// Calls tools of `strata mcp`, one after the other, and returns their results and the server's log.
    pub fn tools(&self, calls: &[(&str, Value)]) -> (Vec<Value>, String) {
        let mut agent = self.agent();
        let results = calls.iter().map(|(tool, arguments)| agent.call(tool, arguments.clone())).collect();
        (results, agent.end())
    }
}
