//! The command line in a repository, with directories of its own for state, cache and settings.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Repo, strata};

/// A shell in a repository.
pub struct Shell<'a> {
    repo: &'a Repo,
    home: TempDir,
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
        Self { repo, home: tempfile::tempdir().unwrap(), variables: Vec::new() }
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

    /// Returns the state directory.
    pub fn state(&self) -> &Path {
        self.home.path()
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
        Command::new(strata())
            .args(arguments)
            .current_dir(self.repo.root())
            .env("XDG_CONFIG_HOME", self.home.path().join("config"))
            .env("STRATA_STATE_DIR", self.state())
            .env("STRATA_CACHE_DIR", self.cache())
            .envs(self.variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Calls tools of `strata mcp`, one after the other, and returns their results and the server's log.
    pub fn tools(&self, calls: &[(&str, Value)]) -> (Vec<Value>, String) {
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } });
        let mut child = self.start(&["mcp"]);
        let mut input = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut log = child.stderr.take().unwrap();
        let log = thread::spawn(move || {
            let mut text = String::new();
            log.read_to_string(&mut text).map(|_| text)
        });
        for opening in [
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        ] {
            writeln!(input, "{opening}").unwrap();
        }
        let call = |(id, (tool, arguments)): (usize, &(&str, Value))| {
            let params = json!({ "name": tool, "arguments": arguments });
            let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
            writeln!(input, "{message}").unwrap();
            loop {
                let line = lines.next().unwrap_or_else(|| panic!("no reply to {message}")).unwrap();
                let reply: Value = serde_json::from_str(&line).unwrap();
                if reply["id"] == id {
                    return reply["result"].clone();
                }
            }
        };
        let results = (1..).zip(calls).map(call).collect();
        drop(input);
        assert!(child.wait().unwrap().success());
        (results, log.join().unwrap().unwrap())
    }
}
