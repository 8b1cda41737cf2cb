//! Files that no parser can take, seen through every front end: the process goes on, says why the file has no outline,
//! and does not parse it again.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use e2e::{Repo, Setup, strata};

use e2e::nesting::NESTS;
use serde_json::{Value, json};
use strata_grammars::LanguageId;

const REASON: &str = "its comments are nested too deeply";

fn deep(depth: usize) -> Repo {
    let repo = super::small();
    repo.write("deep.ml", "(*".repeat(depth));
    repo.write("deep.mli", "(* \"a\" (*".repeat(depth / 4));
    repo
}

/// Runs a subcommand in a repository, with a cache of its own.
fn run(repo: &Repo, cache: &Repo, arguments: &[&str], input: &str) -> (bool, String, String) {
    let mut child = Command::new(strata())
        .args(arguments)
        .current_dir(repo.root())
        .env("STRATA_CACHE_DIR", cache.path("cache"))
        .env("STRATA_STATE_DIR", cache.path("state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.success(), text(done.stdout), text(done.stderr))
}

#[test]
fn an_editor_works_on_with_a_file_that_overflowed_the_stack() {
    let repo = deep(240_000);
    let mut editor = Setup::new(&repo).start();
    editor.open("deep.ml");
    editor.open_text("unsaved.ml", "ocaml", &format!("let start = 1\n{}", "(*".repeat(240_000)));
    let map = editor.run("symbols.map", json!({ "focus": ["deep.ml", "deep.mli"] }));
    let text = map["text"].as_str().unwrap();
    for name in ["deep.ml", "deep.mli"] {
        assert!(text.contains(&format!("{name} (no outline: {REASON})")), "{text}");
    }
    let error = editor.refused("symbols.file", json!({ "path": "deep.ml" }));
    assert!(error.message.contains(REASON), "{}", error.message);
    let error = editor.refused("files.read", json!({ "path": "unsaved.ml#x" }));
    assert!(error.message.contains(REASON), "{}", error.message);
    let status = editor.run("server.status", json!({}));
    let notes: Vec<&str> = status["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(notes.contains(&format!("deep.ml has no outline: {REASON}").as_str()), "{notes:?}");
    editor.type_behind("unsaved.ml", "start", "ed");
    assert!(editor.run("symbols.find", json!({ "query": "add" }))["symbols"][0]["name"] == "add");
    editor.quit();
}

#[test]
fn the_command_line_and_agents_work_on_and_do_not_parse_the_file_again() {
    let (repo, cache) = (deep(240_000), Repo::new(""));
    let (done, map, _) = run(&repo, &cache, &["map", "--untrusted"], "");
    assert!(done && map.contains(&format!("deep.ml (no outline: {REASON})")), "{map}");
    let (_, report, _) = run(&repo, &cache, &["doctor", "--json", "--untrusted"], "");
    assert!(report.contains(&format!("deep.mli has no outline: {REASON}")), "{report}");
    let (done, _, error) = run(&repo, &cache, &["outline", "deep.ml", "--untrusted"], "");
    assert!(!done && error.contains(&format!("deep.ml has no outline: {REASON}")), "{error}");
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "outline", "arguments": { "path": "deep.ml" } } }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
            "name": "outline", "arguments": { "path": "tool.py" } } }),
    ];
    let input: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let (done, answers, _) = run(&repo, &cache, &["mcp"], &input);
    assert!(done && answers.contains(REASON) && answers.contains("def run"), "{answers}");
}

/// A process that ends while it parses leaves the key of the text behind. After two of them, the next one does not parse
/// that text, says so, and parses it when asked to.
#[cfg(unix)]
#[test]
fn a_file_that_ended_two_processes_is_not_parsed_by_the_next() {
    let (repo, cache) = (super::small(), Repo::new(""));
    run(&repo, &cache, &["map", "--untrusted"], "");
    // What remains of two processes: the outlines are gone with their database, and a record of a parse is not free.
    let records = cache.path("cache/outlines");
    let key = {
        use strata_engine::code::outline::{edition, language_of};
        use strata_engine::hash::ContentHash;
        let text = ContentHash::of(&repo.read("tool.py"));
        let edition = edition(language_of(&"tool.py".into(), "").unwrap());
        ContentHash::of_parts([&text.to_bytes()[..], &edition.to_bytes()[..]])
    };
    for file in fs::read_dir(&records).unwrap().map(|file| file.unwrap().path()).filter(|file| file.is_file())
    {
        fs::remove_file(file).unwrap();
    }
    for process in ["parsing/1-0", "parsing/2-0"] {
        fs::write(records.join(process), key.to_bytes()).unwrap();
    }
    for _ in 0..2 {
        let (done, map, _) = run(&repo, &cache, &["map", "--untrusted"], "");
        let said = "tool.py (no outline: processes ended while parsing it)";
        assert!(done && map.contains(said) && map.contains("greet"), "{map}");
    }
    let mut editor =
        Setup::new(&repo).variable("STRATA_CACHE_DIR", cache.path("cache").to_str().unwrap()).start();
    let refused = editor.refused("symbols.file", json!({ "path": "tool.py" }));
    assert!(refused.message.contains("processes ended while parsing it"), "{}", refused.message);
    editor.run("server.reindex", json!({}));
    editor.wait_until_indexed();
    assert!(
        editor.run("symbols.file", json!({ "path": "tool.py" }))["text"].as_str().unwrap().contains("run")
    );
    editor.quit();
}

/// Every language with everything that nests, on disk and in an editor. `STRATA_LONG=1` nests as deep as a file of a
/// megabyte allows, and deeper in the editor, in all languages, which takes minutes.
#[test]
fn no_depth_in_any_language_ends_the_server() {
    let is_long = std::env::var_os("STRATA_LONG").is_some();
    let languages = LanguageId::all().filter(|language| is_long || language.name.starts_with("ocaml"));
    let (repo, state) = (super::small(), Repo::new(""));
    let mut names = Vec::new();
    for language in languages {
        let Some(extension) = language.extensions.first() else { continue };
        for (number, unit) in NESTS.iter().enumerate() {
            let name = format!("{}/{number}.{extension}", language.name);
            repo.write(&name, unit.repeat(if is_long { 240_000 } else { 3_000 }));
            names.push((name, language, unit));
        }
    }
    for _ in 0..2 {
        let mut editor = Setup::new(&repo).state(state.root()).start();
        assert_eq!(editor.run("symbols.find", json!({ "query": "greet" }))["symbols"][0]["name"], "greet");
        for (name, language, unit) in names.iter().filter(|_| is_long) {
            editor.open_text(&format!("new/{name}"), language.name, &unit.repeat(4_000_000));
            assert_eq!(editor.run("server.status", json!({}))["index"], "ready");
            editor.close(&format!("new/{name}"));
        }
        editor.quit();
    }
}
