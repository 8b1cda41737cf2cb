//! What comes in as a file or from the environment: settings, recorded conversations, traces, exported sessions. Taken, or refused with a sentence; and
//! of what was taken a prompt can be made.
use std::cell::RefCell;
use std::fs;
use std::sync::LazyLock;
use std::thread;

use serde_json::{Value, json};
use strata_app::runtime::headless::{HeadlessWorkspace, SessionSource, Settings, read_loop_file};
use strata_host::config::{from_environment, from_toml, from_yaml};
use strata_host::store::{SessionId, Store, WorkspaceKey};
use strata_replay::{Material, Sources};
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());

thread_local! {
    /// One for all inputs, each of which has a session of its own: a new one would load the vocabularies again.
    static BENCH: RefCell<HeadlessWorkspace> =
        RefCell::new(HeadlessWorkspace::open(FOLDER.path(), Settings::default()).unwrap());
    static STORE: RefCell<Store> = {
        let state = FOLDER.path().join(format!("{:?}", thread::current().id()));
        RefCell::new(Store::open(&state, &WorkspaceKey::for_folder(FOLDER.path()).unwrap()).unwrap().store)
    };
}

fn exported(store: &Store, id: &SessionId) -> String {
    let mut lines = Vec::new();
    store.export(id, &mut lines).unwrap();
    String::from_utf8(lines).unwrap()
}

/// Imports a session. What was taken comes out of the store so that it is taken again, as the same messages.
fn imported(lines: &[u8]) {
    STORE.with_borrow_mut(|store| match store.import(lines) {
        Err(refused) => assert!(!refused.to_string().is_empty()),
        Ok(first) => {
            let id = first.handle.id.clone();
            // It is not deleted while someone writes it.
            drop(first);
            let lines = exported(store, &id);
            let second = store.import(lines.as_bytes()).unwrap().handle.id.clone();
            let messages = |lines: &str| lines.split_once('\n').unwrap().1.to_owned();
            assert_eq!(messages(&exported(store, &second)), messages(&lines));
            store.delete(&id).unwrap();
            store.delete(&second).unwrap();
        }
    });
}

/// Runs a command, then asks for prompts in both formats.
fn played(name: &str, arguments: Value) {
    BENCH.with_borrow_mut(|bench| {
        bench.open_session(SessionSource::InMemory).unwrap();
        if let Err(error) = bench.run(name, arguments) {
            assert!(!error.to_string().is_empty());
        }
        for format in ["anthropic", "openai"] {
            bench.run("strata.prompt.assemble", json!({ "prompt": "Why?", "format": format })).unwrap();
        }
    });
}

/// Takes any input.
pub(crate) fn check(input: &[u8]) {
    let Some((kind, bytes)) = input.split_first() else { return };
    let path = FOLDER.path().join("input");
    let write = || fs::write(&path, bytes).unwrap();
    let text = || String::from_utf8_lossy(bytes);
    match kind % 9 {
        0 => {
            if let Ok(tree) = from_toml("strata.toml", &text()) {
                drop(serde_json::from_value::<Settings>(tree));
            }
            if let Ok(tree) = from_yaml("strata.yaml", &text()) {
                drop(serde_json::from_value::<Settings>(tree));
            }
        }
        1 => {
            if let Ok(tree) = serde_json::from_slice::<Value>(bytes) {
                drop(serde_json::from_value::<Settings>(tree));
            }
        }
        2 => {
            write();
            drop(Material::gather(&Sources { transcripts: vec![path], ..Sources::default() }, |_| {}));
        }
        3 => {
            write();
            drop(Material::gather(&Sources { traces: vec![path], ..Sources::default() }, |_| {}));
        }
        4 => {
            write();
            drop(read_loop_file(&path));
        }
        5 => played("strata.history.import", json!({ "text": text() })),
        6 => {
            if let Ok(messages) = serde_json::from_slice::<Value>(bytes) {
                played("strata.history.set", json!({ "messages": messages }));
            }
        }
        7 => imported(bytes),
        _ => {
            let text = text();
            let variables = text
                .lines()
                .filter_map(|line| line.split_once('='))
                .map(|(name, value)| (name.into(), value.into()));
            let defaults = serde_json::to_value(Settings::default()).unwrap();
            drop(serde_json::from_value::<Settings>(from_environment(variables, &defaults).values));
        }
    }
}
