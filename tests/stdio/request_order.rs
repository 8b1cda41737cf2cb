//! Many requests at once: each is answered exactly once, in a state that follows the order of the wire.

use e2e::{Editor, Prompt};
use serde_json::{Value, json};

use crate::small;

const CANCELLED: i64 = -32800;

#[test]
fn two_hundred_waiting_commands_then_a_change_and_a_cancel() {
    let mut editor = Editor::start(&small());
    editor.open("notes.txt");
    editor.select(&["notes.txt"]);
    let assemble = json!({ "prompt": "What is this?" });
    let before: Vec<_> = (0..200).map(|_| editor.ask("prompt.assemble", assemble.clone())).collect();
    editor.replace("notes.txt", "milk", "é🦀");
    let cancelled = before[150];
    editor.server.cancel(cancelled);
    let after = editor.ask("prompt.assemble", assemble);

    // The last one first: an answer that waits for others to be read would never come.
    let prompt = Prompt(editor.server.answer(after).unwrap());
    assert_eq!((prompt.count("é🦀"), prompt.count("milk")), (1, 0), "sent behind the change, it sees it");
    let mut last = 0;
    for id in before {
        match editor.server.answer(id) {
            Ok(reply) => {
                let prompt = Prompt(reply);
                let number = prompt.id().strip_prefix('p').unwrap().parse::<u64>().unwrap();
                assert!(number > last, "in the order of the wire: p{number} behind p{last}");
                last = number;
                assert_eq!(prompt.count("milk"), 1, "as it was when the command was sent");
            }
            Err(refused) => assert_eq!((id, refused.code), (cancelled, CANCELLED), "{refused}"),
        }
    }
}

#[test]
fn a_cancelled_request_is_answered_exactly_once_and_changes_nothing() {
    let mut editor = Editor::start(&small());
    let mut cancelled = 0;
    for _ in 0..40 {
        let id = editor.ask("prompt.assemble", json!({ "prompt": "What is this?" }));
        editor.server.cancel(id);
        match editor.server.answer(id) {
            Ok(reply) => assert!(reply["body"].is_object(), "{reply}"),
            Err(refused) => {
                cancelled += 1;
                assert_eq!(refused.code, CANCELLED, "{refused}");
            }
        }
    }
    assert!(cancelled > 0, "none of them was cancelled in time");
    // A second answer to any of them would have failed the test by now.
    assert!(editor.try_run("server.status", json!({})).is_ok());
    editor.server.notify("$/cancelRequest", json!({ "id": 987_654 }));
    editor.server.notify("$/cancelRequest", json!({ "id": "no such request" }));
    assert!(editor.try_run("server.status", json!({})).is_ok());
}

#[test]
fn selections_and_prompts_follow_the_order_of_the_wire() {
    let mut editor = Editor::start(&small());
    let paths = json!({ "paths": ["notes.txt"] });
    let mut asked = Vec::new();
    for _ in 0..20 {
        editor.ask("files.select", paths.clone());
        asked.push((1, editor.ask("prompt.assemble", json!({ "prompt": "?" }))));
        editor.ask("files.deselect", paths.clone());
        asked.push((0, editor.ask("prompt.assemble", json!({ "prompt": "?" }))));
    }
    for (expected, id) in asked {
        assert_eq!(Prompt(editor.server.answer(id).unwrap()).count("Remember the milk"), expected);
    }
}

#[test]
fn the_state_counts_up() {
    let mut editor = Editor::start(&small());
    let mut version =
        |command: &str, argument: Value| editor.run(command, argument)["stateVersion"].as_u64().unwrap();
    let start = version("files.list", json!({}));
    let selected = version("files.select", json!({ "paths": ["notes.txt"] }));
    assert_eq!(version("files.select", json!({ "paths": ["notes.txt"] })), selected, "nothing new");
    assert!(start < selected);
    assert_eq!(version("prompt.assemble", json!({ "prompt": "?" })), selected, "assembling changes nothing");
    assert!(version("history.add", json!({ "role": "user", "content": "x" })) > selected);
}

#[test]
fn commands_behind_one_that_shows_another_session_are_for_that_one() {
    let mut editor = Editor::start(&small());
    let before = editor.run("server.status", json!({}))["session"].clone();
    let select = |path: &str| json!({ "paths": [path] });
    let shown = |editor: &mut Editor| editor.ask("files.has", json!({ "path": "notes.txt" }));
    // None of them waits for the answer to another one.
    editor.ask("files.select", select("notes.txt"));
    let first = shown(&mut editor);
    editor.ask("session.new", json!({}));
    let new = shown(&mut editor);
    editor.ask("files.select", select("notes.txt"));
    editor.ask("session.delete", json!({}));
    let third = shown(&mut editor);
    let named = editor.ask("files.has", json!({ "path": "notes.txt", "session": before }));
    let has = |editor: &mut Editor, id| editor.server.answer(id).unwrap()["has"].clone();
    assert_eq!(has(&mut editor, first), true);
    assert_eq!(has(&mut editor, new), false, "the new session has nothing selected");
    assert_eq!(has(&mut editor, third), false, "the one that took its place when it was deleted neither");
    assert_eq!(has(&mut editor, named), true, "a command that names its session is for that one");
}
