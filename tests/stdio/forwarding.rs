//! `strata.model.send`: conversations that a client keeps are passed to the model.

use std::time::Duration;

use e2e::{Dialect, Editor, ModelServer, Reply, Setup, sse};
use serde_json::{Value, json};

use super::small;

const STREAM: &str = "text/event-stream";

/// For each dialect: the provider's name, a model, and how a body writes a breakpoint, if it does.
const DIALECTS: [(Dialect, &str, &str, Option<&str>); 4] = [
    (Dialect::Anthropic, "anthropic", "claude-sonnet-5-5", Some("cache_control")),
    (Dialect::OpenAi, "openai", "gpt-5.6-sol", Some("prompt_cache_breakpoint")),
    (Dialect::Responses, "responses", "gpt-5.6-sol", Some("prompt_cache_breakpoint")),
    (Dialect::Gemini, "gemini", "gemini-3-flash", None),
];

fn asking(server: &ModelServer, name: &str, model: &str) -> Editor {
    let provider = json!({ "name": name, "base_url": server.base_url(), "model": model, "retries": 0 });
    let setup = Setup::new(&small()).settings(json!({ "provider": provider }));
    let keys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];
    keys.into_iter().fold(setup, |setup, key| setup.variable(key, "a key")).start()
}

fn claude(server: &ModelServer) -> Editor {
    asking(server, "anthropic", "claude-sonnet-5-5")
}

fn says(text: &str) -> Reply {
    Reply::Body(STREAM, sse::answer(text, &[]))
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn result(call: &str, text: &str) -> Value {
    let content = json!([{ "type": "text", "text": text }]);
    json!({ "role": "user", "content": [{ "type": "tool_result", "callId": call, "content": content }] })
}

fn tools() -> Value {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    json!([{ "name": "read", "description": "Reads a file.", "input_schema": schema }])
}

/// The messages of a body without its breakpoints, and how many those are.
fn messages(body: &Value, mark: Option<&str>) -> (Vec<String>, usize) {
    let list = ["messages", "input", "contents"].into_iter().find_map(|field| body[field].as_array());
    let mut marks = 0;
    let mut messages = Vec::new();
    for message in list.unwrap() {
        let mut message = message.clone();
        if let Value::String(text) = &message["content"] {
            // As it is written where a mark is on it.
            message["content"] = json!([{ "type": "text", "text": text }]);
        }
        for field in ["content", "output"] {
            for block in message.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten() {
                let marked = mark.and_then(|mark| block.as_object_mut()?.shift_remove(mark));
                marks += usize::from(marked.is_some());
            }
        }
        messages.push(message.to_string());
    }
    (messages, marks)
}

#[test]
fn calls_of_tools_go_back_to_the_client_and_each_request_extends_the_one_before() {
    for (dialect, name, model, mark) in DIALECTS {
        let input = json!({ "path": "a.txt" });
        let server = ModelServer::start(
            dialect,
            vec![
                Reply::Body(STREAM, dialect.call("call_7", "read", &input)),
                Reply::Stream("It says hello.".to_owned()),
            ],
        );
        let mut editor = asking(&server, name, model);
        let mut said = vec![user("What does a.txt say?")];
        let request = |said: &[Value], stream: &str| json!({ "system": "Be brief.", "messages": said, "tools": tools(), "stream": stream });
        let first = editor.run("model.send", request(&said, "one"));
        assert_eq!((&first["end"], &first["model"]), (&json!("tool_calls"), &json!(model)), "{first}");
        let shown = editor.server.heard("strata/delta");
        assert_eq!(shown.len(), 1, "{shown:?}");
        assert_eq!(
            shown[0]["toolCall"],
            json!({ "id": "call_7", "name": "read", "input": input }),
            "{dialect:?}"
        );

        said.push(json!({ "role": "assistant", "content": first["content"] }));
        said.push(result("call_7", "hello"));
        let second = editor.run("model.send", request(&said, "two"));
        assert_eq!(second["content"], json!([{ "type": "text", "text": "It says hello." }]), "{dialect:?}");
        assert_eq!((&second["end"], &second["usage"]["output"]), (&json!("complete"), &json!(5)), "{second}");
        let deltas = editor.server.heard("strata/delta");
        let text: String = deltas.iter().filter_map(|delta| delta["text"].as_str()).collect();
        assert!(
            text == "It says hello." && deltas.iter().all(|delta| delta["stream"] == "two"),
            "{deltas:?}"
        );

        let asked: Vec<Value> = server.asked().into_iter().map(|asked| asked.body).collect();
        let [(before, marks_before), (now, marks)] = [&asked[0], &asked[1]].map(|body| messages(body, mark));
        assert_eq!(now[..before.len()], before, "{dialect:?}");
        assert!(asked[0]["tools"] == asked[1]["tools"] && asked[0].to_string().contains("Be brief."));
        let last = now.last().unwrap();
        assert!(last.contains("hello") && asked[1].to_string().contains("call_7"), "{dialect:?}: {last}");
        if dialect == Dialect::Gemini {
            // Its model takes calls back with their seals only.
            assert!(now[1].contains("c2lnbmVk"), "{}", now[1]);
        }
        // The instructions, which OpenAI has among the messages, and each turn of the user.
        let instructions = usize::from(mark.is_some() && dialect != Dialect::Anthropic);
        let turns = |turns: usize| if mark.is_some() { turns + instructions } else { 0 };
        assert_eq!((marks_before, marks), (turns(1), turns(2)), "{dialect:?}: {:#}", asked[1]);
        if dialect == Dialect::Anthropic {
            assert!(asked[1]["system"][0]["cache_control"].is_object(), "{:#}", asked[1]["system"]);
        }
        assert!(!asked[1].to_string().contains("on disk"), "nothing of the workspace is added");
        let kept = editor.run("history.get", json!({}));
        assert_eq!(kept["messages"], json!([]), "nothing is recorded");
    }
}

#[test]
fn several_conversations_are_answered_at_once_beside_the_one_of_the_session() {
    let begins = || Reply::Begin(STREAM, sse::beginning("It goes", &[]));
    let server = ModelServer::start(Dialect::Anthropic, vec![begins(), begins(), begins(), says("Done.")]);
    let mut editor = claude(&server);
    let own = editor.ask("prompt.send", json!({ "prompt": "Why?", "stream": "own" }));
    let mut others = Vec::new();
    for stream in ["own", "one", "two"] {
        if stream != "own" {
            let request = json!({ "messages": [user("Why?")], "stream": stream });
            others.push(editor.ask("model.send", request));
        }
        editor.server.wait_for("strata/delta", |delta| delta["stream"] == stream && delta["text"] == "It ");
    }
    // One that is stopped leaves the others alone.
    let stopped = others.remove(0);
    editor.server.cancel(stopped);
    assert_eq!(editor.server.answer(stopped).unwrap_err().code, -32800);
    assert_eq!(editor.run("model.send", json!({ "messages": [user("And?")] }))["end"], "complete");
    // A session that is closed leaves those alone that do not continue it.
    editor.run("session.new", json!({}));
    for id in [own, others.remove(0)] {
        editor.server.cancel(id);
        assert_eq!(editor.server.answer(id).unwrap_err().code, -32800);
    }
}

#[test]
fn an_answer_that_is_stopped_or_breaks_off_is_given_as_far_as_it_came() {
    let server = ModelServer::start(
        Dialect::Anthropic,
        vec![
            Reply::Begin(STREAM, sse::beginning("It goes ", &[])),
            Reply::Body(STREAM, sse::beginning("It may ", &[])),
        ],
    );
    let mut editor = claude(&server);
    let params = json!({
        "command": "strata.model.send", "workDoneToken": 7,
        "arguments": [{ "messages": [user("Why?")], "stream": "s" }],
    });
    let id = editor.server.ask("workspace/executeCommand", params);
    editor.server.wait_for("strata/delta", |delta| delta["text"] == "goes ");
    editor.server.notify("window/workDoneProgress/cancel", json!({ "token": 7 }));
    let reply = editor.server.answer(id).unwrap();
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    assert_eq!((&reply["end"], &reply["content"]), (&json!("cancelled"), &text("It goes ")), "{reply}");
    let reply = editor.run("model.send", json!({ "messages": [user("Why?")] }));
    assert_eq!((&reply["end"], &reply["content"]), (&json!("cut"), &text("It may ")), "{reply}");
    assert!(!reply["error"].as_str().unwrap().is_empty());
}

#[test]
fn errors_say_what_is_wrong() {
    for (dialect, name, model, _) in DIALECTS {
        let overloaded = || Reply::Refuse(529, vec![("retry-after", "0".to_owned())]);
        let server =
            ModelServer::start(dialect, vec![Reply::Refuse(401, vec![]), overloaded(), says("Never.")]);
        let mut editor = asking(&server, name, model);
        let request = json!({ "messages": [user("Why?")] });
        let refused = editor.refused("model.send", request.clone());
        assert!(refused.message.contains("check the key"), "{dialect:?}: {refused}");
        assert_eq!(refused.data["kind"], "authentication", "{dialect:?}: {refused}");
        let refused = editor.refused("model.send", request);
        assert_eq!(refused.data["kind"], "overloaded", "{dialect:?}: {refused}");
        for nothing in [json!([]), json!([user(" ")])] {
            let refused = editor.refused("model.send", json!({ "messages": nothing }));
            assert!(refused.data["kind"] == "empty", "{refused}");
        }
        let tool =
            json!([{ "name": "not a name!", "description": "", "input_schema": { "type": "object" } }]);
        let refused = editor.refused("model.send", json!({ "messages": [user("Why?")], "tools": tool }));
        assert!(refused.message.contains("would reject part of the request"), "{dialect:?}: {refused}");
        assert_eq!(server.asked().len(), 2, "{dialect:?}");
    }
}

#[test]
fn one_that_is_busy_is_asked_again() {
    let busy = Reply::Refuse(529, vec![("retry-after", "0".to_owned())]);
    let server = ModelServer::start(Dialect::Anthropic, vec![busy, says("Done.")]);
    let provider = json!({ "name": "anthropic", "base_url": server.base_url(), "retries": 2 });
    let setup = Setup::new(&small()).settings(json!({ "provider": provider }));
    let mut editor = setup.variable("ANTHROPIC_API_KEY", "a key").start();
    let reply = editor.run("model.send", json!({ "messages": [user("Why?")], "maxOutputTokens": 77 }));
    assert_eq!(reply["content"][0]["text"], "Done.");
    assert_eq!((server.asked().len(), &server.asked()[1].body["max_tokens"]), (2, &json!(77)));
    assert_eq!(reply["cost"]["readShare"], 0.8);
}

#[test]
fn nothing_is_sent_without_a_provider_or_a_key() {
    let server = ModelServer::start(Dialect::Anthropic, vec![says("Never.")]);
    let request = json!({ "messages": [user("Why?")] });
    let mut editor = Setup::new(&small()).variable("ANTHROPIC_API_KEY", "a key").start();
    let refused = editor.refused("model.send", request.clone());
    assert_eq!(refused.data["kind"], "noProvider", "{refused}");
    let provider = json!({ "name": "anthropic", "base_url": server.base_url() });
    let setup = Setup::new(&small()).settings(json!({ "provider": provider }));
    let mut editor = setup.variable("ANTHROPIC_API_KEY", "").start();
    let refused = editor.refused("model.send", request);
    assert!(refused.message.contains("ANTHROPIC_API_KEY") && refused.data["kind"] == "noKey", "{refused}");
    std::thread::sleep(Duration::from_millis(50));
    assert!(server.asked().is_empty());
}

#[test]
fn the_model_sees_placeholders_and_the_edit_tools_of_the_client_its_secrets() {
    let secret = format!("gh{}_9fK2mQ7xR4tV8bN1cL6zW3yH5jD0sGpEuTiX", 'p');
    let question = format!("Who issued {secret}?");
    // The first answer repeats what the model saw, in text and in the arguments of a call.
    let server = ModelServer::start(Dialect::Anthropic, vec![says("It is a token.")]);
    let mut editor = claude(&server);
    editor.run("model.send", json!({ "messages": [user(&question)] }));
    let sent = server.asked()[0].body.to_string();
    assert!(!sent.contains(&secret), "{sent}");
    let at = sent.find("[secret:").unwrap();
    let placeholder = &sent[at..=at + sent[at..].find(']').unwrap()];

    let text = format!("It is {placeholder} indeed.");
    let answer = sse::answer(&text, &[("write", json!({ "lines": [{ "text": placeholder }] }))]);
    let server = ModelServer::start(Dialect::Anthropic, vec![Reply::Body(STREAM, answer), says("Well.")]);
    editor.configure(json!({
        "provider": { "name": "anthropic", "base_url": server.base_url(), "retries": 0 },
        "redaction": { "edit_tools": ["write"] },
    }));
    let mut said = vec![user(&question)];
    let reply = editor.run("model.send", json!({ "messages": said, "stream": "s" }));
    assert_eq!(reply["content"][0]["text"], text);
    assert_eq!(reply["content"][1]["input"], json!({ "lines": [{ "text": secret }] }));
    assert_eq!(reply["warnings"], json!([]));
    let deltas = editor.server.heard("strata/delta");
    let call = deltas.iter().find_map(|delta| delta.get("toolCall")).unwrap();
    assert_eq!(call["input"], json!({ "lines": [{ "text": secret }] }));
    said.push(json!({ "role": "assistant", "content": reply["content"] }));
    said.push(result("toolu_write_0", &format!("wrote {secret}")));
    editor.run("model.send", json!({ "messages": said }));
    let sent = server.asked()[1].body.to_string();
    assert!(!sent.contains(&secret) && sent.matches(placeholder).count() == 4, "{sent}");
}
