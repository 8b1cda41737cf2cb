//! Tests importing, showing, changing and exporting stored conversations.

use std::fs;

use expect_test::expect;
use serde_json::{Value, json};

use crate::repo::Repo;

/// Returns an Anthropic message list.
fn conversation_json(exchanges: usize) -> String {
    let message = |role: &str, text: String| json!({ "role": role, "content": text });
    let exchange = |nth: usize| {
        let answer = format!("The parser reads line {nth}. {}", "It reads on. ".repeat(200));
        [message("user", format!("How does parser {nth} work?")), message("assistant", answer)]
    };
    json!({ "messages": (0..exchanges).flat_map(exchange).collect::<Vec<_>>() }).to_string()
}

fn repo_with_conversation(exchanges: usize) -> (Repo, String) {
    let repo = Repo::new(&[("talk.json", &conversation_json(exchanges))]);
    let reply = repo.strata(&["sessions", "import", "talk.json", "--json"]).json();
    let id = reply["id"].as_str().unwrap().to_owned();
    (repo, id)
}

fn list_sessions(repo: &Repo) -> Vec<Value> {
    repo.strata(&["sessions", "list", "--json"]).json()["sessions"].as_array().unwrap().clone()
}

#[test]
fn the_list_is_empty_if_no_session_is_stored() {
    let repo = Repo::new(&[]);
    let run = repo.strata(&["sessions", "list"]);
    assert_eq!((run.code, &*run.out, &*run.err), (Some(0), "", "no stored sessions for REPO\n"));
    assert!(list_sessions(&repo).is_empty());
}

#[test]
fn an_imported_conversation_can_be_listed_shown_and_searched() {
    let (repo, id) = repo_with_conversation(2);
    let run = repo.strata(&["sessions", "list"]);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 2, "{}", run.out);
    assert!(lines[0].starts_with("session ") && lines[1].starts_with(&id), "{}", run.out);
    assert!(lines[1].ends_with(" 4  How does parser 0 work?"), "{}", run.out);

    let shown = repo.strata(&["sessions", "show", &id]);
    assert_eq!(repo.strata(&["sessions", "show", "latest"]).out, shown.out);
    let question_start = shown.out.find("How does parser 0 work?").unwrap();
    let answer_start = shown.out.find("The parser reads line 1.").unwrap();
    assert!(question_start < answer_start, "{}", shown.out);

    let results = repo.strata(&["sessions", "search", "parser", "0", "work", "--limit", "1"]);
    let row: Vec<&str> = results.out.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!((results.out.lines().count(), row[0], row[1]), (2, &*id, "0"), "{}", results.out);
    let nothing = repo.strata(&["sessions", "search", "xylophone"]);
    assert_eq!((nothing.code, &*nothing.out, &*nothing.err), (Some(0), "", "nothing found\n"));
}

#[test]
fn exports_can_be_imported_again_without_changes() {
    let (repo, id) = repo_with_conversation(2);
    let anthropic = repo.strata(&["sessions", "export", &id, "--format", "anthropic"]).json();
    assert_eq!(anthropic["messages"][0]["role"], "user");
    let openai = repo.strata(&["sessions", "export", &id, "--format", "openai"]).json();
    assert_eq!(openai["messages"].as_array().unwrap().len(), 4);

    let run = repo.strata(&["sessions", "export", &id, "-o", "out.jsonl"]);
    assert_eq!((run.code, &*run.out), (Some(0), ""));
    assert_eq!(run.err, format!("exported session {id} to out.jsonl\n"));
    let lines = fs::read_to_string(repo.folder().join("out.jsonl")).unwrap();
    assert!(lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{lines}");

    repo.strata(&["sessions", "delete", &id]);
    let again = repo.strata_with(lines.as_bytes(), &["sessions", "import", "-", "--json"]).json();
    assert_eq!(again["messages"], 4);
    let text = |id: &str| repo.strata(&["sessions", "export", id, "--format", "markdown"]).out;
    let back = text(again["id"].as_str().unwrap());
    assert!(back.contains("The parser reads line 1.") && back.contains("How does parser 0 work?"), "{back}");
}

#[test]
fn a_conversation_survives_an_export_to_another_agent_and_back() {
    let (repo, id) = repo_with_conversation(2);
    for (agent, form) in [
        ("codex", "codex"),
        ("claude-code", "claude_code"),
        ("gemini-cli", "gemini_cli"),
        ("opencode", "opencode"),
    ] {
        let exported = repo.strata(&["sessions", "export", &id, "--as", agent]);
        assert_eq!(exported.code, Some(0), "{agent}: {}", exported.err);
        let import = ["sessions", "import", "-", "--json"];
        let back = repo.strata_with(exported.out.as_bytes(), &import).json();
        assert_eq!((&back["form"], &back["messages"]), (&json!(form), &json!(4)), "{agent}");
        let text = |id: &str| repo.strata(&["sessions", "export", id, "--format", "anthropic"]).json();
        assert_eq!(text(back["id"].as_str().unwrap())["messages"], text(&id)["messages"], "{agent}");
    }
}

#[test]
fn renaming_forking_and_compacting_are_stored() {
    let (repo, id) = repo_with_conversation(30);
    let run = repo.strata(&["sessions", "rename", &id, "the parser"]);
    assert_eq!(run.err, format!("renamed session {id} to \"the parser\"\n"));
    let by_name = |command: &str| repo.strata(&["sessions", command, "the parser"]);
    assert_eq!(by_name("show").out, repo.strata(&["sessions", "show", &id]).out);
    assert_eq!(by_name("export").out, repo.strata(&["sessions", "export", &id]).out);
    assert!(repo.strata(&["status", "the parser"]).out.starts_with(&id));
    let fork = repo.strata(&["sessions", "fork", &id, "--until", "3", "--name", "a branch", "--json"]).json();
    assert_eq!(fork["messages"], 4);
    let run = repo.strata(&["sessions", "compact", &id, "--profile", "handoff"]);
    assert_eq!((run.code, &*run.out), (Some(0), ""), "{}", run.err);
    assert!(
        run.err.starts_with(&format!("compacted session {id} with handoff: 60 messages of ")),
        "{}",
        run.err
    );
    assert!(run.err.contains(", now 1 message of "), "{}", run.err);

    let mut names: Vec<(String, u64)> = list_sessions(&repo)
        .iter()
        .map(|session| (session["name"].as_str().unwrap().to_owned(), session["messages"].as_u64().unwrap()))
        .collect();
    names.sort();
    assert_eq!(names, [("a branch".to_owned(), 4), ("the parser".to_owned(), 61)]);
    let exported = repo.strata(&["sessions", "export", &id, "--format", "anthropic"]).json();
    assert_eq!(exported["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn errors_are_reported_and_the_remaining_items_are_processed() {
    let (repo, id) = repo_with_conversation(1);
    let unknown = "0123456789abcdef";
    for arguments in [
        &["sessions", "show", unknown] as &[&str],
        &["sessions", "export", unknown],
        &["sessions", "rename", unknown, "x"],
        &["sessions", "fork", unknown],
        &["sessions", "compact", unknown],
        &["sessions", "delete", unknown],
    ] {
        let run = repo.strata(arguments);
        assert_eq!(run.refusal(), "error: session `0123456789abcdef` does not exist\n", "{arguments:?}");
    }
    repo.write("words.txt", "no conversation");
    let run = repo.strata(&["sessions", "import", "words.txt", "nowhere", "talk.json"]);
    assert_eq!((run.code, &*run.out), (Some(1), ""));
    let messages: Vec<&str> = run.err.lines().collect();
    expect![[r#"
        error: words.txt: the whole value: contains no conversation in a known format; known: exports of Strata, opencode and ChatGPT; recordings of Claude Code, Codex, Gemini CLI and Aider; messages of Anthropic's and OpenAI's APIs
        error: nowhere: No such file or directory (os error 2)"#]]
    .assert_eq(&messages[..2].join("\n"));
    assert!(
        messages[2].starts_with("talk.json: session ") && messages[2].ends_with(", 2 messages"),
        "{}",
        run.err
    );

    let run = repo.strata(&["sessions", "delete", unknown, &id]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.ends_with(&format!("deleted session {id}\n")), "{}", run.err);
    assert_eq!(list_sessions(&repo).len(), 1);
    expect![[r#"
        error: `No Name` is not a session id; use at most 64 lowercase letters, digits, `-` and `_`
    "#]]
    .assert_eq(repo.strata(&["sessions", "compact", "No Name"]).refusal());
    expect![[r#"
        error: nothing to search for: the query has no letters or digits
    "#]]
    .assert_eq(repo.strata(&["sessions", "search", "!!"]).refusal());
}

#[test]
fn sessions_belong_to_their_workspace() {
    let (repo, id) = repo_with_conversation(1);
    repo.write("inner/a.txt", "");
    let list = repo.strata(&["sessions", "list", "--repo", "inner", "--json"]).json();
    assert_eq!(list["sessions"], json!([]));
    let run = repo.strata(&["sessions", "--repo", "inner", "show", &id]);
    assert_eq!(run.refusal(), format!("error: session `{id}` does not exist\n"));
}
