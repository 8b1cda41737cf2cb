//! Excerpts: a question brings its code along.

use e2e::{Editor, Prompt, Setup};
use serde_json::{Value, json};

use crate::small;

fn editor() -> Editor {
    // A question gets half.
    Setup::new(&small()).settings(json!({ "context": { "auto_budget": 160 } })).start()
}

const QUESTION: &str = "What does greet say to a name?";

fn ask(editor: &mut Editor, question: &str) -> Prompt {
    editor.assemble_with(json!({ "prompt": question }))
}

fn record(editor: &mut Editor, prompt: &Prompt) {
    editor.run("prompt.record", json!({ "id": prompt.id(), "response": "Hello." }));
}

/// The next message that the user sees.
fn shown(editor: &mut Editor) -> String {
    let message = editor.server.wait_for("window/showMessage", |_| true);
    message["message"].as_str().unwrap().to_owned()
}

/// The excerpts of a prompt by name, each with its lines.
fn excerpts(prompt: &Prompt) -> Vec<(String, Value)> {
    let files = prompt.0["files"].as_array().unwrap().iter();
    let all = files.flat_map(|file| file["excerpts"].as_array().cloned().unwrap_or_default());
    all.map(|used| (used["excerpt"].as_str().unwrap().to_owned(), used["lines"].clone())).collect()
}

#[test]
fn a_question_brings_its_definition_along_and_follows_the_buffer() {
    let mut editor = editor();
    let first = ask(&mut editor, QUESTION);
    assert!(
        excerpts(&first).contains(&("src/greet.rs#greet".to_owned(), json!("L1-3"))),
        "{:?}",
        excerpts(&first)
    );
    assert_eq!(first.count("format!(\"on disk {name}\")"), 1);
    assert_eq!(first.file("src/greet.rs")["source"], "disk");
    record(&mut editor, &first);

    editor.open("src/greet.rs");
    editor.replace("src/greet.rs", "on disk", "typed, not saved:");
    editor.replace("src/greet.rs", "pub fn", "use std::fmt;\n\npub fn");
    let second = ask(&mut editor, QUESTION);
    assert_eq!(second.count("typed, not saved: {name}"), 1, "{}", second.text());
    assert!(
        excerpts(&second).contains(&("src/greet.rs#greet".to_owned(), json!("L3-5"))),
        "{:?}",
        excerpts(&second)
    );
    assert_eq!(second.file("src/greet.rs")["source"], "buffer");
}

#[test]
fn a_dismissed_excerpt_is_not_proposed_again_and_a_pinned_one_stays() {
    let mut editor = editor();
    let first = ask(&mut editor, QUESTION);
    record(&mut editor, &first);
    editor.run("context.dismiss", json!({ "excerpts": ["src/greet.rs#greet"] }));
    assert_eq!(ask(&mut editor, QUESTION).count("on disk {name}"), 0);
    let listed = editor.run("context.list", json!({ "prompt": QUESTION }));
    assert_eq!(listed["dismissed"], json!(["src/greet.rs#greet"]));
    editor.run("context.restore", json!({}));
    assert_eq!(ask(&mut editor, QUESTION).count("on disk {name}"), 1);

    editor.run("context.pin", json!({ "excerpts": ["excerpt:src/lib.rs#add"] }));
    let pinned = ask(&mut editor, QUESTION);
    assert_eq!(pinned.count("left + right"), 1, "{}", pinned.text());
    editor.run("files.exclude", json!({ "paths": ["src/lib.rs"] }));
    assert_eq!(ask(&mut editor, QUESTION).count("left + right"), 0, "excluded is excluded");
    editor.refused("context.pin", json!({ "excerpts": ["src/lib.rs"] }));
}

#[test]
fn automatic_context_is_on_until_it_is_switched_off() {
    let mut editor = Editor::start(&small());
    assert!(!excerpts(&ask(&mut editor, QUESTION)).is_empty());
    let off = editor.run("context.auto", json!({}));
    assert_eq!(off["budget"], 0);
    assert_eq!(shown(&mut editor), "Automatic context is off.");
    assert_eq!(excerpts(&ask(&mut editor, QUESTION)), []);
    let by_request = editor.assemble_with(json!({ "prompt": QUESTION, "autoBudget": 80 }));
    assert!(!excerpts(&by_request).is_empty(), "the request counts first");
    let on = editor.run("context.auto", json!({}));
    assert_eq!(on["budget"], 6_000);
    assert_eq!(shown(&mut editor), "Automatic context is on: up to 6000 tokens of code per question.");
    assert!(!excerpts(&ask(&mut editor, QUESTION)).is_empty());
}

#[test]
fn the_first_prompt_waits_for_the_index() {
    let mut editor = Setup::new(&small()).start_without_waiting();
    let prompt = editor.assemble();
    assert!(prompt.has_map_block("src/lib.rs"), "{}", prompt.text());
    assert_eq!(prompt.warnings(), []);
}
