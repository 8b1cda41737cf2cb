//! Settings come from the editor, are asked for again when they change, and are never half taken.

use e2e::{Editor, Setup, Unit};
use serde_json::{Value, json};

use crate::small;

fn window(editor: &mut Editor) -> u64 {
    editor.run("budget.report", json!({}))["maxInputTokens"].as_u64().unwrap()
}

#[test]
fn a_model_that_is_set_brings_its_window() {
    let repo = small();
    let mut editor = Setup::new(&repo).settings(json!({ "model": "gpt-4o" })).start();
    assert_eq!(editor.server.asked("workspace/configuration")[0]["items"][0]["section"], "strata");
    editor.server.wait_for("strata/status", |status| status["model"] == "gpt-4o");
    assert_eq!(window(&mut editor), 128_000);
    editor.configure(json!({ "model": "claude-sonnet-4-5" }));
    assert_eq!(window(&mut editor), 200_000);
    assert_eq!(editor.assemble().0["model"], "claude-sonnet-4-5");
}

#[test]
fn a_setting_that_cannot_be_taken_is_named_and_changes_nothing() {
    let mut editor = Editor::start(&small());
    editor.configure(json!({ "model": "gpt-4o", "files": { "list_budget": 123 } }));
    let before = editor.run("server.settings", json!({}));
    for (settings, path) in [
        (
            json!({ "model": "claude-sonnet-4-5", "symbols": { "map_budget": "much" } }),
            "strata.symbols.map_budget",
        ),
        (json!({ "model": "claude-sonnet-4-5", "cache": { "polcy": "flat" } }), "polcy"),
        (json!({ "cache": { "policy": "magic" } }), "strata.cache.policy"),
        (json!(["claude-sonnet-4-5"]), "the setting strata was"),
    ] {
        editor.offer_settings(settings);
        let (code, message) = editor.warning();
        assert_eq!(code, "settings");
        assert!(message.contains(path), "{message}");
        assert_eq!(editor.run("server.settings", json!({})), before);
    }
}

#[test]
fn no_settings_are_the_defaults() {
    let repo = small();
    let defaults = Setup::new(&repo).start().run("server.settings", json!({}));
    assert_eq!(defaults["settings"]["cache"]["policy"], json!(null));
    for settings in [json!({}), json!([]), json!({ "model": null, "symbols": { "map_budget": null } })] {
        assert_eq!(Setup::new(&repo).settings(settings).start().run("server.settings", json!({})), defaults);
    }
}

#[test]
fn a_client_that_cannot_be_asked_sends_its_settings() {
    let mut server = e2e::Server::start();
    let mut hello = e2e::hello();
    hello["capabilities"] = json!({ "general": { "positionEncodings": [Unit::Utf16.name()] } });
    hello["initializationOptions"] = json!({ "settings": { "model": "gpt-4o" } });
    server.request("initialize", hello).unwrap();
    server.notify("initialized", json!({}));
    let model = |server: &mut e2e::Server| {
        let params = json!({ "command": "strata.server.settings" });
        server.request("workspace/executeCommand", params).unwrap()["settings"]["model"].clone()
    };
    assert_eq!(model(&mut server), "gpt-4o");
    let settings = json!({ "strata": { "model": "claude-sonnet-4-5" } });
    server.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    assert_eq!(model(&mut server), "claude-sonnet-4-5");
    assert_eq!(server.unexpected(), [""; 0], "and is asked for nothing it cannot do");
}

#[test]
fn what_the_prompt_says_first_can_be_set() {
    let repo = small();
    let settings =
        json!({ "prompt": { "system_extra": "Answer in é verse." }, "cache": { "policy": "flat" } });
    let mut editor = Setup::new(&repo).settings(settings).start();
    editor.server.wait_for("strata/status", |status| status["index"] == "ready");
    let prompt = editor.assemble();
    assert_eq!(prompt.count("Answer in é verse."), 1);
    assert_eq!(prompt.0["policy"], "flat");
    let system = Value::to_string(&prompt.0["body"]["system"]);
    assert!(system.contains("Answer in é verse."), "{system}");
}
