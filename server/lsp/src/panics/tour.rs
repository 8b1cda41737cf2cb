//! A conversation that triggers everything except commands on their own: documents, files, folders, settings, questions
//! and background work. After an internal error, the client repeats its message. The final state must be the same as
//! without the error.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Answer, Client, HANG_TIMEOUT, TestWorkspace, client_settings};
use super::state::RandomNameMasks;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ClientKind {
    Able,
    /// A client that declares only file watching and then rejects its registration (`client/registerCapability`), so the
    /// server watches files itself. It sends its settings in `workspace/didChangeConfiguration`, because the server
    /// cannot request them.
    Plain,
}

/// Text of `src/lib.rs` after all edits of the tour.
const LIB: &str = "//! Plans meals, and more.\nmod week;\n\n/// Plans a week.\npub fn plan() -> week::Week {\n    week::Week\n}\n";

pub(super) fn tour(client: &mut Client, workspace: &TestWorkspace, client_kind: ClientKind) {
    let mut initialize_params = client.initialize_params(&Value::Null);
    if client_kind == ClientKind::Plain {
        initialize_params["capabilities"] =
            json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
        client.rejected_method = "client/registerCapability";
    }
    request_with_retry(client, "initialize", &initialize_params);
    client.notify("initialized", json!({}));
    wait_for_outlines(client, 2);
    exercise_documents(client);
    lsp_requests(client);
    compact_conversation(client);
    files(client, workspace, client_kind);
    workspace_changes(client, workspace, client_kind);
    exercise_sessions(client);
}

/// Returns the final state, after the client has repeated messages that may have been lost.
pub(super) fn final_state(client: &mut Client, workspace: &TestWorkspace, client_kind: ClientKind) -> Value {
    // Before messages are repeated, the text must be correct or marked as out of sync.
    let file_reply = command(client, "files.read", json!({ "path": "src/lib.rs" }));
    let is_marked = file_reply["sync"]["state"] == "out_of_step" || file_reply["notice"].is_string();
    assert!(file_reply["text"] == LIB || is_marked, "{file_reply}");

    for (path, text) in [("src/lib.rs", LIB), ("notes.txt", "Ask Ada.\n")] {
        close(client, path);
        open(client, path, text);
    }
    close(client, "notes.txt");
    close_notebook(client);
    configure(client, client_kind);
    folders(client, workspace, "removed");
    wait_for_final_files(client);
    command(client, "history.set", json!({ "messages": [{ "role": "user", "content": "Plan soups." }] }));
    command(client, "files.set", json!({ "paths": ["src/lib.rs", "notes.txt"] }));
    let mut read = |path: &str| command(client, "files.read", json!({ "path": path }))["text"].clone();
    let texts = [read("src/lib.rs"), read("src/week.rs"), read("notes.txt")];
    let preview = command(client, "prompt.preview", json!({ "prompt": "?", "policy": "flat" }));
    let end = json!({
        "texts": texts,
        "prompt": preview["text"],
        "files": command(client, "files.list", json!({}))["files"],
        "symbols": command(client, "symbols.file", json!({ "path": "src/week.rs" }))["block"],
        "settings": command(client, "server.settings", json!({}))["settings"],
        "open": command(client, "server.status", json!({}))["openDocuments"],
    });
    RandomNameMasks::apply_to(&Ok(end)).unwrap()
}

fn exercise_documents(client: &mut Client) {
    let old = super::client::FILES[0].1;
    open(client, "src/lib.rs", old);
    let at = |character: u32| json!({ "line": 0, "character": character });
    let edit = json!({ "range": { "start": at(15), "end": at(15) }, "text": ", and more" });
    let uri = client.uri("src/lib.rs");
    client.notify(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [edit] }),
    );
    client.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    open(client, "notes.txt", "Ask Ada.\n");
    // An invalid change.
    let uri = client.uri("notes.txt");
    client.notify(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [{ "text": 7 }] }),
    );
    close(client, "notes.txt");
    notebook(client);
    let uri = client.uri("src/lib.rs");
    command(client, "here.select", json!({ "uri": uri }));
}

fn notebook(client: &mut Client) {
    let uri = client.uri("n.ipynb");
    let cell = format!("{uri}#1");
    let item = json!({ "uri": cell, "languageId": "python", "version": 1, "text": "x = 1" });
    let cells = json!([{ "kind": 2, "document": cell }]);
    let document = json!({ "uri": uri, "notebookType": "jupyter-notebook", "version": 1, "cells": cells });
    client.notify(
        "notebookDocument/didOpen",
        json!({ "notebookDocument": document, "cellTextDocuments": [item] }),
    );
    let document = json!({ "uri": uri, "version": 2 });
    client.notify(
        "notebookDocument/didChange",
        json!({ "notebookDocument": document, "change": { "cells": { "data": cells } } }),
    );
    client.notify("notebookDocument/didSave", json!({ "notebookDocument": { "uri": uri } }));
    close_notebook(client);
}

fn close_notebook(client: &mut Client) {
    let uri = client.uri("n.ipynb");
    let cells = json!([{ "uri": format!("{uri}#1") }]);
    let document = json!({ "uri": uri });
    client.notify(
        "notebookDocument/didClose",
        json!({ "notebookDocument": document, "cellTextDocuments": cells }),
    );
}

fn lsp_requests(client: &mut Client) {
    let document = json!({ "uri": client.uri("src/lib.rs") });
    let position = json!({ "line": 4, "character": 8 });
    let at = json!({ "textDocument": document, "position": position });
    let range = json!({ "start": position, "end": position });
    for (method, params) in [
        ("textDocument/documentSymbol", json!({ "textDocument": document })),
        ("workspace/symbol", json!({ "query": "Week" })),
        ("textDocument/hover", at.clone()),
        ("textDocument/definition", at.clone()),
        (
            "textDocument/references",
            json!({ "textDocument": document, "position": position, "context": { "includeDeclaration": true } }),
        ),
        (
            "textDocument/codeAction",
            json!({ "textDocument": document, "range": range, "context": { "diagnostics": [] } }),
        ),
        ("textDocument/codeLens", json!({ "textDocument": document })),
    ] {
        request_with_retry(client, method, &params);
    }
}

/// Adds tool results that become old, compacts the conversation, and counts its next request.
fn compact_conversation(client: &mut Client) {
    for number in 0..3 {
        let id = format!("call-{number}");
        let call = json!({ "type": "tool_call", "id": id, "name": "bash", "input": {} });
        command(client, "history.add", json!({ "role": "assistant", "content": [call] }));
        command(client, "toolOutput.add", json!({ "content": "running 2 tests", "callId": id }));
    }
    let prompt = command(client, "prompt.assemble", json!({ "prompt": "Go on." }));
    command(client, "prompt.record", json!({ "id": prompt["id"], "response": "It is done." }));
    let text = "why and because ".repeat(200);
    for _ in 0..4 {
        command(client, "history.addExchange", json!({ "user": text, "assistant": text }));
    }
    run_with_retry(client, "strata.compaction.run", &json!({ "profile": "checkpoint" })).unwrap();
}

fn files(client: &mut Client, workspace: &TestWorkspace, client_kind: ClientKind) {
    let new = workspace.folder().join("src/new.rs");
    fs::write(&new, "pub struct New;\n").unwrap();
    let uri = client.uri("src/new.rs");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 1 }] }));
    wait_for_outlines(client, 3);
    fs::remove_file(&new).unwrap();
    client.notify("workspace/didDeleteFiles", json!({ "files": [{ "uri": uri }] }));
    wait_for_outlines(client, 2);
    let (old, moved) = (client.uri("notes.txt"), client.uri("note.txt"));
    for (from, to) in [("notes.txt", "note.txt"), ("note.txt", "notes.txt")] {
        fs::rename(workspace.folder().join(from), workspace.folder().join(to)).unwrap();
        let (from, to) = if from == "notes.txt" { (&old, &moved) } else { (&moved, &old) };
        client.notify("workspace/didRenameFiles", json!({ "files": [{ "oldUri": from, "newUri": to }] }));
    }
    if client_kind == ClientKind::Plain {
        // Make the server's own watcher report a change.
        fs::write(workspace.folder().join("seen.txt"), "?").unwrap();
        thread::sleep(Duration::from_millis(100));
        fs::remove_file(workspace.folder().join("seen.txt")).unwrap();
    }
}

fn workspace_changes(client: &mut Client, workspace: &TestWorkspace, client_kind: ClientKind) {
    folders(client, workspace, "added");
    folders(client, workspace, "removed");
    fs::write(workspace.folder().join(".strata.toml"), "[symbols]\nmap_budget = 3000\n").unwrap();
    let uri = client.uri(".strata.toml");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 1 }] }));
    configure(client, client_kind);
    client.notify("window/workDoneProgress/cancel", json!({ "token": "strata/index/99" }));
    client.notify("$/setTrace", json!({ "value": "off" }));
}

fn exercise_sessions(client: &mut Client) {
    let first = command(client, "server.status", json!({}))["session"].clone();
    command(client, "session.new", json!({}));
    command(client, "session.delete", json!({}));
    command(client, "session.load", json!({ "id": first }));
}

fn folders(client: &mut Client, workspace: &TestWorkspace, change: &str) {
    let uri = strata_host::uri::file_uri(workspace.state_directory()).unwrap();
    let mut event = json!({ "added": [], "removed": [] });
    event[change] = json!([{ "uri": uri, "name": "kept" }]);
    client.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
}

fn configure(client: &mut Client, client_kind: ClientKind) {
    let settings = match client_kind {
        ClientKind::Able => Value::Null,
        ClientKind::Plain => json!({ "strata": client_settings() }),
    };
    client.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
}

fn open(client: &mut Client, path: &str, text: &str) {
    let item = json!({ "uri": client.uri(path), "languageId": "rust", "version": 1, "text": text });
    client.notify("textDocument/didOpen", json!({ "textDocument": item }));
}

fn close(client: &mut Client, path: &str) {
    let uri = client.uri(path);
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
}

/// Waits until the index has this number of outlines.
fn wait_for_outlines(client: &mut Client, outlines: usize) {
    wait_for_index(client, |_, status| status["outlined"] == outlines);
}

/// Waits until the index contains exactly the final files.
fn wait_for_final_files(client: &mut Client) {
    wait_for_index(client, |client, status| {
        let week = json!({ "command": "strata.symbols.file", "arguments": [{ "path": "src/week.rs" }] });
        let is_indexed = client.request("workspace/executeCommand", week).is_ok();
        // The number alone is not sufficient, because the temporary file may be one of four files.
        let listing = command(client, "files.find", json!({}));
        let paths: Vec<&str> =
            listing["files"].as_array().unwrap().iter().filter_map(|file| file["path"].as_str()).collect();
        is_indexed
            && status["outlined"] == 2
            && paths == [".strata.toml", "notes.txt", "src/lib.rs", "src/week.rs"]
    });
}

/// Waits until the index has the expected state. Requests a new index from time to time, as a user would.
fn wait_for_index(client: &mut Client, is_expected: impl Fn(&mut Client, &Value) -> bool) {
    let start = Instant::now();
    for attempt in 1.. {
        let status = command(client, "server.status", json!({}));
        if status["index"] == "ready" && is_expected(client, &status) {
            return;
        }
        assert!(start.elapsed() < HANG_TIMEOUT, "the index did not finish in time: {status}");
        if attempt % 100 == 0 {
            command(client, "server.reindex", json!({}));
        }
        thread::sleep(Duration::from_millis(3));
    }
}

/// Runs a command that must succeed, after at most one internal error.
#[track_caller]
fn command(client: &mut Client, name: &str, arguments: Value) -> Value {
    let name = format!("strata.{name}");
    match run_with_retry(client, &name, &arguments) {
        Ok(reply) => reply,
        Err(error) => panic!("{name}: {error}"),
    }
}

fn run_with_retry(client: &mut Client, command: &str, arguments: &Value) -> Answer {
    try_request_with_retry(
        client,
        "workspace/executeCommand",
        &json!({ "command": command, "arguments": [arguments] }),
    )
}

#[track_caller]
fn request_with_retry(client: &mut Client, method: &str, params: &Value) -> Value {
    match try_request_with_retry(client, method, params) {
        Ok(result) => result,
        Err(error) => panic!("{method}: {error}"),
    }
}

/// Sends a request. Repeats it after an internal error, or if the server asks for it.
fn try_request_with_retry(client: &mut Client, method: &str, params: &Value) -> Answer {
    let mut answer = client.request(method, params.clone());
    for _ in 0..5 {
        match &answer {
            Err(error)
                if error.to_lowercase().contains("internal error") || error.contains("run it again") =>
            {
                answer = client.request(method, params.clone());
            }
            _ => break,
        }
    }
    answer
}
