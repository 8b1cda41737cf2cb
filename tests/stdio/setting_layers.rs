//! Settings come from six places, the nearer ones win, and a workspace sets no more than sizes.

use std::fs;
use std::path::Path;
use std::time::Instant;

use e2e::{Editor, LIMIT, Repo, Setup};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::small;

/// A repository whose `.strata.toml` says this.
fn repo_with(settings: &str) -> Repo {
    let repo = small();
    repo.write(".strata.toml", settings);
    repo
}

/// A place for the server's state with a settings file of the user that says this.
fn user_with(settings: &str) -> TempDir {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("config/strata");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("strata.toml"), settings).unwrap();
    state
}

fn setup(repo: &Repo, state: &Path) -> Setup {
    Setup::new(repo).state(state)
}

/// A setting's value and the layer that it comes from.
fn of(editor: &mut Editor, key: &str) -> (Value, String) {
    let reply = editor.run("server.settings", json!({}));
    let value = reply["settings"].pointer(&format!("/{}", key.replace('.', "/"))).unwrap().clone();
    (value, reply["origins"][key]["layer"].as_str().unwrap().to_owned())
}

fn wait_until(editor: &mut Editor, key: &str, value: Value) {
    let start = Instant::now();
    while of(editor, key).0 != value {
        assert!(start.elapsed() < LIMIT, "{key} never becomes {value}");
    }
}

#[test]
fn the_nearest_place_wins_and_each_value_says_where_it_comes_from() {
    let state = user_with(
        "model = 'gpt-4o'\n[files]\nlist_budget = 1\nmax_bytes = 1000\n[symbols]\nmap_budget = 1\n",
    );
    let repo = repo_with("[files]\nlist_budget = 2\n[symbols]\nmap_budget = 2\n");
    let settings = json!({ "symbols": { "map_budget": 3 } });
    let setup = setup(&repo, state.path()).variable("STRATA_FILES_LIST_BUDGET", "4").settings(settings);
    let mut editor = setup.options(json!({ "trusted": true })).start();
    assert_eq!(of(&mut editor, "model"), (json!("gpt-4o"), "user".to_owned()));
    assert_eq!(of(&mut editor, "files.max_bytes"), (json!(1000), "user".to_owned()));
    assert_eq!(of(&mut editor, "files.list_budget"), (json!(4), "environment".to_owned()));
    assert_eq!(of(&mut editor, "cache.ttl"), (json!("auto"), "defaults".to_owned()));
    // The editor answers a moment after it was asked.
    wait_until(&mut editor, "symbols.map_budget", json!(3));
    assert_eq!(of(&mut editor, "symbols.map_budget").1, "editor");
}

#[test]
fn a_workspace_sets_sizes_and_the_status_says_what_was_ignored() {
    let repo = repo_with(
        "model = 'gpt-4o'\n[compaction]\nsummariser = 'http'\nbase_url = 'https://example.org'\n[files]\nlist_budget = 2\n",
    );
    for trusted in [false, true] {
        let mut editor = Setup::new(&repo).options(json!({ "trusted": trusted })).start();
        let (code, message) = editor.warning();
        let ignored = ".strata.toml cannot set compaction.base_url, compaction.summariser, model: a workspace file can only set \
                       sizes, budgets, layout and the compaction profile; set it in your own strata.toml, in the environment, in \
                       your editor's user settings or with --set";
        assert_eq!((code.as_str(), message.as_str()), ("settings", ignored));
        assert_eq!(of(&mut editor, "files.list_budget"), (json!(2), "workspace".to_owned()));
        assert_eq!(of(&mut editor, "model").1, "defaults");
        let status = editor.run("server.status", json!({}));
        assert_eq!((&status["trusted"], &status["notes"]), (&json!(trusted), &json!([ignored])));
        let reply = editor.run("server.settings", json!({}));
        let keys: Vec<&str> =
            reply["ignored"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap()).collect();
        assert_eq!(keys, ["compaction.base_url", "compaction.summariser", "model"]);
    }
}

#[test]
fn a_settings_file_is_followed_while_it_is_edited() {
    let repo = repo_with("[files]\nlist_budget = 2\n");
    let mut editor = Setup::new(&repo).start();
    assert_eq!(of(&mut editor, "files.list_budget").0, 2);
    let write = |editor: &mut Editor, text: &str| {
        repo.write(".strata.toml", text);
        let changes = json!([{ "uri": repo.uri(".strata.toml"), "type": 2 }]);
        editor.server.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    };
    write(&mut editor, "[files]\nlist_budget = 3\n");
    wait_until(&mut editor, "files.list_budget", json!(3));
    write(&mut editor, "[files]\nlist_budget = \n");
    let (code, message) = editor.warning();
    assert!(code == "settings" && message.contains(".strata.toml:2:"), "{message}");
    assert_eq!(of(&mut editor, "files.list_budget").0, 3, "what it said before still counts");
    write(&mut editor, "[files]\nlist_budgets = 4\n");
    let (_, message) = editor.warning();
    assert_eq!(message, ".strata.toml cannot set files.list_budgets: no such setting");
    assert_eq!(of(&mut editor, "files.list_budget").1, "defaults");
}

#[test]
fn a_workspace_says_the_same_in_yaml_and_toml_wins() {
    let repo = small();
    let text = "model: gpt-4o\ncompaction: {summariser: http, base_url: 'https://example.org', key_env: MY_API_KEY}\n\
                files:\n  list_budget: 2\ncontext:\n  raw_window_size: 3\n";
    repo.write(".strata.yaml", text);
    let mut editor = Setup::new(&repo).options(json!({ "trusted": true })).start();
    let (code, message) = editor.warning();
    let ignored =
        ".strata.yaml cannot set compaction.base_url, compaction.key_env, compaction.summariser, model: ";
    assert!(code == "settings" && message.starts_with(ignored), "{message}");
    assert_eq!(of(&mut editor, "files.list_budget"), (json!(2), "workspace".to_owned()));
    assert_eq!(of(&mut editor, "context.raw_window_size"), (json!(3), "workspace".to_owned()));
    for key in ["model", "compaction.base_url", "compaction.key_env", "compaction.summariser"] {
        assert_eq!(of(&mut editor, key).1, "defaults", "{key}");
    }
    let write = |editor: &mut Editor, name: &str, text: &str| {
        repo.write(name, text);
        let changes = json!([{ "uri": repo.uri(name), "type": 2 }]);
        editor.server.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    };
    write(&mut editor, ".strata.yaml", "files:\n  list_budget: 4\n");
    wait_until(&mut editor, "files.list_budget", json!(4));
    write(&mut editor, ".strata.toml", "[files]\nlist_budget = 5\n");
    let (code, message) = editor.warning();
    let shadowed = "the settings file .strata.yaml is ignored, because .strata.toml takes precedence; merge the two files, \
                    or delete one of them";
    assert_eq!((code.as_str(), message.as_str()), ("settings", shadowed));
    wait_until(&mut editor, "files.list_budget", json!(5));
}

#[test]
fn unreadable_settings_are_reported_at_the_start_and_the_rest_apply() {
    let state = user_with("model = 5\n");
    let repo = repo_with("[files]\nlist_budget = 2\n");
    let setup = setup(&repo, state.path()).variable("STRATA_SYMBOLS_MAP_BUDGET", "many");
    let mut editor = setup.start();
    let start = Instant::now();
    let mut told: Vec<String> = Vec::new();
    while told.len() < 2 {
        assert!(start.elapsed() < LIMIT, "{told:?}");
        editor.run("server.status", json!({}));
        told.extend(
            editor.server.heard("strata/warning").iter().map(|warning| warning["message"].to_string()),
        );
    }
    assert!(told[0].contains("strata.toml") && told[0].contains("model"), "{told:?}");
    assert!(told[1].contains("environment") && told[1].contains("symbols.map_budget"), "{told:?}");
    assert_eq!(of(&mut editor, "files.list_budget").0, 2);
    assert_eq!(of(&mut editor, "symbols.map_budget").1, "defaults");
}
