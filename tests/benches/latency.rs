//! How long an editor waits: `cargo bench -p e2e --bench latency -- DIR`.
//!
//! Drives the real server on the folder over pipes and prints the time from its start to its first answers; of commands that do
//! nothing, one after the other, beside the same bytes through `cat`, which is what two pipes and two processes cost; of the
//! same while everything is indexed again; of changes to a document of a megabyte until the next command is answered; of
//! prompts with fifty files selected; and how many changes a second it takes.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::print_stderr, reason = "a bench says how it is called")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on must fail")]

use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use e2e::{Times, framing, hello, separate, strata, uri_of};
use serde_json::{Value, json};

/// Commands that do nothing.
const COMMANDS: usize = 10_000;
const STARTS: usize = 10;
const CHANGES: usize = 500;
const FLOOD: usize = 200_000;
const PROMPTS: usize = 50;
const SELECTED: usize = 50;
/// Bytes of the large document.
const LARGE: usize = 1_000_000;

fn main() {
    let Some(folder) = env::args().skip(1).find(|argument| argument != "--bench") else {
        eprintln!("cargo bench -p e2e --bench latency -- DIR");
        return;
    };
    let folder = fs::canonicalize(folder).unwrap();
    starts(&folder);
    let state = tempfile::tempdir().unwrap();

    let mut cat = Pipes::to(&mut Command::new("cat"));
    let mut own = Pipes::to_server(&folder, state.path());
    own.ready();
    let there_and_back = Times::of(COMMANDS, || drop(cat.nothing()));
    let refused = Times::of(COMMANDS, || drop(own.request("strata/noSuchMethod", &Value::Null)));
    let idle = Times::of(COMMANDS, || drop(own.nothing()));
    own.run("server.reindex", json!({}));
    let busy = Times::of(COMMANDS, || drop(own.nothing()));
    println!("a message, {COMMANDS} in turn");
    tell("  through cat", &there_and_back, None);
    tell("  refused: no such method", &refused, Some(&there_and_back));
    tell("  a command that does nothing", &idle, Some(&there_and_back));
    tell("  the same, right behind the wish to index anew", &busy, Some(&there_and_back));
    own.ready();

    let uri = uri_of(&folder.join("large_document.rs"));
    let line = "    let total = add(total, 1); // once more\n";
    let text = format!("fn large() {{\n{}}}\n", line.repeat(LARGE / line.len()));
    let item = json!({ "uri": uri, "languageId": "rust", "version": 1, "text": text });
    own.tell("textDocument/didOpen", &json!({ "textDocument": item }));
    own.run("server.status", json!({}));
    let mut version = 1;
    let mut change = || {
        version += 1;
        let place = json!({ "line": 10_000, "character": 8 });
        let edit = json!({ "range": { "start": place, "end": place }, "text": "x" });
        let params = json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": [edit] });
        notification("textDocument/didChange", &params)
    };
    own.run("server.reindex", json!({}));
    let changes = Times::of(CHANGES, || {
        own.send(&change());
        own.nothing();
    });
    println!(
        "a key in a document of a megabyte, until the next command is answered, {CHANGES} in turn while indexing"
    );
    tell("  answered", &changes, None);
    own.ready();
    // Written before the clock runs: who types is not a part of what is measured.
    let flood: Vec<u8> = (0..FLOOD).flat_map(|_| frame(&change())).collect();
    let begun = Instant::now();
    own.input.write_all(&flood).unwrap();
    own.nothing();
    println!("{FLOOD} keys at once: {:.0} a second", FLOOD as f64 / begun.elapsed().as_secs_f64());
    own.tell("textDocument/didClose", &json!({ "textDocument": { "uri": uri } }));

    let files: Vec<String> = source_files(&folder).into_iter().take(SELECTED).collect();
    own.run("files.select", json!({ "paths": files }));
    let first = Times::of(1, || drop(own.run("prompt.assemble", json!({ "prompt": "Why?" }))));
    let prompts = Times::of(PROMPTS, || drop(own.run("prompt.assemble", json!({ "prompt": "Why?" }))));
    println!("a prompt with {} files in full", files.len());
    tell("  the first", &first, None);
    tell("  later ones", &prompts, None);
}

/// From the start of the process, with outlines on disk.
fn starts(folder: &Path) {
    let state = tempfile::tempdir().unwrap();
    Pipes::to_server(folder, state.path()).ready();
    let (mut hellos, mut prompts): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let begun = Instant::now();
        let mut server = Pipes::to_server(folder, state.path());
        hellos.push(begun.elapsed());
        server.run("prompt.assemble", json!({ "prompt": "Why?" }));
        prompts.push(begun.elapsed());
        server.request("shutdown", &Value::Null);
    }
    println!("from the start of the process, {STARTS} times, outlines on disk");
    tell("  the answer to initialize", &hellos.into_iter().collect(), None);
    tell("  the first prompt", &prompts.into_iter().collect(), None);
}

fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn command(name: &str, argument: Value) -> Value {
    json!({ "command": format!("strata.{name}"), "arguments": [argument] })
}

/// Messages to a process and from it, with nothing in between. One that gives back what it gets answers like a server.
struct Pipes {
    process: Child,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl Pipes {
    fn to(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let input = BufWriter::new(process.stdin.take().unwrap());
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, input, output, last_id: 0 }
    }

    /// A server that has answered `initialize`.
    fn to_server(folder: &Path, state: &Path) -> Self {
        let mut command = Command::new(strata());
        let mut server = Self::to(separate(command.arg("serve"), state));
        let mut hello = hello();
        hello["workspaceFolders"] = json!([{ "uri": uri_of(folder), "name": "repo" }]);
        // A client that can do nothing is asked nothing.
        hello["capabilities"] = json!({});
        server.request("initialize", &hello);
        server.tell("initialized", &json!({}));
        server
    }

    fn send(&mut self, message: &Value) {
        self.input.write_all(&frame(message)).unwrap();
    }

    /// Says it with what is said next, as an editor does whose pipe is full.
    fn tell(&mut self, method: &str, params: &Value) {
        self.send(&notification(method, params));
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }));
        self.input.flush().unwrap();
        loop {
            let message = framing::read(&mut self.output).unwrap();
            if message["id"] == self.last_id {
                return message;
            }
        }
    }

    fn run(&mut self, name: &str, argument: Value) -> Value {
        self.request("workspace/executeCommand", &command(name, argument))
    }

    /// A command that does nothing.
    fn nothing(&mut self) -> Value {
        self.run("files.has", json!({ "path": "no such file" }))
    }

    /// Waits until everything is indexed.
    fn ready(&mut self) {
        while self.run("server.status", json!({}))["result"]["index"] != "ready" {
            thread::sleep(Duration::from_millis(20));
        }
        // What is written then is not a part of what comes next.
        thread::sleep(Duration::from_secs(1));
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn tell(what: &str, times: &Times, beside: Option<&Times>) {
    let half = |times: &Times| times.percentile(50).as_secs_f64();
    let ratio = beside.map_or(String::new(), |beside| format!("  {:.1}x", half(times) / half(beside)));
    println!("{what:<50} {times}{ratio}");
}

fn source_files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "py" || extension == "rs") {
                found.push(path.strip_prefix(folder).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}
