//! Sessions outlive the server: what was acknowledged is there when it is started again, and has one writer.

use e2e::{Editor, Repo, Setup};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::small;

struct Installation {
    repo: Repo,
    state: TempDir,
}

impl Installation {
    fn new() -> Self {
        Self { repo: small(), state: tempfile::tempdir().unwrap() }
    }

    fn start(&self) -> Editor {
        Setup::new(&self.repo).state(self.state.path()).start()
    }

    fn resume(&self, id: &str) -> Editor {
        Setup::new(&self.repo).state(self.state.path()).options(json!({ "resume": id })).start()
    }
}

fn say(editor: &mut Editor, text: &str) {
    editor.run("history.addExchange", json!({ "user": text, "assistant": format!("{text}, of course") }));
}

fn sessions(editor: &mut Editor) -> Vec<Value> {
    editor.run("session.list", json!({}))["sessions"].as_array().unwrap().clone()
}

fn current(editor: &mut Editor) -> String {
    let listed = sessions(editor);
    let current = listed.iter().find(|session| session["current"] == true).unwrap();
    current["id"].as_str().unwrap().to_owned()
}

fn texts(editor: &mut Editor) -> Vec<String> {
    let messages = editor.run("history.get", json!({}));
    let text = |message: &Value| message["content"][0]["text"].as_str().unwrap().to_owned();
    messages["messages"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn a_session_resumes_where_it_stopped_even_when_the_server_is_killed() {
    let installation = Installation::new();
    let mut editor = installation.start();
    editor.select(&["src/lib.rs"]);
    say(&mut editor, "one");
    say(&mut editor, "two");
    let id = current(&mut editor);
    editor.abandon();
    editor.server.kill();
    drop(editor);

    let mut editor = installation.resume(&id);
    assert_eq!(texts(&mut editor), ["one", "one, of course", "two", "two, of course"]);
    assert_eq!(
        editor.run("files.list", json!({}))["files"][0]["path"],
        "src/lib.rs",
        "what was selected still is"
    );
    say(&mut editor, "three");
    assert_eq!(current(&mut editor), id);
}

#[test]
fn an_editor_start_is_a_new_session_beside_the_old_ones() {
    let installation = Installation::new();
    let mut editor = installation.start();
    say(&mut editor, "first");
    let first = current(&mut editor);
    editor.quit();
    let mut editor = installation.start();
    assert_eq!(texts(&mut editor), [""; 0]);
    assert_eq!(sessions(&mut editor).len(), 1, "one that nothing was said in is not listed");
    say(&mut editor, "second");
    let listed = sessions(&mut editor);
    assert_eq!(listed.len(), 2);
    assert_eq!((&listed[1]["id"], &listed[1]["preview"]), (&json!(first), &json!("first")));
    assert_eq!((&listed[1]["messages"], &listed[1]["open"]), (&json!(2), &json!(false)));

    let loaded = editor.run("session.load", json!({ "id": first }));
    assert_eq!((&loaded["messages"], &loaded["readOnly"]), (&json!(2), &json!(false)));
    assert_eq!(texts(&mut editor), ["first", "first, of course"]);
}

#[test]
fn a_second_server_learns_who_writes_and_may_read() {
    let installation = Installation::new();
    let mut writer = installation.start();
    say(&mut writer, "mine");
    let id = current(&mut writer);
    let mut other = installation.start();
    let refused = other.refused("session.load", json!({ "id": id }));
    assert!(refused.message.contains("in use") && refused.message.contains("read-only"), "{refused}");
    let loaded = other.run("session.load", json!({ "id": id, "readOnly": true }));
    assert_eq!(loaded["readOnly"], true);
    assert_eq!(texts(&mut other), ["mine", "mine, of course"]);
    let refused = other.refused("history.add", json!({ "role": "user", "content": "me too" }));
    assert!(refused.message.contains("read-only"), "{refused}");
    assert_eq!(texts(&mut other).len(), 2, "nothing was changed");
    say(&mut writer, "still mine");

    let mut late = installation.resume(&id);
    let (code, message) = late.warning();
    assert!(code == "resume" && message.contains("in use"), "{message}");
    assert_eq!(texts(&mut late), [""; 0]);
}

#[test]
fn a_reloaded_editor_resumes_before_its_last_server_has_ended() {
    let installation = Installation::new();
    let mut last = installation.start();
    say(&mut last, "mine");
    let id = current(&mut last);
    let again =
        Setup::new(&installation.repo).state(installation.state.path()).options(json!({ "resume": id }));
    let mut again = again.start_without_waiting();
    last.quit();
    assert_eq!(texts(&mut again), ["mine", "mine, of course"]);
    say(&mut again, "still mine");
    assert_eq!(current(&mut again), id);
}

#[test]
fn sessions_are_begun_forked_named_searched_exported_and_deleted() {
    let installation = Installation::new();
    let mut editor = installation.start();
    say(&mut editor, "the wombat digs");
    say(&mut editor, "the emu runs");
    let first = current(&mut editor);
    editor.run("session.rename", json!({ "name": "Animals" }));

    let fork = editor.run("session.fork", json!({ "until": 1, "name": "Half" }));
    assert_eq!(texts(&mut editor), ["the wombat digs", "the wombat digs, of course"]);
    say(&mut editor, "another end");
    let fork = fork["id"].as_str().unwrap().to_owned();
    assert_ne!(fork, first);
    let names: Vec<Value> = sessions(&mut editor).iter().map(|session| session["name"].clone()).collect();
    assert_eq!(names, ["Half", "Animals"]);

    let found = editor.run("memory.search", json!({ "query": "emu" }));
    assert_eq!(found["hits"][0]["session"], json!(first));
    editor.run("memory.add", json!({ "text": "Emus cannot fly.", "tags": ["birds"] }));
    let found = editor.run("memory.search", json!({ "query": "fly emus" }));
    assert_eq!(found["hits"][0]["source"], "fragment", "{found}");

    let exported = editor.run("session.export", json!({ "id": first }));
    let imported = editor.run("session.import", json!({ "text": exported["text"] }));
    assert_eq!((&imported["messages"], &imported["form"]), (&json!(4), &json!("strata")));
    let body = editor.run("session.export", json!({ "id": first, "format": "anthropic" }));
    let body: Value = serde_json::from_str(body["text"].as_str().unwrap()).unwrap();
    assert_eq!(body["messages"].as_array().unwrap().len(), 4);
    let list = json!([{ "role": "user", "content": "hi" }, { "role": "assistant", "content": "ho" }]);
    let imported = editor.run("session.import", json!({ "text": list.to_string() }));
    editor.run("session.load", json!({ "id": imported["id"] }));
    assert_eq!(texts(&mut editor), ["hi", "ho"]);

    let refused = editor.refused("session.delete", json!({ "id": fork }));
    assert!(refused.message.contains("is open"), "{refused}");
    editor.run("session.delete", json!({ "session": fork }));
    assert!(sessions(&mut editor).iter().all(|session| session["id"] != json!(fork)));
    let refused = editor.refused("session.load", json!({ "id": fork }));
    assert!(refused.message.contains("does not exist"), "{refused}");
    editor.run("session.delete", json!({}));
    assert_eq!(texts(&mut editor), [""; 0], "a new one is shown");
    let refused = editor.refused("history.get", json!({ "session": "s-nobody" }));
    assert!(refused.message.contains("session.load"), "{refused}");
}

#[test]
fn imported_tool_results_are_brought_within_the_limits_of_outputs() {
    let installation = Installation::new();
    let mut editor = installation.start();
    let long = "a line\n".repeat(5_000);
    let huge = "another line of some length\n".repeat(10_000);
    let call =
        |id: &str| json!({ "id": id, "type": "function", "function": { "name": "run", "arguments": "{}" } });
    let list = json!([
        { "role": "user", "content": "look" },
        { "role": "assistant", "content": null, "tool_calls": [call("c1"), call("c2")] },
        { "role": "tool", "tool_call_id": "c1", "content": long },
        { "role": "tool", "tool_call_id": "c2", "content": huge },
        { "role": "assistant", "content": "seen" },
    ]);
    let imported = editor.run("session.import", json!({ "text": list.to_string(), "name": "Mine" }));
    assert_eq!(imported["form"], "openai");
    editor.run("session.load", json!({ "id": imported["id"] }));
    let messages = editor.run("history.get", json!({}))["messages"].to_string();
    assert!(messages.contains("[output truncated: 2000 of 5000 lines"), "{messages}");
    assert!(messages.len() < 100_000, "{}", messages.len());
    let spill = messages.split("toolOutput.read ").nth(1).unwrap();
    let name: String = spill.chars().take_while(char::is_ascii_alphanumeric).collect();
    let page = editor.run("toolOutput.read", json!({ "id": name, "from": 10_000 }));
    assert_eq!((&page["text"], &page["total"]), (&json!("another line of some length\n"), &json!(10_000)));
    let exported = editor.run("session.export", json!({}))["text"].clone();
    let again = editor.run("session.import", json!({ "text": exported }));
    editor.run("session.load", json!({ "id": again["id"] }));
    let same = editor.run("history.get", json!({}))["messages"].to_string();
    assert_eq!(same, messages, "an export comes back as it was");
}

#[test]
fn a_search_finds_what_the_memory_file_says_where_the_workspace_is_trusted() {
    let installation = Installation::new();
    installation.repo.write("MEMORY.md", "# Build\nUse cargo.\n\n# Animals\nThe wombat digs\nat night.\n");
    for trusted in [true, false] {
        let setup = Setup::new(&installation.repo).state(installation.state.path());
        let mut editor = setup.options(json!({ "trusted": trusted })).start();
        say(&mut editor, "the wombat digs");
        let hits = editor.run("memory.search", json!({ "query": "Wombat digs" }))["hits"].clone();
        let sources: Vec<&str> =
            hits.as_array().unwrap().iter().map(|hit| hit["source"].as_str().unwrap()).collect();
        if trusted {
            let hit = &hits[0];
            assert_eq!(sources, ["file", "message", "message"], "{hits}");
            assert_eq!((&hit["path"], &hit["line"]), (&json!("MEMORY.md"), &json!(4)));
            assert_eq!(hit["snippet"], "# Animals The wombat digs at night.");
        } else {
            assert!(!sources.contains(&"file"), "{hits}");
        }
        let found = editor.run("memory.search", json!({ "query": "cargo", "limit": 1 }))["hits"].clone();
        assert_eq!(found.as_array().unwrap().len(), usize::from(trusted), "{found}");
        editor.quit();
    }
}

#[test]
fn a_reset_keeps_the_files_in_view_and_forgets_the_conversation() {
    let installation = Installation::new();
    let mut editor = installation.start();
    editor.select(&["src/lib.rs"]);
    say(&mut editor, "one");
    let before = current(&mut editor);
    let reset = editor.run("session.reset", json!({}));
    assert_ne!(reset["id"], json!(before));
    assert_eq!((texts(&mut editor).len(), reset["messages"].clone()), (0, json!(0)));
    assert_eq!(editor.run("files.list", json!({}))["files"][0]["path"], "src/lib.rs");
    editor.run("session.new", json!({}));
    assert_eq!(editor.run("files.list", json!({}))["files"], json!([]));
}

#[test]
fn a_damaged_store_is_set_aside_and_a_newer_one_left_alone() {
    for (bytes, said) in
        [(&b"not a database, whatever its name says"[..], "set aside"), (&[0; 100], "set aside")]
    {
        let installation = Installation::new();
        let mut editor = installation.start();
        say(&mut editor, "one");
        editor.quit();
        drop(editor);
        let database = find(installation.state.path(), "sessions.db");
        std::fs::write(&database, bytes).unwrap();
        let mut editor = installation.start();
        say(&mut editor, "two");
        let (code, message) = editor.warning();
        assert!(code == "store" && message.contains("damaged"), "{said}: {message}");
        assert_eq!(sessions(&mut editor).len(), 1);
    }
}

#[test]
fn a_long_tool_output_goes_to_a_file_and_can_be_read_in_pages() {
    let installation = Installation::new();
    let mut editor = installation.start();
    let output: String = (1..=30_000).map(|n| format!("line number {n}\n")).collect();
    let kept = editor.run("toolOutput.add", json!({ "content": output }));
    let notice = kept["content"][0]["text"].as_str().unwrap();
    assert!(notice.contains("30000 lines") && notice.contains("SHA-256"), "{notice}");
    let id = notice.rsplit_once("toolOutput.read ").unwrap().1.trim_end_matches(']');
    let page = editor.run("toolOutput.read", json!({ "id": id, "from": 29_999, "count": 5 }));
    assert_eq!(page["text"], "line number 29999\nline number 30000\n");
    assert_eq!(
        (&page["from"], &page["to"], &page["total"]),
        (&json!(29_999), &json!(30_000), &json!(30_000))
    );
    let kept = editor.run("toolOutput.add", json!({ "content": "short" }));
    assert_eq!(kept["content"][0]["text"], "short");
}

fn find(folder: &std::path::Path, name: &str) -> std::path::PathBuf {
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_name() == name {
                return entry.path();
            }
            if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    panic!("no {name}");
}
