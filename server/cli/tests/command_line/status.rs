//! Tests `strata status`, once and with `--watch`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::repo::{APP, Repo};

/// Stores a conversation with this number of questions and answers. Returns its id.
fn import_conversation(repo: &Repo, questions: usize) -> String {
    let message = |role: &str, text: &str| json!({ "role": role, "content": text });
    let answer = "So it is. ".repeat(100);
    let messages: Vec<Value> = (0..questions)
        .flat_map(|nth| [message("user", &format!("Why {nth}?")), message("assistant", &answer)])
        .collect();
    repo.write("talk.json", json!({ "messages": messages }).to_string());
    let reply = repo.strata(&["sessions", "import", "talk.json", "--json"]).json();
    reply["id"].as_str().unwrap().to_owned()
}

#[test]
fn the_most_recently_written_session_is_shown() {
    let repo = Repo::new(APP);
    assert!(repo.strata(&["status"]).refusal().contains("no session is stored for this workspace yet"));
    let first = import_conversation(&repo, 1);
    let second = import_conversation(&repo, 1);
    let run = repo.strata(&["status"]);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!((run.code, lines[0]), (Some(0), &*second));
    assert!(lines[1].ends_with(" 2 messages, 0 turns"), "{}", run.out);
    for name in ["context", "compaction", "cache", "last cache miss: "] {
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
fn watch_shows_changes_and_follows_the_newest_session() {
    let repo = Repo::new(APP);
    let mut watching = repo.spawn(&["status", "--watch"], Stdio::piped());
    let lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "no session is stored for this workspace yet");
    let first = import_conversation(&repo, 1);
    assert!(lines.any(|line| line == first));
    assert!(lines.any(|line| line.starts_with("last cache miss")));
    let second = import_conversation(&repo, 1);
    assert!(lines.any(|line| line == second), "it follows the most recently changed session");
    repo.strata(&["sessions", "rename", &second, "soups"]);
    assert!(lines.any(|line| line == format!("{second} \"soups\"")));
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn watch_shows_changes_that_other_processes_make_to_the_session() {
    let repo = Repo::new(APP);
    let id = import_conversation(&repo, 30);
    let mut watching = repo.spawn(&["status", "--watch", "--json", &id], Stdio::piped());
    let lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut statuses = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let used = |status: &Value| status["budget"]["used"].as_u64().unwrap();
    let before = statuses.next().unwrap();
    let compacted = repo.strata(&["sessions", "compact", &id, "--profile", "handoff"]);
    assert_eq!(compacted.code, Some(0), "{}", compacted.err);
    let after =
        statuses.find(|status| status["session"]["messages"] != before["session"]["messages"]).unwrap();
    assert!(used(&after) < used(&before) / 2, "{after}");
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn the_bill_is_compared_with_other_conditions() {
    let repo = Repo::new(APP);
    for (session, usage) in [("new", ["30000", "0", "2000"]), ("latest", ["100", "32000", "100"])] {
        let model = "model=claude-opus-4-7";
        let prompt = repo.strata(&["prompt", "Why?", "--session", session, "--set", model, "--json"]).json();
        let [input, read, write] = usage;
        let id = prompt["id"].as_str().unwrap();
        let of_usage = ["--input", input, "--cache-read", read, "--cache-write", write];
        let arguments = [&["record", id, "--set", model][..], &of_usage].concat();
        let recorded = repo.strata_with(b"So.", &arguments);
        assert_eq!(recorded.code, Some(0), "{}", recorded.err);
    }
    let comparison = repo.strata(&["status", "--json"]).json()["budget"]["comparison"].clone();
    assert_eq!(comparison["requests"], 2, "{comparison}");
    assert_eq!(comparison["withoutCache"]["cost"], 64_200.0, "{comparison}");
    let lifetimes = comparison["lifetimes"].as_array().unwrap();
    assert_eq!(lifetimes.iter().map(|lifetime| &lifetime["seconds"]).collect::<Vec<_>>(), [300, 3_600]);
    let text = repo.strata(&["status"]).out;
    for row in
        ["as sent", "without pauses", "all cached for 5 minutes", "all cached for 1 hour", "without a cache"]
    {
        assert!(text.lines().any(|line| line.starts_with(row)), "{row}: {text}");
    }
}
