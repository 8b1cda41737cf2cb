//! Commands that are sent right after `initialized`, or right after a change on disk, before the server has listed and
//! outlined the files. They wait, and do not say that there is nothing.

use e2e::{Editor, Repo, Setup};
use serde_json::{Value, json};

use crate::small;

/// Settings with which a command waits as long as a busy machine takes to list and outline the files.
fn patient() -> Value {
    json!({ "context": { "index_wait_ms": 60_000 } })
}

/// Starts a server on a repository with enough files that listing them takes a moment.
fn just_started(settings: Value) -> (Repo, Editor) {
    let repo = small();
    for number in 0..400 {
        repo.write(&format!("many/f{number}.py"), format!("def many_{number}(): pass\n"));
    }
    let editor = Setup::new(&repo).settings(settings).start_without_waiting();
    (repo, editor)
}

#[test]
fn a_directory_and_a_glob_can_be_selected_at_once() {
    let (_repo, mut editor) = just_started(patient());
    let selected = editor.run("files.select", json!({ "paths": ["src"] }));
    assert_eq!(selected["changed"], json!(["src/greet.rs", "src/lib.rs"]));
    for glob in ["**/*.{txt,rs}", "*.txt"] {
        let (_repo, mut editor) = just_started(patient());
        let selected = editor.run("files.select", json!({ "paths": [glob] }));
        assert!(selected["changed"].as_array().unwrap().contains(&json!("notes.txt")), "{selected}");
    }
}

#[test]
fn a_search_waits_for_what_it_searches() {
    for (command, argument, expected) in [
        ("files.find", json!({ "query": "lib" }), "src/lib.rs"),
        ("files.grep", json!({ "pattern": "on disk" }), "src/greet.rs"),
        ("symbols.references", json!({ "name": "greet" }), "src/greet.rs"),
        ("symbols.find", json!({ "query": "Tool" }), "tool.py"),
        ("symbols.relevant", json!({ "query": "Which tool runs at what speed?" }), "tool.py"),
        ("symbols.map", json!({ "focus": ["src"] }), "src/greet.rs"),
        ("symbols.dependents", json!({ "path": "src/greet.rs" }), "src/greet.rs"),
    ] {
        let (_repo, mut editor) = just_started(patient());
        let reply = editor.run(command, argument);
        assert!(reply.to_string().contains(expected), "{command}: {reply}");
    }
}

#[test]
fn what_is_not_ready_in_time_is_not_said_to_be_nothing() {
    // The result depends on which is faster, but an empty one is wrong in each case.
    let settings = json!({ "context": { "index_wait_ms": 0 } });
    for (command, argument, found) in [
        ("files.select", json!({ "paths": ["**/*.rs"] }), "/changed/0"),
        ("files.find", json!({ "query": "lib" }), "/files/0"),
        ("files.grep", json!({ "pattern": "on disk" }), "/files/0"),
        ("symbols.references", json!({ "name": "greet" }), "/definitions/0"),
    ] {
        let (_repo, mut editor) = just_started(settings.clone());
        match editor.try_run(command, argument) {
            Ok(reply) => assert!(reply.pointer(found).is_some(), "{command}: {reply}"),
            Err(error) => {
                assert_eq!(error.data["kind"], "notReady", "{command}: {error}");
                assert!(error.message.contains("not ready"), "{command}: {error}");
            }
        }
    }
}

#[test]
fn a_command_that_waits_can_be_cancelled() {
    let (_repo, mut editor) = just_started(json!({ "context": { "index_wait_ms": 60_000 } }));
    let waiting = editor.ask("symbols.references", json!({ "name": "greet" }));
    editor.server.cancel(waiting);
    let answer = editor.server.answer(waiting);
    assert!(answer.is_ok() || answer.is_err_and(|error| error.code == -32800));
    assert!(editor.run("symbols.references", json!({ "name": "greet" }))["total"].as_u64() > Some(0));
}

#[test]
fn a_directory_that_was_created_a_moment_ago_has_its_files() {
    let repo = small();
    // Without a watcher, nothing reports the directory.
    let mut editor = Setup::new(&repo).capability("/workspace/didChangeWatchedFiles", Value::Null).start();
    repo.write("new/one.rs", "pub fn one() {}\n");
    repo.write("new/deep/two.rs", "pub fn two() {}\n");
    let selected = editor.run("files.select", json!({ "paths": ["new"] }));
    assert_eq!(selected["changed"], json!(["new/deep/two.rs", "new/one.rs"]));
    repo.write("src/late.rs", "pub fn late() {}\n");
    let selected = editor.run("files.select", json!({ "paths": ["src"] }));
    assert_eq!(selected["changed"], json!(["src/greet.rs", "src/late.rs", "src/lib.rs"]));
    repo.write("src/later.rs", "pub fn later() {}\n");
    let selected = editor.run("files.select", json!({ "paths": ["src/late*.rs"] }));
    assert_eq!(selected["changed"], json!(["src/late.rs", "src/later.rs"]));
    repo.write("latest/x.kt", "fun latest() {}\n");
    let selected = editor.run("files.select", json!({ "paths": ["**/*.kt"] }));
    assert_eq!(selected["changed"], json!(["latest/x.kt"]));
}

#[test]
fn a_folder_that_is_added_is_searched_at_once() {
    let (first, second) = (small(), Repo::new("//- only_here.rs\npub fn only_here() {}\n"));
    let mut editor = Setup::with_folders(&[("first", &first)]).start();
    let folder = json!([{ "name": "second", "uri": e2e::uri_of(second.root()) }]);
    let params = json!({ "event": { "added": folder, "removed": [] } });
    editor.server.notify("workspace/didChangeWorkspaceFolders", params);
    let found = editor.run("files.find", json!({ "query": "only_here" }));
    assert_eq!(found["files"][0]["path"], "second/only_here.rs", "{found}");
    let found = editor.run("symbols.references", json!({ "name": "add" }));
    assert_eq!(found["definitions"][0]["path"], "first/src/lib.rs", "{found}");
}

#[test]
fn only_ignore_rules_that_hide_files_are_blamed() {
    let repo = small();
    repo.write(".gitignore", "*.log\n");
    repo.write("logs/a.log", "hidden\n");
    repo.write("node_modules/a/index.js", "generated\n");
    std::fs::create_dir(repo.path("empty")).unwrap();
    let mut editor = Editor::start(&repo);
    for (path, message) in [
        ("logs", "the ignore rules hide all files in `logs`"),
        ("empty", "`empty` contains no files"),
        ("node_modules", "all files in `node_modules` are generated, and Strata does not list those"),
    ] {
        let refused = editor.refused("files.select", json!({ "paths": [path] }));
        assert!(refused.message.contains(message), "{refused}");
    }
}

#[test]
fn a_directory_with_a_name_like_a_pattern_is_that_directory() {
    let repo =
        Repo::new("//- app/[slug]/page.tsx\na\n//- app/s/page.tsx\nb\n//- app/[slug]/[id]/page.tsx\nc\n");
    let mut editor = Editor::start(&repo);
    let mut select = |path: &str| editor.run("files.set", json!({ "paths": [path] }))["changed"].clone();
    assert_eq!(select("app/[slug]/*"), json!(["app/[slug]/page.tsx"]));
    assert_eq!(select("app/*/[id]/*"), json!(["app/[slug]/[id]/page.tsx"]));
    assert_eq!(select("app/[rst]/*"), json!(["app/s/page.tsx"]));
}

#[test]
fn lock_files_and_autosaved_copies_of_emacs_are_not_listed() {
    let repo = small();
    repo.write("src/#lib.rs#", "pub fn autosaved() {}\n");
    repo.write("src/.#lib.rs", "me@host.123\n");
    let mut editor = Editor::start(&repo);
    let selected = editor.run("files.select", json!({ "paths": ["src"] }));
    assert_eq!(selected["changed"], json!(["src/greet.rs", "src/lib.rs"]));
    assert_eq!(selected["withheld"], json!([]));
    assert_eq!(editor.run("files.find", json!({ "query": "lib.rs" }))["files"].as_array().unwrap().len(), 1);
}
