//! Checks that `strata serve` starts the server. Its behavior is tested elsewhere.

use std::io::{BufRead, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::repo::{APP, Repo};

fn frame(message: &Value) -> String {
    let message = message.to_string();
    format!("Content-Length: {}\r\n\r\n{message}", message.len())
}

/// Reads the next message from the server.
fn next(out: &mut impl BufRead) -> Value {
    let mut head = String::new();
    out.read_line(&mut head).unwrap();
    let length = head.strip_prefix("Content-Length: ").unwrap().trim_end().parse().unwrap();
    out.read_line(&mut head).unwrap();
    let mut body = vec![0; length];
    out.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn the_server_answers_on_standard_output_and_logs_to_standard_error() {
    let repo = Repo::new(APP);
    let mut child = repo.spawn(&["serve", "--log", "trace"], Stdio::piped());
    let mut input = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut send = |message: Value| input.write_all(frame(&message).as_bytes()).unwrap();
    send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}));
    let reply = next(&mut out);
    assert!(reply["id"] == 1 && reply["result"]["capabilities"].is_object(), "{reply}");
    send(json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    send(json!({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}));
    // The server may send other messages first, but only valid ones.
    while next(&mut out)["id"] != 2 {}
    send(json!({"jsonrpc": "2.0", "method": "exit"}));
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(err.contains("INFO"), "{err}");
}

#[test]
fn the_exit_code_is_1_if_the_client_disconnects_without_shutdown() {
    let run = Repo::new(APP).strata(&["serve"]);
    assert_eq!((run.code, &*run.out), (Some(1), ""), "{}", run.err);
}
