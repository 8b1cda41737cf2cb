//! The current file, for editors without a plugin: commands that need no arguments and whose outcome is shown, code actions, the
//! code lens.

use std::fs;
use std::path::Path;
use std::time::Instant;

use e2e::{Dialect, Editor, LIMIT, ModelServer, Reply, Repo, Setup, sse, uri_of};
use serde_json::{Value, json};

use crate::small;

/// `MessageType` of the protocol.
const ERROR: i64 = 1;
const INFO: i64 = 3;

/// The next message that the user sees.
fn shown(editor: &mut Editor) -> (i64, String) {
    let message = editor.server.wait_for("window/showMessage", |_| true);
    (message["type"].as_i64().unwrap(), message["message"].as_str().unwrap().to_owned())
}

/// What the user sees of a command that works.
fn told(editor: &mut Editor, command: &str, argument: Value) -> String {
    let reply = editor.run(command, argument);
    let (kind, message) = shown(editor);
    assert_eq!((kind, &reply["message"]), (INFO, &json!(message)), "{command}");
    message
}

/// What the user sees of a command that is refused.
fn told_why_not(editor: &mut Editor, command: &str, argument: Value) -> String {
    let refused = editor.refused(command, argument);
    assert_eq!(shown(editor), (ERROR, refused.message.clone()), "{command}");
    refused.message
}

fn states(editor: &mut Editor) -> Vec<(String, String)> {
    let listing = editor.run("files.list", json!({}));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let files = listing["files"].as_array().unwrap().iter();
    files.map(|file| (text(&file["path"]), text(&file["state"]))).collect()
}

fn selected(path: &str) -> Vec<(String, String)> {
    vec![(path.to_owned(), "selected".to_owned())]
}

/// Waits until the server has done something that nothing else tells of.
fn until(editor: &mut Editor, mut is_done: impl FnMut(&mut Editor) -> bool) {
    let start = Instant::now();
    while !is_done(editor) {
        assert!(start.elapsed() < LIMIT, "it never comes");
        editor.run("server.status", json!({}));
    }
}

fn document(uri: &str) -> Value {
    json!({ "textDocument": { "uri": uri } })
}

fn range(first: u32, last: u32) -> Value {
    json!({ "start": { "line": first, "character": 0 }, "end": { "line": last, "character": 0 } })
}

fn actions(editor: &mut Editor, uri: &str, range: &Value, context: Value) -> Value {
    let mut params = document(uri);
    params["range"] = range.clone();
    params["context"] = context;
    params["context"]["diagnostics"] = json!([]);
    editor.server.request("textDocument/codeAction", params).unwrap()
}

fn titles(actions: &Value) -> Vec<&str> {
    actions.as_array().unwrap().iter().map(|action| action["title"].as_str().unwrap()).collect()
}

#[test]
fn outcomes_are_shown() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    let lib = json!({ "uri": repo.uri("src/lib.rs") });
    let message = told(&mut editor, "here.select", lib.clone());
    let tokens = editor.run("files.list", json!({}))["files"][0]["tokens"].clone();
    assert_eq!(
        message,
        format!("src/lib.rs: in the model's context in full, {tokens} tokens (0.0 % of the window)")
    );
    assert_eq!(states(&mut editor), selected("src/lib.rs"));
    assert_eq!(
        told(&mut editor, "here.deselect", lib.clone()),
        "src/lib.rs: removed from the model's context"
    );
    assert_eq!(told(&mut editor, "here.deselect", lib.clone()), "src/lib.rs: was not selected");
    assert_eq!(states(&mut editor), []);
    assert!(told(&mut editor, "here.toggle", lib.clone()).contains("in the model's context in full"));
    assert!(told(&mut editor, "here.toggle", lib.clone()).contains("removed from"));
    assert_eq!(told(&mut editor, "here.exclude", lib.clone()), "src/lib.rs: excluded, hidden from the model");
    assert_eq!(states(&mut editor), [("src/lib.rs".to_owned(), "excluded".to_owned())]);
    assert_eq!(told(&mut editor, "here.include", lib.clone()), "src/lib.rs: no longer excluded");
    assert_eq!(told(&mut editor, "here.include", lib), "src/lib.rs: was not excluded");
    assert_eq!(states(&mut editor), []);
    // By its path, and in the session that is named.
    let by_path = json!({ "uri": "src/lib.rs", "session": "main" });
    assert!(told(&mut editor, "here.select", by_path).starts_with("src/lib.rs: in the model's context"));
}

#[test]
fn a_part_of_a_file_is_its_lines() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    let part = json!({ "uri": repo.uri("src/lib.rs"), "range": range(2, 5) });
    let message = told(&mut editor, "here.select", part.clone());
    assert!(message.starts_with("src/lib.rs: in the model's context with lines 3-5, "), "{message}");
    assert_eq!(editor.run("files.list", json!({}))["files"][0]["lines"], json!(["L3-5"]));
    // Where nothing is marked the whole file is meant; lines of it are part of that.
    let caret = json!({ "uri": repo.uri("src/lib.rs"), "range": range(2, 2) });
    assert!(told(&mut editor, "here.select", caret).contains("in full"));
    assert!(told(&mut editor, "here.select", part).contains("in full"));
}

#[test]
fn without_arguments_it_is_the_document_that_was_named_last() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    editor.open("src/lib.rs");
    editor.open("tool.py");
    let command = json!({ "command": "strata.here.toggle" });
    let with = |arguments: Value| json!({ "command": "strata.here.toggle", "arguments": arguments });
    let ways = [command, with(Value::Null), with(json!([])), with(json!([{}])), with(json!([null]))];
    for (nth, params) in ways.into_iter().enumerate() {
        let reply = editor.server.request("workspace/executeCommand", params.clone());
        let reply = reply.unwrap_or_else(|error| panic!("{params}: {error}"));
        let expected = if nth % 2 == 0 { "tool.py: in the model's" } else { "tool.py: removed from" };
        assert!(reply["message"].as_str().unwrap().starts_with(expected), "{params}: {reply}");
        assert_eq!(shown(&mut editor), (INFO, reply["message"].as_str().unwrap().to_owned()));
    }
    editor.run("files.clear", json!({}));
    // Any message about a document is a sign that someone is there, also one that is not understood.
    actions(&mut editor, &repo.uri("src/lib.rs"), &range(0, 0), json!({}));
    assert!(told(&mut editor, "here.toggle", json!({})).starts_with("src/lib.rs: in"));
    editor.replace("tool.py", "slow", "fast");
    assert!(told(&mut editor, "here.toggle", json!({})).starts_with("tool.py: in"));
    editor.server.request("textDocument/ofTomorrow", document(&repo.uri("src/lib.rs"))).unwrap_err();
    assert!(told(&mut editor, "here.toggle", json!({})).starts_with("src/lib.rs: removed from"));
    // One that is closed is left for the one before.
    editor.close("src/lib.rs");
    assert!(told(&mut editor, "here.toggle", json!({})).starts_with("tool.py: removed from"));
    editor.close("tool.py");
    assert!(told_why_not(&mut editor, "here.toggle", json!({})).contains("no current file"));
}

#[test]
fn errors_are_shown() {
    let repo = small();
    repo.write(".env", "TOKEN=hunter2\n");
    let mut editor = Editor::start(&repo);
    assert!(told_why_not(&mut editor, "here.select", json!({})).contains("no current file"));
    let secret = json!({ "uri": repo.uri(".env") });
    let why = told_why_not(&mut editor, "here.select", secret.clone());
    assert!(why.contains("`.env`") && why.contains("confirmSecrets"), "{why}");
    assert!(told_why_not(&mut editor, "here.toggle", secret).contains("confirmSecrets"));
    editor.open(".env");
    assert!(told_why_not(&mut editor, "here.select", json!({})).contains("confirmSecrets"));
    assert_eq!(states(&mut editor), []);
    assert_eq!(editor.assemble().count("hunter2"), 0);
    let missing = json!({ "uri": repo.uri("no/such.rs") });
    assert!(told_why_not(&mut editor, "here.select", missing).contains("does not exist"));
    let outside = json!({ "uri": "file:///elsewhere/a.rs" });
    told_why_not(&mut editor, "here.select", outside);
    assert!(told_why_not(&mut editor, "here.select", json!({ "url": "x" })).contains("url"));
    told_why_not(&mut editor, "here.select", json!({ "session": "no-such-session" }));
    // Others keep their answers to whoever asked.
    editor.refused("files.select", json!({ "paths": ["no/such.rs"] }));
    editor.select(&["tool.py"]);
}

#[test]
fn the_prompt_is_a_file_that_is_opened() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    editor.open("tool.py");
    editor.replace("tool.py", "slow", "typed é 🦀");
    told(&mut editor, "here.select", json!({}));
    let reply = editor.run("here.preview", json!({}));
    let path = Path::new(reply["path"].as_str().unwrap());
    assert!(path.parent().unwrap().ends_with("cache/preview"), "{reply}");
    let preview = editor.run("prompt.preview", json!({}));
    let written = fs::read_to_string(path).unwrap();
    assert_eq!(json!(written), preview["text"]);
    assert!(written.contains("typed é 🦀"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let status = editor.server.wait_for("strata/status", |_| true);
    assert_eq!(path.file_stem().unwrap().to_str(), status["session"].as_str());
    until(&mut editor, |editor| !editor.server.asked("window/showDocument").is_empty());
    let asked = editor.server.asked("window/showDocument")[0].clone();
    assert_eq!((&asked["uri"], &asked["takeFocus"]), (&json!(uri_of(path)), &json!(true)));
    assert_eq!(reply["uri"], asked["uri"]);
    // The editor opens it; what is at hand is still what it was made of.
    let uri = uri_of(path);
    editor.open_text(&uri, "markdown", &written);
    assert!(told(&mut editor, "here.toggle", json!({})).starts_with("tool.py: removed from"));
    // The same file says what would be sent now.
    editor.run("here.preview", json!({}));
    assert!(!fs::read_to_string(path).unwrap().contains("typed é 🦀"));
    assert_eq!(editor.server.heard("window/showMessage"), [json!(null); 0], "it was opened");
}

#[test]
fn a_prompt_that_cannot_be_opened_is_announced_with_its_path() {
    let cannot = Setup::new(&small()).capability("/window/showDocument", Value::Null);
    for (setup, times) in [(cannot, 0), (Setup::new(&small()), 1)] {
        let mut editor = setup.start();
        // Of the second editor: it says that it can, and does not.
        editor.server.answer_with("window/showDocument", json!({ "success": false }));
        let reply = editor.run("here.preview", json!({}));
        let path = reply["path"].as_str().unwrap();
        let (kind, message) = shown(&mut editor);
        assert_eq!(kind, INFO);
        assert!(
            message.starts_with("The prompt (") && message.ends_with(&format!("is in {path}")),
            "{message}"
        );
        assert_eq!(editor.server.asked("window/showDocument").len(), times);
    }
}

#[test]
fn the_status_is_one_line() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    editor.select(&["tool.py"]);
    let report = editor.run("budget.report", json!({}));
    let line = told(&mut editor, "here.status", json!({}));
    assert!(line.starts_with(&format!("main: {} of 1,000,000 tokens (", report["used"])), "{line} {report}");
    assert!(line.ends_with(" %), 1 file selected, compaction at 0 %"), "{line}");
    let prompt = editor.assemble();
    let usage = json!({ "input": 20, "output": 5, "cacheRead": 80, "cacheWrite": 0 });
    editor.run("prompt.record", json!({ "id": prompt.0["id"], "response": "ok", "usage": usage }));
    let line = told(&mut editor, "here.status", json!({}));
    assert!(line.contains(" %), 80 % cached, $0.0001, 1 file selected"), "{line}");
}

#[test]
fn code_actions_go_by_how_the_file_stands() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    editor.open("src/lib.rs");
    let uri = repo.uri("src/lib.rs");
    let (caret, marked) = (range(2, 2), range(2, 5));
    let offered = |editor: &mut Editor, range: &Value| {
        let actions = actions(editor, &uri, range, json!({}));
        for action in actions.as_array().unwrap() {
            assert_eq!(action["kind"], "source.strata");
            assert_eq!(action["title"], action["command"]["title"]);
        }
        actions
    };
    let (add, lines) = ("Add to model context", "Add lines 3-5 to model context");
    let (remove, exclude) = ("Remove from model context", "Exclude from model context");
    let (include, show) = ("Include in model context again", "Preview the prompt");
    assert_eq!(titles(&offered(&mut editor, &caret)), [add, exclude, show]);
    let fresh = offered(&mut editor, &marked);
    assert_eq!(titles(&fresh), [add, lines, exclude, show]);
    let run = |editor: &mut Editor, action: &Value| {
        let command = &action["command"];
        let params = json!({ "command": command["command"], "arguments": command["arguments"] });
        editor.server.request("workspace/executeCommand", params).unwrap();
        shown(editor).1
    };
    assert!(run(&mut editor, &fresh[1]).contains("with lines 3-5"));
    let partly = offered(&mut editor, &marked);
    assert_eq!(titles(&partly), [add, lines, remove, exclude, show]);
    assert!(run(&mut editor, &partly[0]).contains("in full"));
    let whole = offered(&mut editor, &marked);
    assert_eq!(titles(&whole), [remove, exclude, show]);
    assert!(run(&mut editor, &whole[0]).contains("removed from"));
    let fresh = offered(&mut editor, &caret);
    assert!(run(&mut editor, &fresh[1]).contains("excluded"));
    let hidden = offered(&mut editor, &caret);
    assert_eq!(titles(&hidden), [add, include, show]);
    assert!(run(&mut editor, &hidden[1]).contains("no longer excluded"));
    assert_eq!(titles(&offered(&mut editor, &caret)), [add, exclude, show]);
}

#[test]
fn code_actions_are_offered_to_whoever_looks_for_them() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    let uri = repo.uri("src/lib.rs");
    let mut count = |context: Value| titles(&actions(&mut editor, &uri, &range(0, 0), context)).len();
    for only in [json!(["source"]), json!(["source.strata"]), json!(["quickfix", "source"]), json!([""])] {
        assert_eq!(count(json!({ "only": only, "triggerKind": 1 })), 3, "{only}");
    }
    for only in [json!(["quickfix"]), json!(["source.organizeImports"]), json!(["sour"]), json!([])] {
        assert_eq!(count(json!({ "only": only })), 0, "{only}");
    }
    assert_eq!(count(json!({ "triggerKind": 2 })), 0, "no bulb is always lit");
    let outside = actions(&mut editor, "file:///elsewhere/a.rs", &range(0, 0), json!({}));
    assert_eq!(outside, Value::Null);
    editor.configure(json!({ "lsp": { "features": [] } }));
    assert_eq!(actions(&mut editor, &uri, &range(0, 0), json!({})), Value::Null);
}

#[test]
fn an_editor_that_knows_no_code_actions_gets_commands() {
    let repo = small();
    let literal = "/textDocument/codeAction/codeActionLiteralSupport";
    let mut editor = Setup::new(&repo).capability(literal, Value::Null).start();
    let uri = repo.uri("src/lib.rs");
    let first = actions(&mut editor, &uri, &range(2, 5), json!({}))[1].clone();
    let arguments = json!([{ "uri": uri, "range": range(2, 5) }]);
    let command = json!({
        "title": "Add lines 3-5 to model context", "command": "strata.here.select", "arguments": arguments,
    });
    assert_eq!(first, command);
}

#[test]
fn code_actions_are_announced_unless_they_are_switched_off() {
    let announced = |settings: Value| {
        let mut hello = e2e::hello();
        hello["initializationOptions"] = json!({ "settings": settings });
        let mut server = e2e::Server::start();
        let result = server.request("initialize", hello).unwrap();
        let capabilities = &result["capabilities"];
        (capabilities["codeActionProvider"].clone(), capabilities["codeLensProvider"].clone())
    };
    assert_eq!(announced(json!({})), (json!({ "codeActionKinds": ["source.strata"] }), Value::Null));
    assert_eq!(announced(json!({ "lsp": { "features": [] } })), (Value::Null, Value::Null));

    let dynamic = "/textDocument/codeAction/dynamicRegistration";
    let mut editor = Setup::new(&small()).capability(dynamic, json!(true)).start();
    let registered = |editor: &Editor| {
        let asked = editor.server.asked("client/registerCapability").into_iter();
        asked
            .map(|params| params["registrations"][0].clone())
            .find(|one| one["method"] == "textDocument/codeAction")
    };
    until(&mut editor, |editor| registered(editor).is_some());
    let options = registered(&editor).unwrap()["registerOptions"].clone();
    assert_eq!(options, json!({ "documentSelector": null, "codeActionKinds": ["source.strata"] }));
    editor.configure(json!({ "lsp": { "features": [] } }));
    until(&mut editor, |editor| !editor.server.asked("client/unregisterCapability").is_empty());
}

#[test]
fn the_code_lens_says_how_the_file_stands() {
    let repo = small();
    let mut editor = Setup::new(&repo).settings(json!({ "lsp": { "features": ["code_lens"] } })).start();
    editor.open("src/lib.rs");
    let uri = repo.uri("src/lib.rs");
    let lens = |editor: &mut Editor| {
        let lenses = editor.server.request("textDocument/codeLens", document(&uri)).unwrap();
        assert_eq!(lenses.as_array().unwrap().len(), 1);
        assert_eq!(lenses[0]["range"], range(0, 0));
        lenses[0]["command"].clone()
    };
    let refreshed = |editor: &mut Editor, times: usize| {
        until(editor, |editor| editor.server.asked("workspace/codeLens/refresh").len() >= times);
        assert_eq!(editor.server.asked("workspace/codeLens/refresh").len(), times);
    };
    // The settings come a moment after the start.
    until(&mut editor, |editor| {
        !editor.server.request("textDocument/codeLens", document(&uri)).unwrap().is_null()
    });
    let command = lens(&mut editor);
    assert_eq!(command["title"], "Context: outline only");
    let params = json!({ "command": command["command"], "arguments": command["arguments"] });
    editor.server.request("workspace/executeCommand", params).unwrap();
    assert!(shown(&mut editor).1.contains("in the model's context in full"));
    refreshed(&mut editor, 1);
    let tokens = editor.run("files.list", json!({}))["files"][0]["tokens"].clone();
    assert_eq!(lens(&mut editor)["title"], format!("Context: in full, {tokens} tokens"));
    editor.run("files.set", json!({ "paths": ["src/lib.rs#L3-5"] }));
    refreshed(&mut editor, 2);
    let title = lens(&mut editor)["title"].clone();
    assert!(title.as_str().unwrap().starts_with("Context: with lines 3-5, "), "{title}");
    editor.run("files.exclude", json!({ "paths": ["src/lib.rs"] }));
    refreshed(&mut editor, 3);
    assert_eq!(lens(&mut editor)["title"], "Context: excluded");
    // Another session is shown; what changes nothing here is no reason to ask.
    editor.run("session.new", json!({}));
    refreshed(&mut editor, 4);
    assert_eq!(lens(&mut editor)["title"], "Context: outline only");
    editor.run("history.add", json!({ "role": "user", "content": "Hello." }));
    editor.run("files.list", json!({}));
    refreshed(&mut editor, 4);
    let of = |editor: &mut Editor, uri: &str| {
        editor.server.request("textDocument/codeLens", document(uri)).unwrap()[0]["command"]["title"].clone()
    };
    assert_eq!(of(&mut editor, &repo.uri("notes.txt")), "Context: name only");
    assert_eq!(of(&mut editor, "untitled:Untitled-1"), "Context: not included");
}

#[test]
fn there_is_no_code_lens_until_it_is_wanted_and_no_refresh_for_those_who_cannot() {
    let repo = small();
    let uri = repo.uri("src/lib.rs");
    let mut editor = Editor::start(&repo);
    assert_eq!(editor.server.request("textDocument/codeLens", document(&uri)).unwrap(), Value::Null);
    editor.select(&["src/lib.rs"]);
    editor.run("server.status", json!({}));
    assert!(editor.server.asked("workspace/codeLens/refresh").is_empty());
    let settings = json!({ "lsp": { "features": ["code_lens"] } });
    let mut editor = Setup::new(&repo)
        .options(json!({ "settings": settings }))
        .settings(settings)
        .capability("/workspace/codeLens", Value::Null)
        .start();
    editor.select(&["src/lib.rs"]);
    editor.run("server.status", json!({}));
    assert!(editor.server.asked("workspace/codeLens/refresh").is_empty());
}

fn says(text: &str) -> Reply {
    Reply::Body("text/event-stream", sse::answer(text, &[]))
}

/// An editor without a plugin whose user has named a provider.
fn asking(repo: &Repo, server: &ModelServer) -> Setup {
    let provider = json!({ "name": "anthropic", "base_url": server.base_url(), "retries": 0 });
    Setup::new(repo).settings(json!({ "provider": provider })).variable("ANTHROPIC_API_KEY", "a key")
}

/// The last question as the model was asked, without what stands around it.
fn asked(server: &ModelServer) -> String {
    let last = server.asked().last().unwrap().body["messages"].as_array().unwrap().last().unwrap().clone();
    last["content"].as_array().unwrap().iter().filter_map(|block| block["text"].as_str()).collect()
}

#[test]
fn ask_strata_opens_the_answer_when_it_is_complete() {
    let server = ModelServer::start(Dialect::Anthropic, vec![says("Twice, since *that* is the rule.")]);
    let repo = small();
    let mut editor = asking(&repo, &server).start();
    editor.open("tool.py");
    let uri = repo.uri("tool.py");
    editor.replace("tool.py", "class", "# Why is it slow?\nclass");
    let ask = actions(&mut editor, &uri, &range(0, 1), json!({}))[0].clone();
    assert_eq!((&ask["title"], &ask["kind"]), (&json!("Ask Strata"), &json!("source.strata")));
    let command = &ask["command"];
    let params = json!({ "command": command["command"], "arguments": command["arguments"] });
    let reply = editor.server.request("workspace/executeCommand", params).unwrap();
    assert!(asked(&server).contains("Why is it slow?"), "{}", asked(&server));
    assert!(server.asked()[0].body["tools"].to_string().contains("references"), "it may look things up");
    until(&mut editor, |editor| !editor.server.asked("window/showDocument").is_empty());
    assert_eq!(editor.server.asked("window/showDocument")[0]["uri"], reply["uri"]);
    let page = fs::read_to_string(reply["path"].as_str().unwrap()).unwrap();
    assert!(page.starts_with("> Why is it slow?\n\nTwice, since *that* is the rule.\n"), "{page}");
    // What the stand-in bills: 80 of 100 tokens are read from its cache.
    assert!(page.contains(": $0.0001, 100 tokens in, 80 % of them read from the cache, 5 out\n"), "{page}");
    let progress = editor.server.heard("$/progress");
    let of_it: Vec<&Value> = progress.iter().filter(|told| told["token"] == "strata/ask/1").collect();
    let kinds: Vec<&Value> = of_it.iter().map(|told| &told["value"]["kind"]).collect();
    assert_eq!(kinds, ["begin", "end"], "{progress:?}");
    let turn = editor.run("history.get", json!({}))["messages"].clone();
    assert!(
        turn[0].to_string().contains("Why is it slow?") && turn[1].to_string().contains("the rule"),
        "{turn}"
    );
    // Code is sent along; a file is named when the model sees it anyway.
    editor.run("here.ask", json!({ "uri": uri, "range": range(1, 2) }));
    assert!(
        asked(&server).contains("Explain this, `tool.py`, line 2:\n\n```\nclass Tool:\n```"),
        "{}",
        asked(&server)
    );
    editor.select(&["tool.py"]);
    editor.run("here.ask", json!({ "uri": uri }));
    assert!(asked(&server).contains("Explain `tool.py`"), "{}", asked(&server));
}

#[test]
fn what_comes_of_a_question_is_said_where_nothing_can_be_opened() {
    let refused = Reply::Refuse(401, Vec::new());
    let server = ModelServer::start(Dialect::Anthropic, vec![says("So."), refused]);
    let repo = small();
    let mut editor = asking(&repo, &server).capability("/window/showDocument", Value::Null).start();
    editor.open("tool.py");
    let message = told(&mut editor, "here.ask", json!({}));
    assert!(message.contains(" answered in ") && message.ends_with(".answer.md"), "{message}");
    let message = told_why_not(&mut editor, "here.ask", json!({}));
    assert!(message.contains("status 401") && message.contains("check the key"), "{message}");
    editor.run("files.exclude", json!({ "paths": ["tool.py"] }));
    let message = told_why_not(&mut editor, "here.ask", json!({}));
    assert!(message.starts_with("tool.py is excluded"), "{message}");
    let uri = repo.uri("tool.py");
    let offered = actions(&mut editor, &uri, &range(0, 1), json!({}));
    assert!(!titles(&offered).contains(&"Ask Strata"), "{offered}");
}
