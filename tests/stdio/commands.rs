//! What is said to a command that makes no sense.

use e2e::{Editor, ErrorReply};
use serde_json::{Value, json};

use crate::small;

const INVALID_PARAMS: i64 = -32602;

fn invalid(refused: &ErrorReply) -> &str {
    assert_eq!(refused.code, INVALID_PARAMS, "{refused}");
    refused.data["path"].as_str().unwrap_or_else(|| panic!("no path: {refused}"))
}

#[test]
fn unknown_fields_and_wrong_types_are_named_by_their_path() {
    let mut editor = Editor::start(&small());
    for (command, argument, path) in [
        ("files.select", json!({ "paths": ["tool.py"], "colour": "red" }), "colour"),
        ("files.select", json!({ "paths": "tool.py" }), "paths"),
        ("files.select", json!({ "paths": ["tool.py", 7] }), "paths[1]"),
        ("files.list", json!({ "paths": [] }), "paths"),
        ("prompt.assemble", json!({ "prompt": "x", "format": "latin" }), "format"),
        ("prompt.assemble", json!({ "prompt": "x", "policy": 3 }), "policy"),
        (
            "prompt.assemble",
            json!({ "prompt": "x", "tools": [{ "name": "t", "schema": {} }] }),
            "tools[0].schema",
        ),
        ("prompt.assemble", json!({ "prompt": "x", "dryRun": "yes" }), "dryRun"),
        ("prompt.record", json!({ "id": "p1", "usage": { "input": -1 } }), "usage.input"),
        ("prompt.record", json!({ "id": "p1", "usage": { "inputs": 1 } }), "usage.inputs"),
        ("prompt.record", json!({ "id": "p1", "status": "perhaps" }), "status"),
        ("tiers.policy", json!({ "policy": "magic" }), "policy"),
        ("tiers.forecast", json!({ "pauseSeconds": -1 }), "pauseSeconds"),
        ("url.add", json!({ "url": " ", "content": "x" }), "url"),
        ("url.add", json!({ "url": "the guide", "content": "x" }), "url"),
        ("url.add", json!({ "url": "https://a", "content": "x\u{0}" }), "content"),
        ("url.add", json!({ "url": "https://a", "content": "x".repeat(3 << 20) }), "content"),
        ("url.add", json!({ "url": "https://a", "title": "x".repeat(5_000), "content": "x" }), "title"),
        ("history.add", json!({ "role": "wizard", "content": "x" }), "role"),
        ("history.add", json!({ "role": "user", "content": 7 }), "content"),
        ("history.add", json!({ "role": "user", "content": [{ "type": "text" }] }), "content[0]"),
        ("history.set", json!({ "messages": [{ "role": "user", "content": "" }] }), "messages[0].content"),
        ("symbols.map", json!({ "budget": "much" }), "budget"),
        ("server.status", json!({ "session": 4 }), "session"),
        ("server.status", json!({ "session": "no such session" }), "session"),
    ] {
        let refused = editor.refused(command, argument.clone());
        assert_eq!(invalid(&refused), path, "{command} {argument}: {refused}");
    }
}

#[test]
fn a_missing_field_is_named() {
    let mut editor = Editor::start(&small());
    let refused = editor.refused("files.select", json!({}));
    assert!(invalid(&refused).is_empty() && refused.message.contains("paths"), "{refused}");
}

#[test]
fn the_argument_is_one_object() {
    let mut editor = Editor::start(&small());
    for arguments in [json!([1]), json!(["paths"]), json!([{}, {}])] {
        let params = json!({ "command": "strata.files.list", "arguments": arguments });
        let refused = editor.server.request("workspace/executeCommand", params).unwrap_err();
        assert!(invalid(&refused).is_empty() && refused.message.contains("object"), "{refused}");
    }
    for params in [
        json!({ "command": "strata.files.list" }),
        json!({ "command": "strata.files.list", "arguments": [] }),
        json!({ "command": "strata.files.list", "arguments": [null] }),
        // How Lua writes an empty table.
        json!({ "command": "strata.files.list", "arguments": [[]] }),
    ] {
        assert!(editor.server.request("workspace/executeCommand", params).is_ok());
    }
}

#[test]
fn a_command_that_is_not_there_is_refused_by_name() {
    let mut editor = Editor::start(&small());
    let refused = editor.refused("files.paint", json!({}));
    assert_eq!(refused.code, INVALID_PARAMS);
    assert!(refused.message.contains("strata.files.paint"), "{refused}");
    let refused = editor.refused("compaction.run", json!({}));
    assert!(refused.message.contains("nothing to compact"), "{refused}");
    assert!(editor.run("server.status", json!({}))["version"].is_string(), "the next one works");
}

#[test]
fn a_method_that_is_not_there_is_refused() {
    let mut editor = Editor::start(&small());
    for method in ["strata/nonsense", "$/nonsense", ""] {
        let refused = editor.server.request(method, json!({})).unwrap_err();
        assert_eq!(refused.code, -32601, "{method}: {refused}");
    }
    editor.server.notify("$/nonsense", json!({}));
    editor.server.notify("strata/nonsense", json!({}));
    assert!(editor.try_run("server.status", json!({})).is_ok());
}

#[test]
fn an_empty_prompt_and_stray_tool_results_are_refused() {
    let mut editor = Editor::start(&small());
    let failed = |refused: ErrorReply| {
        assert_eq!(refused.code, -32803, "RequestFailed: {refused}");
        refused.data["kind"].as_str().unwrap().to_owned()
    };
    assert_eq!(failed(editor.refused("prompt.assemble", json!({ "prompt": " \n" }))), "empty");
    let stray = json!({ "toolResults": [{ "callId": "c9", "content": [{ "type": "text", "text": "x" }] }] });
    assert_eq!(failed(editor.refused("prompt.assemble", stray)), "noSuchCall");
}

#[test]
fn a_prompt_that_cannot_fit_names_its_largest_parts() {
    let mut editor = Editor::start(&small());
    let prompt = "many words ".repeat(400_000);
    let refused = editor.refused("prompt.assemble", json!({ "prompt": prompt, "model": "gpt-4o" }));
    assert_eq!((refused.code, &refused.data["kind"]), (-32803, &json!("tooLarge")), "{}", refused.message);
    assert_eq!(refused.data["largest"][0]["name"], "prompt");
    assert!(refused.data["tokens"].as_u64() > refused.data["limit"].as_u64());
}

#[test]
fn the_map_and_the_models_are_data() {
    let mut editor = Editor::start(&small());
    let map = editor.run("symbols.map", json!({ "focus": ["tool.py"] }));
    let files: Vec<&Value> = map["files"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert_eq!(files.len(), 3, "{files:?}");
    assert_eq!(map["leftOut"], 0);
    let first = &map["files"][0];
    assert_eq!(
        (&first["path"], &first["rank"], &first["level"]),
        (&json!("tool.py"), &json!(1), &json!("full"))
    );
    let sorted = editor.run("symbols.map", json!({ "focus": ["t*.py"], "sort": "path" }));
    assert_eq!(sorted["files"][0]["path"], "src/greet.rs");
    let refused = editor.refused("symbols.map", json!({ "budget": 2, "focus": ["tool.py"] }));
    assert!(refused.message.contains("a budget of 2 tokens is too small for `tool.py`"), "{refused:?}");
    let nothing = editor.run("symbols.map", json!({ "budget": 0 }));
    assert_eq!((&nothing["files"], &nothing["leftOut"]), (&json!([]), &json!(3)));
    let file = editor.run("symbols.file", json!({ "path": "tool.py" }));
    assert!(file["text"].as_str().unwrap().contains("def run(self, speed)"), "{file}");
    assert!(editor.refused("symbols.file", json!({ "path": "notes.txt" })).message.contains("no outline"));
    assert!(editor.run("server.models", json!({}))["models"].as_array().unwrap().len() > 5);
    let estimate = editor.run("prompt.estimate", json!({ "text": "hello world", "model": "gpt-4o" }));
    assert_eq!((&estimate["tokens"], &estimate["model"]), (&json!(2), &json!("gpt-4o")));
    assert_eq!(estimate["warning"], json!(null));
    let unknown = editor.run("prompt.estimate", json!({ "text": "hello world", "model": "no-such-model" }));
    let warning = unknown["warning"].as_str().unwrap();
    assert!(warning.contains("no-such-model") && warning.contains("unknown"), "{warning}");
}
