//! `strata.prompt.send`: a model answers through the server, while everything else goes on.

use std::time::{Duration, Instant};

use e2e::{Dialect, Editor, Id, LIMIT, ModelServer, Reply, Setup, sse};
use serde_json::{Value, json};

use super::small;

const STREAM: &str = "text/event-stream";

fn says(text: &str) -> Reply {
    Reply::Body(STREAM, sse::answer(text, &[]))
}

fn provider(server: &ModelServer) -> Value {
    json!({ "provider": { "name": "anthropic", "base_url": server.base_url(), "retries": 0 } })
}

fn asking(server: &ModelServer) -> Setup {
    Setup::new(&small()).settings(provider(server)).variable("ANTHROPIC_API_KEY", "a key")
}

/// What was shown of an answer until now.
fn shown(editor: &mut Editor) -> Vec<Value> {
    editor.server.heard("strata/delta")
}

fn begins(editor: &mut Editor, question: Value) -> Id {
    let id = editor.ask("prompt.send", question);
    editor.server.wait_for("strata/delta", |delta| delta["text"] == "It ");
    id
}

fn said(editor: &mut Editor) -> Vec<String> {
    let messages = editor.run("history.get", json!({}))["messages"].as_array().unwrap().clone();
    messages
        .iter()
        .map(|message| message["content"][0]["text"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn an_answer_comes_in_pieces_and_is_recorded_with_its_bill() {
    let server = ModelServer::start(Dialect::Anthropic, vec![says("greet does it.")]);
    let mut editor = asking(&server).start();
    editor.select(&["src/greet.rs"]);
    let reply = editor.run("prompt.send", json!({ "prompt": "Who greets?", "stream": "s1" }));
    let deltas = shown(&mut editor);
    let text: String = deltas.iter().filter_map(|delta| delta["text"].as_str()).collect();
    assert_eq!(text, "greet does it.", "all of it before the reply");
    assert!(deltas.len() > 1 && deltas.iter().all(|delta| delta["stream"] == "s1"), "{deltas:?}");
    assert_eq!((&reply["text"], &reply["end"]), (&json!("greet does it."), &json!("complete")));
    assert_eq!(reply["usage"], json!({ "input": 10, "output": 5, "cacheRead": 80, "cacheWrite": 10 }));
    assert_eq!(reply["cost"]["readShare"], 0.8);
    let recorded = editor.run("budget.report", json!({}))["totals"].clone();
    assert!(recorded["cacheRead"] == 80 && recorded["output"] == 5, "{recorded}");
    let asked = &server.asked()[0];
    assert_eq!(asked.header("x-api-key"), Some("a key"));
    assert!(asked.body["stream"] == true && asked.body.to_string().contains("on disk {name}"));
    assert_eq!(said(&mut editor), ["Who greets?", "greet does it."]);
    // Who names no stream is shown nothing.
    editor.run("prompt.send", json!({ "prompt": "Again?" }));
    assert!(shown(&mut editor).is_empty());
}

#[test]
fn the_model_looks_things_up_while_it_answers() {
    let turn = |name: &str, input: Value| Reply::Body(STREAM, sse::answer("", &[(name, input)]));
    let server = ModelServer::start(
        Dialect::Anthropic,
        vec![
            turn("references", json!({ "name": "greet" })),
            turn("files_read", json!({ "path": "src/greet.rs" })),
            says("In src/greet.rs."),
        ],
    );
    let mut editor = asking(&server).start();
    editor.open("src/greet.rs");
    editor.replace("src/greet.rs", "on disk", "as typed");
    let question = json!({ "prompt": "Where?", "stream": "s", "tools": "read", "workDoneToken": null });
    let refused = editor.refused("prompt.send", question);
    assert!(refused.message.contains("workDoneToken"), "{refused}");
    let params = json!({
        "command": "strata.prompt.send", "workDoneToken": "w",
        "arguments": [{ "prompt": "Where?", "stream": "s", "tools": "read" }],
    });
    let reply = editor.server.request("workspace/executeCommand", params).unwrap();
    assert_eq!((&reply["text"], &reply["rounds"]), (&json!("In src/greet.rs."), &json!(2)), "{reply}");
    let deltas = shown(&mut editor);
    let calls: Vec<&Value> =
        deltas.iter().map(|delta| &delta["toolCall"]["name"]).filter(|name| !name.is_null()).collect();
    assert_eq!(calls, ["references", "files_read"]);
    let results: Vec<&str> = deltas.iter().filter_map(|delta| delta["toolResult"]["text"].as_str()).collect();
    assert!(results[0].contains("src/greet.rs") && results[1].contains("as typed"), "{results:?}");
    let last = server.asked()[2].body["messages"].to_string();
    assert!(last.contains("tool_result") && last.contains("as typed"), "{last}");
    let progress = editor.server.heard("$/progress");
    let kinds: Vec<&Value> =
        progress.iter().filter(|told| told["token"] == "w").map(|told| &told["value"]["kind"]).collect();
    assert!(kinds.first() == Some(&&json!("begin")) && kinds.last() == Some(&&json!("end")), "{kinds:?}");
}

#[test]
fn everything_else_goes_on_while_the_model_writes() {
    let server =
        ModelServer::start(Dialect::Anthropic, vec![Reply::Begin(STREAM, sse::beginning("It goes", &[]))]);
    let mut editor = asking(&server).start();
    let id = begins(&mut editor, json!({ "prompt": "Why?", "stream": "s" }));
    let start = Instant::now();
    editor.select(&["tool.py"]);
    editor.run("server.status", json!({}));
    assert!(editor.run("files.list", json!({}))["files"].to_string().contains("tool.py"));
    let refused = editor.refused("prompt.send", json!({ "prompt": "And?" }));
    assert!(refused.message.contains("already waiting for an answer"), "{refused}");
    let other = editor.run("session.new", json!({}))["id"].as_str().unwrap().to_owned();
    editor.run("history.add", json!({ "role": "user", "content": "elsewhere", "session": other }));
    assert!(start.elapsed() < LIMIT / 2, "the answer was waited for");
    editor.server.cancel(id);
    let refused = editor.server.answer(id).unwrap_err();
    assert_eq!(refused.code, -32800, "{refused}");
}

#[test]
fn what_was_said_until_it_was_stopped_is_recorded() {
    let server = ModelServer::start(
        Dialect::Anthropic,
        vec![Reply::Begin(STREAM, sse::beginning("It goes ", &[])), says("Further.")],
    );
    let mut editor = asking(&server).start();
    let params = json!({
        "command": "strata.prompt.send", "workDoneToken": 7, "arguments": [{ "prompt": "Why?", "stream": "s" }],
    });
    let id = editor.server.ask("workspace/executeCommand", params);
    editor.server.wait_for("strata/delta", |delta| delta["text"] == "goes ");
    editor.server.notify("window/workDoneProgress/cancel", json!({ "token": 7 }));
    let reply = editor.server.answer(id).unwrap();
    assert_eq!((&reply["end"], &reply["text"]), (&json!("cancelled"), &json!("It goes ")));
    assert_eq!(said(&mut editor), ["Why?", "It goes "]);
    let reply = editor.run("prompt.send", json!({ "prompt": "Go on." }));
    assert_eq!(reply["text"], "Further.");
    assert!(server.asked()[1].body["messages"].to_string().contains("It goes "));
}

#[test]
fn a_prompt_that_the_provider_finds_too_long_is_sent_once_more() {
    let too_long = || {
        let error = json!({ "type": "error", "error": {
            "type": "invalid_request_error", "message": "prompt is too long: 1 tokens > 0 maximum",
        }});
        // The status is that of an error; the server of these tests has no other body for one.
        Reply::Body(STREAM, format!("event: error\ndata: {error}\n\n"))
    };
    let server = ModelServer::start(Dialect::Anthropic, vec![too_long(), says("It fits."), too_long()]);
    let mut editor = asking(&server).start();
    for number in 0..40 {
        let exchange = json!({ "user": format!("question {number}"), "assistant": "and so on ".repeat(300) });
        editor.run("history.addExchange", exchange);
    }
    let reply = editor.run("prompt.send", json!({ "prompt": "Why?", "stream": "s" }));
    assert_eq!(reply["text"], "It fits.", "{reply}");
    assert!(reply["warnings"].to_string().contains("compacted"), "{reply}");
    assert!(shown(&mut editor).iter().any(|delta| delta["notice"].is_string()));
    let lengths: Vec<usize> = server.asked().iter().map(|asked| asked.body.to_string().len()).collect();
    assert!(lengths[1] < lengths[0] / 2, "{lengths:?}");
    let refused = editor.refused("prompt.send", json!({ "prompt": "And?" }));
    assert!(
        refused.message.contains("too long again") && refused.message.contains("largest parts"),
        "{refused}"
    );
    assert_eq!(server.asked().len(), 4);
}

#[test]
fn a_server_that_is_killed_loses_nothing_that_was_answered() {
    let server = ModelServer::start(
        Dialect::Anthropic,
        vec![says("The first."), Reply::Begin(STREAM, sse::beginning("It goes", &[]))],
    );
    let state = tempfile::tempdir().unwrap();
    let repo = small();
    let setup = Setup::new(&repo)
        .settings(provider(&server))
        .variable("ANTHROPIC_API_KEY", "a key")
        .state(state.path());
    let mut editor = setup.start();
    let session = editor.run("prompt.send", json!({ "prompt": "One?" }))["session"].clone();
    begins(&mut editor, json!({ "prompt": "Two?", "stream": "s" }));
    editor.select(&["tool.py"]);
    editor.server.kill();
    editor.abandon();
    let mut editor = setup.start();
    editor.run("session.load", json!({ "id": session }));
    assert_eq!(said(&mut editor), ["One?", "The first."]);
    assert!(editor.run("files.list", json!({}))["files"].to_string().contains("tool.py"));
}

#[test]
fn nothing_is_sent_without_a_provider_or_a_key() {
    let server = ModelServer::start(Dialect::Anthropic, vec![says("Never.")]);
    let mut editor = Setup::new(&small()).variable("ANTHROPIC_API_KEY", "a key").start();
    let refused = editor.refused("prompt.send", json!({ "prompt": "Why?" }));
    assert!(
        refused.message.contains("no provider is configured") && refused.data["kind"] == "noProvider",
        "{refused}"
    );
    let mut editor =
        Setup::new(&small()).settings(provider(&server)).variable("ANTHROPIC_API_KEY", "").start();
    let refused = editor.refused("prompt.send", json!({ "prompt": "Why?" }));
    assert!(refused.message.contains("ANTHROPIC_API_KEY") && refused.data["kind"] == "noKey", "{refused}");
    assert!(server.asked().is_empty());
}

#[test]
fn a_workspace_file_names_no_provider_trusted_or_not() {
    let server = ModelServer::start(Dialect::Anthropic, vec![says("Never.")]);
    for trusted in [false, true] {
        let repo = small();
        let url = server.base_url();
        let hostile = format!(
            "[provider]\nname = 'anthropic'\nbase_url = '{url}'\nkey_command = ['touch', 'started']\n"
        );
        repo.write(".strata.toml", &hostile);
        let setup =
            Setup::new(&repo).options(json!({ "trusted": trusted })).variable("ANTHROPIC_API_KEY", "a key");
        let mut editor = setup.start();
        let (code, message) = editor.warning();
        assert!(
            message.contains("cannot set provider.base_url, provider.key_command, provider.name"),
            "{code}: {message}"
        );
        let refused = editor.refused("prompt.send", json!({ "prompt": "Why?" }));
        assert!(refused.message.contains("no provider is configured"), "{refused}");
        // With a provider of the user's own the address is still the user's.
        editor.configure(
            json!({ "provider": { "name": "anthropic", "base_url": "http://127.0.0.1:1", "retries": 0 } }),
        );
        let refused = editor.refused("prompt.send", json!({ "prompt": "Why?" }));
        assert!(refused.message.contains("cannot reach"), "{refused}");
        assert!(!repo.path("started").exists());
    }
    std::thread::sleep(Duration::from_millis(50));
    assert!(server.asked().is_empty());
}
