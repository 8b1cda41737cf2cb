//! The symbol map of a directory next to aider's repository map of the same one, in the same run:
//! `cargo bench -p e2e --bench aider_map -- PYTHON DIR [ROUNDS [BUDGETS]]`. PYTHON is an interpreter that has aider-chat
//! installed (`python3 -m venv V && V/bin/pip install aider-chat`).
//!
//! Three things: how long a whole process takes from its start to a map when nothing is kept from before, in turn,
//! medians; which definitions each of them knows; and how often a map weighs more than the budget it was asked for, over random
//! budgets. Ours is weighed again by tiktoken-rs, aider's by the count it was given itself.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::print_stderr, reason = "a bench says how it is called")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on must fail")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use e2e::{Rng, Server, Times, strata};
use serde_json::{Value, json};
use strata_app::model::index::{Index, IndexInputs};
use strata_base::cancel::Cancel;
use strata_host::outline_cache::OutlineCache;
use strata_host::roots::Roots;

const BUDGET: usize = 4_096;
const ROUNDS: usize = 3;
const BUDGETS: usize = 100;
/// Budgets are spread evenly over the powers of two from here on.
const SMALLEST: f64 = 256.0;
const LARGEST: f64 = 65_536.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |at: usize, default| arguments.get(at).and_then(|n| n.parse().ok()).unwrap_or(default);
    let [python, directory, ..] = &*arguments else {
        eprintln!("usage: cargo bench -p e2e --bench aider_map -- PYTHON DIR [ROUNDS [BUDGETS]]");
        return;
    };
    let (python, directory) = (PathBuf::from(python), PathBuf::from(directory).canonicalize().unwrap());
    cold(&python, &directory, number(2, ROUNDS));
    definitions(&python, &directory);
    budgets(&python, &directory, number(3, BUDGETS));
}

/// A process each, with nothing kept on disk.
fn cold(python: &Path, directory: &Path, rounds: usize) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let cache = tempfile::tempdir().unwrap();
        let begun = Instant::now();
        let output = Command::new(strata())
            .args(["map", "--budget", &BUDGET.to_string(), "--repo"])
            .arg(directory)
            .env("STRATA_CACHE_DIR", cache.path())
            .stderr(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success() && !output.stdout.is_empty());
        ours.push(begun.elapsed());
        let checkout = Checkout::of(directory);
        let begun = Instant::now();
        let mut aider = Aider::start(python, &checkout);
        let map = aider.ask(&json!({ "budget": BUDGET }));
        assert!(map["text"].as_str().is_some_and(|text| !text.is_empty()));
        theirs.push(begun.elapsed());
    }
    let median = |times: Vec<Duration>| times.into_iter().collect::<Times>().percentile(50);
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
    println!("cold, process start to map: strata {ours:.2?}, aider {theirs:.2?}: {ratio:.1} times as fast");
}

fn definitions(python: &Path, directory: &Path) {
    let roots = Roots::single(directory).unwrap();
    let (cache, cancel) = (tempfile::tempdir().unwrap(), Cancel::new());
    let cache = OutlineCache::in_directory(cache.path().to_owned());
    let (index, _) = Index::build(&IndexInputs::new(&roots, &cache, &cancel), |_| ()).unwrap();
    let ours: Vec<(String, String)> = index
        .symbols
        .iter()
        .flat_map(|(key, file)| file.outline.symbols.iter().map(move |symbol| (key, symbol)))
        .map(|(key, symbol)| (key.as_str().to_owned(), symbol.name.to_string()))
        .collect();
    let checkout = Checkout::of(directory);
    let answer = Aider::start(python, &checkout).ask(&json!({ "definitions": true }));
    let theirs: Vec<(String, String)> = serde_json::from_value(answer["definitions"].clone()).unwrap();
    let distinct = |all: &[(String, String)]| all.iter().cloned().collect::<BTreeSet<_>>();
    let (known, other) = (distinct(&ours), distinct(&theirs));
    println!(
        "definitions: strata {}, aider {}; as pairs of file and name {} and {}, {} of aider's not among ours",
        ours.len(),
        theirs.len(),
        known.len(),
        other.len(),
        other.difference(&known).count()
    );
    for (path, name) in other.difference(&known).take(5) {
        println!("  such as {name} of {path}");
    }
}

fn budgets(python: &Path, directory: &Path, count: usize) {
    let state = tempfile::tempdir().unwrap();
    let mut server = Server::with_folder(directory, state.path(), json!({ "model": "gpt-4o" }));
    let mut run = |command: &str, argument: Value| server.command(command, argument).unwrap();
    while run("server.status", json!({}))["index"] != "ready" {
        std::thread::sleep(Duration::from_millis(100));
    }
    let checkout = Checkout::of(directory);
    let mut aider = Aider::start(python, &checkout);
    let tiktoken = tiktoken_rs::o200k_base().unwrap();
    let (mut over, mut most, mut used) = ((0, 0), (0.0_f64, 0.0_f64), (0.0, 0.0));
    let mut rng = Rng::new(7);
    for _ in 0..count {
        // As many bits as a float holds.
        let share_of_one = (rng.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        let budget = (SMALLEST * (LARGEST / SMALLEST).powf(share_of_one)) as usize;
        let share = |tokens: usize| tokens as f64 / budget as f64;
        let ours = run("symbols.map", json!({ "budget": budget }));
        let ours = share(tiktoken.encode_ordinary(ours["text"].as_str().unwrap()).len());
        let theirs = aider.ask(&json!({ "budget": budget }));
        let theirs = share(usize::try_from(theirs["tokens"].as_u64().unwrap()).unwrap());
        over = (over.0 + usize::from(ours > 1.0), over.1 + usize::from(theirs > 1.0));
        most = (most.0.max(ours), most.1.max(theirs));
        used = (used.0 + ours / count as f64, used.1 + theirs / count as f64);
    }
    println!("{count} random budgets of {SMALLEST} to {LARGEST} tokens:");
    for (name, over, most, used) in [("strata", over.0, most.0, used.0), ("aider", over.1, most.1, used.1)] {
        let (most, used) = (most * 100.0, used * 100.0);
        println!("  {name:<8}{over:>4} exceeded; {used:.1} % used on average, {most:.1} % at most");
    }
}

/// A copy of a directory that aider may leave its cache in.
struct Checkout(tempfile::TempDir);

impl Checkout {
    fn of(directory: &Path) -> Self {
        let copy = tempfile::tempdir().unwrap();
        copy_into(directory, copy.path());
        Self(copy)
    }
}

fn copy_into(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && !entry.file_name().to_string_lossy().starts_with(".aider") {
            fs::create_dir(&target).unwrap();
            copy_into(&source, &target);
        } else if kind.is_file() {
            fs::copy(&source, &target).unwrap();
        }
    }
}

/// aider's map, asked through its own interpreter.
struct Aider {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Aider {
    fn start(python: &Path, checkout: &Checkout) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/aider_map.py");
        let mut child = Command::new(python)
            .arg(script)
            .arg(checkout.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn ask(&mut self, question: &Value) -> Value {
        writeln!(self.input.as_mut().unwrap(), "{question}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Aider {
    fn drop(&mut self) {
        self.input = None;
        let _ended = self.child.wait();
    }
}
