//! Names and texts that imitate what a reader acts on: links that run an editor's commands, images, icons, terminal sequences, warnings,
//! matches. Every front end shows them, and none of them does anything there. `STRATA_LONG=1` tries more random names.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "test support outside of test functions")]

mod hostile;
mod medium;

use e2e::{Dialect, ModelServer, Printed, Reply, Setup, Shell, sse};
use serde_json::{Value, json};
use strata_app::jobs::tools::TOOLS;

use hostile::{FORGED, Hostile, repositories};
use medium::{Medium, check};

/// A shell in a hostile repository, with a key so that a model can be asked.
fn shell(hostile: &Hostile) -> Shell<'_> {
    Shell::new(&hostile.repo).variable("ANTHROPIC_API_KEY", "a key for tests")
}

#[test]
fn no_name_acts_on_the_command_line() {
    repositories(1).for_each(|hostile| command_line(&hostile));
}

fn command_line(hostile: &Hostile) {
    let shell = shell(hostile);
    let first = &*hostile.paths[0];
    let newline = &*hostile.paths[2];
    let missing = format!("{newline}x");
    let note = format!("a note {FORGED}\u{202e}");
    let commands: &[&[&str]] = &[
        &["map", "--legend"],
        &["map", "--json"],
        &["context", "shared target function"],
        &["symbols", "target"],
        &["symbols", "heading"],
        &["outline", first],
        &["outline", newline],
        &["outline", "notes.md"],
        &["outline", &missing],
        &["references", "shared"],
        &["grep", "shared"],
        &["grep", "--json", "shared"],
        &["grep", "("],
        &["read", &missing],
        &["tokens"],
        &["tokens", &missing],
        &["memory", "add", &note, "--tag", "x\nwarning: FORGED"],
        &["memory", "list"],
        &["memory", "search", "note"],
        &[
            "prompt",
            "--session",
            "new",
            "--select",
            first,
            "--select",
            newline,
            "--auto",
            "2000",
            "What is shared?",
        ],
        &["prompt", "--select", &missing, "What is this?"],
        &["sessions", "list"],
        &["sessions", "show", &missing],
        &["sessions", "search", "shared"],
        &["status"],
        &["doctor"],
        &["rules"],
        &["rules", &missing],
        &["cost"],
        &["config", "list"],
        &["config", "get", &missing],
        &["config", "set", "model", &missing],
    ];
    for arguments in commands {
        let Printed { out, err, .. } = shell.run(arguments, "");
        let what = format!("{arguments:?}");
        assert!(!out.is_empty() || !err.is_empty(), "{what} printed nothing");
        check(Medium::Terminal, &format!("the result of {what}"), &out);
        check(Medium::Terminal, &format!("the messages of {what}"), &err);
    }
    conversations(&shell);
}

/// Conversations that someone else recorded, whose messages become titles.
fn conversations(shell: &Shell<'_>) {
    let text = format!("h{FORGED} \u{202e}\u{1b}[31m[x](command:y)");
    let call = json!({ "type": "tool_use", "id": text, "name": text, "input": { text.clone(): text } });
    let messages = json!([
        { "role": "user", "content": text },
        { "role": "assistant", "content": [{ "type": "text", "text": text }, call] },
    ]);
    let file = shell.state().join("messages.json");
    std::fs::write(&file, messages.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let commands: &[&[&str]] = &[
        &["sessions", "import", file],
        &["sessions", "list"],
        &["sessions", "list", "--json"],
        &["sessions", "show", "latest"],
        &["sessions", "show", "latest", "--json"],
        &["sessions", "search", "FORGED"],
        &["sessions", "fork", "latest"],
        &["sessions", "rename", "latest", &text],
        &["sessions", "show", &text],
        &["sessions", "list"],
        &["sessions", "delete", &text],
        &["prompt", "--session", &text, "What is this?"],
        &["status"],
        &["iteration", "add", "--goal", &text, "--prompt", &text],
        &["iteration", "status"],
        &["record", &text],
    ];
    for arguments in commands {
        let Printed { out, err, .. } = shell.run(arguments, &text);
        let what = format!("{arguments:?}");
        // A conversation is shown with the lines of its messages.
        let medium = if arguments.get(1) == Some(&"show") { Medium::Content } else { Medium::Terminal };
        check(medium, &format!("the result of {what}"), &out);
        check(Medium::Terminal, &format!("the messages of {what}"), &err);
    }
}

#[test]
fn no_name_acts_in_the_result_of_a_tool() {
    repositories(2).for_each(|hostile| tools(&hostile));
}

fn tools(hostile: &Hostile) {
    let shell = shell(hostile);
    let mut calls = vec![
        ("map", json!({})),
        ("context", json!({ "query": "shared target" })),
        ("symbols", json!({ "query": "target" })),
        ("symbols", json!({ "query": "heading" })),
        ("references", json!({ "name": "shared" })),
        ("files_find", json!({})),
        ("grep", json!({ "pattern": "shared" })),
        ("grep", json!({ "pattern": "shared", "context": 1 })),
        ("grep", json!({ "pattern": "(" })),
        ("files_select", json!({ "paths": hostile.paths })),
        ("files_list", json!({})),
        ("memory_add", json!({ "text": format!("a note {FORGED}\u{202e}"), "tags": ["x\nwarning: FORGED"] })),
        ("memory_search", json!({ "query": "note" })),
        ("outline", json!({ "path": "notes.md" })),
    ];
    for path in &hostile.paths {
        calls.push(("outline", json!({ "path": path })));
        calls.push(("outline", json!({ "path": format!("{path}x") })));
        calls.push(("dependents", json!({ "path": path })));
    }
    for tool in ["files_deselect", "files_exclude", "files_include"] {
        calls.push((tool, json!({ "paths": hostile.paths })));
        calls.push((tool, json!({ "paths": [format!("{}x", hostile.paths[2])] })));
    }
    calls.push(("files_read", json!({ "path": format!("{}x", hostile.paths[2]) })));
    calls.push(("rules", json!({ "paths": hostile.paths })));
    calls.push(("files_changed", json!({})));
    calls.push(("files_changed", json!({ "since": FORGED })));
    calls.push(("tool_output_read", json!({ "id": FORGED })));
    calls.push(("count_tokens", json!({ "text": FORGED, "model": FORGED })));
    for tool in TOOLS {
        assert!(calls.iter().any(|(name, _)| *name == tool.name), "{} is not called", tool.name);
    }
    let (results, log) = shell.tools(&calls);
    check(Medium::Terminal, "the log", &log);
    for ((tool, arguments), result) in calls.iter().zip(results) {
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
        check(Medium::Tool, &format!("{tool} {arguments}"), text);
    }
}

#[test]
fn no_name_acts_in_a_question_to_a_model() {
    repositories(3).for_each(|hostile| question(&hostile));
}

fn question(hostile: &Hostile) {
    let lookups = [
        ("grep", json!({ "pattern": "shared" })),
        ("symbols", json!({ "query": "target" })),
        ("files_find", json!({})),
        ("files_list", json!({})),
        ("outline", json!({ "path": hostile.paths[2] })),
    ];
    let calls = Reply::Body("text/event-stream", sse::answer("Let me see.", &lookups));
    let done = Reply::Body("text/event-stream", sse::answer("Done.", &[]));
    let server = ModelServer::start(Dialect::Anthropic, vec![calls, done]);
    let settings =
        format!("[provider]\nname = 'anthropic'\nbase_url = '{}'\nretries = 0\n", server.base_url());
    let shell = shell(hostile).settings(&settings);
    let Printed { out, err, .. } =
        shell.run(&["ask", "--tools", "--select", &hostile.paths[2], "What is shared?"], "");
    assert!(out.contains("Done."), "{out}{err}");
    check(Medium::Terminal, "the messages of `ask`", &err);
    let body = &server.asked()[1].body;
    let results: Vec<&str> = texts(body, "tool_result");
    assert_eq!(results.len(), lookups.len(), "{body}");
    for ((tool, arguments), result) in lookups.iter().zip(results) {
        check(Medium::Tool, &format!("{tool} {arguments}"), result);
    }
    for text in texts(body, "text") {
        check(Medium::Prompt, "the prompt", text);
    }
}

/// The texts in blocks of this type.
fn texts<'a>(value: &'a Value, kind: &str) -> Vec<&'a str> {
    match value {
        Value::Array(items) => items.iter().flat_map(|item| texts(item, kind)).collect(),
        Value::Object(fields) if value["type"] == kind => {
            let texts = fields.values().flat_map(|field| match field {
                Value::String(text) if text != kind => vec![&**text],
                field => texts(field, "text"),
            });
            texts.filter(|text| !text.starts_with("toolu_")).collect()
        }
        Value::Object(fields) => fields.values().flat_map(|field| texts(field, kind)).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn no_name_acts_in_an_editor() {
    repositories(4).for_each(|hostile| editor(&hostile));
}

fn editor(hostile: &Hostile) {
    let features = ["document_symbol", "workspace_symbol", "hover", "definition", "references", "code_lens"];
    let mut editor = Setup::new(&hostile.repo).settings(json!({ "lsp": { "features": features } })).start();
    let mut notices: Vec<String> = Vec::new();
    let mut labels: Vec<String> = Vec::new();
    let mut hovers: Vec<String> = Vec::new();
    for path in &hostile.paths {
        let uri = hostile.repo.uri(path);
        let text = hostile.repo.read(path);
        editor.open_text(&uri, "python", &text);
        let document = json!({ "uri": uri });
        for command in ["here.select", "here.deselect", "here.exclude", "here.include", "here.toggle"] {
            let reply = editor.run(command, json!({ "uri": uri }));
            notices.push(reply["message"].as_str().unwrap().to_owned());
        }
        for (command, argument) in [
            ("files.read", json!({ "path": format!("{path}x") })),
            ("files.read", json!({ "path": format!("{path}#nothing") })),
            ("files.grep", json!({ "pattern": "x", "paths": [format!("{path}/no/such")] })),
            ("symbols.file", json!({ "path": format!("{path}x") })),
        ] {
            notices.push(editor.refused(command, argument).message);
        }
        let position = json!({ "line": 1, "character": 5 });
        let hover = editor
            .server
            .request("textDocument/hover", json!({ "textDocument": document, "position": position }));
        hovers.push(hover.unwrap()["contents"]["value"].as_str().unwrap().to_owned());
        for (method, params) in [
            ("textDocument/documentSymbol", json!({ "textDocument": document })),
            ("textDocument/codeLens", json!({ "textDocument": document })),
        ] {
            strings(&editor.server.request(method, params).unwrap(), &mut labels);
        }
        // The server loses track of the document, and warns.
        let nowhere = json!({ "line": 9_999, "character": 0 });
        let change = json!({ "range": { "start": nowhere, "end": nowhere }, "text": "x" });
        let document = json!({ "uri": uri, "version": 2 });
        editor.server.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [change] }),
        );
    }
    for query in ["target", "heading"] {
        strings(&editor.server.request("workspace/symbol", json!({ "query": query })).unwrap(), &mut labels);
    }
    let prompt = editor.assemble_with(json!({ "prompt": "What is shared?" }));
    strings(&prompt.0["warnings"], &mut notices);
    // Some warnings arrive after the reply.
    editor.quit();
    let mut warned = 0;
    for method in ["strata/warning", "window/logMessage", "window/showMessage", "$/progress"] {
        for params in editor.server.heard(method) {
            warned += usize::from(method == "strata/warning");
            for message in [&params["message"], &params["value"]["message"]] {
                notices.extend(message.as_str().map(str::to_owned));
            }
        }
    }
    assert!(warned >= hostile.paths.len(), "{warned} warnings");
    assert!(labels.len() > 2 * hostile.paths.len());
    notices.iter().for_each(|text| check(Medium::Notification, "a message", text));
    labels.iter().for_each(|text| check(Medium::Label, "a label", text));
    hovers.iter().for_each(|text| check(Medium::Markdown, "a hover", text));
}

/// All strings that an editor shows: names, details, titles, messages.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text)
                        if ["name", "detail", "containerName", "title", "message"].contains(&&**name) =>
                    {
                        found.push(text.clone());
                    }
                    Value::String(_) => {}
                    field => strings(field, found),
                }
            }
        }
        _ => {}
    }
}
