//! A conversation that triggers everything except commands on their own: documents, files, folders, settings, questions
//! and background work. After an internal error, the client repeats its message. The final state must be the same as
//! without the error.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Answer, Client, LIMIT, TestWorkspace, settings};
use super::state::Masks;

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

pub(super) fn tour(client: &mut Client, place: &TestWorkspace, talker: ClientKind) {
    let mut hello = client.hello(&Value::Null);
    if talker == ClientKind::Plain {
        hello["capabilities"] =
            json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
        client.refused = "client/registerCapability";
    }
    insist(client, "initialize", &hello);
    client.notify("initialized", json!({}));
    outlined(client, 2);
    documents(client);
    questions(client);
    conversation(client);
    files(client, place, talker);
    surroundings(client, place, talker);
    sessions(client);
}

/// Returns the final state, after the client has repeated messages that may have been lost.
pub(super) fn end(client: &mut Client, place: &TestWorkspace, talker: ClientKind) -> Value {
    // Before messages are repeated, the text must be correct or marked as out of sync.
    let shown = command(client, "files.read", json!({ "path": "src/lib.rs" }));
    let told = shown["sync"]["state"] == "out_of_step" || shown["notice"].is_string();
    assert!(shown["text"] == LIB || told, "{shown}");

    for (path, text) in [("src/lib.rs", LIB), ("notes.txt", "Ask Ada.\n")] {
        close(client, path);
        open(client, path, text);
    }
    close(client, "notes.txt");
    close_notebook(client);
    configure(client, talker);
    folders(client, place, "removed");
    settled(client);
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
    Masks::of(&Ok(end)).unwrap()
}

fn documents(client: &mut Client) {
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

fn questions(client: &mut Client) {
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
        insist(client, method, &params);
    }
}

/// Adds tool results that become old, compacts the conversation, and counts its next request.
fn conversation(client: &mut Client) {
    for number in 0..3 {
        let id = format!("call-{number}");
        let call = json!({ "type": "tool_call", "id": id, "name": "bash", "input": {} });
        command(client, "history.add", json!({ "role": "assistant", "content": [call] }));
        command(client, "toolOutput.add", json!({ "content": "running 2 tests", "callId": id }));
    }
    let prompt = command(client, "prompt.assemble", json!({ "prompt": "Go on." }));
    command(client, "prompt.record", json!({ "id": prompt["id"], "response": "It is done." }));
    let said = "why and because ".repeat(200);
    for _ in 0..4 {
        command(client, "history.addExchange", json!({ "user": said, "assistant": said }));
    }
    insist_on(client, "strata.compaction.run", &json!({ "profile": "checkpoint" })).unwrap();
}

fn files(client: &mut Client, place: &TestWorkspace, talker: ClientKind) {
    let new = place.folder().join("src/new.rs");
    fs::write(&new, "pub struct New;\n").unwrap();
    let uri = client.uri("src/new.rs");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 1 }] }));
    outlined(client, 3);
    fs::remove_file(&new).unwrap();
    client.notify("workspace/didDeleteFiles", json!({ "files": [{ "uri": uri }] }));
    outlined(client, 2);
    let (old, moved) = (client.uri("notes.txt"), client.uri("note.txt"));
    for (from, to) in [("notes.txt", "note.txt"), ("note.txt", "notes.txt")] {
        fs::rename(place.folder().join(from), place.folder().join(to)).unwrap();
        let (from, to) = if from == "notes.txt" { (&old, &moved) } else { (&moved, &old) };
        client.notify("workspace/didRenameFiles", json!({ "files": [{ "oldUri": from, "newUri": to }] }));
    }
    if talker == ClientKind::Plain {
        // Make the server's own watcher report a change.
        fs::write(place.folder().join("seen.txt"), "?").unwrap();
        thread::sleep(Duration::from_millis(100));
        fs::remove_file(place.folder().join("seen.txt")).unwrap();
    }
}

fn surroundings(client: &mut Client, place: &TestWorkspace, talker: ClientKind) {
    folders(client, place, "added");
    folders(client, place, "removed");
    fs::write(place.folder().join(".strata.toml"), "[symbols]\nmap_budget = 3000\n").unwrap();
    let uri = client.uri(".strata.toml");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 1 }] }));
    configure(client, talker);
    client.notify("window/workDoneProgress/cancel", json!({ "token": "strata/index/99" }));
    client.notify("$/setTrace", json!({ "value": "off" }));
}

fn sessions(client: &mut Client) {
    let first = command(client, "server.status", json!({}))["session"].clone();
    command(client, "session.new", json!({}));
    command(client, "session.delete", json!({}));
    command(client, "session.load", json!({ "id": first }));
}

fn folders(client: &mut Client, place: &TestWorkspace, what: &str) {
    let uri = strata_host::uri::from_path(place.kept()).unwrap();
    let mut event = json!({ "added": [], "removed": [] });
    event[what] = json!([{ "uri": uri, "name": "kept" }]);
    client.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
}

fn configure(client: &mut Client, talker: ClientKind) {
    let settings = match talker {
        ClientKind::Able => Value::Null,
        ClientKind::Plain => json!({ "strata": settings() }),
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
fn outlined(client: &mut Client, outlines: usize) {
    wait(client, |_, status| status["outlined"] == outlines);
}

/// Waits until the index contains exactly the final files.
fn settled(client: &mut Client) {
    wait(client, |client, status| {
        let week = json!({ "command": "strata.symbols.file", "arguments": [{ "path": "src/week.rs" }] });
        let known = client.request("workspace/executeCommand", week).is_ok();
        // The number alone is not sufficient, because the temporary file may be one of four files.
        let found = command(client, "files.find", json!({}));
        let paths: Vec<&str> =
            found["files"].as_array().unwrap().iter().filter_map(|file| file["path"].as_str()).collect();
        known
            && status["outlined"] == 2
            && paths == [".strata.toml", "notes.txt", "src/lib.rs", "src/week.rs"]
    });
}

/// Waits until the index has the expected state. Requests a new index from time to time, as a user would.
fn wait(client: &mut Client, is_it: impl Fn(&mut Client, &Value) -> bool) {
    let start = Instant::now();
    for look in 1.. {
        let status = command(client, "server.status", json!({}));
        if status["index"] == "ready" && is_it(client, &status) {
            return;
        }
        assert!(start.elapsed() < LIMIT, "the index did not finish in time: {status}");
        if look % 100 == 0 {
            command(client, "server.reindex", json!({}));
        }
        thread::sleep(Duration::from_millis(3));
    }
}

/// Runs a command that must succeed, after at most one internal error.
#[track_caller]
fn command(client: &mut Client, name: &str, arguments: Value) -> Value {
    let name = format!("strata.{name}");
    match insist_on(client, &name, &arguments) {
        Ok(reply) => reply,
        Err(error) => panic!("{name}: {error}"),
    }
}

fn insist_on(client: &mut Client, command: &str, arguments: &Value) -> Answer {
    insist_with(client, "workspace/executeCommand", &json!({ "command": command, "arguments": [arguments] }))
}

#[track_caller]
fn insist(client: &mut Client, method: &str, params: &Value) -> Value {
    match insist_with(client, method, params) {
        Ok(result) => result,
        Err(error) => panic!("{method}: {error}"),
    }
}

/// Sends a request. Repeats it after an internal error, or if the server asks for it.
fn insist_with(client: &mut Client, method: &str, params: &Value) -> Answer {
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
