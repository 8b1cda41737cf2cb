//! aider's repository map, asked through its own interpreter over a clone of its own.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use super::ShownLines;
use super::history::{Commit, Tree};

pub(crate) struct Aider {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    _checkout: tempfile::TempDir,
}

impl Aider {
    pub(crate) fn start(python: &Path, repository: &Path) -> Option<Self> {
        let checkout = tempfile::tempdir().ok()?;
        let cloned = Command::new("git")
            .args(["clone", "--quiet", "--shared", "--no-checkout"])
            .arg(repository)
            .arg(checkout.path())
            .status();
        cloned.ok().filter(ExitStatus::success)?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/aider_rank.py");
        let mut child = Command::new(python)
            .arg(script)
            .arg(checkout.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let (input, output) = (child.stdin.take()?, child.stdout.take()?);
        Some(Self { child, input: Some(input), output: BufReader::new(output), _checkout: checkout })
    }

    /// The lines of code in the map for a commit's subject.
    pub(crate) fn shown(&mut self, commit: &Commit, budget: usize, tree: &Tree) -> ShownLines {
        let map = self.map(commit, budget).unwrap_or_default();
        let mut shown = ShownLines::default();
        let (mut path, mut after) = ("", 0);
        for line in map.lines() {
            if let Some(code) = line.strip_prefix('│') {
                // The map has its lines in the order of the file, each as it is there.
                let lines = tree.texts.get(path).map(|text| text.lines()).into_iter().flatten();
                let place = (0_u32..).zip(lines).skip(after).find(|(_, own)| own.starts_with(code));
                if let Some((number, _)) = place {
                    shown.add(path, number..number + 1);
                    after = number as usize + 1;
                }
            } else if let Some(name) = line.strip_suffix(':') {
                (path, after) = (name, 0);
            }
        }
        shown
    }

    fn map(&mut self, commit: &Commit, budget: usize) -> Option<String> {
        let question =
            serde_json::json!({ "parent": commit.parent, "text": commit.subject, "budget": budget });
        writeln!(self.input.as_mut()?, "{question}").ok()?;
        let mut line = String::new();
        self.output.read_line(&mut line).ok()?;
        let answer: serde_json::Value = serde_json::from_str(&line).ok()?;
        answer.get("map")?.as_str().map(str::to_owned)
    }
}

impl Drop for Aider {
    fn drop(&mut self) {
        self.input = None;
        let _ended = self.child.wait();
    }
}
