//! Commands with arguments of any kind, one after the other in one session: each ends with a reply or an error, one that
//! fails changes nothing, and at the end a prompt can be made.
use std::cell::RefCell;
use std::fs;
use std::sync::LazyLock;

use serde_json::{Value, json};
use strata_app::runtime::headless::{HeadlessWorkspace, SessionSource, Settings};
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("a.rs"), "/// Adds.\npub fn add(a: u32) -> u32 { a }\n").unwrap();
    fs::write(folder.path().join("src/b.py"), "class B:\n    def run(self):\n        return 'é🦀'\n")
        .unwrap();
    fs::write(folder.path().join(".env"), "KEY=value\n").unwrap();
    folder
});

/// What a command can change.
fn state(bench: &mut HeadlessWorkspace) -> [Value; 2] {
    ["strata.files.list", "strata.history.get"].map(|name| bench.run(name, json!({})).unwrap())
}

thread_local! {
    /// One for all inputs, each of which has a session of its own: a new one would load the vocabularies again.
    static BENCH: RefCell<HeadlessWorkspace> = RefCell::new({
        let mut bench = HeadlessWorkspace::open(FOLDER.path(), Settings::default()).unwrap();
        bench.list_files().unwrap();
        bench
    });
}

/// Takes any input.
pub(crate) fn check(input: &[u8]) {
    BENCH.with_borrow_mut(|bench| {
        bench.open_session(SessionSource::InMemory).unwrap();
        // Each line is the name of a command and its arguments.
        for line in String::from_utf8_lossy(input).lines().take(8) {
            let Some((name, arguments)) = line.split_once(' ') else { continue };
            let Ok(arguments) = serde_json::from_str::<Value>(arguments) else { continue };
            let before = state(bench);
            if bench.run(name, arguments).is_err() {
                assert_eq!(state(bench), before, "{name} failed and changed something");
            }
        }
        let prompt = bench.run("strata.prompt.assemble", json!({ "prompt": "Why?" }));
        assert!(prompt.is_ok(), "{prompt:?}");
    });
}
