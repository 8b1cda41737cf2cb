//! What agents cost beside an editor: `cargo bench -p e2e --bench attached -- DIR`.
//!
//! Starts agents on the folder without an editor, and then with one that has it open, and prints the time of look-ups, the
//! first and the median of the others, and the memory of each process: its own pages (`Private_*`) and its share of all
//! (`Pss`), from `/proc/PID/smaps_rollup`. Then prints the size of the index on disk of one work tree, and of ten work trees
//! with five servers.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::print_stderr, reason = "a bench says how it is called")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on must fail")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use e2e::{Agent, Server, Times, hello, separate, strata, uri_of};
use serde_json::{Value, json};

const AGENTS: usize = 5;
const LOOK_UPS: usize = 5;
const WORK_TREES: usize = 10;
const SERVERS: usize = 5;
/// A method that many files of Django define and call.
const NAME: &str = "get_queryset";

/// Directories of one user.
struct Home {
    state: tempfile::TempDir,
    cache: tempfile::TempDir,
}

/// Memory of a process, in bytes.
#[derive(Clone, Copy, Default)]
struct Memory {
    private: u64,
    share: u64,
}

fn main() {
    let Some(folder) = env::args().skip(1).find(|argument| argument != "--bench") else {
        eprintln!("cargo bench -p e2e --bench attached -- DIR");
        return;
    };
    let folder = fs::canonicalize(folder).unwrap();
    let home = Home::new();

    println!("look-ups (`symbols`, `references`)   first   median of {LOOK_UPS}   private     PSS");
    let mut alone = home.agent(&folder);
    row("an agent alone, no index on disk", &mut alone);
    drop(alone);
    let mut alone = home.agent(&folder);
    row("an agent alone, index on disk", &mut alone);
    drop(alone);
    let mut server = home.server(&folder);
    let mut agents: Vec<(Agent, u32)> = (0..AGENTS).map(|_| home.agent(&folder)).collect();
    for (at, agent) in agents.iter_mut().enumerate() {
        row(&format!("attached agent {}", at + 1), agent);
    }
    let largest = agents.iter().map(|(_, process)| memory(*process).private).max().unwrap();
    println!("largest private memory of {AGENTS} attached agents: {}", mebibytes(largest));
    drop(agents);
    server.kill();

    let trees = tempfile::tempdir().unwrap();
    let trees: Vec<PathBuf> = (0..WORK_TREES).map(|at| trees.path().join(format!("tree{at}"))).collect();
    for tree in &trees {
        let copied = Command::new("cp").arg("-r").arg(&folder).arg(tree).status().unwrap();
        assert!(copied.success());
    }
    let home = Home::new();
    let mut servers = Vec::new();
    println!("\nwork trees   servers   index on disk");
    for (at, tree) in trees.iter().enumerate() {
        let mut server = home.server(tree);
        if at < SERVERS {
            servers.push(server);
        } else {
            server.kill();
        }
        if at == 0 || at + 1 == SERVERS || at + 1 == WORK_TREES {
            println!("{:10}   {:7}   {}", at + 1, servers.len(), mebibytes(size(home.cache.path())));
        }
    }
    for (at, server) in servers.iter().enumerate() {
        let Memory { private, share } = memory(server.process_id());
        println!("server {}: private {}, PSS {}", at + 1, mebibytes(private), mebibytes(share));
    }
}

impl Home {
    fn new() -> Self {
        Self { state: tempfile::tempdir().unwrap(), cache: tempfile::tempdir().unwrap() }
    }

    /// Starts an agent, and returns it with its process id.
    fn agent(&self, folder: &Path) -> (Agent, u32) {
        let process = separate(&mut Command::new(strata()), self.state.path())
            .arg("mcp")
            .arg(folder)
            .env("STRATA_CACHE_DIR", self.cache.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let id = process.id();
        (Agent::new(process), id)
    }

    /// Starts a language server on the folder, and waits until the folder is indexed.
    fn server(&self, folder: &Path) -> Server {
        let cache = self.cache.path().to_str().unwrap().to_owned();
        let variables = [("STRATA_CACHE_DIR".to_owned(), cache)];
        let mut server = Server::start_with(self.state.path(), &variables);
        server.answer_with("client/registerCapability", Value::Null);
        server.answer_with("workspace/configuration", json!([null]));
        server.answer_with("window/workDoneProgress/create", Value::Null);
        let mut hello = hello();
        hello["workspaceFolders"] = json!([{ "name": "bench", "uri": uri_of(folder) }]);
        server.request("initialize", hello).unwrap();
        server.notify("initialized", json!({}));
        let status = json!({ "command": "strata.server.status", "arguments": [] });
        while server.request("workspace/executeCommand", status.clone()).unwrap()["index"] != "ready" {
            thread::sleep(Duration::from_millis(20));
        }
        server
    }
}

/// Prints the times of an agent's look-ups, and its memory after them.
fn row(name: &str, (agent, process): &mut (Agent, u32)) {
    let begun = Instant::now();
    look_up(agent);
    let first = begun.elapsed();
    let others = Times::of(LOOK_UPS, || look_up(agent));
    let Memory { private, share } = memory(*process);
    println!(
        "{name:34} {:>6.0?} {:>14.0?} {:>13} {:>8}",
        first,
        others.percentile(50),
        mebibytes(private),
        mebibytes(share)
    );
}

fn look_up(agent: &mut Agent) {
    for (tool, arguments) in [("symbols", json!({ "query": NAME })), ("references", json!({ "name": NAME }))]
    {
        let text = agent.text(tool, arguments);
        assert!(text.contains(NAME), "{text}");
    }
}

/// Returns the memory of a process.
fn memory(process: u32) -> Memory {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap();
    let mut memory = Memory::default();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(field), Some(size)) =
            (words.next(), words.next().and_then(|size| size.parse::<u64>().ok()))
        else {
            continue;
        };
        match field {
            "Private_Clean:" | "Private_Dirty:" => memory.private += size << 10,
            "Pss:" => memory.share += size << 10,
            _ => {}
        }
    }
    memory
}

/// Returns the size of all files in a directory, in bytes.
fn size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().map(Result::unwrap);
    entries
        .map(|entry| {
            let metadata = entry.metadata().unwrap();
            if metadata.is_dir() { size(&entry.path()) } else { metadata.len() }
        })
        .sum()
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
