//! The `initialize` of editors, as their sources say, in `clients/*.toml`. Each is accepted, and so it is however broken:
//! what cannot be read counts as absent. `STRATA_LONG=1` starts a server for each broken one, instead of a few.

use std::collections::BTreeSet;

use e2e::{Repo, Rng, Server, is_long, uri_of};
use serde_json::{Map, Value, json};
use strata_lsp::refusal_of_initialize;

use crate::small;

const CLIENTS: &[(&str, &str)] = &[
    ("coc.nvim", include_str!("clients/coc.nvim.toml")),
    ("eglot", include_str!("clients/eglot.toml")),
    ("helix", include_str!("clients/helix.toml")),
    ("kakoune", include_str!("clients/kakoune.toml")),
    ("lapce", include_str!("clients/lapce.toml")),
    ("lsp-mode", include_str!("clients/lsp-mode.toml")),
    ("lsp4ij", include_str!("clients/lsp4ij.toml")),
    ("neovim", include_str!("clients/neovim.toml")),
    ("sublime", include_str!("clients/sublime.toml")),
    ("vim-lsp", include_str!("clients/vim-lsp.toml")),
    ("vscode", include_str!("clients/vscode.toml")),
    ("zed", include_str!("clients/zed.toml")),
];

/// Ways in which each client is broken.
const WAYS: u64 = 20;

/// Ways for which a server is started.
fn served_ways() -> u64 {
    if is_long() { WAYS } else { 1 }
}

/// Returns the encoding that a client expects, and its parameters of `initialize` for a folder.
fn client(text: &str, repo: &Repo) -> (String, Value) {
    let file: toml::Table = toml::from_str(text).unwrap();
    let encoding = file["positionEncoding"].as_str().unwrap().to_owned();
    (encoding, filled(&serde_json::to_value(&file["params"]).unwrap(), repo))
}

/// Replaces the placeholders in the parameters.
fn filled(value: &Value, repo: &Repo) -> Value {
    match value {
        Value::String(text) if text == "@null" => Value::Null,
        Value::String(text) if text == "@process" => std::process::id().into(),
        Value::String(text) => {
            let path = repo.root().to_str().unwrap();
            text.replace("@uri", &uri_of(repo.root())).replace("@path", path).replace("@name", "repo").into()
        }
        Value::Array(items) => items.iter().map(|item| filled(item, repo)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), filled(value, repo)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// Starts a server, and initializes it with these parameters.
fn started(params: &Value) -> (Server, Value) {
    let mut server = Server::start();
    server.answer_with("workspace/configuration", json!([null]));
    for method in
        ["client/registerCapability", "window/workDoneProgress/create", "workspace/codeLens/refresh"]
    {
        server.answer_with(method, Value::Null);
    }
    let result =
        server.request("initialize", params.clone()).unwrap_or_else(|error| panic!("{error}: {params}"));
    server.notify("initialized", json!({}));
    (server, result)
}

/// Returns the texts of the notes in a prompt, with a buffer open.
fn prompt_of_notes(server: &mut Server, repo: &Repo) -> String {
    let item = json!({ "uri": repo.uri("notes.txt"), "languageId": "text", "version": 1, "text": "typed\n" });
    server.notify("textDocument/didOpen", json!({ "textDocument": item }));
    server.command("files.select", json!({ "paths": ["notes.txt"] })).unwrap();
    server.command("prompt.assemble", json!({ "prompt": "What is this?" })).unwrap()["body"].to_string()
}

#[test]
fn every_editor_is_accepted() {
    for (name, text) in CLIENTS {
        let repo = small();
        let (encoding, params) = client(text, &repo);
        let (mut server, result) = started(&params);
        assert_eq!(result["capabilities"]["positionEncoding"], encoding, "{name}");
        assert!(prompt_of_notes(&mut server, &repo).contains("typed"), "{name}");
        assert_eq!(server.heard("strata/warning"), [json!(null); 0], "{name}");
    }
}

#[test]
fn capabilities_that_the_server_does_not_use_may_have_any_form() {
    for capabilities in [
        json!({ "workspace": [] }),
        json!({
            "textDocument": {
                "semanticTokens": { "tokenTypes": [], "tokenModifiers": [], "formats": [] },
                "publishDiagnostics": { "tagSupport": {} },
                "foldingRange": { "foldingRangeKind": { "valueSet": ["of tomorrow", 7] } },
            },
        }),
        json!([]),
    ] {
        let (_, result) =
            started(&json!({ "processId": "7", "rootUri": null, "capabilities": capabilities }));
        assert_eq!(result["capabilities"]["positionEncoding"], "utf-16", "{capabilities}");
    }
}

#[test]
fn every_editor_is_accepted_however_broken_its_capabilities_are() {
    let repo = small();
    for (name, text) in CLIENTS {
        for way in 0..WAYS {
            let params = broken(client(text, &repo).1, way);
            assert_eq!(refusal_of_initialize(params.clone()), None, "{name}: {params}");
            if way < served_ways() {
                let (mut server, _) = started(&params);
                assert!(server.command("server.status", json!({})).is_ok(), "{name}: {params}");
            }
        }
    }
}

/// Breaks the parameters in a few places. The folder stays.
fn broken(mut params: Value, way: u64) -> Value {
    let mut rng = Rng::new(way);
    let mut places = BTreeSet::new();
    collect("", &params["capabilities"], &mut places);
    let places: Vec<String> = places.into_iter().collect();
    for _ in 0..1 + rng.below(6) {
        // Another place may have replaced the object around this one.
        if let Some(value) = params["capabilities"].pointer_mut(&places[rng.below(places.len())]) {
            *value = other(&mut rng);
        }
    }
    for name in ["processId", "trace", "clientInfo", "locale", "initializationOptions", "workDoneToken"] {
        if rng.once_in(4) {
            params[name] = other(&mut rng);
        }
    }
    params
}

/// Collects the places of all values, as JSON pointers.
fn collect(place: &str, value: &Value, places: &mut BTreeSet<String>) {
    places.insert(place.to_owned());
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                collect(&format!("{place}/{name}"), value, places);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                collect(&format!("{place}/{index}"), value, places);
            }
        }
        _ => {}
    }
}

/// A value that need not be of the expected type.
fn other(rng: &mut Rng) -> Value {
    match rng.below(9) {
        0 => Value::Null,
        1 => json!([]),
        2 => json!({}),
        3 => json!("yes"),
        4 => json!(-1),
        5 => json!(1.5),
        6 => json!(true),
        7 => json!([{ "valueSet": 7 }, null, "x"]),
        _ => json!({ "valueSet": [null, {}, "of tomorrow"], "dynamicRegistration": "true" }),
    }
}
