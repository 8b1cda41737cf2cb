//! Files that no parser can take, seen through every front end: the process goes on, says why the file has no outline,
//! and does not parse it again.

use std::fs;

use e2e::nesting::NESTS;
use e2e::process::Process;
use e2e::{Editor, Printed, Repo, Setup, Shell, is_long};
use serde_json::{Value, json};
use strata_grammars::LanguageId;

const REASON: &str = "its comments are nested too deeply";

fn deep(depth: usize) -> Repo {
    let repo = super::small();
    repo.write("deep.ml", "(*".repeat(depth));
    repo.write("deep.mli", "(* \"a\" (*".repeat(depth / 4));
    repo
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
    let repo = deep(240_000);
    let shell = Shell::new(&repo);
    let Printed { is_success, out, .. } = shell.run(&["map", "--untrusted"], "");
    assert!(is_success && out.contains(&format!("deep.ml (no outline: {REASON})")), "{out}");
    let report = shell.run(&["doctor", "--json", "--untrusted"], "").out;
    assert!(report.contains(&format!("deep.mli has no outline: {REASON}")), "{report}");
    let Printed { is_success, err, .. } = shell.run(&["outline", "deep.ml", "--untrusted"], "");
    assert!(!is_success && err.contains(&format!("deep.ml has no outline: {REASON}")), "{err}");
    let (results, _) =
        shell.tools(&[("outline", json!({ "path": "deep.ml" })), ("outline", json!({ "path": "tool.py" }))]);
    let text = |result: &Value| result["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text(&results[0]).contains(REASON) && text(&results[1]).contains("def run"), "{results:?}");
}

/// A process that ends while it parses leaves the key of the text behind. After two of them, the next one does not parse
/// that text, says so, and parses it when asked to.
#[test]
fn a_file_that_ended_two_processes_is_not_parsed_by_the_next() {
    let repo = super::small();
    let shell = Shell::new(&repo);
    shell.run(&["map", "--untrusted"], "");
    // What remains of two processes: the outlines are gone with their database, and a record of a parse is not free.
    let records = shell.cache().join("outlines");
    let key = {
        use strata_base::hash::ContentHash;
        use strata_code::outline::{language_of, version_hash};
        let text = ContentHash::from_text(&repo.read("tool.py"));
        let version_hash = version_hash(language_of(&"tool.py".into(), "").unwrap());
        ContentHash::from_parts([&text.to_bytes()[..], &version_hash.to_bytes()[..]])
    };
    for file in fs::read_dir(&records).unwrap().map(|file| file.unwrap().path()).filter(|file| file.is_file())
    {
        fs::remove_file(file).unwrap();
    }
    for process in ["parsing/1-0", "parsing/2-0"] {
        fs::write(records.join(process), key.to_bytes()).unwrap();
    }
    for _ in 0..2 {
        let Printed { is_success, out, .. } = shell.run(&["map", "--untrusted"], "");
        let reason = "tool.py (no outline: processes ended while parsing it)";
        assert!(is_success && out.contains(reason) && out.contains("greet"), "{out}");
    }
    let mut editor = Setup::new(&repo).variable("STRATA_CACHE_DIR", shell.cache().to_str().unwrap()).start();
    let refused = editor.refused("symbols.file", json!({ "path": "tool.py" }));
    assert!(refused.message.contains("processes ended while parsing it"), "{}", refused.message);
    editor.run("server.reindex", json!({}));
    editor.wait_until_indexed();
    assert!(
        editor.run("symbols.file", json!({ "path": "tool.py" }))["text"].as_str().unwrap().contains("run")
    );
    editor.quit();
}

/// A text that nothing closes takes more memory than real code, and one that is larger than the limit is not parsed, on
/// disk or not.
#[test]
fn the_memory_of_a_parse_is_limited() {
    let repo = super::small();
    repo.write("deep.sh", "(*".repeat(400_000));
    let mut editor = Editor::start(&repo);
    let error = editor.refused("symbols.file", json!({ "path": "deep.sh" }));
    assert!(error.message.contains("far more memory than real code"), "{}", error.message);
    editor.open_text("large.py", "python", &"def a(): pass\n".repeat(80_000));
    let error = editor.refused("files.read", json!({ "path": "large.py#a" }));
    assert!(error.message.contains("files of more than 1048576 bytes have no outline"), "{}", error.message);
    if let Some(kilobytes) = Process::new(editor.server.process_id()).peak() {
        assert!(kilobytes < 700_000, "{kilobytes} KiB");
    }
    editor.quit();
}

/// Everything that nests, in every language, on disk and in an editor: each front end works on, and a text that it has
/// parsed or given up once is not parsed again. `STRATA_LONG=1` nests 240,000 times, and 4,000,000 times in addition, in
/// all languages, which takes half an hour with a `STRATA_BIN` that is built for release.
#[test]
fn no_depth_in_any_language_ends_a_process() {
    let is_long = is_long();
    let depths: &[usize] = if is_long { &[240_000, 4_000_000] } else { &[3_000] };
    for language in LanguageId::all().filter(|language| is_long || language.name.starts_with("ocaml")) {
        let Some(extension) = language.extensions.first() else { continue };
        for depth in depths {
            no_depth_ends_a_process(language, extension, *depth);
        }
    }
}

#[expect(clippy::print_stdout, reason = "figures")]
fn no_depth_ends_a_process(language: LanguageId, extension: &str, depth: usize) {
    let repo = super::small();
    let names: Vec<String> = (0..NESTS.len()).map(|number| format!("deep/{number}.{extension}")).collect();
    for (name, unit) in names.iter().zip(NESTS) {
        repo.write(name, unit.repeat(depth));
    }
    let what = format!("{language} {depth}");
    let shell = Shell::new(&repo);
    // An index run leaves out what exceeds its budget, and says so.
    let runs = (0..=NESTS.len()).find(|_| {
        let Printed { is_success, out, err } = shell.run(&["map", "--untrusted"], "");
        assert!(is_success && out.contains("greet"), "{what}: {err}");
        !out.contains("other files used up the work")
    });
    assert!(runs.is_some(), "{what} is never done");
    let Printed { is_success, out, err } = shell.run(&["outline", "tool.py", "--untrusted"], "");
    assert!(is_success && out.contains("run"), "{what}: {err}");
    let outlines = names.iter().map(|name| ("outline", json!({ "path": name })));
    let calls: Vec<_> = outlines.chain([("outline", json!({ "path": "tool.py" }))]).collect();
    let (results, _) = shell.tools(&calls);
    assert!(results.last().unwrap()["content"][0]["text"].as_str().unwrap().contains("def run"), "{what}");
    let mut editor = Setup::new(&repo).state(shell.state()).start();
    assert_eq!(editor.run("symbols.find", json!({ "query": "greet" }))["symbols"][0]["name"], "greet");
    assert_eq!(editor.run("server.status", json!({}))["efforts"]["parsed"], 0, "{what}");
    for (name, unit) in names.iter().zip(NESTS) {
        let name = format!("new/{name}");
        editor.open_text(&name, language.name, &unit.repeat(depth));
        assert_eq!(editor.run("symbols.find", json!({ "query": "greet" }))["symbols"][0]["name"], "greet");
        editor.close(&name);
    }
    if let Some(kilobytes) = Process::new(editor.server.process_id()).peak() {
        println!("{what}: {} index runs, {} MiB in the editor", runs.unwrap_or(0) + 1, kilobytes >> 10);
    }
    editor.quit();
}
