//! A line is what the protocol calls a line, and a text is what a file may contain, whether it comes from a buffer or
//! from the disk.

use e2e::Editor;
use serde_json::{Value, json};

use crate::small;

const MIXED: &str = "l0\rl1\rl2\nl3\n";

fn range(first: u32, last: u32) -> Value {
    let at = |line: u32| json!({ "line": line, "character": 0 });
    json!({ "start": at(first), "end": at(last) })
}

#[test]
fn a_carriage_return_alone_ends_a_line_everywhere() {
    for is_open in [false, true] {
        let repo = small();
        repo.write("mixed.txt", MIXED);
        let mut editor = Editor::start(&repo);
        if is_open {
            editor.open_text("mixed.txt", "plaintext", MIXED);
        }
        let uri = repo.uri("mixed.txt");
        editor.run("here.select", json!({ "uri": uri, "range": range(1, 2) }));
        editor.server.wait_for("window/showMessage", |_| true);
        let prompt = editor.assemble();
        assert_eq!(prompt.count("## `mixed.txt` L2"), 1);
        assert_eq!(prompt.full_text("mixed.txt").as_deref(), Some("l1\r\n"), "open: {is_open}");
        let read = editor.run("files.read", json!({ "path": "mixed.txt#L3-4" }));
        assert_eq!((&read["text"], &read["lines"]), (&json!("l2\nl3\n"), &json!(4)));
        let found = editor.run("files.grep", json!({ "pattern": "^l2$", "paths": ["mixed.txt"] }));
        assert_eq!(found["files"][0]["lines"], json!([{ "line": 3, "text": "l2" }]));
        editor.run("files.set", json!({ "paths": ["mixed.txt#L4"] }));
        assert_eq!(editor.assemble().full_text("mixed.txt").as_deref(), Some("l3\n"));
    }
}

#[test]
fn definitions_have_the_lines_of_the_editor() {
    let repo = small();
    let definition = "// One.\r// Two.\rfunction foundIt() {\r  return 1;\r}\r";
    repo.write("old.js", format!("{definition}\rfoundIt();\r"));
    let mut editor = Editor::start(&repo);
    let found = editor.run("symbols.references", json!({ "name": "foundIt" }));
    assert_eq!(found["definitions"][0]["lines"], json!([3]), "{found}");
    assert_eq!(found["hits"][0]["text"], "function foundIt() {", "{found}");
    let read = editor.run("files.read", json!({ "path": "old.js#foundIt" }));
    assert_eq!((&read["from"], &read["text"]), (&json!(1), &json!(definition)));
}

#[test]
fn a_buffer_is_held_to_the_rules_for_files() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    let large = "x".repeat(2_400_000);
    for (name, text, reason) in [
        ("binary.dat", "a\0b", "`binary.dat` is binary"),
        ("large.txt", large.as_str(), "the limit is 2097152"),
    ] {
        repo.write(name, "on disk\n");
        editor.run("files.set", json!({ "paths": [name] }));
        editor.open_text(name, "plaintext", text);
        let prompt = editor.assemble();
        assert_eq!(prompt.warnings(), [("unreadable", name)], "selected before it grew");
        assert!(prompt.0["warnings"][0]["message"].as_str().unwrap().contains(reason), "{prompt:?}");
        let refused = editor.refused("files.select", json!({ "paths": [name] }));
        assert!(refused.message.contains(reason), "{refused}");
        assert!(editor.refused("files.read", json!({ "path": name })).message.contains(reason));
        editor.close(name);
        assert_eq!(editor.assemble().full_text(name).as_deref(), Some("on disk\n"));
    }
}

#[test]
fn a_byte_order_mark_is_no_text() {
    let repo = small();
    repo.write("marked.txt", "\u{feff}first\nsecond\n");
    let mut editor = Editor::start(&repo);
    editor.select(&["marked.txt"]);
    assert_eq!(editor.assemble().full_text("marked.txt").as_deref(), Some("first\nsecond\n"));
    editor.open("marked.txt");
    assert_eq!(editor.assemble().full_text("marked.txt").as_deref(), Some("first\nsecond\n"));
    // The editor counts the mark as a character.
    editor.change("marked.txt", |document| vec![document.edit(document.find("first"), "1st")]);
    let prompt = editor.assemble();
    assert_eq!(
        (prompt.full_text("marked.txt").as_deref(), prompt.warnings()),
        (Some("1st\nsecond\n"), vec![])
    );
    editor.run("files.add", json!({ "path": "given.txt", "content": "\u{feff}given\n" }));
    assert_eq!(editor.assemble().full_text("given.txt").as_deref(), Some("given\n"));
}
