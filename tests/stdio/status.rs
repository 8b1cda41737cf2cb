//! What the server says unasked.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use e2e::{Editor, Setup};
use serde_json::{Value, json};

use crate::small;

#[test]
fn the_meter_follows_the_session_and_is_not_sent_for_every_key() {
    let mut editor = Editor::start(&small());
    editor.open("notes.txt");
    editor.select(&["notes.txt"]);
    editor.server.wait_for("strata/status", |status| status["index"] == "ready");

    let start = Instant::now();
    let mut heard = Vec::new();
    for _ in 0..50 {
        editor.type_behind("notes.txt", "Remember", " ");
        thread::sleep(Duration::from_millis(10));
        heard.extend(editor.server.heard("strata/status"));
    }
    // The last one is about the last state, however fast the keys came; it may have been heard already.
    let used = editor.run("budget.report", json!({}))["used"].clone();
    while heard.last().is_none_or(|status| status["tokens"] != used) {
        heard.push(editor.server.wait_for("strata/status", |_| true));
    }
    let heard = heard.len();
    let allowed = 2 + (start.elapsed().as_secs_f64() * 4.0) as usize;
    assert!(heard <= allowed, "{heard} notifications in {:?}", start.elapsed());
}

#[test]
fn the_meter_says_how_full_the_window_is() {
    let mut editor = Setup::new(&small())
        .settings(json!({ "compaction": { "profiles": { "topic": { "history_over": 24_000 } } } }))
        .start();
    editor.run("history.addExchange", json!({ "user": "x ".repeat(9_000), "assistant": "y" }));
    let report = editor.run("budget.report", json!({}));
    let status = editor.server.wait_for("strata/status", |status| status["tokens"] == report["used"]);
    assert_eq!(status["window"], report["maxInputTokens"]);
    assert_eq!(status["percent"], report["percent"]);
    assert!(status["session"].as_str().unwrap().starts_with("s-"), "{status}");
    assert_eq!(status["model"], report["model"]);
    assert_eq!((&status["files"], &status["index"]), (&json!(4), &json!("ready")));
    assert!(status["compactionPercent"].as_f64().unwrap() > 30.0, "{status}");
    assert_eq!(status["stateVersion"], report["stateVersion"]);
}

#[test]
fn indexing_shows_its_progress() {
    let repo = small();
    let mut editor = Setup::new(&repo).start_without_waiting();
    let begin = editor.server.wait_for("$/progress", |progress| progress["value"]["kind"] == "begin");
    editor.server.wait_for("$/progress", |progress| {
        progress["value"]["kind"] == "end" && progress["token"] == begin["token"]
    });
    assert_eq!(editor.server.asked("window/workDoneProgress/create")[0]["token"], begin["token"]);
    assert_eq!(begin["value"]["cancellable"], true);
    let watchers = editor.server.asked("client/registerCapability");
    assert_eq!(watchers[0]["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
}

#[test]
fn new_files_on_disk_are_listed_when_the_editor_tells_of_them() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    repo.write("src/fresh.rs", "pub fn fresh() {}\n");
    let changes = json!([{ "uri": repo.uri("src/fresh.rs"), "type": 1 }]);
    editor.server.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    editor.server.wait_for("strata/status", |status| status["files"] == 5);
    assert!(editor.assemble().map_block("src/fresh.rs").unwrap().contains("pub fn fresh()"));
    std::fs::remove_file(repo.path("src/fresh.rs")).unwrap();
    let changes = json!([{ "uri": repo.uri("src/fresh.rs"), "type": 3 }]);
    editor.server.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    editor.server.wait_for("strata/status", |status| status["files"] == 4);
    assert_eq!(editor.assemble().count("fresh.rs"), 0);
}

#[test]
fn the_session_is_known_at_once() {
    let mut editor = Setup::new(&small()).start_without_waiting();
    let status = editor.run("server.status", json!({}));
    let meter = editor.server.wait_for("strata/status", |_| true);
    assert_eq!(status["session"], meter["session"]);
    let begun = editor.run("session.new", json!({}));
    assert_eq!(editor.run("server.status", json!({}))["session"], begun["id"]);
    let named = json!({ "session": status["session"] });
    assert_eq!(editor.run("server.status", named)["session"], begun["id"], "the one that is shown");
    editor.wait_until_indexed();
}

#[test]
fn the_meter_counts_the_files_that_do_not_fit() {
    let repo = small();
    repo.write("large.txt", "a line of words\n".repeat(2_000));
    let mut editor = Editor::start(&repo);
    editor.select(&["large.txt", "notes.txt"]);
    editor.server.wait_for("strata/status", |status| status["tokens"].as_u64() > Some(5_000));
    assert_eq!(editor.run("budget.report", json!({}))["shed"], json!([]));
    let window = editor.run("budget.report", json!({}))["maxInputTokens"].as_u64().unwrap();
    editor.configure(json!({ "budget": { "output_reserve": window - 4_000 } }));
    let status = editor.server.wait_for("strata/status", |status| status["shed"] != 0);
    assert_eq!(status["shed"], 1);
    let report = editor.run("budget.report", json!({}));
    assert_eq!(report["shed"], json!(["large.txt"]));
    assert_eq!(report["shed"], editor.assemble().0["shed"]);
}

#[test]
fn the_meter_says_whether_sessions_are_persisted() {
    let mut editor = Editor::start(&small());
    editor.run("history.add", json!({ "role": "user", "content": "Kept." }));
    editor.server.wait_for("strata/status", |status| status["stored"] == true);

    // Nothing can be below a file.
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("file");
    std::fs::write(&file, "").unwrap();
    let below = file.join("state").display().to_string();
    let setup = Setup::new(&small()).state(state.path()).variable("STRATA_STATE_DIR", &below);
    let mut editor = setup.start();
    editor.run("history.add", json!({ "role": "user", "content": "Lost." }));
    assert_eq!(editor.warning().0, "store");
    editor.server.wait_for("strata/status", |status| status["stored"] == false);
}

/// `strata status --watch --json` beside the editor, and what it prints.
fn watch(repo: &e2e::Repo, state: &std::path::Path) -> (Child, impl Iterator<Item = Value>) {
    let mut watching = Command::new(e2e::strata())
        .args(["status", "--watch", "--json", "--repo"])
        .arg(repo.root())
        .env("STRATA_STATE_DIR", state)
        .env("STRATA_CACHE_DIR", state.join("cache"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    (watching, lines.filter_map(|line| serde_json::from_str(&line.unwrap()).ok()))
}

#[test]
fn a_terminal_shows_the_turns_of_the_session_in_the_editor() {
    let repo = small();
    let state = tempfile::tempdir().unwrap();
    let mut editor = Setup::new(&repo).state(state.path()).start();
    editor.select(&["notes.txt"]);
    let turn = |editor: &mut Editor| {
        let prompt = editor.assemble();
        let usage = json!({ "input": 90, "output": 8, "cacheWrite": 5_000 });
        editor.run("prompt.record", json!({ "id": prompt.id(), "response": "So it is.", "usage": usage }));
        editor.run("tiers.report", json!({}))
    };
    let report = turn(&mut editor);
    let (mut watching, mut looks) = watch(&repo, state.path());
    let mut last_turn_with = |turns: u64| {
        let look = looks.find(|look| look["tiers"]["lastTurn"]["turns"] == turns).unwrap();
        (look["tiers"]["lastTurn"].clone(), look["lastBreak"]["sentence"].clone())
    };
    let (first, sentence) = last_turn_with(1);
    assert_eq!((&first["model"], &first["policy"]), (&report["model"], &report["policy"]));
    let tokens: u64 =
        first["tiers"].as_array().unwrap().iter().map(|tier| tier["tokens"].as_u64().unwrap()).sum();
    assert!(tokens > 0, "{first}");
    assert!(sentence.as_str().unwrap().contains("first prompt"), "{sentence}");
    turn(&mut editor);
    let (second, sentence) = last_turn_with(2);
    assert_eq!(sentence, editor.run("tiers.explainBreak", json!({}))["sentence"]);
    assert_ne!(first, second);
    watching.kill().unwrap();
    watching.wait().unwrap();
}
