//! A client that stops reading while it goes on asking.

use std::collections::BTreeSet;
use std::io::BufReader;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use e2e::process::Process;
use e2e::{LIMIT, Repo, framing, hello, separate, strata, uri_of};
use serde_json::{Value, json};

use crate::is_long;

const REQUESTS: u64 = 10_000;
/// KiB that unsent answers may take: 16 MiB are kept, and what holds them has some reserve.
const BOUND: u64 = 64 << 10;

#[test]
fn what_is_not_read_takes_bounded_memory_and_nothing_is_lost() {
    let pause = Duration::from_secs(if is_long() { 60 } else { 2 });
    let repo = Repo::new("//- a.rs\nfn a() {}\n");
    let state = tempfile::tempdir().unwrap();
    let mut process = separate(&mut Command::new(strata()), state.path())
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    let mut hello = hello();
    hello["capabilities"] = json!({});
    hello["workspaceFolders"] = json!([{ "uri": uri_of(repo.root()), "name": "repo" }]);
    framing::write(
        &mut input,
        &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }),
    )
    .unwrap();
    framing::write(&mut input, &json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} })).unwrap();
    let request = |id: u64, command: &str, argument: Value| {
        let params = json!({ "command": format!("strata.{command}"), "arguments": [argument] });
        json!({ "jsonrpc": "2.0", "id": id, "method": "workspace/executeCommand", "params": params })
    };
    let select = request(1, "files.select", json!({ "paths": ["a.rs"] }));
    framing::write(&mut input, &select).unwrap();
    let mut next = || framing::read(&mut output).expect("the server goes on");
    while next()["id"] != 1 {}
    let watched = Process::new(process.id());
    let before = watched.resident();

    let asking = thread::spawn(move || {
        for id in 2..REQUESTS + 2 {
            framing::write(&mut input, &request(id, "server.settings", json!({}))).unwrap();
        }
        input
    });
    thread::sleep(pause);
    let paused = watched.resident();
    let begun = Instant::now();
    let (mut answered, mut refused, mut bytes) = (BTreeSet::new(), 0, 0);
    while answered.len() as u64 != REQUESTS {
        assert!(begun.elapsed() < LIMIT, "{} of {REQUESTS} answered", answered.len());
        let message = next();
        // Notifications have none.
        let Some(id) = message["id"].as_u64().filter(|_| message["method"].is_null()) else { continue };
        bytes += message.to_string().len();
        refused += u64::from(!message["error"].is_null());
        assert!(answered.insert(id), "{id} is answered twice");
    }
    let drained = begun.elapsed();
    let input = asking.join().unwrap();
    eprintln!(
        "{REQUESTS} requests while nothing was read for {pause:?}: {} KiB before, {} KiB meanwhile, at most {} KiB; {} MB in \
         {drained:.1?} when it was; {refused} refused as too many at once",
        before.unwrap_or_default(),
        paused.unwrap_or_default(),
        watched.peak().unwrap_or_default(),
        bytes / 1_000_000
    );
    if let (Some(before), Some(peak)) = (before, watched.peak()) {
        assert!(peak <= before + BOUND, "{before} to {peak} KiB");
    }
    drop(input);
    process.wait().unwrap();
}
