//! How the server bears a large repository: `cargo bench -p e2e --bench monorepo [-- FILES]`.
//!
//! Makes a tree of files (200,000 without an argument; the same ones each time: eight languages, 1 to 10 KB, up to nine
//! directories deep), starts the real server on it over stdio, and asks it for its status, a prompt and a map, one after
//! the other, as long as the first index run goes on and a little longer. Prints how long each took and what the server took
//! of memory; then the same of a second start, which finds the outlines on disk.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on must fail")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use e2e::process::Process;
use e2e::{Server, Times};
use serde_json::{Value, json};

const FILES: usize = 200_000;
/// Files of one directory.
const PER_DIRECTORY: usize = 25;
/// Rounds of requests after the index is complete.
const AFTERWARDS: usize = 20;

fn main() {
    let asked = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let files: usize = asked.unwrap_or(FILES);
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap().join("repo");
    let begun = Instant::now();
    let bytes = generate(&root, files);
    println!("{files} files, {:.0} MB, made in {:.1?}", bytes as f64 / 1e6, begun.elapsed());
    // What was written a moment ago would be read again by any start.
    std::thread::sleep(Duration::from_secs(3));
    let state = directory.path().join("state");
    fs::create_dir(&state).unwrap();
    println!("cold:");
    start(&root, &state);
    println!("warm:");
    start(&root, &state);
}

fn start(root: &Path, state: &Path) {
    let begun = Instant::now();
    let mut server = Server::with_folder(root, state, json!({ "symbols": { "map_budget": 4_000 } }));
    println!("  reply to initialize   {:>8.1?}", begun.elapsed());

    let mut run = |command: &str, argument: Value| {
        let asked = Instant::now();
        (server.command(command, argument).unwrap(), asked.elapsed())
    };
    let requests = [
        ("server.status", json!({})),
        ("prompt.assemble", json!({ "prompt": "Where is this?", "dryRun": true })),
        ("symbols.map", json!({ "budget": 2_000 })),
    ];
    let mut during: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    let mut after: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    let mut ready = None;
    let mut left = AFTERWARDS;
    let mut status = Value::Null;
    while left > 0 {
        for (command, argument) in &requests {
            let (reply, time) = run(command, argument.clone());
            let times = if ready.is_some() { &mut after } else { &mut during };
            times.entry(command).or_default().push(time);
            if *command == "server.status" {
                if ready.is_none() && reply["index"] == "ready" {
                    ready = Some(begun.elapsed());
                }
                status = reply;
            }
        }
        left -= usize::from(ready.is_some());
    }
    let process = Process::new(server.process_id());
    println!(
        "  index complete        {:>8.1?}   {} files, {} outlined, {} parsed",
        ready.unwrap_or_default(),
        status["files"],
        status["outlined"],
        status["efforts"]["parsed"]
    );
    for (when, times) in [("meanwhile", during), ("afterwards", after)] {
        for (command, times) in times {
            let times: Times = times.into_iter().collect();
            println!("  {when:<10} {command:<16} {times}  ({} times)", times.count());
        }
    }
    wait_until_idle(process);
    println!(
        "  peak of memory        {:>5} MB, then {} MB",
        process.peak().unwrap_or_default() / 1024,
        process.resident().unwrap_or_default() / 1024
    );
    server.shut_down();
    let errors = server.errors();
    let bad = errors.lines().filter(|line| line.contains("ERROR") || line.contains("panicked"));
    bad.for_each(|line| println!("  {line}"));
    println!("  ended after           {:>8.1?}", begun.elapsed());
}

/// Outlines are written to disk after the index is there.
fn wait_until_idle(process: Process) {
    let mut before = Duration::ZERO;
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let now = process.processor().unwrap_or_default();
        if now <= before + Duration::from_millis(50) {
            return;
        }
        before = now;
    }
}

fn generate(root: &Path, files: usize) -> usize {
    let mut random = Random(0x005e_ed0f_5741_7a1a);
    let mut bytes = 0;
    for first in (0..files).step_by(PER_DIRECTORY) {
        let directory = root.join(directory(first / PER_DIRECTORY));
        fs::create_dir_all(&directory).unwrap();
        for number in first..(first + PER_DIRECTORY).min(files) {
            let (extension, text) = file(number, files, &mut random);
            bytes += text.len();
            fs::write(directory.join(format!("{}_{number}.{extension}", WORDS[number % WORDS.len()])), text)
                .unwrap();
        }
    }
    bytes
}

/// Two to nine levels, so that siblings share most of their path.
fn directory(number: usize) -> String {
    let mut path = format!("{}_{}", WORDS[number % 13], number % 40);
    let mut rest = number / 40;
    for level in 0..2 + number % 8 {
        let _ = write!(path, "/{}_{}", WORDS[(number + level) % WORDS.len()], rest % 7);
        rest /= 7;
    }
    format!("{path}/{}_{number}", WORDS[number % WORDS.len()])
}

const WORDS: [&str; 24] = [
    "account", "billing", "cache", "client", "config", "core", "data", "engine", "event", "filter", "graph",
    "index", "loader", "message", "network", "order", "parser", "queue", "render", "schema", "session",
    "store", "token", "user",
];

/// A file of 1 to 10 KB that defines names of its own and mentions those of others.
fn file(number: usize, files: usize, random: &mut Random) -> (&'static str, String) {
    let size = 1_000 + random.below(9_000);
    let mut text = String::with_capacity(size + 500);
    let word = |at: usize| WORDS[at % WORDS.len()];
    let extension = match number % 16 {
        0..=3 => "py",
        4..=6 => "ts",
        7..=8 => "js",
        9..=10 => "go",
        11..=12 => "rs",
        13 => "tsx",
        14 => "md",
        _ => "json",
    };
    let mut part = 0;
    if extension == "go" {
        text.push_str("package main\n\n");
    }
    while text.len() < size {
        let (own, other) = (word(number + part), word(random.below(WORDS.len())));
        // Most mentions are of files nearby.
        let near = (number / 200 * 200 + random.below(200)).min(files - 1);
        let name = format!("{own}{number}x{part}");
        let call = format!("{}{near}x{}", word(near), random.below(4));
        let mut body = |open: &str, close: &str, end: &str| {
            let mut lines = String::new();
            for step in 0..3 + random.below(8) {
                let _ = writeln!(
                    lines,
                    "        if value > limit + {step}{open}\n            value = {call}(value - {step}, limit){end}\n{close}"
                );
            }
            lines
        };
        let _ = match extension {
            "py" => {
                let body = body(":", "", "");
                writeln!(
                    text,
                    "class {name}Handler:\n    \"\"\"Keeps the {other}.\"\"\"\n\n    def {name}(self, {other}: int, limit=10) -> str:\n        \
                     value = {call}({other}, limit)\n{body}        return str(value + {part})\n"
                )
            }
            "ts" | "tsx" | "js" => {
                let body = body(") {", "        }\n", ";").replace("if value", "if (value");
                writeln!(
                    text,
                    "export class {name}Handler {{\n    {name}({other}, limit) {{\n        let value = {call}({other}, limit);\n{body}        \
                     return this.{own}.map((each) => each + value);\n    }}\n}}\n"
                )
            }
            "go" => {
                let body = body(" {", "        }\n", "");
                writeln!(
                    text,
                    "type {name}Handler struct {{\n\t{other} int\n}}\n\nfunc (h *{name}Handler) Run{part}(limit int) (int, error) {{\n        \
                     value := {call}(h.{other}, limit)\n{body}        return value, nil\n}}\n"
                )
            }
            "rs" => {
                let body = body(" {", "        }\n", ";");
                writeln!(
                    text,
                    "pub struct {name}Handler {{\n    {other}: u32,\n}}\n\nimpl {name}Handler {{\n    /// Keeps the {other}.\n    \
                     pub fn {name}(&self, limit: u32) -> Option<u32> {{\n        let mut value = {call}(self.{other}, limit)?;\n{body}        \
                     Some(value)\n    }}\n}}\n"
                )
            }
            "md" => writeln!(
                text,
                "# The {name}\n\nWhat the {other} does with `{call}`, and why it does so. {}\n",
                "Words of prose. ".repeat(20)
            ),
            _ => writeln!(text, "{{ \"{name}\": [{part}, \"{other}\", \"{call}\"], \"limit\": 10 }}"),
        };
        part += 1;
    }
    (extension, text)
}

/// Numbers that look random and are the same each time (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit.max(1)
    }
}
