//! How long an editor waits: `cargo bench -p e2e --bench latency -- DIR`.
//!
//! Drives the real server on the folder over pipes and prints the time from its start to its first answers; of commands that do
//! nothing, one after the other, beside the same bytes through `cat`, which is what two pipes and two processes cost; of the
//! same while everything is indexed anew; of changes to a document of a megabyte until the next command is answered; of
//! prompts with fifty files selected; and how many changes a second it takes.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::print_stderr, reason = "a bench says how it is called")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on must fail")]

use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use e2e::{Server, framing, hello, uri_of};
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
    let mut server = started(&folder, state.path());
    ready(&mut server);

    let pipes = through_cat();
    let idle = times(COMMANDS, || nothing(&mut server));
    server.ask("workspace/executeCommand", command("server.reindex", json!({})));
    let busy = times(COMMANDS, || nothing(&mut server));
    println!("a command that does nothing, {COMMANDS} in turn");
    tell("  through cat", &pipes, None);
    tell("  answered", &idle, Some(&pipes));
    tell("  answered, right behind the wish to index anew", &busy, Some(&pipes));
    ready(&mut server);

    let uri = uri_of(&folder.join("large_document.rs"));
    let line = "    let total = add(total, 1); // once more\n";
    let text = format!("fn large() {{\n{}}}\n", line.repeat(LARGE / line.len()));
    let item = json!({ "uri": uri, "languageId": "rust", "version": 1, "text": text });
    server.notify("textDocument/didOpen", json!({ "textDocument": item }));
    run(&mut server, "server.status", json!({}));
    let mut version = 1;
    let mut change = |server: &mut Server| {
        version += 1;
        let place = json!({ "line": 10_000, "character": 8 });
        let edit = json!({ "range": { "start": place, "end": place }, "text": "x" });
        let params = json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": [edit] });
        server.notify("textDocument/didChange", params);
    };
    server.ask("workspace/executeCommand", command("server.reindex", json!({})));
    let changes = times(CHANGES, || {
        change(&mut server);
        nothing(&mut server);
    });
    println!(
        "a key in a document of a megabyte, until the next command is answered, {CHANGES} in turn while indexing"
    );
    tell("  answered", &changes, None);
    ready(&mut server);
    let begun = Instant::now();
    for _ in 0..FLOOD {
        change(&mut server);
    }
    nothing(&mut server);
    println!("{FLOOD} keys at once: {:.0} a second", FLOOD as f64 / begun.elapsed().as_secs_f64());
    server.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));

    let files: Vec<String> = source_files(&folder).into_iter().take(SELECTED).collect();
    run(&mut server, "files.select", json!({ "paths": files }));
    let first = times(1, || drop(run(&mut server, "prompt.assemble", json!({ "prompt": "Why?" }))));
    let prompts = times(PROMPTS, || drop(run(&mut server, "prompt.assemble", json!({ "prompt": "Why?" }))));
    println!("a prompt with {} files in full", files.len());
    tell("  the first", &first, None);
    tell("  later ones", &prompts, None);
}

/// From the start of the process, with outlines on disk.
fn starts(folder: &Path) {
    let state = tempfile::tempdir().unwrap();
    ready(&mut started(folder, state.path()));
    let (mut hellos, mut prompts) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let begun = Instant::now();
        let mut server = started(folder, state.path());
        hellos.push(begun.elapsed());
        run(&mut server, "prompt.assemble", json!({ "prompt": "Why?" }));
        prompts.push(begun.elapsed());
        end(&mut server);
    }
    println!("from the start of the process, {STARTS} times, outlines on disk");
    tell("  the answer to initialize", &hellos, None);
    tell("  the first prompt", &prompts, None);
}

fn started(folder: &Path, state: &Path) -> Server {
    let mut server = Server::start_in(state);
    server.answer_with("workspace/configuration", json!([null]));
    server.answer_with("client/registerCapability", Value::Null);
    server.answer_with("window/workDoneProgress/create", Value::Null);
    let mut hello = hello();
    hello["workspaceFolders"] = json!([{ "uri": uri_of(folder), "name": "repo" }]);
    server.request("initialize", hello).unwrap();
    server.notify("initialized", json!({}));
    server
}

fn end(server: &mut Server) {
    server.request("shutdown", Value::Null).unwrap();
    server.notify("exit", Value::Null);
    server.wait_for_end();
}

/// Waits until everything is indexed.
fn ready(server: &mut Server) {
    while run(server, "server.status", json!({}))["index"] != "ready" {
        std::thread::sleep(Duration::from_millis(20));
    }
    // What is written then is no part of what comes next.
    std::thread::sleep(Duration::from_secs(1));
}

fn command(name: &str, argument: Value) -> Value {
    json!({ "command": format!("strata.{name}"), "arguments": [argument] })
}

fn run(server: &mut Server, name: &str, argument: Value) -> Value {
    server.request("workspace/executeCommand", command(name, argument)).unwrap()
}

fn nothing(server: &mut Server) {
    run(server, "files.has", json!({ "path": "no such file" }));
    server.heard("strata/status");
    server.heard("$/progress");
}

/// The message of a command that does nothing, there and back through a process that does less.
fn through_cat() -> Vec<Duration> {
    let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (cat.stdin.take().unwrap(), BufReader::new(cat.stdout.take().unwrap()));
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "workspace/executeCommand",
        "params": command("files.has", json!({ "path": "no such file" })) });
    let times = times(COMMANDS, || {
        framing::write(&mut input, &message).unwrap();
        input.flush().unwrap();
        framing::read(&mut output).unwrap();
    });
    drop(input);
    cat.wait().unwrap();
    times
}

fn times(count: usize, mut run: impl FnMut()) -> Vec<Duration> {
    let time = |()| {
        let begun = Instant::now();
        run();
        begun.elapsed()
    };
    std::iter::repeat_n((), count).map(time).collect()
}

fn tell(what: &str, times: &[Duration], beside: Option<&[Duration]>) {
    let sorted = |times: &[Duration]| {
        let mut times = times.to_vec();
        times.sort_unstable();
        times
    };
    let at = |times: &[Duration], share: usize| times[(times.len() - 1) * share / 100];
    let own = sorted(times);
    let ratio = beside.map_or(String::new(), |beside| {
        let beside = sorted(beside);
        format!("   {:.1}x", at(&own, 50).as_secs_f64() / at(&beside, 50).as_secs_f64())
    });
    let [half, most, all] = [50, 99, 100].map(|share| format!("{:.1?}", at(&own, share)));
    println!("{what:<50} p50 {half:>9}   p99 {most:>9}   max {all:>9}{ratio}");
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
