//! A file has one name, whatever link or address leads to it: for documents, the selection, rules and the map.

#[cfg(unix)]
use std::os::unix::fs::symlink;

use e2e::Editor;
#[cfg(unix)]
use e2e::{Repo, Setup};
use serde_json::json;

use crate::small;

const TYPED: &str = "def typed(): pass\n";

/// A directory `src`, to which `lib` is a link.
#[cfg(unix)]
fn linked() -> Repo {
    let repo = Repo::new("//- src/app.py\ndef on_disk(): pass\n//- src/other.py\ndef other(): pass\n");
    symlink("src", repo.path("lib")).unwrap();
    symlink("src/app.py", repo.path("app.py")).unwrap();
    repo
}

#[cfg(unix)]
#[test]
fn a_document_behind_a_link_is_the_file_that_it_leads_to() {
    for opened in ["lib/app.py", "app.py", "src/app.py"] {
        for selected in ["src/app.py", "lib/app.py", "app.py", "lib", "lib/a*.py"] {
            let repo = linked();
            let mut editor = Editor::start(&repo);
            editor.open_text(opened, "python", TYPED);
            let changed = editor.run("files.select", json!({ "paths": [selected] }));
            assert!(changed["changed"].as_array().unwrap().contains(&json!("src/app.py")), "{changed}");
            let prompt = editor.assemble();
            assert_eq!(prompt.full_text("src/app.py").as_deref(), Some(TYPED), "{opened}, {selected}");
            assert_eq!((prompt.count("on_disk"), prompt.count("def typed")), (0, 1), "{opened}, {selected}");
            assert_eq!(prompt.warnings(), []);
        }
    }
}

#[cfg(unix)]
#[test]
fn the_current_document_is_selected_under_the_name_of_its_file() {
    let repo = linked();
    let mut editor = Editor::start(&repo);
    editor.open_text("lib/app.py", "python", TYPED);
    editor.select(&["src/app.py"]);
    editor.run("here.select", json!({ "uri": repo.uri("lib/app.py") }));
    editor.server.wait_for("window/showMessage", |_| true);
    let prompt = editor.assemble();
    assert_eq!(prompt.count("## `"), 1, "one file, shown once");
    assert_eq!(prompt.full_text("src/app.py").as_deref(), Some(TYPED));
    // The address is the one under which the editor has the file open.
    let listing = editor.run("files.list", json!({}));
    assert_eq!(listing["files"][0]["uri"], repo.uri("lib/app.py"));
    assert!(editor.run("files.has", json!({ "path": "lib/app.py" }))["has"] == true);
    editor.run("files.exclude", json!({ "paths": ["lib/app.py"] }));
    let prompt = editor.assemble();
    assert_eq!((prompt.count("typed"), prompt.count("on_disk")), (0, 0));
}

#[cfg(unix)]
#[test]
fn of_two_buffers_of_a_file_the_last_edited_counts_and_the_reply_says_so() {
    let repo = linked();
    let mut editor = Editor::start(&repo);
    editor.select(&["src/app.py"]);
    editor.open("src/app.py");
    editor.open("lib/app.py");
    assert_eq!(editor.assemble().warnings(), [], "with the same text, nothing is in doubt");
    editor.replace("src/app.py", "on_disk", "typed_first");
    let prompt = editor.assemble();
    assert_eq!((prompt.count("typed_first"), prompt.count("def on_disk")), (1, 0));
    assert_eq!(prompt.warnings(), [("out_of_step", "src/app.py")]);
    let document = json!({ "uri": repo.uri("lib/app.py"), "version": 2 });
    let nothing = json!({ "textDocument": document, "contentChanges": [] });
    editor.server.notify("textDocument/didChange", nothing);
    assert_eq!(editor.assemble().count("typed_first"), 1, "a change without changes is no edit");
    editor.replace("lib/app.py", "on_disk", "typed_last");
    let prompt = editor.assemble();
    assert_eq!((prompt.count("typed_last"), prompt.count("typed_first")), (1, 0));
    assert_eq!(prompt.warnings(), [("out_of_step", "src/app.py")]);
    assert!(prompt.0["warnings"][0]["message"].as_str().unwrap().contains("is also open as"), "{prompt:?}");
    editor.close("lib/app.py");
    let prompt = editor.assemble();
    assert_eq!((prompt.count("typed_first"), prompt.warnings()), (1, vec![]));
    editor.close("src/app.py");
    assert_eq!(editor.assemble().full_text("src/app.py"), Some(repo.read("src/app.py")));
}

#[cfg(unix)]
#[test]
fn unsaved_edits_of_rules_behind_a_link_are_rules() {
    for opened in ["CLAUDE.md", "AGENTS.md"] {
        let repo = small();
        repo.write("CLAUDE.md", "Be brief.\n");
        symlink("CLAUDE.md", repo.path("AGENTS.md")).unwrap();
        let mut editor = Setup::new(&repo).options(json!({ "trusted": true })).start();
        editor.open_text(opened, "markdown", "Be thorough.\n");
        let prompt = editor.assemble();
        assert_eq!((prompt.count("Be thorough."), prompt.count("Be brief.")), (1, 0), "{opened}");
        assert_eq!(prompt.0["systemFiles"]["rules"], json!(["CLAUDE.md"]), "{opened}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_changes_takes_its_document_along() {
    let repo = linked();
    repo.write("src2/app.py", "def second(): pass\n");
    let mut editor = Editor::start(&repo);
    editor.select(&["src/app.py", "src2/app.py"]);
    editor.open_text("lib/app.py", "python", TYPED);
    assert_eq!(editor.assemble().full_text("src/app.py").as_deref(), Some(TYPED));
    std::fs::remove_file(repo.path("lib")).unwrap();
    symlink("src2", repo.path("lib")).unwrap();
    let change = json!({ "uri": repo.uri("lib"), "type": 2 });
    editor.server.notify("workspace/didChangeWatchedFiles", json!({ "changes": [change] }));
    let prompt = editor.assemble();
    assert_eq!(prompt.full_text("src2/app.py").as_deref(), Some(TYPED));
    assert_eq!(prompt.full_text("src/app.py"), Some(repo.read("src/app.py")));
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_workspace_is_not_followed() {
    let (repo, outside) = (linked(), Repo::new("//- app.py\ndef outside(): pass\n"));
    symlink(outside.root(), repo.path("out")).unwrap();
    let mut editor = Editor::start(&repo);
    editor.open_text("out/app.py", "python", TYPED);
    let prompt = editor.assemble();
    assert_eq!((prompt.count("typed"), prompt.count("outside")), (0, 0));
    assert_eq!(editor.run("server.status", json!({}))["openDocuments"], 0);
}

#[test]
fn a_buffer_that_is_saved_under_its_path_stays_selected() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    let unsaved = format!("untitled:{}", repo.path("src/new.py").to_str().unwrap());
    editor.open_text(&unsaved, "python", TYPED);
    editor.select(&[&unsaved]);
    let listing = editor.run("files.list", json!({}));
    assert_eq!(
        (&listing["files"][0]["path"], &listing["files"][0]["uri"]),
        (&json!("src/new.py"), &json!(unsaved))
    );
    assert_eq!(editor.assemble().full_text("src/new.py").as_deref(), Some(TYPED));
    repo.write("src/new.py", TYPED);
    editor.open("src/new.py");
    editor.close(&unsaved);
    editor.replace("src/new.py", "typed", "saved_and_edited");
    let prompt = editor.assemble();
    assert_eq!(prompt.full_text("src/new.py").as_deref(), Some("def saved_and_edited(): pass\n"));
    assert_eq!(prompt.warnings(), []);
}
