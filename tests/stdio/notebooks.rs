//! A notebook is one document of cells, in the editor and on disk.

use e2e::{Editor, Prompt, Repo, Setup, Shell};
use serde_json::{Value, json};

const NAME: &str = "n b.ipynb";

/// A notebook on disk with an output that is larger than any text may be.
fn repo() -> Repo {
    let repo = Repo::new("//- tool.py\ndef tool(): pass\n");
    let output = json!({ "output_type": "display_data", "data": { "image/png": "A".repeat(3 << 20) } });
    let notebook = json!({
        "nbformat": 4, "nbformat_minor": 5, "metadata": {},
        "cells": [
            { "id": "intro", "cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "On disk"] },
            { "id": "load", "cell_type": "code", "metadata": {}, "source": "disk = 1", "outputs": [output], "execution_count": 1 },
        ],
    });
    repo.write(NAME, notebook.to_string());
    repo
}

fn cell_uri(repo: &Repo, name: &str) -> String {
    format!("{}#{name}", repo.uri(NAME).replacen("file://", "vscode-notebook-cell:", 1))
}

fn cell(repo: &Repo, name: &str, kind: u8) -> Value {
    json!({ "kind": kind, "document": cell_uri(repo, name) })
}

fn item(repo: &Repo, name: &str, language: &str, text: &str) -> Value {
    json!({ "uri": cell_uri(repo, name), "languageId": language, "version": 1, "text": text })
}

/// Opens the notebook with two cells, whose texts differ from those on disk.
fn open(editor: &mut Editor, repo: &Repo) {
    let notebook = json!({
        "uri": repo.uri(NAME), "notebookType": "jupyter-notebook", "version": 1,
        "cells": [cell(repo, "W0s", 1), cell(repo, "W1s", 2)],
    });
    let cells =
        json!([item(repo, "W0s", "markdown", "# Typed"), item(repo, "W1s", "python", "def typed(): pass\n")]);
    let params = json!({ "notebookDocument": notebook, "cellTextDocuments": cells });
    editor.server.notify("notebookDocument/didOpen", params);
}

fn change(editor: &mut Editor, repo: &Repo, version: i32, cells: Value) {
    let document = json!({ "uri": repo.uri(NAME), "version": version });
    let params = json!({ "notebookDocument": document, "change": { "cells": cells } });
    editor.server.notify("notebookDocument/didChange", params);
}

fn whole(prompt: &Prompt) -> String {
    prompt.full_text(NAME).unwrap_or_else(|| panic!("{}", prompt.text()))
}

#[test]
fn a_notebook_on_disk_is_its_cells_without_outputs() {
    let repo = repo();
    let mut editor = Editor::start(&repo);
    let selected = editor.run("files.select", json!({ "paths": ["*.ipynb"] }));
    assert_eq!((&selected["changed"], &selected["withheld"]), (&json!([NAME]), &json!([])));
    let prompt = editor.assemble();
    assert_eq!(whole(&prompt), "# %% [markdown] cell 1\n# Title\nOn disk\n\n# %% [code] cell 2\ndisk = 1\n");
    assert_eq!((prompt.count("AAAA"), prompt.count("without their outputs")), (0, 1));
    let found = editor.run("files.grep", json!({ "pattern": "disk = " }));
    assert_eq!(found["files"][0]["lines"], json!([{ "line": 6, "text": "disk = 1" }]));
    for cell in ["load", "cell2"] {
        let path = format!("{NAME}#{cell}");
        editor.run("files.set", json!({ "paths": [path] }));
        assert_eq!(editor.assemble().full_text(&path).as_deref(), Some("disk = 1\n"), "{cell}");
        let listing = editor.run("files.list", json!({}));
        assert_eq!(listing["files"][0]["uri"], repo.uri(NAME), "the file that has the cell");
    }
    let refused = editor.refused("files.select", json!({ "paths": [format!("{NAME}#cell3")] }));
    assert!(refused.message.contains("has no cell `cell3`"), "{refused}");
}

#[test]
fn an_open_notebook_is_its_unsaved_cells() {
    let repo = repo();
    let mut editor = Editor::start(&repo);
    editor.select(&[NAME]);
    open(&mut editor, &repo);
    let prompt = editor.assemble();
    assert_eq!(whole(&prompt), "# %% [markdown] cell 1\n# Typed\n\n# %% [code] cell 2\ndef typed(): pass\n");
    assert_eq!((prompt.file(NAME)["source"].as_str(), prompt.count("def typed")), (Some("buffer"), 1));

    // A cell is typed in, one is inserted before it, and the first one becomes code.
    let document = json!({ "uri": cell_uri(&repo, "W1s"), "version": 2 });
    change(
        &mut editor,
        &repo,
        2,
        json!({ "textContent": [{ "document": document, "changes": [{ "text": "x = 2\n" }] }] }),
    );
    let array = json!({ "start": 1, "deleteCount": 0, "cells": [cell(&repo, "W2s", 2)] });
    let structure = json!({ "array": array, "didOpen": [item(&repo, "W2s", "python", "new = 3")] });
    change(&mut editor, &repo, 3, json!({ "structure": structure }));
    change(&mut editor, &repo, 4, json!({ "data": [cell(&repo, "W0s", 2)] }));
    let prompt = editor.assemble();
    let expected =
        "# %% [code] cell 1\n# Typed\n\n# %% [code] cell 2\nnew = 3\n\n# %% [code] cell 3\nx = 2\n";
    assert_eq!((whole(&prompt).as_str(), prompt.warnings()), (expected, vec![]));
    assert_eq!(prompt.file(NAME)["version"], 4);

    let structure = json!({ "array": { "start": 0, "deleteCount": 2 }, "didClose": [{ "uri": cell_uri(&repo, "W0s") }, { "uri": cell_uri(&repo, "W2s") }] });
    change(&mut editor, &repo, 5, json!({ "structure": structure }));
    assert_eq!(whole(&editor.assemble()), "# %% [code] cell 1\nx = 2\n");

    let params = json!({ "notebookDocument": { "uri": repo.uri(NAME) }, "cellTextDocuments": [{ "uri": cell_uri(&repo, "W1s") }] });
    editor.server.notify("notebookDocument/didClose", params);
    assert!(whole(&editor.assemble()).contains("On disk"));
    assert_eq!(editor.run("server.status", json!({}))["openDocuments"], 0);
}

#[test]
fn a_cell_can_be_selected_by_every_name() {
    let repo = repo();
    for name in [format!("{NAME}#W1s"), cell_uri(&repo, "W1s")] {
        for command in ["files.select", "here.select"] {
            let mut editor = Editor::start(&repo);
            open(&mut editor, &repo);
            match command {
                "files.select" => editor.run(command, json!({ "paths": [name] })),
                _ => editor.run(command, json!({ "uri": name })),
            };
            if command == "here.select" {
                editor.server.wait_for("window/showMessage", |_| true);
            }
            let listing = editor.run("files.list", json!({}));
            assert_eq!(listing["files"][0]["path"], format!("{NAME}#W1s"), "{command} {name}");
            assert_eq!(listing["files"][0]["uri"], cell_uri(&repo, "W1s"), "the editor can open it");
            let prompt = editor.assemble();
            assert_eq!(prompt.full_text(&format!("{NAME}#W1s")).as_deref(), Some("def typed(): pass\n"));
            assert_eq!(prompt.count("def typed"), 1, "shown once");
        }
    }
    for name in [NAME.to_owned(), repo.uri(NAME)] {
        let mut editor = Editor::start(&repo);
        open(&mut editor, &repo);
        editor.run("here.select", json!({ "uri": name }));
        editor.server.wait_for("window/showMessage", |_| true);
        let listing = editor.run("files.list", json!({}));
        assert_eq!(
            (&listing["files"][0]["path"], &listing["files"][0]["uri"]),
            (&json!(NAME), &json!(repo.uri(NAME)))
        );
        assert!(whole(&editor.assemble()).contains("def typed"));
    }
}

#[test]
fn cells_that_come_without_their_notebook_are_not_ignored_without_a_word() {
    let repo = repo();
    let mut editor = Editor::start(&repo);
    editor.select(&[NAME]);
    editor.open_text(&cell_uri(&repo, "W1s"), "python", "def typed(): pass\n");
    let prompt = editor.assemble();
    assert!(whole(&prompt).contains("disk = 1"));
    assert_eq!(prompt.warnings(), [("out_of_step", NAME)]);
}

#[test]
fn changes_that_make_no_sense_are_reported() {
    let repo = repo();
    let mut editor = Editor::start(&repo);
    editor.select(&[NAME]);
    change(&mut editor, &repo, 2, json!({ "data": [] }));
    assert_eq!(editor.warning().0, "outOfStep");
    let prompt = editor.assemble();
    assert!(whole(&prompt).contains("disk = 1"), "its text is not known");
    assert_eq!(prompt.warnings(), [("out_of_step", NAME)]);
    open(&mut editor, &repo);
    assert_eq!(editor.assemble().warnings(), []);
    change(&mut editor, &repo, 2, json!({ "structure": { "array": { "start": 7, "deleteCount": 1 } } }));
    assert_eq!(editor.warning().0, "outOfStep");
    assert_eq!(editor.assemble().warnings(), [("out_of_step", NAME)]);
    open(&mut editor, &repo);
    editor
        .server
        .notify("notebookDocument/didChange", json!({ "notebookDocument": { "uri": repo.uri(NAME) } }));
    assert_eq!(editor.warning().0, "outOfStep");
    assert_eq!(editor.assemble().warnings(), [("out_of_step", NAME)]);
}

#[test]
fn a_notebook_in_memory_is_bounded_like_a_file() {
    let repo = repo();
    let mut editor = Editor::start(&repo);
    open(&mut editor, &repo);
    let document = json!({ "uri": cell_uri(&repo, "W1s"), "version": 2 });
    let changes = json!([{ "text": "x".repeat(2_400_000) }]);
    change(&mut editor, &repo, 2, json!({ "textContent": [{ "document": document, "changes": changes }] }));
    let refused = editor.refused("files.select", json!({ "paths": [NAME] }));
    assert!(refused.message.contains("the limit is"), "{refused}");
}

#[test]
fn an_agent_sees_the_cells_of_an_open_notebook() {
    let repo = repo();
    let shell = Shell::new(&repo);
    let mut editor = Setup::new(&repo).state(shell.state()).start();
    let mut agent = shell.agent();
    let mut read = |editor: &mut Editor| {
        editor.run("server.status", json!({}));
        agent.call("files_read", json!({ "path": NAME }))["structuredContent"].take()
    };
    assert_eq!(read(&mut editor)["source"], "disk");
    open(&mut editor, &repo);
    let reply = read(&mut editor);
    assert!(reply["text"].as_str().unwrap().contains("def typed(): pass"), "{reply}");
    assert_eq!(reply["freshness"]["unsaved"][0]["path"], NAME, "{reply}");
    let document = json!({ "uri": cell_uri(&repo, "W1s"), "version": 2 });
    let text = json!([{ "document": document, "changes": [{ "text": "def again(): pass\n" }] }]);
    change(&mut editor, &repo, 2, json!({ "textContent": text }));
    let reply = read(&mut editor);
    assert!(reply["text"].as_str().unwrap().contains("def again(): pass"), "{reply}");
}
