//! `strata serve`: that the server is behind the word. What it does there is tested elsewhere.

use serde_json::json;

use crate::repo::{APP, Repo};

fn frame(message: &serde_json::Value) -> String {
    let message = message.to_string();
    format!("Content-Length: {}\r\n\r\n{message}", message.len())
}

#[test]
fn it_answers_on_standard_output_and_logs_elsewhere() {
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}),
        json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}),
        // No `exit`: it would not wait for the answers, the end of the input does.
    ];
    let input: String = messages.iter().map(frame).collect();
    let run = Repo::new(APP).strata_with(input.as_bytes(), &["serve", "--log", "trace"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.contains("INFO"), "{}", run.err);
    let mut rest = &*run.out;
    let mut answered = Vec::new();
    while !rest.is_empty() {
        let (head, body) = rest.split_once("\r\n\r\n").unwrap();
        let length: usize = head.strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        let message: serde_json::Value = serde_json::from_str(&body[..length]).unwrap();
        answered.extend(message.get("id").filter(|_| message.get("result").is_some()).cloned());
        rest = &body[length..];
    }
    assert_eq!(answered, [1, 2]);
}

#[test]
fn a_client_that_just_goes_away_is_told_apart_by_the_exit_code() {
    let run = Repo::new(APP).strata(&["serve"]);
    assert_eq!((run.code, &*run.out), (Some(1), ""), "{}", run.err);
}
