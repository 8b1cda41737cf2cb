//! What a session weighs and costs, once and for as long as somebody looks.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::json;

use crate::repo::{APP, Repo};

fn talk(repo: &Repo, question: &str) -> String {
    let said = |role: &str, text: &str| json!({ "role": role, "content": text });
    repo.write(
        "talk.json",
        json!({ "messages": [said("user", question), said("assistant", "So.")] }).to_string(),
    );
    let reply = repo.strata(&["sessions", "import", "talk.json", "--json"]).json();
    reply["id"].as_str().unwrap().to_owned()
}

#[test]
fn the_session_that_was_written_to_last_is_shown() {
    let repo = Repo::new(APP);
    assert!(repo.strata(&["status"]).refusal().contains("no session is stored for this workspace yet"));
    let first = talk(&repo, "Why?");
    let second = talk(&repo, "How?");
    let run = repo.strata(&["status"]);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!((run.code, lines[0]), (Some(0), &*second));
    assert!(lines[1].ends_with(" 2 messages, 0 turns"), "{}", run.out);
    for name in ["context", "compaction", "cache", "last cache break: "] {
        assert!(lines.iter().any(|line| line.starts_with(name)), "{name}: {}", run.out);
    }
    let named = repo.strata(&["status", &first]);
    assert!(named.out.starts_with(&first), "{}", named.out);
    let all = repo.strata(&["status", &first, "--json"]).json();
    assert_eq!(all["session"]["id"], *first);
    assert!(all["budget"]["used"].as_u64() > Some(0), "{all}");
    assert!(repo.strata(&["status", "s-nowhere"]).refusal().contains("strata sessions list"));
}

#[test]
fn who_watches_sees_what_changes() {
    let repo = Repo::new(APP);
    let mut watching = repo.spawn(&["status", "--watch"], Stdio::piped());
    let lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "no session is stored for this workspace yet");
    let first = talk(&repo, "Why?");
    assert!(lines.any(|line| line == first));
    assert!(lines.any(|line| line.starts_with("last cache break")));
    let second = talk(&repo, "How?");
    assert!(lines.any(|line| line == second), "it follows what is written to");
    repo.strata(&["sessions", "rename", &second, "soups"]);
    assert!(lines.any(|line| line == format!("{second} \"soups\"")));
    watching.kill().unwrap();
    watching.wait().unwrap();
}
