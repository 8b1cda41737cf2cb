//! A provider that repeats the key in answers, calls and errors: it is neither shown nor stored nor logged.

use std::fs;
use std::path::Path;

use e2e::{Dialect, Editor, ModelServer, Reply, Setup};
use serde_json::{Value, json};

use super::small;

const STREAM: &str = "text/event-stream";
const KEY: &str = "sk-never/show-this-0123456789";
/// The base64 of `:` and the key.
const BASIC: &str = "OnNrLW5ldmVyL3Nob3ctdGhpcy0wMTIzNDU2Nzg5";

/// For each dialect: the provider's name, and a model.
const DIALECTS: [(Dialect, &str, &str); 4] = [
    (Dialect::Anthropic, "anthropic", "claude-sonnet-5-5"),
    (Dialect::OpenAi, "openai", "gpt-5.6-sol"),
    (Dialect::Responses, "responses", "gpt-5.6-sol"),
    (Dialect::Gemini, "gemini", "gemini-3-flash"),
];

/// JSON that spells the key with escapes.
fn spelled(json: &str) -> String {
    json.replace(KEY, "\\u0073k-never\\/show-this-01234567\\u00389")
}

fn check(place: &str, text: &str) {
    for form in [KEY, BASIC, "show-this-0123456", "c2stbmV2ZXIvc2hvdy10aGlz"] {
        assert!(!text.contains(form), "{place} contains {form}: {text}");
    }
}

fn check_files(folder: &Path) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files += check_files(&path);
        } else {
            check(&path.display().to_string(), &String::from_utf8_lossy(&fs::read(&path).unwrap()));
            files += 1;
        }
    }
    files
}

fn answer(dialect: Dialect, text: &str) -> Reply {
    Reply::Body(STREAM, spelled(&dialect.stream(text).concat().concat()))
}

fn call(dialect: Dialect) -> Reply {
    let input = json!({ "pattern": format!("x{KEY}"), "path": [KEY] }).to_string();
    let pieces: Vec<String> = input.chars().map(String::from).collect();
    Reply::Body(STREAM, spelled(&dialect.call_pieces("call_7", "grep", &pieces)))
}

fn start(server: &ModelServer, name: &str, model: &str, state: &Path) -> Editor {
    let provider = json!({ "name": name, "base_url": server.base_url(), "model": model, "retries": 0 });
    // Results of this size are spilled.
    let settings = json!({ "provider": provider, "tool_output": { "large_output_threshold": 1_000 } });
    let setup = Setup::new(&small()).settings(settings).state(state).variable("STRATA_LOG", "trace");
    let keys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];
    keys.into_iter().fold(setup, |setup, name| setup.variable(name, KEY)).start()
}

#[test]
fn a_server_neither_shows_nor_stores_nor_logs_a_repeated_key() {
    for (dialect, name, model) in DIALECTS {
        let state = tempfile::tempdir().unwrap();
        let text = format!("You sent {KEY}, or {BASIC}. It is {KEY}");
        let error = spelled(&dialect.error(400, &format!("invalid key {KEY} ({BASIC})")).to_string());
        let unknown = spelled(&json!({ "detail": [format!("no {KEY}")] }).to_string());
        // Before each question, a server with OpenAI's protocol is asked for its window.
        let asks_for_window = matches!(dialect, Dialect::OpenAi | Dialect::Responses);
        let window = || asks_for_window.then(|| Reply::RefuseWith(404, error.clone()));
        let mut replies: Vec<Reply> = window().into_iter().collect();
        replies.extend([call(dialect), answer(dialect, &text), call(dialect), answer(dialect, &text)]);
        for refused in [
            Reply::RefuseWith(401, error.clone()),
            Reply::RefuseWith(400, unknown),
            Reply::Body(STREAM, format!("data: {error}\n\n")),
            Reply::Body("text/html", format!("<p>{KEY}</p>")),
        ] {
            replies.extend(window());
            replies.push(refused);
        }
        replies.push(Reply::RefuseWith(401, error.clone()));
        let server = ModelServer::start(dialect, replies);
        let mut editor = start(&server, name, model, state.path());
        let asked = json!({ "prompt": "Why?", "stream": "s", "tools": "read" });
        let mut shown = vec![editor.run("prompt.send", asked)];
        let messages = json!([{ "role": "user", "content": "Why?" }]);
        shown.push(editor.run("model.send", json!({ "messages": messages, "stream": "s" })));
        shown.push(editor.run("model.send", json!({ "messages": messages, "stream": "s" })));
        assert!(shown[0]["text"].as_str().unwrap().starts_with("You sent [key], or "), "{}", shown[0]);
        assert!(shown[1]["content"].to_string().contains("x[key]"), "{dialect:?}: {}", shown[1]);
        for _ in 0..4 {
            let refused = editor.refused("prompt.send", json!({ "prompt": "And?", "stream": "s" }));
            shown.push(json!([refused.message, refused.data]));
        }
        let refused = editor.refused("model.send", json!({ "messages": messages }));
        shown.push(json!([refused.message, refused.data]));
        shown.push(editor.run("history.get", json!({})));
        let deltas = editor.server.heard("strata/delta");
        let text: String = deltas.iter().filter_map(|delta| delta["text"].as_str()).collect();
        assert_eq!(text.matches("[key]").count(), 6, "{text}");
        check(name, &text);
        shown.extend(deltas);
        shown.iter().for_each(|value: &Value| check(name, &value.to_string()));
        editor.quit();
        check("the log", &editor.server.errors());
        assert!(check_files(state.path()) > 3);
        let header = server.asked()[0].headers.iter().any(|(_, value)| value.contains(KEY));
        assert!(header, "the key is sent");
    }
}

#[test]
fn a_short_key_changes_nothing_in_an_answer() {
    let server = ModelServer::start(Dialect::Anthropic, vec![Reply::Stream("next-x1".to_owned())]);
    let provider = json!({ "provider": { "name": "anthropic", "base_url": server.base_url() } });
    let mut editor = Setup::new(&small()).settings(provider).variable("ANTHROPIC_API_KEY", "1").start();
    let reply = editor.run("prompt.send", json!({ "prompt": "Which?" }));
    assert_eq!(reply["text"], "next-x1");
}
