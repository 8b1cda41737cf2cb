//! Agents and the command line see the unsaved text of editors, each in a process of its own.

mod model;
mod session;
#[cfg(unix)]
mod socket;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use e2e::{Agent, Editor, Repo, Rng, Setup, Shell, credentials};
use serde_json::{Value, json};

use crate::small;

fn editor(repo: &Repo, shell: &Shell<'_>) -> Editor {
    Setup::new(repo).state(shell.state()).parameter("clientInfo", json!({ "name": "Test Editor" })).start()
}

/// Waits until the server has handled everything that the editor sent.
fn settle(editor: &mut Editor) {
    editor.run("server.status", json!({}));
}

fn save(editor: &mut Editor, repo: &Repo, name: &str) {
    repo.write(name, editor.text(name));
    let uri = editor.document(name).uri.clone();
    editor.server.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    settle(editor);
}

fn read(agent: &mut Agent, path: &str) -> Value {
    agent.call("files_read", json!({ "path": path }))["structuredContent"].take()
}

/// Returns the files of the servers' endpoints.
fn endpoints(state: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(state.join("live")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn an_agent_reads_what_is_typed_until_it_is_saved_undone_or_closed() {
    let repo = small();
    let shell = Shell::new(&repo);
    let mut editor = editor(&repo, &shell);
    let mut agent = shell.agent();
    let instructions = agent.hello["instructions"].as_str().unwrap();
    assert!(instructions.contains("(view: editor, no unsaved buffers)"), "{instructions}");

    editor.open("src/greet.rs");
    editor.type_behind("src/greet.rs", "on disk {name}", " typed");
    settle(&mut editor);
    let version = editor.document("src/greet.rs").version;
    let reply = read(&mut agent, "src/greet.rs");
    assert!(reply["text"].as_str().unwrap().contains("on disk {name} typed"), "{reply}");
    assert_eq!((&reply["source"], &reply["version"]), (&json!("buffer"), &json!(version)));
    let unsaved = json!([{ "path": "src/greet.rs", "version": version, "editor": "Test Editor" }]);
    assert_eq!(reply["freshness"], json!({ "unsaved": unsaved }));
    let text = agent.text("grep", json!({ "pattern": "typed" }));
    assert_eq!(
        text,
        format!(
            "src/greet.rs\n2:     format!(\"on disk {{name}} typed\")\n(unsaved: src/greet.rs (version {version} in Test Editor))"
        )
    );

    editor.replace("src/greet.rs", " typed", "");
    settle(&mut editor);
    let reply = read(&mut agent, "src/greet.rs");
    assert_eq!(reply["source"], "disk", "undone");
    assert_eq!(reply["freshness"], json!({ "changed": ["src/greet.rs"] }));

    editor.type_behind("src/greet.rs", "on disk {name}", " saved");
    save(&mut editor, &repo, "src/greet.rs");
    let reply = read(&mut agent, "src/greet.rs");
    assert!(reply["text"].as_str().unwrap().contains("on disk {name} saved"), "{reply}");
    assert_eq!(reply["source"], "disk");

    editor.type_behind("src/greet.rs", "pub fn greet", "ing");
    settle(&mut editor);
    let found = agent.text("symbols", json!({ "query": "greeting" }));
    assert!(found.contains("pub fn greeting(name: &str)") && found.contains("(unsaved: "), "{found}");
    editor.close("src/greet.rs");
    settle(&mut editor);
    assert_eq!(
        agent.text("symbols", json!({ "query": "greeting" })).lines().next(),
        Some("no definition matches")
    );
    agent.end();
}

#[test]
fn an_agent_asks_what_changed_before_it_writes() {
    let repo = small();
    let shell = Shell::new(&repo);
    let mut editor = editor(&repo, &shell);
    let mut agent = shell.agent();
    let mut state = Value::Null;
    let mut changes = |agent: &mut Agent| {
        let reply = agent.call("files_changed", json!({ "since": state }))["structuredContent"].take();
        state = reply["state"].clone();
        reply["files"].clone()
    };
    assert_eq!(changes(&mut agent), json!([]));
    assert_eq!(changes(&mut agent), json!([]));
    editor.open("notes.txt");
    editor.open("tool.py");
    settle(&mut editor);
    assert_eq!(changes(&mut agent), json!([]), "opened, not changed");
    editor.type_behind("notes.txt", "milk", "shake");
    settle(&mut editor);
    repo.write("new.txt", "new\n");
    fs::remove_file(repo.path("src/greet.rs")).unwrap();
    assert_eq!(
        changes(&mut agent),
        json!([
            { "path": "new.txt", "change": "created", "unsaved": false },
            { "path": "notes.txt", "change": "changed", "unsaved": true },
            { "path": "src/greet.rs", "change": "deleted", "unsaved": false },
        ])
    );
    save(&mut editor, &repo, "notes.txt");
    assert_eq!(
        changes(&mut agent),
        json!([]),
        "an agent that was told of the unsaved text knows what was saved"
    );
    let refused = agent.text("files_changed", json!({ "since": "1-1" }));
    assert!(refused.contains("any file may have changed"), "{refused}");
    agent.end();
}

#[test]
fn slash_commands_of_clients_have_unsaved_text_too() {
    let repo = small();
    let shell = Shell::new(&repo);
    let mut editor = editor(&repo, &shell);
    editor.open("src/greet.rs");
    editor.replace("src/greet.rs", "on disk", "typed");
    settle(&mut editor);
    let mut agent = shell.agent();
    let listed = agent.request("prompts/list", json!({}))["prompts"].take();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().filter_map(|prompt| prompt["name"].as_str()).collect();
    assert_eq!(names, ["ask", "explain", "continue"]);
    let mut get = |name: &str, argument: &str, value: &str| {
        let params = json!({ "name": name, "arguments": { argument: value } });
        agent.request("prompts/get", params)["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
    };
    let text = get("explain", "path", "src/greet.rs");
    assert!(text.contains("Explain `src/greet.rs`") && text.contains("typed {name}"), "{text}");
    let text = get("ask", "question", "What does greet return?");
    assert!(text.contains("What does greet return?") && text.contains("typed {name}"), "{text}");
    agent.end();
}

#[test]
fn editors_come_and_go_and_crash_while_an_agent_works() {
    let repo = small();
    let shell = Shell::new(&repo);
    let mut agent = shell.agent();
    let instructions = agent.hello["instructions"].as_str().unwrap();
    assert!(instructions.contains("(view: disk)"), "{instructions}");
    assert!(read(&mut agent, "notes.txt")["freshness"].is_null());

    let mut editor = editor(&repo, &shell);
    editor.open("notes.txt");
    editor.type_behind("notes.txt", "Remember the milk.", " And the eggs.");
    settle(&mut editor);
    let reply = read(&mut agent, "notes.txt");
    assert!(reply["text"].as_str().unwrap().contains("And the eggs."), "{reply}");
    let freshness = &reply["freshness"];
    assert_eq!(freshness["news"], json!(["view: editor, 1 unsaved buffer"]));
    assert_eq!(freshness["changed"], json!(["notes.txt"]));

    editor.server.kill();
    editor.abandon();
    drop(editor);
    assert_eq!(endpoints(shell.state()).len(), 1, "a killed server leaves its file behind");
    let reply = read(&mut agent, "notes.txt");
    assert_eq!(reply["text"], "Remember the milk.\n");
    let freshness = &reply["freshness"];
    let news = "an editor has ended, so its files are shown as they are on disk; view: disk";
    assert_eq!((&freshness["news"], &freshness["changed"]), (&json!([news]), &json!(["notes.txt"])));
    assert_eq!(endpoints(shell.state()).len(), 0);
    assert!(read(&mut agent, "notes.txt")["freshness"].is_null());
    agent.end();
}

#[test]
fn look_ups_go_on_from_the_disk_when_the_editor_that_answered_them_is_killed() {
    let repo = small();
    let shell = Shell::new(&repo);
    let mut editor = editor(&repo, &shell);
    let mut agent = shell.agent();
    editor.wait_until_indexed();
    editor.open("src/greet.rs");
    editor.type_behind("src/greet.rs", "pub fn greet", "ing");
    settle(&mut editor);
    let symbols = |agent: &mut Agent| agent.text("symbols", json!({ "query": "greet" }));
    assert!(symbols(&mut agent).contains("pub fn greeting"));
    // Another program writes a file, and the editor does not know.
    repo.write("src/extra.rs", "pub fn greet_later() {}\n");
    assert!(symbols(&mut agent).contains("greet_later"));
    assert!(agent.text("references", json!({ "name": "greeting" })).contains("src/greet.rs:1"));
    // With a selection of its own, the agent looks itself.
    agent.call("files_select", json!({ "paths": ["notes.txt"] }));
    assert!(symbols(&mut agent).contains("pub fn greeting"));
    editor.server.kill();
    editor.abandon();
    let text = symbols(&mut agent);
    assert!(text.contains("pub fn greet(") && !text.contains("greeting"), "{text}");
    agent.end();
}

#[test]
fn an_agent_looks_up_in_the_index_of_the_editor_while_there_is_one() {
    let repo = small();
    let shell = Shell::new(&repo);
    // Only the editor's server ignores this directory, so its index has no outlines of it.
    let limited = json!({ "server": { "ignore": ["src"] } });
    let mut editor = Setup::new(&repo).state(shell.state()).settings(limited).start();
    editor.wait_until_indexed();
    let mut agent = shell.agent();
    let symbols = |agent: &mut Agent| agent.text("symbols", json!({ "query": "greet" }));
    assert!(!symbols(&mut agent).contains("pub fn greet("));
    editor.server.kill();
    editor.abandon();
    assert!(symbols(&mut agent).contains("pub fn greet("));
    agent.end();
}

#[test]
fn of_two_editors_the_newest_edit_counts_and_the_reply_says_whose_it_is() {
    let repo = small();
    let shell = Shell::new(&repo);
    let start = |name: &str| {
        Setup::new(&repo).state(shell.state()).parameter("clientInfo", json!({ "name": name })).start()
    };
    let (mut one, mut other) = (start("One"), start("Other"));
    let mut agent = shell.agent();
    for editor in [&mut one, &mut other] {
        editor.open("notes.txt");
        settle(editor);
    }
    let mut turn = |editor: &mut Editor, typed: &str, name: &str| {
        editor.type_behind("notes.txt", "Remember", typed);
        settle(editor);
        let reply = read(&mut agent, "notes.txt");
        assert!(reply["text"].as_str().unwrap().starts_with(&format!("Remember{typed}")), "{reply}");
        assert_eq!(reply["freshness"]["unsaved"][0]["editor"], name);
    };
    turn(&mut one, " one", "One");
    turn(&mut other, " other", "Other");
    turn(&mut one, " again", "One");
    // The newest edit is on the disk now.
    save(&mut one, &repo, "notes.txt");
    let reply = read(&mut agent, "notes.txt");
    assert_eq!(reply["text"], "Remember again one the milk.\n");
    assert_eq!(reply["source"], "disk");
    agent.end();
}

#[test]
fn a_file_that_another_program_wrote_is_shown_unless_the_editor_has_unsaved_text() {
    let repo = small();
    let shell = Shell::new(&repo);
    let mut editor = editor(&repo, &shell);
    let mut agent = shell.agent();
    editor.open("notes.txt");
    settle(&mut editor);
    let write = |text: &str| {
        repo.write("notes.txt", text);
        let later = SystemTime::now() + Duration::from_secs(1);
        fs::File::options().write(true).open(repo.path("notes.txt")).unwrap().set_modified(later).unwrap();
    };
    write("Written by an agent.\n");
    let reply = read(&mut agent, "notes.txt");
    assert_eq!((&reply["text"], &reply["source"]), (&json!("Written by an agent.\n"), &json!("disk")));
    let found = agent.text("grep", json!({ "pattern": "Written by" }));
    assert!(found.contains("1: Written by an agent."), "{found}");
    editor.type_behind("notes.txt", "milk", " and eggs");
    settle(&mut editor);
    let reply = read(&mut agent, "notes.txt");
    assert_eq!(reply["text"], "Remember the milk and eggs.\n");
    assert_eq!(reply["freshness"]["unsaved"][0]["diskChanged"], true);
    agent.end();
}

#[test]
fn a_restored_buffer_a_new_file_and_a_file_with_other_line_endings() {
    let repo = small();
    repo.write("dos.txt", "one\r\ntwo\r\n");
    let shell = Shell::new(&repo);
    let mut editor = editor(&repo, &shell);
    let mut agent = shell.agent();
    // Editors restore buffers that were unsaved when they ended.
    editor.open_text("notes.txt", "plaintext", "Restored.\n");
    editor.open_text("dos.txt", "plaintext", "one\ntwo\n");
    editor.open_text("new.py", "python", "");
    editor.change("new.py", |document| vec![document.edit(0..0, "def brand_new():\n    pass\n")]);
    editor.open_text("untitled:Untitled-1", "plaintext", "never saved");
    settle(&mut editor);
    assert_eq!(read(&mut agent, "notes.txt")["text"], "Restored.\n");
    assert_eq!(read(&mut agent, "dos.txt")["source"], "disk");
    let found = agent.text("symbols", json!({ "query": "brand_new" }));
    assert!(found.starts_with("new.py#L1-2: def brand_new()"), "{found}");
    let found = agent.text("grep", json!({ "pattern": "never saved" }));
    assert_eq!(found, "no line matches");
    agent.end();
}

#[test]
fn an_editor_on_another_folder_shows_what_both_have() {
    let repo = small();
    let shell = Shell::new(&repo);
    let below = repo.folder("src");
    let mut editor = editor(&below, &shell);
    editor.open("greet.rs");
    editor.replace("greet.rs", "on disk", "typed");
    settle(&mut editor);
    let mut agent = shell.agent();
    let reply = read(&mut agent, "src/greet.rs");
    assert!(reply["text"].as_str().unwrap().contains("typed {name}"), "{reply}");
    let elsewhere = small();
    let stranger = Shell::new(&elsewhere).state_of(&shell).agent();
    let instructions = stranger.hello["instructions"].as_str().unwrap();
    assert!(instructions.contains("(view: disk)"), "{instructions}");
    agent.end();
}

#[test]
fn the_command_line_shows_unsaved_text_and_says_so() {
    let repo = small();
    let shell = Shell::new(&repo);
    let mut editor = editor(&repo, &shell);
    editor.open("src/greet.rs");
    settle(&mut editor);
    let quiet = shell.run(&["read", "src/greet.rs"], "");
    assert_eq!((quiet.out, quiet.err.as_str()), (repo.read("src/greet.rs"), ""));
    editor.replace("src/greet.rs", "on disk", "typed");
    editor.type_behind("src/greet.rs", "pub fn greet", "ing");
    settle(&mut editor);
    for (arguments, expected) in [
        (&["read", "src/greet.rs"][..], "typed {name}"),
        (&["grep", "typed"], "typed {name}"),
        (&["symbols", "greeting"], "pub fn greeting"),
        (&["references", "greeting"], "src/greet.rs:1:"),
        (&["outline", "src/greet.rs"], "greeting"),
        (&["map"], "greeting"),
        (&["prompt", "--select", "src/greet.rs", "What?"], "typed {name}"),
    ] {
        let printed = shell.run(arguments, "");
        assert!(printed.out.contains(expected), "{arguments:?}: {printed:?}");
        assert!(printed.err.contains("view: editor, 1 unsaved buffer\n"), "{arguments:?}: {printed:?}");
    }
    let doctor = shell.run(&["doctor"], "");
    assert!(doctor.out.contains("view        editor, 1 unsaved buffer\n"), "{doctor:?}");
}

#[test]
fn unsaved_secrets_are_screened() {
    let repo = small();
    let shell = Shell::new(&repo);
    let mut editor = editor(&repo, &shell);
    let mut agent = shell.agent();
    let planted = credentials::planted(&mut Rng::new(3), 5);
    let secret = &planted.secrets[0];
    editor.open_text("notes.txt", "plaintext", &format!("{}\n", planted.text));
    editor.open_text(".env", "plaintext", "PLAIN=of-the-environment\n");
    settle(&mut editor);
    let text = agent.text("files_read", json!({ "path": "notes.txt" }));
    assert!(text.contains("[secret:") && !text.contains(secret), "{text}");
    let text = agent.text("files_read", json!({ "path": ".env" }));
    assert!(!text.contains("of-the-environment"), "{text}");
    let text = agent.text("grep", json!({ "pattern": "." }));
    assert!(!text.contains("of-the-environment") && !text.contains(secret), "{text}");
    agent.end();
}
