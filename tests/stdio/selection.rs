//! The selection: which files a prompt shows in full, and what is refused.

use e2e::Editor;
#[cfg(unix)]
use e2e::{Repo, Setup};
use serde_json::{Value, json};

use crate::small;

fn paths(listing: &Value) -> Vec<(&str, &str)> {
    let files = listing["files"].as_array().unwrap().iter();
    files.map(|file| (file["path"].as_str().unwrap(), file["state"].as_str().unwrap())).collect()
}

#[test]
fn the_list_is_sorted_and_says_what_each_file_is() {
    let mut editor = Editor::start(&small());
    editor.open("tool.py");
    editor.replace("tool.py", "slow", "fast");
    editor.select(&["tool.py", "src/lib.rs"]);
    editor.run("files.exclude", json!({ "paths": ["notes.txt"] }));
    let listing = editor.run("files.list", json!({}));
    let expected = [("notes.txt", "excluded"), ("src/lib.rs", "selected"), ("tool.py", "selected")];
    assert_eq!(paths(&listing), expected);
    let files = &listing["files"];
    assert_eq!((&files[1]["source"], &files[2]["source"]), (&json!("disk"), &json!("buffer")));
    assert_eq!((&files[2]["version"], &files[1]["tier"]), (&json!(2), &json!("active")));
    assert!(files[1]["tokens"].as_u64().unwrap() > 10, "{files}");
}

#[test]
fn has_read_set_remove_and_clear() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    let has =
        |editor: &mut Editor, path: &str| editor.run("files.has", json!({ "path": path }))["has"] == true;
    editor.select(&["src/lib.rs"]);
    assert!(has(&mut editor, "src/lib.rs") && !has(&mut editor, "tool.py"));

    editor.open("tool.py");
    editor.replace("tool.py", "slow", "fast é🦀");
    let read = editor.run("files.read", json!({ "path": "tool.py" }));
    assert_eq!(read["text"], editor.text("tool.py"));
    let read = editor.run("files.read", json!({ "path": "./src//lib.rs" }));
    assert_eq!((&read["path"], &read["text"]), (&json!("src/lib.rs"), &json!(repo.read("src/lib.rs"))));

    editor.run("files.set", json!({ "paths": ["tool.py", "notes.txt"] }));
    assert!(!has(&mut editor, "src/lib.rs") && has(&mut editor, "tool.py"), "the whole selection is set");
    editor.run("files.deselect", json!({ "paths": ["tool.py"] }));
    assert!(!has(&mut editor, "tool.py") && has(&mut editor, "notes.txt"));
    editor.run("files.clear", json!({}));
    assert_eq!(paths(&editor.run("files.list", json!({}))), []);
    let prompt = editor.assemble_with(json!({ "prompt": "What does add do?", "autoBudget": 0 }));
    assert_eq!(prompt.0["files"], json!([]));
}

#[test]
fn a_given_text_stands_for_the_file_until_it_is_removed() {
    let mut editor = Editor::start(&small());
    editor.run("files.add", json!({ "path": "src/lib.rs", "content": "given 🦀\n" }));
    let prompt = editor.assemble();
    assert_eq!(prompt.full_text("src/lib.rs").as_deref(), Some("given 🦀\n"));
    assert_eq!(prompt.file("src/lib.rs")["source"], "given");
    editor.run("files.deselect", json!({ "paths": ["src/lib.rs"] }));
    let prompt = editor.assemble();
    assert_eq!(prompt.count("given 🦀"), 0);
    assert!(prompt.has_map_block("src/lib.rs"));
    // A file need not be there at all.
    editor.run("files.add", json!({ "path": "new/file.rs", "content": "fn new() {}\n" }));
    assert_eq!(editor.assemble().full_text("new/file.rs").as_deref(), Some("fn new() {}\n"));
}

#[test]
fn folders_globs_and_lines_can_be_selected() {
    let mut editor = Editor::start(&small());
    let selected = editor.run("files.select", json!({ "paths": ["src"] }));
    assert_eq!(selected["changed"], json!(["src/greet.rs", "src/lib.rs"]));
    let selected = editor.run("files.set", json!({ "paths": ["**/*.{py,txt}"] }));
    assert_eq!(selected["changed"], json!(["notes.txt", "tool.py"]));

    editor.run("files.set", json!({ "paths": ["tool.py#L2-3"] }));
    let prompt = editor.assemble();
    assert_eq!(prompt.count("## `tool.py` L2-3"), 1);
    assert_eq!(prompt.full_text("tool.py").unwrap(), "    def run(self, speed):\n        return \"slow\"\n");
    editor.select(&["tool.py"]);
    let prompt = editor.assemble();
    assert_eq!(prompt.count("return \"slow\""), 1, "the whole file swallows its lines");
    assert!(prompt.full_text("tool.py").unwrap().starts_with("class Tool:"));
}

#[test]
fn a_file_may_be_named_by_its_uri_or_absolute_path() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    let absolute = repo.path("tool.py");
    editor.select(&[&repo.uri("src/lib.rs"), absolute.to_str().unwrap()]);
    let listing = editor.run("files.list", json!({}));
    assert_eq!(paths(&listing), [("src/lib.rs", "selected"), ("tool.py", "selected")]);
}

#[cfg(unix)]
#[test]
fn what_must_not_be_read_is_refused_with_the_reason() {
    let repo = small();
    repo.write("picture.png", [0x89, b'P', b'N', b'G', 0, 1, 2, 3]);
    repo.write("huge.txt", "x".repeat(3 << 20));
    repo.write(".env", "KEY=secret-value\n");
    let outside = Repo::new("//- secret.txt\nnot yours\n");
    std::os::unix::fs::symlink(outside.path("secret.txt"), repo.path("link.txt")).unwrap();
    let mut editor = Editor::start(&repo);
    let absolute = outside.path("secret.txt");
    for (path, reason) in [
        ("../secret.txt", "`..`"),
        (absolute.to_str().unwrap(), "outside"),
        ("link.txt", "leads out"),
        ("picture.png", "binary"),
        ("huge.txt", "limit"),
        ("missing.rs", "does not exist"),
        (".env", "confirmSecrets"),
        ("", "empty"),
    ] {
        let refused = editor.refused("files.select", json!({ "paths": ["notes.txt", path] }));
        assert_eq!((refused.code, &refused.data["path"]), (-32602, &json!("paths[1]")), "{path}: {refused}");
        assert!(refused.message.contains(reason), "{path}: {refused}");
    }
    assert_eq!(paths(&editor.run("files.list", json!({}))), [], "a refused command selects nothing at all");
    editor.run("files.select", json!({ "paths": [".env"], "confirmSecrets": [".env"] }));
    assert_eq!(editor.assemble().count("secret-value"), 1, "selected explicitly and confirmed");
}

#[test]
fn secrets_do_not_come_along_with_their_folder() {
    let repo = small();
    repo.write("src/.env", "KEY=secret-value\n");
    repo.write("src/id_rsa", "secret-value\n");
    let mut editor = Editor::start(&repo);
    let selected = editor.run("files.select", json!({ "paths": ["src"] }));
    assert_eq!(selected["changed"], json!(["src/greet.rs", "src/lib.rs"]));
    let withheld: Vec<&Value> =
        selected["withheld"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert_eq!(withheld, ["src/.env", "src/id_rsa"]);
    assert_eq!(editor.assemble().count("secret-value"), 0);
}

#[cfg(unix)]
#[test]
fn what_promises_secrets_is_read_through_no_back_door() {
    let repo = Repo::new(
        "//- notes.md\nNotes.\n//- plain.txt\nordinary words\n//- deploy/.aws/credentials\nsecret-value\n",
    );
    repo.write("src/.env", "KEY=secret-value\n");
    std::os::unix::fs::symlink("src/.env", repo.path("AGENTS.md")).unwrap();
    std::os::unix::fs::symlink("deploy/.aws", repo.path("settings")).unwrap();
    let mut editor = Setup::new(&repo).options(json!({ "trusted": true })).start();
    for path in ["src/.env", "AGENTS.md", "settings/credentials", "deploy/.aws/credentials"] {
        let refused = editor.refused("files.read", json!({ "path": path }));
        assert!(refused.message.contains("suggests secrets"), "{path}: {refused}");
        assert!(!refused.message.contains("secret-value"), "{path}: {refused}");
    }
    assert_eq!(editor.assemble().count("secret-value"), 0, "the rules of the workspace are no way to it");
    // A selected file that becomes one: by a new name, and by a link in its place.
    editor.select(&["plain.txt", "notes.md"]);
    repo.write("prod.env", "KEY=secret-value\n");
    editor.run("files.rename", json!({ "files": [{ "from": "plain.txt", "to": "prod.env" }] }));
    std::fs::remove_file(repo.path("notes.md")).unwrap();
    std::os::unix::fs::symlink("src/.env", repo.path("notes.md")).unwrap();
    let prompt = editor.assemble();
    assert_eq!(prompt.count("secret-value"), 0);
    let listing = editor.run("files.list", json!({}));
    let files = listing["files"].as_array().unwrap();
    assert_eq!(files.len(), 2, "{listing}");
    for file in files {
        assert!(file["problem"].as_str().unwrap().contains("suggests secrets"), "{file}");
    }
    // What a user asks for is shown, however their editor names it.
    let asked = json!([repo.uri("prod.env")]);
    editor.run("files.select", json!({ "paths": asked, "confirmSecrets": asked }));
    assert_eq!(editor.assemble().count("secret-value"), 1);
    assert_eq!(editor.run("files.read", json!({ "path": "prod.env" }))["text"], "KEY=secret-value\n");
}

#[test]
fn files_are_found_by_letters_of_their_paths() {
    let repo = small();
    repo.write(".gitignore", "*.log\n");
    repo.write("lib.log", "ignored\n");
    let mut editor = Editor::start(&repo);
    editor.select(&["src/lib.rs"]);
    editor.run("files.exclude", json!({ "paths": ["tool.py"] }));
    let found = editor.run("files.find", json!({ "query": "LIB" }));
    assert_eq!(paths(&found), [("src/lib.rs", "selected")]);
    assert_eq!(found["files"][0]["uri"], repo.uri("src/lib.rs"));
    let all = editor.run("files.find", json!({}));
    let expected = [
        (".gitignore", "deselected"),
        ("notes.txt", "deselected"),
        ("src/greet.rs", "deselected"),
        ("src/lib.rs", "selected"),
        ("tool.py", "excluded"),
    ];
    assert_eq!(paths(&all), expected);
    assert_eq!(paths(&editor.run("files.find", json!({ "query": "t", "limit": 1 }))), expected[4..]);
}

#[test]
fn whatever_is_listed_says_where_an_editor_finds_it() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    editor.open_text("untitled:Untitled-1", "plaintext", "A draft.\n");
    editor.select(&["src/lib.rs", "untitled:Untitled-1"]);
    editor.run("files.exclude", json!({ "paths": ["tool.py"] }));
    let listing = editor.run("files.list", json!({}));
    let uris: Vec<&Value> = listing["files"].as_array().unwrap().iter().map(|file| &file["uri"]).collect();
    assert_eq!(
        uris,
        [&json!(repo.uri("src/lib.rs")), &json!(repo.uri("tool.py")), &json!("untitled:Untitled-1")]
    );
    let symbols = editor.run("symbols.find", json!({ "query": "greet" }));
    assert_eq!(symbols["symbols"][0]["uri"], repo.uri("src/greet.rs"));
}

#[test]
fn a_file_that_needs_a_confirmation_says_so_to_programs() {
    let repo = small();
    repo.write("src/.env", "KEY=secret-value\n");
    let mut editor = Editor::start(&repo);
    let asked = json!({ "paths": ["tool.py", "src/.env"] });
    let refused = editor.refused("files.select", asked);
    assert_eq!(refused.data, json!({ "path": "paths[1]", "kind": "secret" }), "{refused}");
    let refused = editor.refused("files.select", json!({ "paths": ["nowhere.py"] }));
    assert_eq!(refused.data, json!({ "path": "paths[0]" }), "{refused}");
    let asked = json!({ "paths": ["src/.env"], "confirmSecrets": ["src/.env"] });
    assert_eq!(editor.run("files.select", asked)["changed"], json!(["src/.env"]));
}
