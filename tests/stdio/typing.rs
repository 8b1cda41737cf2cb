//! From keys to prompt: what the user sees is what the model gets.

use e2e::{Editor, Setup, Unit};
use serde_json::json;

use crate::small;

#[test]
fn a_prompt_holds_what_was_typed_and_not_what_is_on_disk() {
    for unit in Unit::ALL {
        let repo = small();
        let mut editor = Setup::new(&repo).counting_in(unit).start();
        editor.open("src/greet.rs");
        editor.type_behind("src/greet.rs", "String {\n", "    // naïve 🦀👩‍👩‍👧 é\r\n    let straße = 1;\r\n");
        editor.replace("src/greet.rs", "on disk", "typed 🦀");
        editor.type_behind("src/greet.rs", "typed 🦀", " and more");
        editor.replace("src/greet.rs", "é\r\n    let", "e\u{301} let");
        let text = editor.text("src/greet.rs");
        assert!(
            text.contains("👧 e\u{301} let straße = 1;\r\n    format!(\"typed 🦀 and more {name}\")"),
            "{text}"
        );

        editor.select(&["src/greet.rs"]);
        let prompt = editor.assemble();
        assert_eq!(prompt.full_text("src/greet.rs"), Some(text), "{unit:?}");
        assert_eq!(prompt.count("typed 🦀 and more"), 1, "exactly once");
        assert_eq!(prompt.count("on disk"), 0);
        assert_eq!(prompt.map_block("src/greet.rs"), None, "full text or map block, never both");
        assert!(prompt.map_block("src/lib.rs").unwrap().contains("pub fn add(left: u32, right: u32) -> u32"));
        let file = prompt.file("src/greet.rs");
        assert_eq!(file["source"], "buffer");
        assert_eq!(file["version"], editor.document("src/greet.rs").version);
        assert_eq!(file["sync"]["state"], "in_step");
        assert!(repo.read("src/greet.rs").contains("on disk"), "nothing was saved");
    }
}

#[test]
fn every_prompt_holds_the_text_of_its_moment() {
    let mut editor = Editor::start(&small());
    editor.open("notes.txt");
    editor.select(&["notes.txt"]);
    for drink in ["tea", "coffee", "🧃"] {
        let before = editor.text("notes.txt");
        editor.type_behind("notes.txt", "Remember the ", &format!("{drink} and the "));
        let after = editor.text("notes.txt");
        assert_ne!(before, after);
        assert_eq!(editor.assemble().full_text("notes.txt"), Some(after));
    }
}

#[test]
fn a_deselected_file_leaves_the_very_next_prompt_and_its_map_block_is_there() {
    let mut editor = Setup::new(&small()).settings(json!({ "context": { "auto_budget": 0 } })).start();
    editor.open("src/greet.rs");
    editor.type_behind("src/greet.rs", "{name}\")\n}\n", "\npub fn typed_later(été: u8) {}\n");
    editor.select(&["src/greet.rs", "src/lib.rs"]);
    assert_eq!(editor.assemble().full_text("src/greet.rs"), Some(editor.text("src/greet.rs")));

    editor.run("files.deselect", json!({ "paths": ["src/greet.rs"] }));
    let prompt = editor.assemble();
    assert_eq!(prompt.full_text("src/greet.rs"), None);
    assert_eq!(prompt.count("on disk"), 0, "the body of a function is not in a map block");
    let block = prompt.map_block("src/greet.rs").unwrap();
    assert!(block.contains("pub fn greet(name: &str) -> String"), "{block}");
    assert!(block.contains("pub fn typed_later(été: u8)"), "unsaved definitions count: {block}");
    assert!(prompt.full_text("src/lib.rs").is_some(), "the other one stays");
}

#[test]
fn nothing_of_an_excluded_file_is_in_a_prompt() {
    let mut editor = Editor::start(&small());
    editor.open("src/greet.rs");
    editor.select(&["src/greet.rs"]);
    editor.run("files.exclude", json!({ "paths": ["src/greet.rs"] }));
    let prompt = editor.assemble();
    for trace in ["greet.rs", "on disk", "pub fn greet"] {
        assert_eq!(prompt.count(trace), 0, "{trace}");
    }
    assert!(prompt.has_map_block("src/lib.rs"));

    editor.run("files.include", json!({ "paths": ["src/greet.rs"] }));
    assert!(editor.assemble().has_map_block("src/greet.rs"));
}

#[test]
fn a_closed_file_that_changes_on_disk_is_noticed_without_a_notification() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    editor.select(&["src/greet.rs"]);
    assert_eq!(editor.assemble().full_text("src/greet.rs"), Some(repo.read("src/greet.rs")));
    for text in ["pub fn one() {}\n", "pub fn two() {}\n"] {
        repo.write("src/greet.rs", text);
        let prompt = editor.assemble();
        assert_eq!(prompt.full_text("src/greet.rs").as_deref(), Some(text));
        assert_eq!(prompt.file("src/greet.rs")["source"], "disk");
    }
    std::fs::remove_file(repo.path("src/greet.rs")).unwrap();
    let prompt = editor.assemble();
    assert_eq!(prompt.full_text("src/greet.rs"), None);
    assert_eq!(prompt.warnings(), [("unreadable", "src/greet.rs")]);
}

#[test]
fn a_closed_document_is_what_the_disk_has() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    editor.open("notes.txt");
    editor.replace("notes.txt", "milk", "typed 🦀");
    editor.select(&["notes.txt"]);
    assert_eq!(editor.assemble().count("typed 🦀"), 1);
    editor.close("notes.txt");
    assert_eq!(editor.assemble().full_text("notes.txt"), Some(repo.read("notes.txt")));
}

#[test]
fn a_batch_of_changes_counts_one_behind_the_other() {
    let mut editor = Editor::start(&small());
    editor.open("notes.txt");
    editor.change("notes.txt", |document| {
        vec![
            document.edit(document.find("milk"), "🥛\r\n"),
            document.edit(document.find("Remember"), "Re🦀"),
            document.edit(document.find("🥛"), "é"),
            document.edit(document.find(" the"), "\rthe"),
        ]
    });
    editor.select(&["notes.txt"]);
    assert_eq!(editor.assemble().full_text("notes.txt"), Some(editor.text("notes.txt")));
}

#[test]
fn a_large_paste_arrives_whole() {
    let mut editor = Editor::start(&small());
    editor.open("tool.py");
    let paste: String = (0..5_000).map(|number| format!("name_{number} = \"é🦀\"\r\n")).collect();
    editor.replace("tool.py", "return \"slow\"", &paste);
    editor.select(&["tool.py"]);
    assert_eq!(editor.assemble().full_text("tool.py"), Some(editor.text("tool.py")));
}
